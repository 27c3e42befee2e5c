// SPDX-License-Identifier: GPL-2.0
/*
 * The clock: instructions where the machine counts them, else nanoseconds.
 *
 * Under instruction counting the time-stamp counter advances by one with each
 * instruction. A timer tick costs instructions of its own, and QEMU adds more
 * while it brings its timers up to date: windows are kept too short for ticks, or
 * are corrected by what ticks cost a loop of known length.
 */
#include <time.h>

#include "bench.h"

#define LOOP_SHORT	2000000UL
#define LOOP_LONG	100000000UL
/* Longer windows contain ticks. */
#define WINDOW_LONG	2000000.0

bool unit_is_insn;
static double overhead;
static double long_factor = 1;

const char *clock_unit(void)
{
	return unit_is_insn ? "insn" : "ns";
}

__u64 clock_now(void)
{
	struct timespec ts;

#ifdef __x86_64__
	if (unit_is_insn) {
		unsigned int low, high;

		asm volatile("rdtsc" : "=a" (low), "=d" (high) : : "memory");
		return (__u64)high << 32 | low;
	}
#endif
	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* What was spent between two readings. */
double clock_cost(__u64 from, __u64 to)
{
	double cost = to - from - overhead;

	return cost > WINDOW_LONG ? cost * long_factor : cost;
}

#ifdef __x86_64__
static void loop(__u64 instructions)
{
	__u64 turns = instructions / 2;

	asm volatile("1: dec %0; jnz 1b" : "+r" (turns) : : "cc");
}

static double loop_reads(__u64 instructions)
{
	double least = 0;
	int i;

	for (i = 0; i < 10; i++) {
		__u64 from = clock_now();
		double took;

		loop(instructions);
		took = clock_now() - from - overhead;
		if (!i || took < least)
			least = took;
	}
	return least;
}

static void calibrate(void)
{
	double reads = loop_reads(LOOP_SHORT);

	if (reads < LOOP_SHORT * 0.99 || reads > LOOP_SHORT * 1.01)
		die("a loop of %lu instructions reads %.0f: instructions are not counted here",
		    LOOP_SHORT, reads);
	long_factor = LOOP_LONG / loop_reads(LOOP_LONG);
	if (long_factor > 1)
		long_factor = 1;
}
#else
static void calibrate(void)
{
	die("instructions are only counted on x86-64");
}
#endif

void clock_start(bool insn)
{
	int i;

	unit_is_insn = insn;
	overhead = 1e9;
	for (i = 0; i < 100; i++) {
		__u64 from = clock_now();
		double took = clock_now() - from;

		if (took < overhead)
			overhead = took;
	}
	if (insn)
		calibrate();
}
