// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The attribute words, bit by bit, and the working set.
 */
#define _GNU_SOURCE
#include <queryworkingsetex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "memory.h"

#define VALID		0x1UL
#define PROTECTION(p)	((unsigned long)(p) << 4)
#define SHARE_COUNT	(7UL << 1)
#define SHARED		(1UL << 15)
#define LOCKED		(1UL << 22)
#define LARGE		(1UL << 23)
#define RESIDENT	(1UL << 22)
#define PAGEFILE	(2UL << 22)
#define ORIGINAL	(1UL << 30)
#define BAD		(1UL << 31)

#define NODE(n)		((unsigned long)(n) << 16)

#define ANY_COUNT	(1UL << 1)	/* a share count, which must not be 0 */

static unsigned long word_of(void *address)
{
	PSAPI_WORKING_SET_EX_INFORMATION pair[2];
	unsigned long alone;

	/* Once alone and once in company: two ways to the same word. */
	memset(pair, POISON, sizeof(pair));
	pair[0].VirtualAddress = address;
	QueryWorkingSetEx(GetCurrentProcess(), pair, sizeof(*pair));
	memset(pair, POISON, sizeof(pair));
	pair[0].VirtualAddress = address;
	if (!QueryWorkingSetEx(GetCurrentProcess(), pair, sizeof(*pair)))
		return -1UL;
	alone = pair[0].VirtualAttributes.Flags;
	memset(pair, POISON, sizeof(pair));
	pair[0].VirtualAddress = address;
	pair[1].VirtualAddress = NULL;
	if (!QueryWorkingSetEx(GetCurrentProcess(), pair, sizeof(pair)))
		return -1UL;
	if (alone != pair[0].VirtualAttributes.Flags)
		ok(false, "alone %lx, in company %lx", alone,
		   (unsigned long)pair[0].VirtualAttributes.Flags);
	return alone;
}

static void check(void *address, unsigned long expected, const char *what)
{
	unsigned long word = word_of(address);
	unsigned long count = word & SHARE_COUNT;
	bool counted = expected & SHARE_COUNT;

	if (!one_node() && !(expected & NODE(63)))
		word &= ~NODE(63);
	ok((word & ~SHARE_COUNT) == (expected & ~SHARE_COUNT) && !!count == counted,
	   "%s: %lx, is %lx", what, expected, word);
}

