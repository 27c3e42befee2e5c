#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs in the emulated machine: a job with each of the Wines, which are on /trixie and /bookworm.
# /programs has the Windows programs and the patched ntdll.so.
set -u

ntdll=usr/lib/x86_64-linux-gnu/wine/x86_64-unix/ntdll.so
# Where folders.sh made the prefix, in both alike.
home=$(sed -n 's/^root:[^:]*:[^:]*:[^:]*:[^:]*:\([^:]*\):.*/\1/p' /trixie/etc/passwd)
prefix=$home/prefix

for root in /trixie /bookworm; do
	# Already done when this script calls itself.
	[ ! -d "$root/programs" ] || continue
	mkdir -p "$root/programs"
	mount -o bind /programs "$root/programs"
	mount -t proc proc "$root/proc"
	mount -o rbind /dev "$root/dev"
	mount -o bind /sys "$root/sys"
	mount -t tmpfs tmpfs "$root/tmp"
done

# A patched Wine is the packaged one with another file over one of its own.
root_of() {
	umount -l "/trixie/$ntdll" 2>/dev/null
	case $1 in
	before) root=/bookworm ;;
	buffered) root=/trixie ;;
	patched) root=/trixie; mount -o bind /programs/ntdll.so "/trixie/$ntdll" ;;
	esac
}

in_root() {
	chroot "$root" /usr/bin/env HOME="$home" WINEPREFIX="$prefix" WINEDEBUG=-all LC_ALL=C.UTF-8 \
		PATH=/usr/bin:/bin:/usr/lib/wine "$@"
}

# So that no process of another Wine is left.
stop() {
	# shellcheck disable=SC2016 # expanded in there
	in_root sh -c 'server=$(find /usr/lib -name "wineserver*" -type f | head -n 1); "$server" -k; "$server" -w'
}

# wine WHICH PROGRAM ARGUMENT...
wine() {
	root_of "$1"
	shift
	program=$1
	shift
	in_root wine "/programs/$program.exe" "$@" >/tmp/stdout 2>/tmp/stderr </dev/null
	status=$?
	tr -d '\r' </tmp/stdout
	# The status of Wine's own tests is the number of failures.
	[ "$program" = psapi_test ] || [ $status -eq 0 ] || { tail -n 20 /tmp/stderr; echo "== status $status"; } >&2
}

# run WHICH ARGUMENT...
run() {
	echo "== $1"
	wine "$@"
}

# bench ROUNDS ARGUMENT...: alternating, so that what else the host does hits all alike.
bench() {
	rounds=$1
	shift
	for _ in $(seq "$rounds"); do
		for which in before buffered patched; do
			run "$which" query_working_set "$@"
		done
	done
}

# When the program asks for it, all that is in memory goes to swap.
truth() {
	mkdir -p /cgroup
	mount -t cgroup2 cgroup2 /cgroup 2>/dev/null
	echo +memory >/cgroup/cgroup.subtree_control
	mkdir -p /cgroup/wine
	for which in buffered patched; do
		root_of $which
		stop
		echo "== $which"
		signal=$root$prefix/drive_c/swap-out
		rm -f "$signal"
		(
			while [ ! -e "$signal" ]; do sleep 1; done
			for _ in 1 2 3; do echo 1G >/cgroup/wine/memory.reclaim; done 2>/dev/null
			rm -f "$signal"
		) &
		sh -c 'echo $$ >/cgroup/wine/cgroup.procs; exec "$@"' sh \
			sh "$0" one "$which" working_set_truth 'C:\swap-out'
		kill $! 2>/dev/null
	done
}

case $1 in
one)
	shift
	root_of "$1"
	wine "$@"
	;;
bench)
	shift
	bench "$@"
	;;
instructions)
	# In windows of less than a million instructions; the slow one has to do with fewer pages.
	run before query_working_set 128 20 64
	run buffered query_working_set 2048 20 64
	run patched query_working_set 2048 20 64
	;;
truth)
	truth
	;;
resident)
	for which in before buffered patched; do
		run $which resident_bytes "$2"
	done
	;;
psapi)
	for which in buffered patched; do
		root_of $which
		stop
		run $which psapi_test psapi_main
	done
	;;
esac

# Whether what was printed is good is for report.py to say.
exit 0
