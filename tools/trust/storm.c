// SPDX-License-Identifier: GPL-2.0
/*
 * The storm: memory is mapped, unmapped, moved, protected, copied, collapsed, split, reclaimed,
 * migrated, poisoned, truncated and punched by several threads, while others ask about it in
 * every form, about themselves and about others, into good and bad memory, with signals, and
 * are killed. Some pages have a state that they cannot lose; it must always be told.
 */
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "storm.h"

static void on_signal(int signal)
{
	(void)signal;
}

/* A process that maps something and becomes itself again, for others to ask about. */
static int victim(void)
{
	char *p = mmap(ARENA_START, 512 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (p == ARENA_START)
		fill(p, 200);
	execl("/proc/self/exe", "storm", "--victim", NULL);
	return 1;
}

static void signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } };

	/* Without SA_RESTART: a call that gives up on a signal shows. */
	sigaction(SIGALRM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", 1, NULL, 's' }, { "seconds", 1, NULL, 't' }, { "victim", 0, NULL, 'v' },
		{ NULL, 0, NULL, 0 }
	};
	void *(*const roles[])(void *) = {
		storm_asker, storm_asker, storm_asker, storm_changer, storm_changer, storm_mover,
		storm_mover, storm_system, storm_killer, storm_poisoner,
	};
	pthread_t threads[ARRAY_SIZE(roles)];
	time_t seconds = 10, start = time(NULL);
	uint64_t seed = 1;
	struct rng r;
	size_t i;
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (o) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			seconds = atol(optarg);
			break;
		case 'v':
			return victim();
		default:
			printf("storm [--seed N] [--seconds N]\n");
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	storm_shared = mmap(NULL, sizeof(*storm_shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (storm_shared == MAP_FAILED)
		return 2;
	r = rng_of(seed, 0);
	storm_shared->seed = seed;
	storm_shared->dev = open("/dev/wsquery", O_RDONLY | O_CLOEXEC);
	storm_shared->pagemap = pagemap_open(0);
	atomic_store(&storm_shared->victim, dup(storm_shared->pagemap));
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	mkdir("/tmp/wsq-tmpfs", 0700);
	mount("tmpfs", "/tmp/wsq-tmpfs", "tmpfs", 0, "huge=advise");
	if (storm_shared->dev < 0 || storm_shared->pagemap < 0 ||
	    space_init(&storm_shared->space, &r) || storm_fixed())
		return 2;
	signals();
	for (i = 0; i < ARRAY_SIZE(roles); i++)
		if (pthread_create(&threads[i], NULL, roles[i], (void *)(i + 1)))
			return 2;
	/* On a slow machine a short storm takes longer until it has had everything. */
	while (time(NULL) - start < seconds ||
	       (storm_missing() && time(NULL) - start < 5 * seconds))
		usleep(50000);
	atomic_store(&storm_shared->stop, true);
	/* What hangs is found by who waits for this. */
	for (i = 0; i < ARRAY_SIZE(roles); i++)
		pthread_join(threads[i], NULL);
	o = storm_report(time(NULL) - start);
	printf("%s 1 storm\n", o ? "not ok" : "ok");
	fflush(stdout);
	_exit(o ? 1 : 0);
}
