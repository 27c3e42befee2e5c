// SPDX-License-Identifier: GPL-2.0
/*
 * Runs test programs one after the other in the machine under test and prints
 * KTAP: a program fails if a case of it fails, if it does not print as many
 * results as it planned, if it takes longer than its time, or if the kernel's
 * log holds a warning afterwards. The last line has the totals of the cases.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wsq.h"

struct tally {
	int planned, seen, passed, failed, skipped;
	bool has_plan;
};

static int kmsg = -1;

/* What no test may leave in the kernel's log. */
static bool is_complaint(const char *line)
{
	static const char * const words[] = {
		"WARNING:", "BUG:", "BUG ", "Oops", "general protection fault", "Call Trace:",
		"KASAN:", "UBSAN:", "INFO: task ", "INFO: rcu", "INFO: trying to",
		"INFO: possible", "rcu: INFO", "suspicious RCU", "Bad page", "Bad rss-counter",
		"possible circular locking", "possible recursive locking", "inconsistent lock",
		"unreferenced object", "kernel panic", "Kernel panic", "soft lockup",
		"refcount_t:", "sleeping function called from invalid context",
	};
	size_t i;

	/* A race is the module's only by its stacks: what reads the whole log judges them. */
	if (strstr(line, "BUG: KCSAN:"))
		return false;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

/* Reads the log from where the last call ended; prints all of it if it is bad. */
static int log_complaints(void)
{
	static char lines[512][256];
	char record[8192];
	int n = 0, bad = 0, i;
	ssize_t got;

	while (kmsg >= 0) {
		char *text, *end;

		got = read(kmsg, record, sizeof(record) - 1);
		if (got < 0 && errno == EPIPE) {
			puts("# kernel: records were lost");
			continue;
		}
		if (got <= 0)
			break;
		record[got] = 0;
		text = strchr(record, ';');
		text = text ? text + 1 : record;
		end = strchr(text, '\n');
		if (end)
			*end = 0;
		bad += is_complaint(text);
		snprintf(lines[n++ % 512], sizeof(lines[0]), "%.255s", text);
	}
	for (i = n > 512 ? n - 512 : 0; bad && i < n; i++)
		printf("# kernel: %s\n", lines[i % 512]);
	return bad;
}

/* One line of a program's output, passed on as a subtest's. */
static void take_line(const char *line, struct tally *t)
{
	int n;

	if (!strncmp(line, "TAP version", 11)) {
		puts("  KTAP version 1");
		return;
	}
	printf("  %s\n", line);
	if (sscanf(line, "1..%d", &n) == 1) {
		t->has_plan = true;
		t->planned = n;
	} else if (!strncmp(line, "not ok ", 7)) {
		t->seen++;
		t->failed++;
	} else if (!strncmp(line, "ok ", 3)) {
		t->seen++;
		if (strstr(line, "# SKIP"))
			t->skipped++;
		else
			t->passed++;
	}
}

/* Ends whatever a program left behind; orphans become this process's children. */
static void end_children(void)
{
	char path[64], list[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	for (;;) {
		char *at = list;
		long pid;

		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? 0 : read(fd, list, sizeof(list) - 1);
		if (fd >= 0)
			close(fd);
		if (n <= 0)
			return;
		list[n] = 0;
		while ((pid = strtol(at, &at, 10)) > 0)
			kill(pid, SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Takes the output of a program until it closes it; false if time ran out. */
static bool take_output(int fd, double deadline, struct tally *t)
{
	char line[4096];
	size_t have = 0;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int left = (deadline - now()) * 1000;
		ssize_t n;
		char *end;

		if (left <= 0 || poll(&p, 1, left) <= 0)
			return false;
		n = read(fd, line + have, sizeof(line) - 1 - have);
		if (n <= 0)
			return true;
		have += n;
		line[have] = 0;
		while ((end = strchr(line, '\n')) || have == sizeof(line) - 1) {
			size_t used = end ? (size_t)(end - line) + 1 : have;

			if (end)
				*end = 0;
			take_line(line, t);
			have -= used;
			memmove(line, line + used, have + 1);
		}
		fflush(stdout);
	}
}

/* Returns what is wrong with the program as a whole, or NULL. */
static const char *run(const char *path, int seconds, struct tally *t)
{
	static char reason[80];
	int out[2], status = 0;
	bool in_time;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		return "no pipe";
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		execl(path, path, NULL);
		_exit(127);
	}
	close(out[1]);
	in_time = take_output(out[0], now() + seconds, t);
	if (!in_time)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(out[0]);
	end_children();
	if (!in_time)
		return "timed out";
	if (WIFSIGNALED(status)) {
		snprintf(reason, sizeof(reason), "killed by signal %d", WTERMSIG(status));
		return reason;
	}
	if (!t->has_plan)
		return "printed no plan";
	if (t->seen != t->planned)
		return "printed fewer or more results than planned";
	if (!t->failed && WEXITSTATUS(status) && WEXITSTATUS(status) != 4) {
		snprintf(reason, sizeof(reason), "exited with %d", WEXITSTATUS(status));
		return reason;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int i, first = 1, seconds = 600, bad = 0;
	struct tally all = {};

	if (argc > 2 && !strcmp(argv[1], "-t")) {
		seconds = atoi(argv[2]);
		first = 3;
	}
	if (first >= argc) {
		fprintf(stderr, "usage: %s [-t SECONDS] PROGRAM...\n", argv[0]);
		return 2;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0) {
		perror("/dev/kmsg");
		return 2;
	}
	lseek(kmsg, 0, SEEK_END);
	printf("KTAP version 1\n1..%d\n", argc - first);
	fflush(stdout);
	for (i = first; i < argc; i++) {
		struct tally t = {};
		double start = now();
		const char *wrong = run(argv[i], seconds, &t);

		if (log_complaints())
			wrong = "the kernel complained";
		all.passed += t.passed;
		all.failed += t.failed + !!wrong;
		all.skipped += t.skipped;
		bad += t.failed || wrong;
		printf("%s %d %s%s%s\n", t.failed || wrong ? "not ok" : "ok", i - first + 1,
		       argv[i], wrong ? " # " : "", wrong ? wrong : "");
		printf("# %.1f s\n", now() - start);
		fflush(stdout);
	}
	printf("%d passed, %d failed, %d skipped\n", all.passed, all.failed, all.skipped);
	return bad ? 1 : 0;
}
