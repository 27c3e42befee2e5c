// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel's trace events tell of a question: how long the mmap lock is held,
 * and how much memory is allocated.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "bench.h"

#define TRACING	"/sys/kernel/tracing/"
#define EVENTS	TRACING "events/"
#define REPEATS	3
#define LIVE	64

/* Around the call; what turns the events on and off allocates, too. */
#define ASKED		"wsquery-bench asks"
#define ANSWERED	"wsquery-bench was answered"

static const char *const lock_events[] = {
	EVENTS "mmap_lock/mmap_lock_acquire_returned/enable",
	EVENTS "mmap_lock/mmap_lock_released/enable",
	NULL
};

static const char *const memory_events[] = {
	EVENTS "kmem/kmalloc/enable",
	EVENTS "kmem/kfree/enable",
	NULL
};

static bool write_to(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return false;
	fputs(text, file);
	return !fclose(file);
}

static bool trace_switch(const char *const *events, const char *to)
{
	bool done = true;

	for (; *events; events++)
		done = write_to(*events, to) && done;
	return done;
}

static bool trace_start(void)
{
	static int there = -1;
	char pid[16];

	if (there >= 0)
		return there;
	if (access(TRACING "trace", F_OK))
		mount("tracefs", TRACING, "tracefs", 0, NULL);
	snprintf(pid, sizeof(pid), "%d", getpid());
	there = write_to(TRACING "trace_clock", unit_is_insn ? "x86-tsc" : "mono") &&
		write_to(TRACING "set_event_pid", pid) && trace_switch(lock_events, "0") &&
		trace_switch(memory_events, "0");
	return there;
}

/* The events of a call. */
static FILE *trace_call(struct job *job, const struct who *who, const char *const *events)
{
	static const char asked[] = ASKED "\n", answered[] = ANSWERED "\n";
	static int marker = -1;

	if (!trace_start())
		return NULL;
	if (marker < 0)
		marker = open(TRACING "trace_marker", O_WRONLY | O_CLOEXEC);
	write_to(TRACING "trace", "");
	job->found = 0;
	trace_switch(events, "1");
	if (write(marker, asked, strlen(asked)) < 0)
		die("no trace_marker");
	who->ask(job, 0, job->count);
	if (write(marker, answered, strlen(answered)) < 0)
		die("no trace_marker");
	trace_switch(events, "0");
	return fopen(TRACING "trace", "re");
}

/* The next line within the call. */
static bool trace_line(FILE *file, char *line, int size, bool *inside)
{
	while (fgets(line, size, file)) {
		if (strstr(line, ASKED))
			*inside = true;
		else if (strstr(line, ANSWERED))
			*inside = false;
		else if (*inside)
			return true;
	}
	return false;
}

/* The longest hold, in the unit of the kernel's clock; negative if there is none. */
static double longest_hold(FILE *file)
{
	double since = -1, longest = -1;
	bool inside = false;
	char line[512];

	while (trace_line(file, line, sizeof(line), &inside)) {
		const char *event = strstr(line, ": mmap_lock_");
		const char *at = event;
		double now;

		if (!event)
			continue;
		while (at > line && at[-1] != ' ')
			at--;
		if (sscanf(at, "%lf", &now) != 1)
			continue;
		if (!unit_is_insn)
			now *= 1e9;
		if (strstr(event, "mmap_lock_acquire_returned"))
			since = now;
		else if (since >= 0 && now - since > longest)
			longest = now - since;
	}
	return longest;
}

/**
 * trace_longest() - the longest hold of the mmap lock
 * @job: the questions
 * @who: who is asked
 *
 * Return: in the clock's unit, the least of several runs; negative if the kernel does
 * not tell.
 */
double trace_longest(struct job *job, const struct who *who)
{
	double least = -1;
	int i;

	for (i = 0; i < REPEATS; i++) {
		FILE *file = trace_call(job, who, lock_events);
		double longest;

		if (!file)
			return -1;
		longest = longest_hold(file);
		fclose(file);
		if (longest >= 0 && (least < 0 || longest < least))
			least = longest;
	}
	return least;
}

/**
 * trace_memory() - the most that is allocated at a time by kmalloc() and its like
 * @job: the questions
 * @who: who is asked
 *
 * Return: bytes; negative if the kernel does not tell.
 */
double trace_memory(struct job *job, const struct who *who)
{
	FILE *file = trace_call(job, who, memory_events);
	unsigned long live[LIVE], size[LIVE], now = 0, most = 0;
	bool inside = false;
	size_t filled = 0;
	char line[512];

	if (!file)
		return -1;
	while (trace_line(file, line, sizeof(line), &inside)) {
		const char *at = strstr(line, "ptr="), *bytes = strstr(line, "bytes_alloc=");
		unsigned long ptr, new = 0;
		size_t i;

		if (!at || sscanf(at, "ptr=%lx", &ptr) != 1 || !ptr ||
		    (bytes && sscanf(bytes, "bytes_alloc=%lu", &new) != 1))
			continue;
		for (i = 0; i < filled && live[i] != ptr; i++)
			;
		/* Functions that call others tell the same a second time. */
		if (i < filled) {
			now -= size[i];
			filled--;
			live[i] = live[filled];
			size[i] = size[filled];
		}
		if (new && filled < LIVE) {
			live[filled] = ptr;
			size[filled++] = new;
			now += new;
		}
		if (now > most)
			most = now;
	}
	fclose(file);
	return most;
}
