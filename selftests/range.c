// SPDX-License-Identifier: GPL-2.0
/*
 * Ranges and arrays of the pages form: that start, end and cross anywhere, from
 * no page to gigabytes, and arrays that cannot be written as a whole.
 */
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "wsq.h"

FIXTURE(range) {
	struct wsq *q;
};

FIXTURE_SETUP(range)
{
	self->q = own();
}

FIXTURE_TEARDOWN(range)
{
}

/* Four mappings of different states and gaps between them, across 2 MiB tables. */
#define CROSS_PAGES	1100

static char *cross_map(__u64 *expected)
{
	char *p = map_aligned(CROSS_PAGES * PAGE + HUGE2M, HUGE2M, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE);
	int i;

	if (!p)
		return NULL;
	p += HUGE2M - 24 * PAGE;
	munmap(p + 8 * PAGE, 8 * PAGE);
	munmap(p + 500 * PAGE, 100 * PAGE);
	mprotect(p + 300 * PAGE, 100 * PAGE, PROT_READ);
	for (i = 0; i < CROSS_PAGES; i++) {
		bool gap = (i >= 8 && i < 16) || (i >= 500 && i < 600);
		bool ro = i >= 300 && i < 400;

		if (gap) {
			expected[i] = 0;
		} else if (i % 7 == 3 && !ro) {
			p[i * PAGE] = 1;
			expected[i] = M_RW | WSQUERY_PRESENT;
		} else {
			expected[i] = ro ? M_RO : M_RW;
		}
	}
	return p;
}

/* Every start near an edge with every end near an edge. */
TEST_F(range, starts_ends_and_crosses_anywhere)
{
	static const int edges[] = { 0, 8, 16, 24, 300, 400, 500, 536, 600, 1048, 1099 };
	static __u64 expected[CROSS_PAGES], seen[CROSS_PAGES];
	char *p = cross_map(expected);
	size_t i, k;
	int a, b, n;

	ASSERT_NE(NULL, p);
	for (i = 0; i < 11 * 3; i++) {
		a = edges[i / 3] + (int)(i % 3) - 1;
		for (k = i; k < 11 * 3; k++) {
			b = edges[k / 3] + (int)(k % 3) - 1;
			if (a < 0 || b <= a || b > CROSS_PAGES)
				continue;
			ASSERT_EQ(0, wsq_wide(self->q, p + a * PAGE, b - a, seen));
			for (n = 0; n < b - a; n++) {
				ASSERT_EQ(expected[a + n], seen[n] & ~VOLATILE_ATTRS) {
					TH_LOG("page %d of %d to %d", n, a, b);
				}
			}
		}
	}
	ASSERT_EQ(0, wsq_wide(self->q, p, CROSS_PAGES, seen));
	EXPECT_EQ(0, check_forms(self->q, p, CROSS_PAGES, seen));
	EXPECT_EQ(0, compare_peers(self->q, p, CROSS_PAGES, seen));
}

TEST_F(range, empty)
{
	__u64 none;
	char *p = map_anon(1);

	EXPECT_EQ(0, wsq_wide(self->q, p, 0, &none));
	EXPECT_EQ(0, wsq_wide(self->q, NULL, 0, &none));
	EXPECT_EQ(0, wsq_bytes(self->q, (void *)-PAGE, 0, (__u8 *)&none));
}

