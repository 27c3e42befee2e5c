// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a caller may not know is not told, and not invented: the page cache of a
 * file that it can only read.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <queryworkingsetex.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "memory.h"

#define FILE_PAGES	4

static ULONG_PTR word_of(void *address)
{
	PSAPI_WORKING_SET_EX_INFORMATION entry = { .VirtualAddress = address };

	return QueryWorkingSetEx(GetCurrentProcess(), &entry, sizeof(entry)) ?
	       entry.VirtualAttributes.Flags : (ULONG_PTR)-1;
}

/* Page 0 is mapped, page 2 is in the page cache only. */
static void look(const char *who, int fd, bool may_know)
{
	const uint64_t attrs = WSQUERY_CACHED | WSQUERY_NOT_TOLD;
	char *memory = map_with(FILE_PAGES, PROT_READ, MAP_PRIVATE, fd);
	uint64_t hole = may_know ? WSQUERY_CACHED : WSQUERY_NOT_TOLD;
	struct wsquery_progress progress;
	uint64_t words[FILE_PAGES];
	ULONG_PTR word;

	touch_read(memory);
	madvise(memory + 2 * PAGE, PAGE, MADV_DONTNEED);
	memset(words, POISON, sizeof(words));
	ok(!wsquery_get_pages(NULL, address_of(memory), FILE_PAGES * PAGE, attrs, words,
			      &progress), "%s asks", who);
	ok((words[0] & (attrs | WSQUERY_PRESENT)) == WSQUERY_PRESENT,
	   "%s: its own page-table entries are told", who);
	ok((words[2] & (attrs | WSQUERY_PRESENT)) == hole, "%s: what is behind a hole: %llx", who,
	   (unsigned long long)words[2]);
	ok(progress.not_told >= !may_know && (!may_know || !progress.not_told),
	   "%s: %llu pages not told", who, (unsigned long long)progress.not_told);
	word = word_of(memory + 2 * PAGE);
	ok((word & 0xffffffff) == (0x40008000 | (may_know ? 1 << 22 : 0)),
	   "%s: Location %s, is %lx", who, may_know ? "resident" : "unknown",
	   (unsigned long)word);
	munmap(memory, FILE_PAGES * PAGE);
}

/* The results of a child come through a pipe that is our output already. */
static void look_as_stranger(const char *name)
{
	int status, fd;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(3);
		/* Without this, nobody may open /proc/self/pagemap any more. */
		prctl(PR_SET_DUMPABLE, 1);
		fd = open(name, O_RDONLY);
		if (fd < 0)
			_exit(3);
		look("a stranger", fd, false);
		fflush(stdout);
		_exit(tap_failures ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	tap_count += 5;
	if (status)
		ok(false, "the stranger ended with status %x", status);
}

int main(void)
{
	const char *directory = disk_directory();
	char name[64];
	char *page;
	int fd, i;

	need_backend();
	if (!directory || geteuid())
		tap_skip_all("needs a disk and root");
	snprintf(name, sizeof(name), "%s/wsquery-XXXXXX", directory);
	fd = mkstemp(name);
	page = calloc(1, PAGE);
	for (i = 0; i < FILE_PAGES; i++)
		if (write(fd, page, PAGE) != (ssize_t)PAGE)
			exit(2);
	fchmod(fd, 0644);
	look("the owner", fd, is_device());
	look_as_stranger(name);
	unlink(name);
	return tap_done();
}
