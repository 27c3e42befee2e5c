# SPDX-License-Identifier: GPL-2.0
# The emulated machine: which kernel, which accelerator, QEMU's command line.
# shellcheck shell=bash disable=SC2034,SC2054 # variables for others; QEMU's commas

# What the run needs, installed and cached if it is missing.
machine_setup() {
	if [[ $OPT_KERNEL == */* ]]; then
		"$SETUP" --no-kernel vm || exit 125
	else
		"$SETUP" --kernel "$OPT_KERNEL" vm || exit 125
	fi
	CACHE=$("$SETUP" path cache)
}

# Sets KERNEL_DIR, KERNEL_IMAGE, KERNEL_RELEASE and KERNEL_MODULES (empty when it has none).
kernel_find() {
	local name
	if [[ $OPT_KERNEL == */* ]]; then
		KERNEL_DIR=$(realpath "$OPT_KERNEL")
	else
		KERNEL_DIR=$("$SETUP" path kernel "$OPT_KERNEL") || exit 125
	fi
	KERNEL_IMAGE=
	for name in vmlinuz bzImage arch/x86/boot/bzImage; do
		[[ ! -f $KERNEL_DIR/$name ]] || { KERNEL_IMAGE=$KERNEL_DIR/$name; break; }
	done
	[[ -n $KERNEL_IMAGE ]] || die "no vmlinuz or bzImage in $KERNEL_DIR"
	KERNEL_RELEASE=
	for name in release include/config/kernel.release; do
		[[ ! -f $KERNEL_DIR/$name ]] || { KERNEL_RELEASE=$(<"$KERNEL_DIR/$name"); break; }
	done
	[[ -n $KERNEL_RELEASE ]] || die "$KERNEL_DIR has no file 'release' that names the kernel release"
	KERNEL_MODULES=
	for name in modules "lib/modules/$KERNEL_RELEASE"; do
		[[ ! -d $KERNEL_DIR/$name ]] || { KERNEL_MODULES=$KERNEL_DIR/$name; break; }
	done
}

# Sets MODULE to wsquery.ko, or to nothing.
module_find() {
	MODULE=
	[[ -z $OPT_NO_MODULE ]] || return 0
	MODULE=${OPT_MODULE:-$TOP/build/$KERNEL_RELEASE/module/wsquery.ko}
	[[ -f $MODULE ]] ||
		die "no module $MODULE: run make first (or give --module FILE or --no-module)"
}

# A /dev/kvm that opens is no proof: nested ones can fail at the first instruction. So boot once
# with it, and remember the answer until the machine is booted anew.
kvm_works() {
	[[ -r /dev/kvm && -w /dev/kvm ]] || return 1
	local answer
	answer=$CACHE/vm/kvm-$(</proc/sys/kernel/random/boot_id)
	if [[ ! -f $answer ]]; then
		note "trying KVM"
		mkdir -p "$CACHE/vm"
		if "$HERE/vm" --kernel "$KERNEL_DIR" --accel kvm --no-module --timeout 15 -- true \
			>/dev/null 2>&1; then
			echo yes >"$answer"
		else
			echo no >"$answer"
		fi
	fi
	[[ $(<"$answer") == yes ]]
}

accel_choose() {
	[[ -z $OPT_ACCEL ]] || return 0
	if kvm_works; then OPT_ACCEL=kvm; else OPT_ACCEL=tcg; fi
}

# Sets DISK_WHERE (mount points, for init) and DISK_ARGS.
disks_make() {
	local spec image i=0
	DISK_WHERE=()
	DISK_ARGS=()
	if [[ -n $OPT_SWAP && $OPT_SWAP_ON == disk ]]; then
		truncate -s "$(bytes "$OPT_SWAP")" "$TMP/swap.img"
		disk_add swap "file=$TMP/swap.img,cache=unsafe"
	fi
	if [[ -n $OPT_SCRATCH ]]; then
		truncate -s "$(bytes "$OPT_SCRATCH")" "$TMP/scratch.img"
		disk_add "disk$i" "file=$TMP/scratch.img,cache=unsafe"
		DISK_WHERE+=(/scratch)
		i=$((i + 1))
	fi
	for spec in "${OPT_DISKS[@]}"; do
		image=${spec%%:*}
		[[ $spec == *:/* && -f $image ]] || die "--disk needs IMAGE:/PATH, not '$spec'"
		disk_add "disk$i" "file=$image,snapshot=on"
		DISK_WHERE+=("${spec#*:}")
		i=$((i + 1))
	done
}

disk_add() {
	DISK_ARGS+=(-drive "if=none,id=$1,format=raw,$2" -device "virtio-blk-pci,drive=$1,serial=$1")
}

# Sets QEMU to the whole command line.
qemu_compose() {
	local cpu append smp=$OPT_CPUS i share
	append="console=ttyS0 panic=-1 printk.devkmsg=on random.trust_cpu=on"
	if [[ -n $OPT_VERBOSE ]]; then append+=" loglevel=8"; else append+=" loglevel=5"; fi
	[[ -n $OPT_KEEP_WARNINGS ]] || append+=" panic_on_warn=1 oops=panic"

	QEMU=(qemu-system-x86_64 -machine q35 -m "$(($(bytes "$OPT_MEMORY") >> 20))M"
		-nodefaults -no-user-config -display none -no-reboot)
	if [[ $OPT_ACCEL == kvm ]]; then
		cpu=host
		QEMU+=(-accel kvm)
	else
		# Emulation runs rep movsb byte by byte, and its CPU has no bug to mitigate.
		cpu=max,-erms,-fsrm
		append+=" mitigations=off no_timer_check"
		if [[ -n $OPT_ICOUNT ]]; then
			QEMU+=(-accel tcg -icount "shift=0,sleep=off")
			# An idle guest's time passes at once, its disk's takes the host's: a task
			# that waits for it would be said to hang.
			append+=" sysctl.kernel.hung_task_timeout_secs=0"
		elif [[ -n $OPT_PARALLEL ]]; then
			QEMU+=(-accel "tcg,thread=multi")
		else
			# In parallel, older QEMUs can run an instruction that the kernel is just
			# patching (static keys): about one boot in a hundred is an oops.
			QEMU+=(-accel "tcg,thread=single")
		fi
	fi
	QEMU+=(-cpu "${OPT_CPU:-$cpu}")
	if [[ $OPT_NODES -gt 1 ]]; then
		[[ $smp -ge $OPT_NODES ]] || smp=$OPT_NODES
		share=$(($(bytes "$OPT_MEMORY") / OPT_NODES >> 20))
		QEMU+=(-m "$((share * OPT_NODES))M")
		for ((i = 0; i < OPT_NODES; i++)); do
			QEMU+=(-object "memory-backend-ram,id=node$i,size=${share}M"
				-numa "node,nodeid=$i,memdev=node$i")
		done
		for ((i = 0; i < smp; i++)); do
			QEMU+=(-numa "cpu,node-id=$((i % OPT_NODES)),socket-id=$i")
		done
	fi
	QEMU+=(-smp "$smp,sockets=$smp" -kernel "$KERNEL_IMAGE" -initrd "$INITRD"
		-append "$append$OPT_APPEND"
		-chardev "file,id=log,path=$KLOG" -serial chardev:log
		-device virtio-serial-pci -chardev socket,id=link,fd=3
		-device virtserialport,chardev=link,name=wsquery.link
		-device "isa-debug-exit,iobase=0xf4" "${DISK_ARGS[@]}")
}
