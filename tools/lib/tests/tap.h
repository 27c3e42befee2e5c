/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Test results as TAP lines on standard output. Each program ends with
 * tap_done(), so that one that dies half-way has no plan.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned int tap_count, tap_failures;

#define ok(condition, ...) tap_ok((condition), __LINE__, __VA_ARGS__)

static inline bool __attribute__((format(printf, 3, 4)))
tap_ok(bool good, int line, const char *format, ...)
{
	__builtin_va_list args;

	printf("%sok %u - ", good ? "" : "not ", ++tap_count);
	__builtin_va_start(args, format);
	vprintf(format, args);
	__builtin_va_end(args);
	printf("\n");
	if (!good) {
		printf("# line %d\n", line);
		tap_failures++;
	}
	fflush(stdout);
	return good;
}

static inline void tap_skip(const char *what, const char *why)
{
	printf("ok %u - %s # SKIP %s\n", ++tap_count, what, why);
	fflush(stdout);
}

static inline int tap_done(void)
{
	printf("1..%u\n", tap_count);
	return tap_failures ? 1 : 0;
}

static inline void tap_skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(0);
}

#endif /* TAP_H */