TEST_F(range, one_page)
{
	char *p = map_anon(3);

	p[PAGE] = 1;
	EXPECT_PAGES(p, 1, M_RW);
	EXPECT_PAGES(p + PAGE, 1, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(p + 2 * PAGE, 1, M_RW);
	EXPECT_PAGES(p - PAGE, 1, 0);
	EXPECT_PAGES(p + 3 * PAGE, 1, 0);
}

TEST_F(range, unmapped_gap)
{
	char *p = map_anon(64);

	munmap(p + 16 * PAGE, 32 * PAGE);
	EXPECT_PAGES(p + 16 * PAGE, 32, 0);
}

/* Sparse memory of a size; three pages of it are touched. */
static int sparse(struct wsq *q, __u64 size)
{
	size_t pages = size / PAGE, i, at[3] = { 1, pages / 2, pages - 1 };
	__u8 *bytes = calloc(pages, 1);
	char *p = map_aligned(size, HUGE2M, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE);
	int bad = 0;

	if (!p || !bytes)
		return -1;
	for (i = 0; i < 3; i++)
		p[at[i] * PAGE] = 1;
	if (wsq_bytes(q, p, pages, bytes))
		return -1;
	for (i = 0; i < pages; i++) {
		bool touched = i == at[0] || i == at[1] || i == at[2];

		bad += bytes[i] != ((WSQUERY_MAPPED | WSQUERY_WRITABLE |
				     (touched ? WSQUERY_PRESENT : 0)));
	}
	munmap(p, size);
	free(bytes);
	return bad;
}

TEST_F(range, from_16_kib_to_1_gib)
{
	__u64 size;

	for (size = 16384; size <= 1ULL << 30; size *= 4)
		EXPECT_EQ(0, sparse(self->q, size)) TH_LOG("%llu bytes", (unsigned long long)size);
}

TEST_F(range, four_gib)
{
	if (IS_32BIT)
		SKIP(return, "4 GiB do not fit in 32 bits");
	EXPECT_EQ(0, sparse(self->q, 1ULL << 32));
}

TEST_F(range, start_at_0)
{
	static __u64 seen[16];
	int i;

	ASSERT_EQ(0, wsq_wide(self->q, NULL, 16, seen));
	for (i = 0; i < 16; i++)
		EXPECT_EQ(0, seen[i]);
}

/* Addresses are 64 bits wide for callers of 32 bits too. */
static int wide_at(struct wsq *q, __u64 start, size_t pages, __u64 *out)
{
	struct wsquery_pages p;

	wsq_range_init(&p.range, q, sizeof(p), NULL, pages);
	p.range.start = start;
	p.range.entry_size = 8;
	p.entries = (uintptr_t)out;
	memset(out, POISON, pages * 8);
	return wsq_call(q->dev, WSQUERY_IOC_PAGES, &p, sizeof(p)) ?: p.range.done != pages * PAGE;
}

TEST_F(range, addresses_no_process_has)
{
	static const __u64 starts[] = {
		0x7ffffffff000,		/* the last page below the hole */
		0x7fffffffe000,
		0x0000800000000000,	/* not canonical */
		0xffff800000000000,	/* the kernel's */
		0xffffffff80000000,
		0xffffffffff600000,	/* vsyscall: a page of the kernel's */
		0x8000000000000000,
		0xfffffffffffef000,
	};
	static __u64 seen[16];
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		ASSERT_EQ(0, wide_at(self->q, starts[i], 16, seen));
		for (k = 0; k < 16; k++)
			EXPECT_EQ(0, seen[k]) TH_LOG("page %zu from %#llx", k,
						     (unsigned long long)starts[i]);
	}
}

TEST_F(range, last_page_of_64_bits)
{
	__u64 seen[4];
	size_t i;

	ASSERT_EQ(0, wide_at(self->q, -(__u64)PAGE, 1, seen));
	EXPECT_EQ(0, seen[0]);
	ASSERT_EQ(0, wide_at(self->q, -(__u64)4 * PAGE, 4, seen));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, seen[i]);
}

