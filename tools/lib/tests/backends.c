// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All backends side by side: equal answers wherever they can know, and "not
 * told" where they cannot. The truth is what the test made, not a backend.
 */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "memory.h"

#define PAGES		64
#define BACKENDS	3

static struct wsquery *contexts[BACKENDS];

struct case_of {
	const char *name;
	uint64_t attrs;
	uint64_t want[4];	/* bits of pages 0 to 3 */
	uint64_t wide;		/* bits that are compared */
	uint64_t hidden[4];	/* bits that only the device can tell */
};

static void page_check(struct wsquery *ws, const char *memory, const struct case_of *test,
		       unsigned int page)
{
	const char *backend = wsquery_backend_name(wsquery_backend(ws));
	bool device = wsquery_backend(ws) == WSQUERY_BACKEND_DEVICE;
	uint64_t compared = (WSQUERY_STATE_MASK | test->attrs) & ~WSQUERY_HUGE;
	uint64_t want = test->want[page];
	uint64_t flags = 0;
	int err;

	compared &= wsquery_tells(ws) & ~WSQUERY_NOT_TOLD;
	if (device)
		want |= test->hidden[page];
	err = wsquery_get_one(ws, address_of(memory) + page * PAGE,
			      test->attrs | WSQUERY_NOT_TOLD, &flags);
	ok(!err && (flags & compared) == (want & compared), "%s, page %u, %s: %llx, is %llx",
	   test->name, page, backend, (unsigned long long)(want & compared),
	   (unsigned long long)(flags & compared));
	if (device)
		ok(!(flags & WSQUERY_NOT_TOLD), "all is told");
	else if (test->hidden[page])
		ok(flags & WSQUERY_NOT_TOLD, "not told");
}

static void case_check(const char *memory, const struct case_of *test)
{
	unsigned int i, page;

	for (i = 0; i < BACKENDS; i++)
		for (page = 0; page < 4 && contexts[i]; page++)
			page_check(contexts[i], memory, test, page);
}

#define RW	(WSQUERY_MAPPED | WSQUERY_WRITABLE | WSQUERY_READABLE)
#define ATTRS	(WSQUERY_READABLE | WSQUERY_EXECUTABLE | WSQUERY_SHARED | WSQUERY_COPY | \
		 WSQUERY_HUGETLB | WSQUERY_CACHED)

static void anonymous(void)
{
	const struct case_of test = {
		.name = "anonymous", .attrs = ATTRS,
		.want = { RW | WSQUERY_PRESENT, RW | WSQUERY_PRESENT, RW,
			  RW | (have_swap() ? WSQUERY_SWAPPED : WSQUERY_PRESENT) },
	};
	char *memory = map_private(PAGES);

	touch_write(memory);
	touch_read(memory + PAGE);
	touch_write(memory + 3 * PAGE);
	madvise(memory + 3 * PAGE, PAGE, MADV_PAGEOUT);
	case_check(memory, &test);
	munmap(memory, PAGES * PAGE);
}

/* Not in swap, whatever the kernel's own files call them. */
static void guards(void)
{
	const struct case_of test = {
		.name = "guard region", .attrs = ATTRS | WSQUERY_GUARD,
		.want = { RW | WSQUERY_PRESENT, RW | WSQUERY_MARKER | WSQUERY_GUARD, RW,
			  RW | WSQUERY_PRESENT },
	};
	char *memory = map_private(4);

	touch_write(memory);
	touch_write(memory + PAGE);
	touch_write(memory + 3 * PAGE);
	if (madvise(memory + PAGE, PAGE, MADV_GUARD_INSTALL))
		tap_skip("guard region", "the kernel has none");
	else
		case_check(memory, &test);
	munmap(memory, 4 * PAGE);
}

