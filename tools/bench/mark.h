/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the benchmark tells the plugin of QEMU: mark() executes a no-operation whose
 * unused displacement is the message. See qemu/count.c.
 */
#ifndef BENCH_MARK_H
#define BENCH_MARK_H

/* What a symbol of the kernel stands for. */
enum mark_symbol {
	SYMBOL_DOWN_READ,
	SYMBOL_UP_READ,
	SYMBOL_SPIN_LOCK,
	SYMBOL_SPIN_UNLOCK,
	SYMBOL_RCU_LOCK,
	SYMBOL_RCU_UNLOCK,
	SYMBOL_INTERRUPT,
	SYMBOL_PREEMPT_COUNT,
};

/*
 * The bytes of an address, highest first, and then what is there; that counting
 * starts or ends; and which question is asked from now on: 0 for none.
 */
#define MARK_SYMBOL	256
#define MARK_START	300
#define MARK_END	301
#define MARK_CASE	512
#define MARK_CASES	256
#define MARKS		(MARK_CASE + MARK_CASES)

/* nopl MARK_MAGIC + message(%rax) */
#define MARK_NOP	0x0f, 0x1f, 0x80
#define MARK_MAGIC	0x57510000

extern const char mark_slots[];

void mark_symbols(void);
void mark(unsigned int what);

#endif /* BENCH_MARK_H */
