# SPDX-License-Identifier: GPL-2.0
# The options of vm: their defaults, their meaning, their reading.
# shellcheck shell=bash disable=SC2034 # used by the scripts that source this file

usage() {
	cat <<-'EOF'
	Usage: tools/vm/vm [OPTION]... -- COMMAND [ARGUMENT]...
	       tools/vm/vm [OPTION]... --shell

	Boots a kernel in QEMU with the wsquery module loaded and runs COMMAND in it. Its stdout and
	stderr come out as they are, its exit status is ours. A COMMAND that is the path of a program
	here is taken along, with its shared libraries; other names are found in the guest, which has
	busybox's. Nothing of this machine is touched, and several can run at once.

	The machine
	  --kernel NAME|DIR   a kernel of tools/setup (default 6.12), or a directory with vmlinuz
	                      (or bzImage), release, and modules/ if it has modules
	  --memory SIZE       2G           --cpus N      2          --nodes N   NUMA nodes, 1
	  --swap SIZE         none         --swap-on zram|disk      zram
	  --hugepages N       2 MB pages to reserve; 1 GB ones by --append
	  --scratch SIZE      an empty ext2 disk on /scratch, for files that are not tmpfs
	  --disk IMAGE:DIR    an ext4 image, mounted; what is written to it is dropped. Repeatable
	  --icount            one guest nanosecond is one instruction: for measuring (implies tcg, one CPU)
	  --accel kvm|tcg     default: KVM when it boots the kernel, else emulation
	  --parallel          emulate the CPUs at the same time, not in turns: real races, but QEMU 7.2
	                      now and then crashes a kernel that patches its own code
	  --cpu MODEL         QEMU's -cpu      --append ARGS      more kernel parameters. Repeatable
	The guest
	  --module FILE       default build/RELEASE/module/wsquery.ko
	  --no-module         boot without it
	  --load NAME         load a module of the kernel's too (hwpoison-inject). Repeatable
	  --add FILE[:PATH]   take a file along: a program to /usr/local/bin, others to /. Repeatable
	  --dir DIR:PATH      take a directory along. Repeatable
	  --out DIR           bring back what the command leaves in the guest's /out
	  --env NAME=VALUE    for the command. Repeatable
	  --cwd PATH          where it starts; /
	  --user UID          who it is; 0
	  --stdin             give it our standard input; else it has /dev/null
	  --shell             an interactive shell (or COMMAND) on our terminal, no time limit
	The verdict
	  --timeout SECONDS   300; 0 for none
	  --log FILE          keep the kernel log
	  --keep-warnings     let the kernel go on after a warning, to see what follows
	  --verbose           say what is done; all of the boot's messages in the log

	Exit status: the command's (128+N when signal N ended it, 127 when there is no such command);
	  124  the kernel log holds a warning, BUG, lock, stall or sanitizer report: lines on stderr
	  125  the machine was lost (panic, hang, timeout) or could not be started, or the module
	       not loaded or not removed: the reason and the log's end on stderr
	EOF
}

OPT_KERNEL=${WSQUERY_KERNEL:-6.12}
OPT_MEMORY=2G
OPT_SWAP=
OPT_SWAP_ON=zram
OPT_CPUS=
OPT_NODES=1
OPT_HUGEPAGES=
OPT_SCRATCH=
OPT_DISKS=()
OPT_ICOUNT=
OPT_PARALLEL=
OPT_ACCEL=
OPT_CPU=
OPT_APPEND=
OPT_MODULE=
OPT_NO_MODULE=
OPT_LOAD=
OPT_ADD=()
OPT_DIR=()
OPT_OUT=
OPT_ENV=()
OPT_CWD=/
OPT_USER=
OPT_STDIN=
OPT_SHELL=
OPT_TIMEOUT=
OPT_LOG=
OPT_KEEP_WARNINGS=
OPT_VERBOSE=
COMMAND=()

need_number() {
	[[ $2 =~ ^[0-9]+$ ]] || die "$1 needs a number, not '$2'"
}