/* The answers become part of what is asked about: present where they are written. */
TEST_F(range, array_inside_the_range)
{
	size_t pages = 1024, i;
	char *p = map_anon(pages);
	__u64 *out = (__u64 *)(p + 100 * PAGE);
	struct wsquery_pages r;

	wsq_range_init(&r.range, self->q, sizeof(r), p, pages);
	r.range.entry_size = 8;
	r.range.attrs = 0;
	r.entries = (uintptr_t)out;
	ASSERT_EQ(0, wsq_call(self->q->dev, WSQUERY_IOC_PAGES, &r, sizeof(r)));
	ASSERT_EQ(pages * PAGE, r.range.done);
	for (i = 0; i < pages; i++) {
		bool written = i >= 100 && i < 102;
		__u64 expected = WSQUERY_MAPPED | WSQUERY_WRITABLE;

		if (written)
			out[i] &= ~WSQUERY_PRESENT;
		EXPECT_EQ(expected, out[i]) TH_LOG("page %zu", i);
	}
	EXPECT_PAGES(p + 100 * PAGE, 2, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(p + 102 * PAGE, pages - 102, M_RW);
}

/* Writes what fits, says exactly how much, and touches nothing after it. */
static int straddle(struct wsq *q, unsigned int entry_size, size_t room, size_t pages, int prot)
{
	char *p = map_anon(pages), *array = map_anon(5), *end = array + 4 * PAGE;
	size_t i, fit = room / entry_size, answered;
	struct wsquery_pages r;
	int rc, bad = 0;

	fill(p, pages);
	memset(array, POISON, 5 * PAGE);
	mprotect(end, PAGE, prot);
	wsq_range_init(&r.range, q, sizeof(r), p, pages);
	r.range.entry_size = entry_size;
	r.range.attrs = 0;
	r.entries = (uintptr_t)end - room;
	rc = wsq_call(q->dev, WSQUERY_IOC_PAGES, &r, sizeof(r));
	answered = r.range.done / PAGE;
	if (rc != -EFAULT || r.range.done % PAGE || answered > fit) {
		fprintf(stderr, "# status %d, %zu entries of %zu that fit\n", rc, answered, fit);
		bad++;
	}
	mprotect(end, PAGE, PROT_READ | PROT_WRITE);
	for (i = 0; i < answered && !bad; i++) {
		__u64 f = 0;

		memcpy(&f, end - room + i * entry_size, entry_size > 8 ? 8 : entry_size);
		bad += f != (WSQUERY_MAPPED | WSQUERY_WRITABLE | WSQUERY_PRESENT);
	}
	for (i = answered * entry_size; i < room + PAGE; i++)
		bad += (unsigned char)end[i - room] != POISON;
	for (i = 0; i < 4 * PAGE - room; i++)
		bad += (unsigned char)array[i] != POISON;
	munmap(p, pages * PAGE);
	munmap(array, 5 * PAGE);
	return bad;
}

TEST_F(range, array_straddles_into_no_access)
{
	EXPECT_EQ(0, straddle(self->q, 8, 8, 2, PROT_NONE));
	EXPECT_EQ(0, straddle(self->q, 8, 4000, 2000, PROT_NONE));
	EXPECT_EQ(0, straddle(self->q, 8, 2 * PAGE, 2000, PROT_NONE));
	EXPECT_EQ(0, straddle(self->q, 8, 3 * PAGE + 8, 3000, PROT_NONE));
	EXPECT_EQ(0, straddle(self->q, 1, 1, 2, PROT_NONE));
	EXPECT_EQ(0, straddle(self->q, 1, 2 * PAGE + 77, 12000, PROT_NONE));
	EXPECT_EQ(0, straddle(self->q, 16, PAGE + 48, 2000, PROT_NONE));
	EXPECT_EQ(0, straddle(self->q, 16, PAGE + 40, 2000, PROT_NONE));
}

TEST_F(range, array_straddles_into_read_only)
{
	EXPECT_EQ(0, straddle(self->q, 8, 8, 2, PROT_READ));
	EXPECT_EQ(0, straddle(self->q, 8, 3 * PAGE + 8, 3000, PROT_READ));
	EXPECT_EQ(0, straddle(self->q, 1, 2 * PAGE + 77, 12000, PROT_READ));
}

/* Progress is told where a chunk of answers could be written as a whole. */
TEST_F(range, progress_before_a_fault)
{
	struct wsquery_info info;
	size_t pages, fit, bytes;
	struct wsquery_pages r;
	char *p, *array;

	ASSERT_EQ(0, wsq_info(self->q->dev, &info));
	fit = info.call_bytes / PAGE * PAGE + PAGE;
	pages = fit + 100;
	bytes = fit * 8;
	p = map_anon(pages);
	array = map_anon(bytes / PAGE);
	wsq_range_init(&r.range, self->q, sizeof(r), p, pages);
	r.range.entry_size = 8;
	r.entries = (uintptr_t)array;
	EXPECT_EQ(-EFAULT, wsq_call(self->q->dev, WSQUERY_IOC_PAGES, &r, sizeof(r)));
	EXPECT_LT(0, r.range.done);
	EXPECT_GE(fit * PAGE, r.range.done);
}

TEST_F(range, array_unmapped_or_read_only)
{
	char *p = map_anon(8), *hole = map_anon(2), *ro = map_anon(1);
	static const __u64 wild[] = { 0, 8, 0xffff800000000000, -(__u64)PAGE, -8ULL,
				      0x0000800000000000 };
	struct wsquery_pages r;
	size_t i;

	munmap(hole, 2 * PAGE);
	fill(ro, 1);
	mprotect(ro, PAGE, PROT_READ);
	for (i = 0; i < 8; i++) {
		wsq_range_init(&r.range, self->q, sizeof(r), p, 8);
		r.range.entry_size = 8;
		r.entries = i == 0 ? (uintptr_t)hole : i == 1 ? (uintptr_t)ro : wild[i - 2];
		EXPECT_EQ(-EFAULT, wsq_call(self->q->dev, WSQUERY_IOC_PAGES, &r, sizeof(r)))
			TH_LOG("array at %#llx", (unsigned long long)r.entries);
		EXPECT_EQ(0, r.range.done);
	}
	EXPECT_EQ(0, verify(ro, 1));
}

TEST_HARNESS_MAIN
