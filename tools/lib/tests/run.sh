#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs test programs over every backend and prints KTAP. Works in busybox.
#
#  run.sh DIRECTORY...		each holds programs; its name is shown
#
# The programs in DIRECTORY/once choose their backends themselves and run once;
# those in DIRECTORY/examples print no TAP and pass by their exit status. A
# kernel without a program's backend makes it skip. The last line is
# "# totals PASSED FAILED SKIPPED", counted in single results.

passed=0
failed=0
skipped=0
tests=0
output=${TMPDIR:-/tmp}/wsquery-run.$$

count() {
	grep -c -E "$1" "$output"
}

# Totals of a program's results; one that died or has no plan has one failure more.
judge() {
	name=$1
	status=$2
	tests=$((tests + 1))
	if grep -q '^1\.\.0 # SKIP' "$output"; then
		skipped=$((skipped + 1))
		echo "ok $tests $name # SKIP $(sed -n 's/^1\.\.0 # SKIP //p' "$output")"
		return
	fi
	bad=$(count '^not ok ')
	skip=$(count '^ok .*# SKIP ')
	good=$(($(count '^ok ') - skip))
	if [ "$status" != 0 ] && [ "$bad" = 0 ] || ! grep -q '^1\.\.[1-9]' "$output"; then
		bad=$((bad + 1))
		echo "    # ended with status $status"
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
	skipped=$((skipped + skip))
	[ "$bad" = 0 ] || printf 'not '
	echo "ok $tests $name"
}

run() {
	name=$1
	shift
	echo "    # Subtest: $name"
	timeout "${TEST_TIMEOUT:-300}" "$@" >"$output" 2>&1
	status=$?
	sed 's/^/    /' "$output"
	judge "$name" $status
}

run_example() {
	name=$1
	echo "    # Subtest: $name"
	timeout "${TEST_TIMEOUT:-300}" "$2" >"$output.said" 2>&1
	status=$?
	{
		sed 's/^/# /' "$output.said"
		[ $status = 0 ] || printf 'not '
		echo "ok 1 - exit status $status"
		echo "1..1"
	} >"$output"
	rm -f "$output.said"
	sed 's/^/    /' "$output"
	judge "$name" $status
}

echo "KTAP version 1"
for directory; do
	arch=${directory##*/}
	for program in "$directory"/once/*; do
		[ -x "$program" ] || continue
		unset WSQUERY_BACKEND
		run "$arch ${program##*/}" "$program"
	done
	for WSQUERY_BACKEND in device scan pagemap; do
		export WSQUERY_BACKEND
		WSQUERY_PROBE=$("$directory/probe" 2>&1) || {
			tests=$((tests + 1))
			skipped=$((skipped + 1))
			echo "ok $tests $arch $WSQUERY_BACKEND # SKIP $WSQUERY_PROBE"
			continue
		}
		for program in "$directory"/each/*; do
			[ -x "$program" ] && run "$arch $WSQUERY_BACKEND ${program##*/}" "$program"
		done
		for program in "$directory"/examples/*; do
			[ -x "$program" ] || continue
			run_example "$arch $WSQUERY_BACKEND ${program##*/}" "$program"
		done
	done
done
rm -f "$output"
echo "1..$tests"
echo "# totals $passed $failed $skipped"
[ $failed = 0 ]
