#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Boots a guest per kernel, runs the programs in it, and sums up.
#
#  check.sh OUT ARCHITECTURES KERNELS
#
# OUT/ARCHITECTURE holds what the Makefile built. "host" as a kernel means this
# machine, without a guest.

out=$1
archs=$2
kernels=$3
here=$(cd "$(dirname "$0")" && pwd)
vm=$here/../../vm/vm
passed=0
failed=0
skipped=0

for kernel in $kernels; do
	log=$out/check-$kernel.ktap
	echo "# kernel $kernel"
	set --
	if [ "$kernel" = host ]; then
		for arch in $archs; do
			set -- "$@" "$out/$arch"
		done
		sh "$here/run.sh" "$@" >"$log"
	else
		for arch in $archs; do
			set -- "$@" --dir "$out/$arch:/tests/$arch"
		done
		set -- "$@" -- sh /tests/lib/run.sh
		for arch in $archs; do
			set -- "$@" "/tests/$arch"
		done
		"$vm" --kernel "$kernel" --swap 256M --scratch 64M --hugepages 4 --timeout 1800 \
			--env WSQUERY_TEST_GUEST=1 \
			--dir "$here:/tests/lib" "$@" >"$log"
	fi
	status=$?
	cat "$log"
	totals=$(sed -n 's/^# totals //p' "$log")
	# shellcheck disable=SC2086 # three numbers
	set -- $totals
	passed=$((passed + ${1:-0}))
	failed=$((failed + ${2:-0}))
	skipped=$((skipped + ${3:-0}))
	if [ $# != 3 ] || { [ $status != 0 ] && [ "${2:-0}" = 0 ]; }; then
		echo "# kernel $kernel: ended with status $status"
		failed=$((failed + 1))
	fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed != 0 ]
