# SPDX-License-Identifier: GPL-2.0
# Results in TAP, for the shell of busybox. What fails shows what it saw.
# shellcheck shell=sh

count=0

result() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
	fi
}

# equal NAME EXPECTED ACTUAL
equal() {
	if [ "$2" = "$3" ]; then
		result 0 "$1"
	else
		result 1 "$1"
		echo "$2" | sed 's/^/# expected: /'
		echo "$3" | sed 's/^/# actual:   /'
	fi
}

# like NAME PATTERN TEXT: some line matches the extended regular expression
like() {
	if echo "$3" | grep -q -E -e "$2"; then
		result 0 "$1"
	else
		result 1 "$1"
		echo "$3" | sed "s/^/# no match of $2: /"
	fi
}

# status NAME STATUS PATTERN COMMAND...: its exit status, and a line of what it says
status() {
	name=$1 want=$2 pattern=$3
	shift 3
	said=$("$@" 2>&1)
	got=$?
	if [ "$got" = "$want" ] && echo "$said" | grep -q -E -e "$pattern"; then
		result 0 "$name"
	else
		result 1 "$name"
		echo "# status $got for $want, and it says: $said"
	fi
}

plan() {
	echo "1..$count"
}