static void inaccessible(void)
{
	const struct case_of test = {
		.name = "inaccessible", .attrs = ATTRS,
		.want = { WSQUERY_MAPPED | WSQUERY_PRESENT, WSQUERY_MAPPED,
			  WSQUERY_MAPPED | WSQUERY_READABLE | WSQUERY_PRESENT, 0 },
	};
	char *memory = map_private(4);

	touch_write(memory);
	touch_write(memory + 2 * PAGE);
	mprotect(memory, 2 * PAGE, PROT_NONE);
	mprotect(memory + 2 * PAGE, PAGE, PROT_READ);
	munmap(memory + 3 * PAGE, PAGE);
	case_check(memory, &test);
	munmap(memory, 3 * PAGE);
}

/* Shared memory, mapped shared: written, never written, in swap, written. */
static void shmem_shared(const char *name, char *memory)
{
	const uint64_t base = RW | WSQUERY_SHARED | WSQUERY_SHMEM;
	struct case_of test = {
		.name = name, .attrs = ATTRS,
		.want = { base | WSQUERY_PRESENT, base, base, base | WSQUERY_PRESENT },
		.hidden = { 0, WSQUERY_NOT_TOLD, WSQUERY_SWAPPED, 0 },
	};

	touch_write(memory);
	memset(memory + 2 * PAGE, 2, PAGE);
	touch_write(memory + 3 * PAGE);
	if (have_swap()) {
		madvise(memory + 2 * PAGE, PAGE, MADV_PAGEOUT);
	} else {
		madvise(memory + 2 * PAGE, PAGE, MADV_DONTNEED);
		test.hidden[2] = WSQUERY_CACHED;
	}
	case_check(memory, &test);
}

