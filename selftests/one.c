// SPDX-License-Identifier: GPL-2.0
/*
 * The one form: an address in, its flags as the value returned.
 */
#include <fcntl.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64

FIXTURE(one) {
	struct wsq *q;
	char *p;
};

FIXTURE_SETUP(one)
{
	self->q = own();
	self->p = map_anon(PAGES);
	ASSERT_NE(NULL, self->p);
}

FIXTURE_TEARDOWN(one)
{
}

static int same_as_pages(struct wsq *q, const char *p, size_t pages)
{
	__u64 f[PAGES], mask = WSQUERY_STATE_MASK | (q->attrs & WSQUERY_ONE_MASK), one;
	size_t i, bad = 0;

	if (wsq_wide(q, p, pages, f))
		return -1;
	for (i = 0; i < pages; i++) {
		/* As with WSQUERY_SHARED_ONLY. */
		if (!(f[i] & (WSQUERY_FILE | WSQUERY_SHMEM)))
			f[i] &= ~WSQUERY_SHARE_COUNT;
		bad += wsq_one(q, p + i * PAGE, &one) || one != (f[i] & mask);
	}
	return bad;
}

TEST_F(one, each_state)
{
	touch_read(self->p + 10 * PAGE, 10);
	if (have_swap()) {
		fill(self->p + 30 * PAGE, 10);
		ASSERT_EQ(0, evict(self->p + 30 * PAGE, 10));
	}
	fill(self->p + 20 * PAGE, 10);
	mprotect(self->p + 50 * PAGE, 5 * PAGE, PROT_NONE);
	munmap(self->p + 60 * PAGE, 4 * PAGE);
	EXPECT_EQ(0, same_as_pages(self->q, self->p, PAGES));
}

TEST_F(one, shared_memory)
{
	char *p = map_shared(-1, PAGES);

	if (have_swap()) {
		fill(p, 20);
		ASSERT_EQ(0, evict(p, 20));
	}
	fill(p + 30 * PAGE, 10);
	madvise(p + 35 * PAGE, 5 * PAGE, MADV_DONTNEED);
	EXPECT_EQ(0, same_as_pages(self->q, p, PAGES));
}

TEST_F(one, any_byte_of_the_page)
{
	__u64 first, other;
	size_t i;

	self->p[3 * PAGE] = 1;
	ASSERT_EQ(0, wsq_one(self->q, self->p + 3 * PAGE, &first));
	EXPECT_EQ(M_RW | WSQUERY_PRESENT, first & ~VOLATILE_ATTRS);
	for (i = 1; i < PAGE; i += 61) {
		ASSERT_EQ(0, wsq_one(self->q, self->p + 3 * PAGE + i, &other));
		EXPECT_EQ(first, other);
	}
	ASSERT_EQ(0, wsq_one(self->q, self->p + 4 * PAGE - 1, &other));
	EXPECT_EQ(first, other);
	ASSERT_EQ(0, wsq_one(self->q, self->p + 4 * PAGE, &other));
	EXPECT_EQ(M_RW, other & ~VOLATILE_ATTRS);
}

TEST_F(one, unmapped_and_wild)
{
	static const __u64 wild[] = {
		0, 1, 4095, 0x7ffffffff000, 0x0000800000000000, 0xffff800000000000,
		0xffffffff81000000, 0xffffffffff600000, -(__u64)PAGE, -1ULL,
	};
	size_t i;
	__u64 f;

	munmap(self->p, PAGE);
	ASSERT_EQ(0, wsq_one(self->q, self->p, &f));
	EXPECT_EQ(0, f);
	for (i = 0; i < ARRAY_SIZE(wild); i++) {
		/* Cut to 32 bits these are ordinary addresses of a 32-bit process. */
		if (IS_32BIT && wild[i] >> 32)
			continue;
		ASSERT_EQ(0, wsq_one(self->q, (void *)(uintptr_t)wild[i], &f));
		EXPECT_EQ(0, f) TH_LOG("%#llx", (unsigned long long)wild[i]);
	}
}

/* An address of 32 bits with the highest set is not negative. */
TEST_F(one, upper_half_of_32_bits)
{
	char *p = mmap((void *)0xd0000000UL, PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	__u64 f;

	if (p == MAP_FAILED)
		SKIP(return, "the address is taken");
	*p = 1;
	ASSERT_EQ(0, wsq_one(self->q, p, &f));
	EXPECT_EQ(M_RW | WSQUERY_PRESENT, f & ~VOLATILE_ATTRS);
	EXPECT_PAGES(p, 1, M_RW | WSQUERY_PRESENT);
}

/* The value returned is never negative, and has no bit beyond its mask. */
TEST_F(one, fits_an_int)
{
	int rc;

	EXPECT_EQ(0, WSQUERY_ONE_MASK >> 31);
	fill(self->p, 1);
	rc = ioctl(self->q->dev, WSQUERY_IOC_ONE, self->p);
	EXPECT_LT(0, rc);
}

TEST_HARNESS_MAIN
