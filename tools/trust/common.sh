# SPDX-License-Identifier: GPL-2.0
# What run, soak and check-debug share.
# shellcheck shell=bash disable=SC2034

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
BUILD=$TOP/build/trust
PASSED=0 FAILED=0 SKIPPED=0
# All that the boots print, if it is to be looked at once more.
LOG=/dev/null

# trust_boot LABEL OPTIONS... -- COMMANDS...: one boot that runs the commands under "inside".
trust_boot() {
	local label=$1 options=()
	shift
	while [[ $1 != -- ]]; do options+=("$1"); shift; done
	shift
	trust_step "$label" \
		"$TOP/tools/vm/vm" --memory 2G --nodes 2 --swap 512M --hugepages 16 --scratch 64M \
		--env WSQUERY_DISK=/scratch --add "$BUILD/oracle" --add "$BUILD/storm" \
		--add "$BUILD/faults" --add "$BUILD/fuzz" "${options[@]}" -- "$HERE/inside" "$@"
}

# trust_step LABEL COMMAND...: runs what ends with a line of totals, and adds them; what is lost
# has failed.
trust_step() {
	local label=$1 out status=0 line start=$SECONDS passed=0 failed=0 skipped=0
	shift
	out=$(mktemp "${TMPDIR:-/tmp}/wsquery-trust.XXXXXX")
	echo "# $label"
	"$@" 2>&1 </dev/null | tee "$out" |
		sed -u -e '/^[0-9]* passed, /d' -e 's/^/  /' || status=${PIPESTATUS[0]}
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$out" | tail -n 1)
	cat "$out" >>"$LOG"
	rm -f "$out"
	if [[ -n $line ]]; then
		read -r passed _ failed _ skipped _ <<<"$line"
	fi
	# The kernel's log can be what is wrong when no program is.
	if [[ $status -ne 0 && $failed -eq 0 ]]; then
		echo "# $label: ended with status $status and ${line:-no totals}"
		failed=1
	fi
	PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed)) SKIPPED=$((SKIPPED + skipped))
	echo "# $label: $passed passed, $failed failed, $skipped skipped, $((SECONDS - start)) seconds"
}

trust_totals() {
	echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
	[[ $FAILED -eq 0 ]]
}

trust_build() {
	"$TOP/tools/setup/setup" --no-kernel vm &&
		make -s --no-print-directory -C "$HERE" "BUILD=$BUILD"
}