static void private_words(void)
{
	char *page = map_private(1);

	touch_write(page);
	check(page, VALID | PROTECTION(PAGE_READWRITE), "private");
	mprotect(page, PAGE, PROT_READ);
	check(page, VALID | PROTECTION(PAGE_READONLY), "read-only");
	mprotect(page, PAGE, PROT_READ | PROT_EXEC);
	check(page, VALID | PROTECTION(PAGE_EXECUTE_READ), "executable");
	mprotect(page, PAGE, PROT_EXEC);
	check(page, VALID | PROTECTION(PAGE_EXECUTE), "executable only");
	if (!mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		check(page, VALID | PROTECTION(PAGE_EXECUTE_READWRITE), "all");
	mprotect(page, PAGE, PROT_WRITE);
	check(page, VALID | PROTECTION(PAGE_READWRITE), "write only");
	mprotect(page, PAGE, PROT_NONE);
	check(page, RESIDENT, "inaccessible but in memory");
	munmap(page, PAGE);
	check(page, 0, "unmapped");
}

static void file_words(void)
{
	const char *directory = disk_directory();
	int fd = directory ? file_in(directory, 4) : -1;
	char *page;

	if (fd < 0) {
		tap_skip("file mappings", "no directory on a disk");
		return;
	}
	page = map_with(4, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	if (is_device())
		check(page, SHARED | ORIGINAL | RESIDENT, "private file, in the page cache only");
	else
		check(page, SHARED | ORIGINAL, "private file, hole");
	touch_read(page);
	check(page, VALID | PROTECTION(PAGE_WRITECOPY) | SHARED | ORIGINAL | ANY_COUNT,
	      "private file, read");
	touch_write(page);
	check(page, VALID | PROTECTION(PAGE_READWRITE), "private file, copied");
	if (!mprotect(page, 4 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		check(page, VALID | PROTECTION(PAGE_EXECUTE_READWRITE), "copied, executable");
		touch_read(page + 3 * PAGE);
		check(page + 3 * PAGE, VALID | PROTECTION(PAGE_EXECUTE_WRITECOPY) | SHARED |
		      ORIGINAL | ANY_COUNT, "read, executable");
	}
	munmap(page, 4 * PAGE);

	page = map_with(4, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	touch_write(page);
	check(page, VALID | PROTECTION(PAGE_READWRITE) | SHARED | ORIGINAL | ANY_COUNT,
	      "shared file, written");
	munmap(page, 4 * PAGE);
	close(fd);
}

static void shmem_words(void)
{
	char *page = map_shared(2);

	check(page, SHARED | ORIGINAL, "shared memory, untouched");
	touch_write(page);
	check(page, VALID | PROTECTION(PAGE_READWRITE) | SHARED | ORIGINAL | ANY_COUNT,
	      "shared memory, written");
	munmap(page, 2 * PAGE);
}

static void locked_words(void)
{
	char *page = map_private(1);

	touch_write(page);
	if (!is_device())
		tap_skip("locked", "only the device tells");
	else if (mlock(page, PAGE))
		tap_skip("locked", "mlock is not permitted");
	else
		check(page, VALID | PROTECTION(PAGE_READWRITE) | LOCKED, "locked");
}

static void large_words(void)
{
	size_t length = 2UL << 20;
	char *memory;

	memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (!MAPS(memory)) {
		tap_skip("large page", "no huge pages reserved");
		return;
	}
	touch_write(memory);
	check(memory + PAGE, VALID | PROTECTION(PAGE_READWRITE) | LARGE, "large page");
	munmap(memory, length);
}

static void thp_words(void)
{
	size_t length = 2UL << 20;
	char *memory = map_private(1024), *huge;

	huge = (char *)(((uintptr_t)memory + length - 1) & ~(length - 1));
	madvise(huge, length, MADV_HUGEPAGE);
	touch_write(huge);
	check(huge, VALID | PROTECTION(PAGE_READWRITE), "the kernel's own huge page is not large");
	munmap(memory, 1024 * PAGE);
}

static void swap_words(void)
{
	char *anon, *shmem;
	unsigned long word;

	if (!have_swap()) {
		tap_skip("pages in swap", "no swap");
		return;
	}
	anon = map_private(64);
	shmem = map_shared(64);
	memset(anon, 'a', 64 * PAGE);
	memset(shmem, 's', 63 * PAGE);
	madvise(anon, 64 * PAGE, MADV_PAGEOUT);
	madvise(shmem, 64 * PAGE, MADV_PAGEOUT);

	check(anon + PAGE, PAGEFILE, "private, in swap");
	word = SHARED | ORIGINAL | (is_device() ? PAGEFILE : 0);
	check(shmem + PAGE, word, "shared memory, in swap");
	check(shmem + 63 * PAGE, SHARED | ORIGINAL, "shared memory, never written");
	touch_read(anon + PAGE);
	check(anon + PAGE, VALID | PROTECTION(PAGE_READWRITE), "private, back again");
	munmap(anon, 64 * PAGE);
	munmap(shmem, 64 * PAGE);
}

static void guard_words(void)
{
	char *pages = map_private(2);

	touch_write(pages);
	if (madvise(pages, PAGE, MADV_GUARD_INSTALL)) {
		tap_skip("guard region", "the kernel has none");
		return;
	}
	if (is_device())
		check(pages, 0, "guard region");
	else
		tap_skip("guard region", "only told by the device on every kernel");
}

static void node_words(void)
{
	unsigned long node = 1UL << 1;
	char *page = map_private(1);

	if (!is_device() || syscall(SYS_mbind, page, PAGE, 2 /* MPOL_BIND */, &node, 3, 0)) {
		tap_skip("NUMA node", "there is one only, or the backend does not tell");
		return;
	}
	touch_write(page);
	check(page, VALID | PROTECTION(PAGE_READWRITE) | NODE(1), "a page of node 1");
}

/* Takes a page of memory out of use: only where the memory is not real. */
static void bad_words(void)
{
	int status;
	char *page = map_private(1);

	touch_write(page);
	if (!getenv("WSQUERY_TEST_GUEST")) {
		tap_skip("bad page", "not on this machine");
		return;
	}
	/* All that map the page get a signal, and the one that did it is killed. */
	signal(SIGBUS, SIG_IGN);
	fflush(stdout);
	if (!fork())
		_exit(madvise(page, PAGE, MADV_HWPOISON) ? 1 : 0);
	wait(&status);
	if (WIFEXITED(status) && WEXITSTATUS(status)) {
		tap_skip("bad page", "the kernel cannot make one");
		return;
	}
	if (is_device())
		check(page, BAD, "bad page");
	else
		tap_skip("bad page", "only told by the device");
}

static ULONG_PTR *set_get(HANDLE process, size_t *count)
{
	ULONG_PTR need = 0, *set;
	size_t length;

	SetLastError(0);
	ok(!QueryWorkingSet(process, &need, sizeof(need)) && GetLastError() == ERROR_BAD_LENGTH,
	   "QueryWorkingSet with room for the number only: ERROR_BAD_LENGTH");
	ok(need > 10, "the number needed: %zu", (size_t)need);
	length = (need + 1000) * sizeof(*set);
	set = malloc(length);
	memset(set, POISON, length);
	ok(QueryWorkingSet(process, set, length), "QueryWorkingSet");
	*count = set[0];
	ok(*count >= need - 10 && *count < need + 1000, "the number found: %zu", *count);
	return set;
}

static ULONG_PTR set_find(const ULONG_PTR *set, size_t count, const void *address)
{
	size_t i;

	for (i = 1; i <= count; i++)
		if (set[i] >> 12 == (uintptr_t)address >> 12)
			return set[i] & 0xfff;
	return 0;
}

static void working_set(void)
{
	char *private = map_private(3), *shared = map_shared(1);
	ULONG_PTR *set, word;
	size_t count;

	touch_write(private);
	touch_write(private + 2 * PAGE);
	mprotect(private + 2 * PAGE, PAGE, PROT_NONE);
	touch_write(shared);
	set = set_get(GetCurrentProcess(), &count);
	ok(set_find(set, count, private) == 4, "a private page: read-write");
	ok(!set_find(set, count, private + PAGE), "an untouched page is not in it");
	ok(!set_find(set, count, private + 2 * PAGE), "an inaccessible page is not in it");
	word = set_find(set, count, shared);
	ok((word & 0x11f) == 0x104 && (word & 0xe0), "a shared page: %lx", (unsigned long)word);
	word = set_find(set, count, header_page());
	ok((word & 0x11f) == 0x101 && (word & 0xe0), "the header page: %lx", (unsigned long)word);
	free(set);

	SetLastError(0);
	ok(!QueryWorkingSet(GetCurrentProcess(), &word, sizeof(word) - 1) &&
	   GetLastError() == ERROR_BAD_LENGTH, "no room for anything");
	SetLastError(0);
	ok(!K32QueryWorkingSet(GetCurrentProcess(), NULL, 4096) &&
	   GetLastError() == ERROR_NOACCESS, "no array");
	SetLastError(0);
	ok(!QueryWorkingSet(NULL, &word, sizeof(word)) &&
	   GetLastError() == ERROR_INVALID_HANDLE, "no process");
}

int main(void)
{
	need_backend();
	private_words();
	file_words();
	shmem_words();
	locked_words();
	large_words();
	thp_words();
	swap_words();
	guard_words();
	node_words();
	bad_words();
	working_set();
	return tap_done();
}
