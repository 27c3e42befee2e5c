// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that few processes have: merged by KSM, of a device, of the kernel, secret.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>

#include "kselftest_harness.h"
#include "newer.h"
#include "wsq.h"

#define PAGES	64

TEST(ksm_merged)
{
	char *p = map_anon(PAGES);
	struct wsq *q = own();
	__u64 pm[PAGES], kpf;
	int fd, i, merged = 0, tries;

	NEED_ROOT();
	for (i = 0; i < PAGES; i++)
		memset(p + i * PAGE, 0x5c, PAGE);
	if (madvise(p, PAGES * PAGE, MADV_MERGEABLE))
		SKIP(return, "no KSM");
	write_text("/sys/kernel/mm/ksm/pages_to_scan", "1000");
	ASSERT_EQ(0, write_text("/sys/kernel/mm/ksm/run", "1"));
	fd = pagemap_open(0);
	for (tries = 0; tries < 200 && merged < PAGES; tries++) {
		usleep(50000);
		ASSERT_EQ(0, pagemap_read(fd, p, PAGES, pm));
		for (i = merged = 0; i < PAGES; i++)
			/* The flag alone is that of every anonymous page on some kernels. */
			merged += !kpage_read("/proc/kpageflags", pm[i] & PM_FRAME, &kpf) &&
				  (kpf & KPF_KSM_PAGE) && !((pm[i] ^ pm[0]) & PM_FRAME);
	}
	write_text("/sys/kernel/mm/ksm/run", "0");
	ASSERT_EQ(PAGES, merged);
	EXPECT_EQ(0, check_flags(q, __FILE__, __LINE__, p, PAGES,
				 M_RW | WSQUERY_PRESENT | WSQUERY_KSM, ~VOLATILE_ATTRS));
	*p = 1;
	EXPECT_PAGES(p, 1, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(p + PAGE, PAGES - 1, M_RW | WSQUERY_PRESENT | WSQUERY_KSM);
	write_text("/sys/kernel/mm/ksm/run", "2");
}

static int mapping_named(const char *name, unsigned long *start, unsigned long *end)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[256];
	int rc = -1;

	while (f && rc && fgets(line, sizeof(line), f))
		if (strstr(line, name) && sscanf(line, "%lx-%lx", start, end) == 2)
			rc = 0;
	if (f)
		fclose(f);
	return rc;
}

/* Every process maps the kernel's clock data as a device would be mapped. */
TEST(device_vvar)
{
	unsigned long start, end;
	struct wsq *q = own();
	struct smaps mapping;
	struct timespec t;
	int i;

	if (mapping_named("[vvar]", &start, &end))
		SKIP(return, "no [vvar] mapping");
	ASSERT_EQ(0, smaps_of((void *)start, &mapping));
	if (!strstr(mapping.flags, " pf") && !strstr(mapping.flags, " io"))
		SKIP(return, "[vvar] is of ordinary pages of the kernel here");
	for (i = 0; i < 4; i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
	EXPECT_EQ(0, check_flags(q, __FILE__, __LINE__, (void *)start, (end - start) / PAGE,
				 M_RO | WSQUERY_DEVICE, ~(VOLATILE_ATTRS | WSQUERY_PRESENT)));
}

/* The last 64 KiB below 1 MiB: the firmware's, which /dev/mem may map. */
TEST(device_memory)
{
	int fd = open("/dev/mem", O_RDONLY | O_CLOEXEC);
	char *p;

	NEED_ROOT();
	own();
	if (fd < 0)
		SKIP(return, "no /dev/mem");
	p = mmap(NULL, 16 * PAGE, PROT_READ, MAP_SHARED, fd, 0xf0000);
	if (p == MAP_FAILED)
		SKIP(return, "/dev/mem may not be mapped");
	EXPECT_PAGES(p, 16, M_RO | WSQUERY_SHARED | WSQUERY_FILE | WSQUERY_DEVICE |
		     WSQUERY_PRESENT);
}

TEST(vdso)
{
	unsigned long start, end;
	struct timespec t;

	if (mapping_named("[vdso]", &start, &end))
		SKIP(return, "no [vdso] mapping");
	clock_gettime(CLOCK_MONOTONIC, &t);
	touch_read((void *)start, (end - start) / PAGE);
	EXPECT_PAGES((void *)start, (end - start) / PAGE,
		     M_RO | WSQUERY_EXECUTABLE | WSQUERY_PRESENT);
}

TEST(secret)
{
	struct wsq *q = own();
	int fd = syscall(447 /* memfd_secret */, 0);
	char *p;

	if (fd < 0)
		SKIP(return, "no secret memory: %s", strerror(errno));
	ASSERT_EQ(0, ftruncate(fd, PAGES * PAGE));
	p = map_shared(fd, PAGES);
	ASSERT_NE(NULL, p);
	/* Whether it counts as locked differs from kernel to kernel: smaps knows. */
	EXPECT_EQ(0, check_flags(q, __FILE__, __LINE__, p, PAGES,
				 M_RW | WSQUERY_FILE | WSQUERY_SHARED,
				 ~(VOLATILE_ATTRS | WSQUERY_LOCKED)));
	fill(p, PAGES);
	EXPECT_EQ(0, check_flags(q, __FILE__, __LINE__, p, PAGES,
				 M_RW | WSQUERY_FILE | WSQUERY_SHARED | WSQUERY_PRESENT,
				 ~(VOLATILE_ATTRS | WSQUERY_LOCKED)));
}

/* Private, of /dev/zero: anonymous memory in all but how it was asked for. */
TEST(dev_zero_private)
{
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	char *p;

	own();
	ASSERT_LE(0, fd);
	p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	EXPECT_PAGES(p, PAGES, M_RW);
	fill(p, PAGES);
	EXPECT_PAGES(p, PAGES, M_RW | WSQUERY_PRESENT);
}

TEST(dev_zero_shared)
{
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	char *p;

	NEED_SWAP();
	own();
	ASSERT_LE(0, fd);
	p = map_shared(fd, PAGES);
	ASSERT_NE(NULL, p);
	fill(p, PAGES);
	ASSERT_EQ(0, evict(p, PAGES));
	EXPECT_PAGES(p, PAGES, M_RW | WSQUERY_SHARED | WSQUERY_SHMEM | WSQUERY_SWAPPED);
}

TEST_HARNESS_MAIN
