# SPDX-License-Identifier: GPL-2.0
# Boots the emulated machine with more options for QEMU than tools/vm/vm has: with the plugin that
# counts instructions (qemu/count.c), or with two processors in virtual time.
# shellcheck shell=bash

# qemu_with DIR OPTION...: makes DIR for the start of PATH, where QEMU has these options, too.
qemu_with() {
	local dir=$1
	shift
	mkdir -p "$dir"
	cat >"$dir/qemu-system-x86_64" <<-EOT
		#!/bin/sh
		exec $(command -v qemu-system-x86_64) "\$@" $*
	EOT
	chmod +x "$dir/qemu-system-x86_64"
}

# counting TMP SETTINGS OPTION-OF-VM... -- OPTION-OF-BENCH...: what the plugin wrote is then in
# TMP/counted, the kernel's symbols in TMP/out/kallsyms, what the benchmark printed in TMP/printed.
# Needs TOP, and has built the benchmark in BUILD.
counting() {
	local tmp=$1 settings=$2 options=()
	shift 2
	while [[ $1 != -- ]]; do options+=("$1"); shift; done
	shift
	make -s -C "$TOP/tools/bench" O="$BUILD" >&2
	make -s -C "$TOP/tools/bench/qemu" O="$BUILD" >&2
	qemu_with "$tmp/bin" -plugin "$BUILD/count.so,out=$tmp/counted$settings"
	# shellcheck disable=SC2016 # for the guest's shell
	PATH=$tmp/bin:$PATH "$TOP/tools/vm/vm" --icount --memory 2G --swap 512M --scratch 160M \
		--timeout 900 --add "$BUILD/wsquery-bench" "${options[@]}" --out "$tmp/out" -- \
		/bin/sh -c 'cat /proc/kallsyms >/out/kallsyms && touch -d 2000-01-01 /out/* /out &&
			exec wsquery-bench "$@"' \
		sh --unit insn --marked --scratch /scratch "$@" >"$tmp/printed" </dev/null
}