# In bytes, from a number with K, M or G.
bytes() {
	[[ $1 =~ ^([0-9]+)([KMG]?)$ ]] || die "'$1' is not a size like 512M or 2G"
	local n=${BASH_REMATCH[1]}
	case ${BASH_REMATCH[2]} in
	K) n=$((n << 10)) ;;
	M) n=$((n << 20)) ;;
	G) n=$((n << 30)) ;;
	esac
	printf '%s\n' "$n"
}

options_parse() {
	while [[ $# -gt 0 ]]; do
		case $1 in
		--) shift; COMMAND=("$@"); break ;;
		-h | --help) usage; exit 0 ;;
		--icount) OPT_ICOUNT=1; shift; continue ;;
		--parallel) OPT_PARALLEL=1; shift; continue ;;
		--no-module) OPT_NO_MODULE=1; shift; continue ;;
		--stdin) OPT_STDIN=1; shift; continue ;;
		--shell) OPT_SHELL=1; shift; continue ;;
		--keep-warnings) OPT_KEEP_WARNINGS=1; shift; continue ;;
		--verbose) OPT_VERBOSE=1; shift; continue ;;
		esac
		[[ $# -ge 2 ]] || die "option $1 is unknown or lacks its value; see --help"
		case $1 in
		--kernel) OPT_KERNEL=$2 ;;
		--memory) OPT_MEMORY=$2 ;;
		--swap) OPT_SWAP=$2 ;;
		--swap-on) OPT_SWAP_ON=$2 ;;
		--cpus) need_number "$1" "$2"; OPT_CPUS=$2 ;;
		--nodes) need_number "$1" "$2"; OPT_NODES=$2 ;;
		--hugepages) need_number "$1" "$2"; OPT_HUGEPAGES=$2 ;;
		--scratch) OPT_SCRATCH=$2 ;;
		--disk) OPT_DISKS+=("$2") ;;
		--accel) OPT_ACCEL=$2 ;;
		--cpu) OPT_CPU=$2 ;;
		--append) OPT_APPEND+=" $2" ;;
		--module) OPT_MODULE=$2 ;;
		--load) OPT_LOAD+=" $2" ;;
		--add) OPT_ADD+=("$2") ;;
		--dir) OPT_DIR+=("$2") ;;
		--out) OPT_OUT=$2 ;;
		--env) OPT_ENV+=("$2") ;;
		--cwd) OPT_CWD=$2 ;;
		--user) need_number "$1" "$2"; OPT_USER=$2 ;;
		--timeout) need_number "$1" "$2"; OPT_TIMEOUT=$2 ;;
		--log) OPT_LOG=$2 ;;
		*) die "unknown option $1; see --help" ;;
		esac
		shift 2
	done
	options_check
}

options_check() {
	local size
	for size in "$OPT_MEMORY" ${OPT_SWAP:+"$OPT_SWAP"} ${OPT_SCRATCH:+"$OPT_SCRATCH"}; do
		bytes "$size" >/dev/null
	done
	case $OPT_SWAP_ON in zram | disk) ;; *) die "--swap-on takes zram or disk" ;; esac
	case $OPT_ACCEL in '' | kvm | tcg) ;; *) die "--accel takes kvm or tcg" ;; esac
	if [[ -n $OPT_SHELL ]]; then
		[[ ${#COMMAND[@]} -gt 0 ]] || COMMAND=(/bin/sh -l)
		: "${OPT_TIMEOUT:=0}"
	fi
	: "${OPT_TIMEOUT:=300}"
	[[ ${#COMMAND[@]} -gt 0 ]] || die "no command; see --help"
	if [[ -n $OPT_ICOUNT ]]; then
		[[ $OPT_ACCEL != kvm ]] || die "--icount counts emulated instructions: not with --accel kvm"
		[[ ${OPT_CPUS:-1} -eq 1 ]] || die "--icount has one CPU"
		OPT_ACCEL=tcg
		OPT_CPUS=1
	fi
	: "${OPT_CPUS:=2}"
	[[ $OPT_NODES -ge 1 && $OPT_NODES -le 8 ]] || die "--nodes takes 1 to 8"
}
