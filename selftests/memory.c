// SPDX-License-Identifier: GPL-2.0
/*
 * Memory in known states: mappings, contents that can be told apart, and pages
 * that are certainly in swap.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "wsq.h"

/* Private anonymous memory between gaps, so that it stays a mapping of its own. */
void *map_anon(size_t pages)
{
	char *p = mmap(NULL, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	munmap(p, PAGE);
	munmap(p + (pages + 1) * PAGE, PAGE);
	p += PAGE;
	if (mprotect(p, pages * PAGE, PROT_READ | PROT_WRITE))
		return NULL;
	return p;
}

/* A shared mapping of a file from its start, or of anonymous memory (fd -1). */
void *map_shared(int fd, size_t pages)
{
	void *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		       MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Memory of its own that begins at a multiple of align. */
void *map_aligned(size_t size, size_t align, int prot, int flags)
{
	char *p = mmap(NULL, size + 2 * align, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *at = (char *)(((uintptr_t)p + align) & ~(align - 1));

	if (p == MAP_FAILED)
		return NULL;
	munmap(p, size + 2 * align);
	p = mmap(at, size, prot, flags | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* Contents that compress badly and name their page, so that none equals another. */
static void pattern(unsigned int *words, unsigned int seed)
{
	unsigned int i, x = seed * 2654435761U + 1;

	for (i = 0; i < PAGE / sizeof(*words); i++) {
		x = x * 1664525U + 1013904223U;
		words[i] = x;
	}
	words[0] = seed;
}

void fill(void *start, size_t pages)
{
	size_t i;

	for (i = 0; i < pages; i++)
		pattern((unsigned int *)((char *)start + i * PAGE), i + 1);
}

/* Whether the pages hold what fill() wrote. */
int verify(const void *start, size_t pages)
{
	unsigned int expected[PAGE / sizeof(unsigned int)];
	size_t i;

	for (i = 0; i < pages; i++) {
		pattern(expected, i + 1);
		if (memcmp((const char *)start + i * PAGE, expected, PAGE))
			return -1;
	}
	return 0;
}

void touch_read(const void *start, size_t pages)
{
	size_t i;

	for (i = 0; i < pages; i++)
		(void)*(volatile const char *)((const char *)start + i * PAGE);
}

bool have_swap(void)
{
	return proc_value("/proc/meminfo", "SwapTotal") > 0;
}

/*
 * Puts pages that a processor keeps back from the lists of reclaim on them; compaction
 * wants them whole.
 */
void lists_drain(void)
{
	write_text("/proc/sys/vm/compact_memory", "1");
}

/*
 * Pages out present pages, all of which must be of one mapping that holds
 * nothing else in memory. Returns 0 only when no page-table entry maps them any
 * more and smaps counts each of them in swap.
 */
int evict(void *start, size_t pages)
{
	int fd = pagemap_open(0), tries, rc = -1;
	__u64 *pm = calloc(pages, 8);
	struct smaps s;
	size_t i, in;

	for (tries = 0; tries < 200 && rc && fd >= 0 && pm; tries++) {
		if (tries)
			usleep(20000);
		if (tries % 10 == 5)
			lists_drain();
		if (madvise(start, pages * PAGE, MADV_PAGEOUT) ||
		    pagemap_read(fd, start, pages, pm))
			break;
		for (i = in = 0; i < pages; i++)
			in += !!(pm[i] & PM_PRESENT);
		if (!in && !smaps_of(start, &s) && s.swap >= pages * PAGE / 1024)
			rc = 0;
	}
	if (rc)
		fprintf(stderr, "# could not page out %zu pages at %p\n", pages, start);
	free(pm);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Reads a page's content from the swap device itself, past any cache. */
int swap_content(__u64 swap, void *page)
{
	FILE *f = fopen("/proc/swaps", "re");
	unsigned int type = WSQUERY_SWAP_TYPE(swap);
	char line[256], name[128] = "";
	void *buffer = NULL;
	int fd, rc = -1;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f) && type--)
		;
	if (fgets(line, sizeof(line), f))
		sscanf(line, "%127s", name);
	fclose(f);
	fd = open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!posix_memalign(&buffer, PAGE, PAGE)) {
		if (pread64(fd, buffer, PAGE, WSQUERY_SWAP_OFFSET(swap) * PAGE) == (ssize_t)PAGE)
			rc = 0;
		memcpy(page, buffer, PAGE);
		free(buffer);
	}
	close(fd);
	return rc;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/*
 * A file system whose files are neither shared memory nor ever reclaimed, on a
 * new directory. For root; the directory's name is a template of mkdtemp(3).
 */
int mount_ramfs(char *dir)
{
	if (!mkdtemp(dir))
		return -errno;
	if (mount("ramfs", dir, "ramfs", 0, "mode=0777")) {
		rmdir(dir);
		return -errno;
	}
	return 0;
}

/* An empty regular file without a name: on a ramfs, or below WSQUERY_DISK. */
int regular_file(bool disk, size_t pages)
{
	char dir[] = "/tmp/wsq-ramfs-XXXXXX", name[256];
	const char *on_disk = getenv("WSQUERY_DISK");
	int fd;

	if (disk) {
		snprintf(name, sizeof(name), "%s/wsq-XXXXXX", on_disk);
		fd = mkostemp(name, O_CLOEXEC);
		unlink(name);
		return fd < 0 || ftruncate(fd, pages * PAGE) ? -1 : fd;
	}
	if (mount_ramfs(dir))
		return -1;
	snprintf(name, sizeof(name), "%s/file", dir);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
	return fd < 0 || ftruncate(fd, pages * PAGE) ? -1 : fd;
}

/* Fills a file's pages in the page cache, by way of the descriptor. */
int cache_file(int fd, size_t pages)
{
	char page[PAGE];
	size_t i;

	for (i = 0; i < pages; i++) {
		pattern((unsigned int *)page, i + 1);
		if (pwrite(fd, page, PAGE, i * PAGE) != (ssize_t)PAGE)
			return -1;
	}
	return fsync(fd);
}

/* Sees to it that so many huge pages are free. */
int hugetlb_reserve(size_t size, int pages)
{
	char path[128], text[16];
	long have, free_pages;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%zukB/free_hugepages",
		 size / 1024);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%ld", &free_pages) != 1)
		return -1;
	fclose(f);
	if (free_pages >= pages)
		return 0;
	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages",
		 size / 1024);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%ld", &have) != 1)
		return -1;
	fclose(f);
	snprintf(text, sizeof(text), "%ld", have + pages - free_pages);
	if (write_text(path, text))
		return -1;
	f = fopen(path, "re");
	if (!f || fscanf(f, "%ld", &free_pages) != 1)
		return -1;
	fclose(f);
	return free_pages >= have + pages - free_pages ? 0 : -1;
}

/*
 * Huge pages by faults, for this process from here on; and none that khugepaged
 * makes behind a test's back, of memory that has holes or is in swap.
 */
int thp_allow(void)
{
	write_text(THP_DIR "khugepaged/max_ptes_none", "0");
	write_text(THP_DIR "khugepaged/max_ptes_swap", "0");
	return prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
}

/* The word in brackets of a sysfs file of choices. */
void sysfs_choice(const char *path, char *word, size_t size)
{
	char text[256] = "", *from, *to;
	FILE *f = fopen(path, "r");

	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	from = strchr(text, '[');
	to = strchr(text, ']');
	word[0] = 0;
	if (from && to) {
		*to = 0;
		snprintf(word, size, "%s", from + 1);
	}
}

bool kernel_before(int major, int minor)
{
	struct utsname u;
	int a, b;

	return !uname(&u) && sscanf(u.release, "%d.%d", &a, &b) == 2 &&
	       (a < major || (a == major && b < minor));
}
