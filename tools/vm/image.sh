# SPDX-License-Identifier: GPL-2.0
# The initramfs: a base that is made once for each kernel, and what one run adds to it.
# shellcheck shell=bash

# Modules of Debian's kernels that the guest may need; a kernel that has one built in lacks the file.
# zram's compressor of 6.1 is asked for by name at run time, so nothing says that it depends on it.
BASE_MODULES=(virtio_pci virtio_console virtio_blk zram hwpoison_inject)
declare -A MODULE_BEFORE=([zram]=lzo_rle)

# Our two C programs, compiled once for each state of their source. Sets INIT and RELAY.
tools_build() {
	local key dir tmp
	key=$(cat "$HERE"/*.[ch] | sha256sum | cut -c 1-16)
	dir=$CACHE/vm/tools-$key
	INIT=$dir/init
	RELAY=$dir/relay
	[[ ! -x $RELAY || ! -x $INIT ]] || return 0
	note "compiling init and relay"
	mkdir -p "$CACHE/vm"
	tmp=$(mktemp -d "$CACHE/vm/.new.XXXXXX")
	gcc -O2 -Wall -Wextra -static -s -o "$tmp/init" "$HERE"/init*.c
	gcc -O2 -Wall -Wextra -o "$tmp/relay" "$HERE/relay.c"
	# Another run may have been faster; its files are the same.
	mv -T "$tmp" "$dir" 2>/dev/null || rm -rf "$tmp"
}

# pack ROOT FILE: as root's, without a time, uncompressed: unpacking is dear under emulation.
pack() {
	chmod 755 "$1"
	(cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
		cpio --null --create --format=newc --owner=+0:+0 --reproducible --quiet) >"$2"
}

# module_files NAME: the files to insert, in order, needed ones first. Reads the index MODULE_FILE.
module_files() {
	local name=${1//-/_} file dep
	[[ -z ${MODULE_SEEN[$name]:-} ]] || return 0
	MODULE_SEEN[$name]=1
	file=${MODULE_FILE[$name]:-}
	[[ -n $file ]] || return 0
	for dep in ${MODULE_BEFORE[$name]:-} $(modinfo -F depends "$file" | tr ',' ' '); do
		module_files "$dep"
	done
	printf '%s\n' "$file"
}

base_modules() {
	local root=$1 file name plain
	declare -A MODULE_FILE=() MODULE_SEEN=()
	mkdir -p "$root/lib/vm-modules"
	while IFS= read -r file; do
		name=${file##*/}
		name=${name%%.*}
		MODULE_FILE[${name//-/_}]=$file
	done < <(find "$KERNEL_MODULES/" -name '*.ko' -o -name '*.ko.xz')
	for name in "${BASE_MODULES[@]}"; do
		MODULE_SEEN=()
		[[ -n ${MODULE_FILE[$name]:-} ]] || continue
		module_files "$name" | while IFS= read -r file; do
			plain=/lib/vm-modules/$(basename "${file%.xz}")
			if [[ $file == *.xz ]]; then
				xz -dc "$file" >"$root$plain"
			else
				cp "$file" "$root$plain"
			fi
			printf '%s\n' "$plain"
		done >"$root/lib/vm-modules/$name.load"
	done
}

# Sets BASE to the initramfs with init, busybox and the kernel's modules.
base_build() {
	local busybox key tmp root
	busybox=$(command -v busybox) || die "no busybox; run tools/setup/setup vm"
	key=$({
		sha256sum "$INIT" "$busybox" "$HERE/image.sh"
		printf '%s\n' "$KERNEL_DIR" "$KERNEL_RELEASE"
		stat -c '%Y %s' "$KERNEL_IMAGE"
	} | sha256sum | cut -c 1-16)
	BASE=$CACHE/vm/base-$key.cpio
	[[ ! -f $BASE ]] || return 0
	note "making the base initramfs for $KERNEL_RELEASE"
	mkdir -p "$CACHE/vm"
	tmp=$(mktemp -d "$CACHE/vm/.new.XXXXXX")
	root=$tmp/root
	mkdir -p "$root"/{bin,etc,dev,proc,sys,tmp,run,usr/local/bin,lib64}
	ln -s bin "$root/sbin"
	ln -s ../bin "$root/usr/bin"
	ln -s ../bin "$root/usr/sbin"
	cp "$INIT" "$root/init"
	cp -L "$busybox" "$root/bin/busybox"
	local applet
	for applet in $("$busybox" --list); do
		[[ $applet == busybox ]] || ln -s busybox "$root/bin/$applet"
	done
	printf 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$root/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
	printf "PS1='\\w \\\\$ '\n" >"$root/etc/profile"
	[[ -z $KERNEL_MODULES ]] || base_modules "$root"
	pack "$root" "$tmp/cpio"
	mv "$tmp/cpio" "$BASE"
	rm -rf "$tmp"
}

# The guest path of COMMAND[0], added when it is a program of this machine. An absolute path that the
# guest has by itself (/bin/sh) or by --add and --dir means the guest's.
command_place() {
	local name=${COMMAND[0]}
	[[ $name == */* ]] || return 0
	if [[ $name == /* ]]; then
		[[ ! -e $RUN_ROOT$name && ! -L $RUN_ROOT$name ]] || return 0
		[[ ! $name =~ ^/(usr/)?s?bin/([^/]+)$ ]] ||
			! busybox --list | grep -Fqx -- "${BASH_REMATCH[2]}" || return 0
	fi
	[[ -f $name && -x $name ]] || return 0
	COMMAND[0]=/usr/local/bin/${name##*/}
	guest_add "$name" "${COMMAND[0]}"
}

# Sets INITRD to the base with this run's files behind it.
run_build() {
	local spec from to i
	RUN_ROOT=$TMP/root
	mkdir -p "$RUN_ROOT/etc/vm"
	for spec in "${OPT_ADD[@]}"; do
		from=${spec%%:*}
		to=/${from##*/}
		[[ ! -x $from ]] || to=/usr/local/bin/${from##*/}
		[[ $spec != *:* ]] || to=${spec#*:}
		[[ -f $from ]] || die "--add: no file $from"
		guest_add "$from" "$to"
	done
	for spec in "${OPT_DIR[@]}"; do
		[[ $spec == *:/* ]] || die "--dir needs DIR:/PATH, not '$spec'"
		[[ -d ${spec%%:*} ]] || die "--dir: no directory ${spec%%:*}"
		guest_add_dir "${spec%%:*}" "${spec#*:}"
	done
	[[ -z $MODULE ]] || guest_copy "$MODULE" "/lib/${MODULE##*/}"
	command_place
	guest_libraries

	printf '%s\0' "${COMMAND[@]}" >"$RUN_ROOT/etc/vm/argv"
	: >"$RUN_ROOT/etc/vm/env"
	[[ ${#OPT_ENV[@]} -eq 0 ]] || printf '%s\0' "${OPT_ENV[@]}" >"$RUN_ROOT/etc/vm/env"
	{
		[[ -z $MODULE ]] || echo "module=/lib/${MODULE##*/}"
		[[ -z $OPT_SWAP ]] || echo "swap-on=$OPT_SWAP_ON"
		[[ -z $OPT_SWAP ]] || echo "swap-bytes=$(bytes "$OPT_SWAP")"
		echo "hugepages=$OPT_HUGEPAGES"
		echo "load=${OPT_LOAD//-/_}"
		echo "cwd=$OPT_CWD"
		echo "user=$OPT_USER"
		echo "stdin=${OPT_STDIN:-0}"
		echo "out=${OPT_OUT:+1}"
		for i in "${!DISK_WHERE[@]}"; do echo "disk$i=${DISK_WHERE[i]}"; done
		if [[ -n $OPT_SHELL ]]; then
			echo "tty=1"
			[[ ! -t 0 ]] || stty size | sed -n 's/^\([1-9].*\) \(.*\)/rows=\1\ncolumns=\2/p'
		fi
	} >"$RUN_ROOT/etc/vm/conf"
	pack "$RUN_ROOT" "$TMP/run.cpio"
	INITRD=$TMP/initrd
	cat "$BASE" "$TMP/run.cpio" >"$INITRD"
	rm -rf "$TMP/run.cpio" "$RUN_ROOT"
}
