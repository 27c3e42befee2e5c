# SPDX-License-Identifier: GPL-2.0
# What run, soak and check-debug share.
# shellcheck shell=bash disable=SC2034

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
BUILD=$TOP/build/trust
PASSED=0 FAILED=0 SKIPPED=0

# trust_boot LABEL OPTIONS... -- COMMANDS...: one boot that runs the commands under "inside".
# Adds its totals; what is lost has failed.
trust_boot() {
	local label=$1 options=() out status=0 line start=$SECONDS
	shift
	while [[ $1 != -- ]]; do options+=("$1"); shift; done
	shift
	out=$(mktemp "${TMPDIR:-/tmp}/wsquery-trust.XXXXXX")
	echo "# $label"
	"$TOP/tools/vm/vm" --memory 2G --nodes 2 --swap 512M --hugepages 16 --scratch 64M \
		--env WSQUERY_DISK=/scratch --add "$BUILD/oracle" --add "$BUILD/storm" \
		--add "$BUILD/faults" --add "$BUILD/fuzz" "${options[@]}" \
		-- "$HERE/inside" "$@" 2>&1 </dev/null |
		tee "$out" | sed -u -e '/^[0-9]* passed, /d' -e 's/^/  /' || status=${PIPESTATUS[0]}
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$out" | tail -n 1)
	rm -f "$out"
	local passed=0 failed=0 skipped=0
	if [[ -n $line ]]; then
		read -r passed _ failed _ skipped _ <<<"$line"
	fi
	# The kernel's log can be what is wrong when no program is.
	if [[ $status -ne 0 && $failed -eq 0 ]]; then
		echo "# $label: tools/vm/vm exited with $status"
		failed=1
	fi
	PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed)) SKIPPED=$((SKIPPED + skipped))
	echo "# $label: $((SECONDS - start)) seconds"
}

trust_totals() {
	echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
	[[ $FAILED -eq 0 ]]
}

trust_build() {
	"$TOP/tools/setup/setup" --no-kernel vm &&
		make -s --no-print-directory -C "$HERE" "BUILD=$BUILD"
}
