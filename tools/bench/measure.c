// SPDX-License-Identifier: GPL-2.0
/*
 * Measuring: how many questions fit a window, and the least of many windows.
 *
 * A window must be too short to contain a timer tick now and then. Its first
 * answers are checked, and give an estimate; the rest is repeated until the least
 * cost was seen again.
 */
#include "bench.h"
#include "mark.h"

#define WINDOW		500000.0
#define WINDOWS		16
#define REPEATS		12
#define REPEATS_TIME	80
#define PROBE		16
#define MANY		4194304

static size_t weight(const struct job *job, size_t first, size_t n)
{
	if (!job->weight)
		return n;
	return job->weight(job, first + n) - job->weight(job, first);
}

/* Which case the plugin is told that is asked about; 0 for none. */
static unsigned int profiled;

static void ask(struct job *job, const struct who *who, size_t first, size_t n)
{
	/* Where QEMU's plugin counts, it is told, too. */
	if (profiled)
		mark(MARK_CASE + profiled);
	who->ask(job, first, n);
	if (profiled) {
		mark(MARK_CASE);
		profile_asked(profiled, weight(job, first, n));
	}
}

static double once(struct job *job, const struct who *who, size_t first, size_t n)
{
	__u64 from, to;

	from = clock_now();
	ask(job, who, first, n);
	to = clock_now();
	return clock_cost(from, to);
}

static void verify(struct job *job, const struct who *who, size_t first, size_t n)
{
	job_poison(job, first, n);
	who->ask(job, first, n);
	if (!who->check(job, first, n, who->blind))
		die("%s answers wrongly", who->name);
}

static double least(struct job *job, const struct who *who, size_t first, size_t n)
{
	int repeats = unit_is_insn ? REPEATS : REPEATS_TIME, i, again = 0;
	double best = once(job, who, first, n);

	for (i = 1; i < repeats; i++) {
		double cost = once(job, who, first, n);

		if (cost < best * 0.998)
			again = 0;
		else if (cost < best * 1.002)
			again++;
		if (cost < best)
			best = cost;
		if (again == 2 && unit_is_insn)
			break;
	}
	return best;
}

/* As many questions as fit, but whole calls. */
static size_t window_size(struct job *job, const struct who *who)
{
	size_t probe = job->count < PROBE ? job->count : PROBE, n;
	double cost, two;

	if (job->window)
		return job->window < job->count ? job->window : job->count;
	/* Without what a call costs in itself. */
	verify(job, who, 0, probe);
	cost = least(job, who, 0, probe);
	two = least(job, who, 0, probe / 2 ? probe / 2 : 1);
	cost = probe > 1 && cost > two ? (cost - two) / (probe - probe / 2) : cost;
	if (cost < 1)
		cost = 1;
	n = WINDOW / cost;
	if (n > job->count)
		n = job->count;
	if (job->per_call && n > job->per_call)
		n -= n % job->per_call;
	return n ? n : 1;
}

/**
 * measure() - the cost of a question
 * @job: the questions
 * @who: who is asked
 *
 * Return: in the clock's unit; negative if they do not exist here. Does not return if
 * an answer is wrong.
 */
double measure(struct job *job, const struct who *who)
{
	size_t n, total = 0, windows, step, i;
	double cost = 0;

	if ((who->there && !who->there()) || (marked && who->blind))
		return -1;
	n = window_size(job, who);
	profiled = wanted_now;
	windows = job->count / n;
	if (windows > WINDOWS)
		windows = WINDOWS;
	step = (job->count - n) / (windows > 1 ? windows - 1 : 1);
	step -= step % n;
	for (i = 0; i < windows; i++) {
		verify(job, who, i * step, n);
		cost += least(job, who, i * step, n);
		total += weight(job, i * step, n);
	}
	profiled = 0;
	return cost / (total ? total : 1);
}

/*
 * The cost of all questions in one window, however long. What takes seconds differs
 * little from one time to the next.
 */
double measure_whole(struct job *job, const struct who *who)
{
	double cost, again;

	verify(job, who, 0, job->count);
	if (job->count < MANY)
		return least(job, who, 0, job->count);
	cost = once(job, who, 0, job->count);
	again = once(job, who, 0, job->count);
	return again < cost ? again : cost;
}