/* Mapped private: copied, read, not mapped but cached, copied and perhaps in swap. */
static void file_private(const char *name, uint64_t kind, int fd)
{
	char *memory = map_with(4, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	const uint64_t base = RW | kind;
	struct case_of test = {
		.name = name, .attrs = ATTRS,
		.want = { base | WSQUERY_PRESENT | WSQUERY_COPY, base | WSQUERY_PRESENT, base,
			  base | WSQUERY_COPY | (have_swap() ? WSQUERY_SWAPPED : WSQUERY_PRESENT) },
		.hidden = { 0, 0, WSQUERY_CACHED, 0 },
	};

	madvise(memory, 4 * PAGE, MADV_RANDOM);
	touch_write(memory);
	touch_read(memory + PAGE);
	touch_write(memory + 3 * PAGE);
	/* Faults map the neighbours too. */
	madvise(memory + 2 * PAGE, PAGE, MADV_DONTNEED);
	madvise(memory + 3 * PAGE, PAGE, MADV_PAGEOUT);
	case_check(memory, &test);
	munmap(memory, 4 * PAGE);
}

static void shared_kinds(void)
{
	const char *directory = tmpfs_directory();
	int fd, id;

	shmem_shared("anonymous shared", map_shared(PAGES));

	fd = memfd_create("wsquery-test", 0);
	if (ftruncate(fd, PAGES * PAGE))
		exit(2);
	shmem_shared("memfd", map_with(PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fd));
	close(fd);

	id = shmget(IPC_PRIVATE, PAGES * PAGE, IPC_CREAT | 0600);
	if (id >= 0) {
		char *memory = shmat(id, NULL, 0);

		shmctl(id, IPC_RMID, NULL);
		shmem_shared("System V", memory);
		shmdt(memory);
	} else {
		tap_skip("System V", "the kernel has none");
	}

	fd = directory ? file_in(directory, 0) : -1;
	if (fd < 0 || ftruncate(fd, PAGES * PAGE)) {
		tap_skip("tmpfs", "none is mounted");
		return;
	}
	shmem_shared("tmpfs", map_with(PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fd));
	close(fd);
}

static void file_kinds(void)
{
	const char *directory = tmpfs_directory();
	int fd = directory ? file_in(directory, 4) : -1;

	if (fd >= 0)
		file_private("private tmpfs", WSQUERY_SHMEM, fd);
	else
		tap_skip("private tmpfs", "none is mounted");
	directory = disk_directory();
	fd = directory ? file_in(directory, 4) : -1;
	if (fd >= 0)
		file_private("private file", WSQUERY_FILE, fd);
	else
		tap_skip("private file", "no directory on a disk");
}

static void hugetlb(void)
{
	const uint64_t base = RW | WSQUERY_FILE | WSQUERY_HUGETLB | WSQUERY_PRESENT;
	struct case_of test = {
		.name = "hugetlb", .attrs = ATTRS,
		.want = { base | WSQUERY_COPY, base | WSQUERY_COPY, base | WSQUERY_COPY,
			  base | WSQUERY_COPY },
	};
	size_t length = 2UL << 20;
	char *memory;

	memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (!MAPS(memory)) {
		tap_skip("hugetlb", "no huge pages reserved");
		return;
	}
	touch_write(memory);
	case_check(memory, &test);
	munmap(memory, length);
}

/*
 * A mapping of a file with a very long name, which maps shows with four letters
 * for each of its line feeds. It stays, for everything() to see.
 */
static void long_name(void)
{
	const char *directory = disk_directory();
	char name[200], *memory;
	int fd, depth;

	memset(name, '\n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	if (!directory || chdir(directory)) {
		tap_skip("long name", "no directory on a disk");
		return;
	}
	for (depth = 0; depth < 15; depth++)
		if (mkdir(name, 0700) || chdir(name))
			break;
	fd = open("file", O_CREAT | O_RDWR, 0600);
	if (fd >= 0 && !ftruncate(fd, PAGE)) {
		memory = map_with(1, PROT_READ, MAP_SHARED, fd);
		touch_read(memory);
	}
	close(fd);
	unlink("file");
	for (; depth > 0; depth--)
		if (chdir("..") || rmdir(name))
			break;
	ok(fd >= 0 && !depth, "a file with a long name");
}

/*
 * The whole address space, which no test made: totals of what all can know. They
 * are compared when nothing new is touched any more, which takes a round or two.
 */
static void everything(void)
{
	struct wsquery_count counts[BACKENDS];
	int errors[BACKENDS];
	int i, round, first = -1;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < BACKENDS; i++) {
			memset(&counts[i], 0, sizeof(counts[i]));
			counts[i].range.length = -65536ULL;
			errors[i] = contexts[i] ? wsquery_get_count(contexts[i], &counts[i]) : 0;
		}
	}
	for (i = 0; i < BACKENDS; i++) {
		if (!contexts[i])
			continue;
		if (first < 0)
			first = i;
		ok(!errors[i] && counts[i].present > 10, "the whole process, %s: %llu present",
		   wsquery_backend_name(wsquery_backend(contexts[i])),
		   (unsigned long long)counts[i].present);
		ok(counts[i].mapped == counts[first].mapped &&
		   counts[i].present == counts[first].present &&
		   counts[i].file_present == counts[first].file_present &&
		   counts[i].shmem_present == counts[first].shmem_present,
		   "the same totals: %llu mapped, %llu of files, %llu of shared memory",
		   (unsigned long long)counts[i].mapped,
		   (unsigned long long)counts[i].file_present,
		   (unsigned long long)counts[i].shmem_present);
	}
}

int main(void)
{
	static const int kinds[BACKENDS] = {
		WSQUERY_BACKEND_DEVICE, WSQUERY_BACKEND_SCAN, WSQUERY_BACKEND_PAGEMAP,
	};
	int i, found = 0, err;

	for (i = 0; i < BACKENDS; i++) {
		err = wsquery_open(&contexts[i], kinds[i]);
		if (err)
			tap_skip(wsquery_backend_name(kinds[i]), strerror(-err));
		else
			ok(wsquery_backend(contexts[i]) == kinds[i], "%s",
			   wsquery_backend_name(kinds[i]));
		found += !err;
	}
	ok(found, "%d backends", found);
	long_name();
	everything();
	anonymous();
	inaccessible();
	guards();
	shared_kinds();
	file_kinds();
	hugetlb();
	for (i = 0; i < BACKENDS; i++)
		wsquery_close(contexts[i]);
	return tap_done();
}
