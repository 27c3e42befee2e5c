# SPDX-License-Identifier: GPL-2.0
# Reading the kernel log: what in it means that the kernel is not well.
# shellcheck shell=bash

KLOG_BAD='WARNING: |BUG: |kernel BUG at|Oops: |general protection fault|Kernel panic'
KLOG_BAD+='|KASAN: |KCSAN: |KFENCE: |UBSAN: |kmemleak: .*suspected|refcount_t: '
KLOG_BAD+='|possible circular locking|possible recursive locking|possible irq lock inversion'
KLOG_BAD+='|inconsistent lock state|suspicious RCU usage|bad unlock balance|INFO: possible '
KLOG_BAD+='|held lock freed|still held|Invalid wait context|DEBUG_LOCKS_WARN_ON'
KLOG_BAD+='|scheduling while atomic|sleeping function called|soft lockup|hard LOCKUP'
KLOG_BAD+='|blocked for more than|detected stalls|self-detected stall|stalls on CPUs'
KLOG_BAD+='|[Bb]ad page (map|state)|Bad rss-counter|list_(add|del) corruption|ODEBUG: '

# The bad lines on stderr; false when there are none. Data races of the kernel with itself, which
# KCSAN reports among the module's, are told but not bad.
klog_bad() {
	local log
	log=$(tr -d '\0\r' <"$1" | awk -f "$HERE/races.awk")
	grep -a '^race of the kernel with itself: ' <<<"$log" | sed 's/^/vm: /' >&2
	grep -aE "$KLOG_BAD" <<<"$log" >&2
}

klog_tail() {
	[[ -s $1 ]] || { echo "vm: the kernel log is empty" >&2; return; }
	echo "vm: the kernel log ends:" >&2
	tr -d '\r' <"$1" | tail -n 40 | sed 's/^/  | /' >&2
}
