// SPDX-License-Identifier: GPL-2.0
/*
 * What the storm consists of, counted by kind: a storm that lacks one is none.
 */
#include <string.h>

#include "storm.h"

/**
 * struct name - a kind of operation
 * @name: of it
 * @may_fail: it need not ever succeed
 */
static const struct name {
	const char *name;
	bool may_fail;
} names[KINDS] = {
	[KIND_PAGEOUT] = { "page out" }, [KIND_COLD] = { "cold" },
	[KIND_WILLNEED] = { "will need" }, [KIND_COLLAPSE] = { "collapse" },
	[KIND_HUGE] = { "huge" }, [KIND_NOHUGE] = { "not huge" }, [KIND_SPLIT] = { "split" },
	[KIND_MOVE] = { "move to a node" }, [KIND_PROTECT] = { "protect" },
	[KIND_READ] = { "read" }, [KIND_WRITE] = { "write" },
	[KIND_COMPACT] = { "compact" }, [KIND_DROP] = { "drop caches" },
	[KIND_CLEAR] = { "clear refs" }, [KIND_RECLAIM] = { "reclaim" },
	[KIND_SQUEEZE] = { "make the group small" },
	[KIND_UNLOAD] = { "unload the module", true },
	[KIND_SIGNAL] = { "signal" }, [KIND_KILL_ASKER] = { "fork and kill who asks" },
	[KIND_KILL_EXEC] = { "exec and kill who is asked about" },
	[KIND_EXIT] = { "fork and exit" },
	[KIND_POISON] = { "poison" }, [KIND_OFFLINE] = { "soft offline" },
	[KIND_UNPOISON] = { "unpoison" }, [KIND_MARK] = { "mark" },
	[KIND_UNMAPPED] = { "results to unmapped memory" },
	[KIND_READ_ONLY] = { "results to read-only memory" },
	[KIND_INSIDE] = { "results into what is asked about" },
};

/* States, and the kind of operation that makes them for certain. */
static const struct state {
	const char *name;
	enum kind kind;
} states[SEENS] = {
	[SEEN_HUGE] = { "huge", KIND_HUGE }, [SEEN_SWAPPED] = { "swapped", KIND_PAGEOUT },
	[SEEN_CACHED] = { "cached", KIND_PAGEOUT }, [SEEN_MARKER] = { "marker", KIND_MARK },
	[SEEN_MIGRATING] = { "migrating", KINDS }, [SEEN_HWPOISON] = { "poisoned", KIND_POISON },
};

static void add(size_t i, bool worked)
{
	atomic_fetch_add_explicit(&storm_shared->tried[i], 1, memory_order_relaxed);
	if (worked)
		atomic_fetch_add_explicit(&storm_shared->worked[i], 1, memory_order_relaxed);
}

void storm_did(enum kind kind, bool worked)
{
	add(kind, worked);
}

/* Whether one of the generator's operations succeeded is nothing that it tells. */
void storm_did_op(const struct op *op)
{
	unsigned int i;

	for (i = 0; op_nth(i) && op_nth(i) != op; i++)
		;
	add(KINDS + i, true);
}

void storm_absent(enum kind kind)
{
	atomic_store(&storm_shared->absent[kind], true);
}

/* The nth kind's name, or NULL after the last. */
static const char *kind_name(unsigned int i)
{
	const struct op *op = i < KINDS ? NULL : op_nth(i - KINDS);

	return i < KINDS ? names[i].name : op ? op->name : NULL;
}

static bool kind_missing(unsigned int i)
{
	if (atomic_load(&storm_shared->absent[i]))
		return false;
	return !atomic_load(i < KINDS && names[i].may_fail ? &storm_shared->tried[i] :
			    &storm_shared->worked[i]);
}

static bool state_missing(unsigned int i)
{
	const enum kind kind = states[i].kind;

	return !atomic_load(&storm_shared->seen[i]) && kind != KINDS &&
	       !atomic_load(&storm_shared->absent[kind]);
}

/* How many kinds, states and looks at locked pages were not there yet. */
unsigned int storm_missing(void)
{
	unsigned int missing = 0, i;

	for (i = 0; kind_name(i); i++)
		missing += kind_missing(i);
	for (i = 0; i < SEENS; i++)
		missing += state_missing(i);
	for (i = 0; i < FORMS; i++)
		missing += !atomic_load(&storm_shared->locked[i]);
	return missing;
}

static void report_kind(unsigned int i)
{
	unsigned long tried = atomic_load(&storm_shared->tried[i]);
	unsigned long worked = atomic_load(&storm_shared->worked[i]);

	if (atomic_load(&storm_shared->absent[i])) {
		printf("#  %-34s not on this kernel\n", kind_name(i));
		return;
	}
	printf("#  %-34s %8lu", kind_name(i), tried);
	if (tried != worked)
		printf(", %lu of them in vain", tried - worked);
	printf("%s\n", kind_missing(i) ? " MISSING" : "");
}

static void report_answers(void)
{
	int i;

	printf("# requests:");
	for (i = 0; i < FORMS; i++)
		printf(" %s %lu", form_names[i], atomic_load(&storm_shared->asked[i]));
	printf("\n# looks at locked pages:");
	for (i = 0; i < FORMS; i++) {
		unsigned long n = atomic_load(&storm_shared->locked[i]);

		printf(" %s %lu%s", form_names[i], n, n ? "" : " MISSING");
	}
	printf("\n# states told:");
	for (i = 0; i < SEENS; i++)
		printf(" %s %lu%s", states[i].name, atomic_load(&storm_shared->seen[i]),
		       state_missing(i) ? " MISSING" : "");
	printf("\n");
}

/* Prints it all; returns whether anything is wrong or missing. */
int storm_report(long seconds)
{
	unsigned long done = 0, asked = 0, locked = 0, wrong = atomic_load(&storm_shared->wrong);
	unsigned int missing = storm_missing(), i;

	printf("# operations:\n");
	for (i = 0; kind_name(i); i++) {
		report_kind(i);
		done += atomic_load(&storm_shared->tried[i]);
	}
	report_answers();
	for (i = 0; i < FORMS; i++) {
		asked += atomic_load(&storm_shared->asked[i]);
		locked += atomic_load(&storm_shared->locked[i]);
	}
	printf("# storm of %ld seconds: %lu operations, %lu requests, %lu answers looked at, ",
	       seconds, done, asked, atomic_load(&storm_shared->answers));
	printf("%lu looks at locked pages, %lu EFAULT, %lu ESRCH, %u kinds missing, %lu wrong\n",
	       locked, atomic_load(&storm_shared->faults), atomic_load(&storm_shared->gone),
	       missing, wrong);
	return missing || wrong;
}
