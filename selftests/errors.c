// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of a request's structure: its size, its tail, its place. wsq_call() sees
 * to it that a request refused with EINVAL or E2BIG left every byte of its
 * structure as it was.
 */
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "request.h"

/* The forms, each with a request that succeeds. */
FIXTURE(errors) {
	struct wsq *q;
	char *memory;
	char array[PAGES * sizeof(struct wsquery_region)] __aligned(8);
	union request r;
};

FIXTURE_VARIANT(errors) {
	unsigned long ioc;
	size_t size;
};

FIXTURE_VARIANT_ADD(errors, pages) {
	.ioc = WSQUERY_IOC_PAGES, .size = sizeof(struct wsquery_pages),
};

FIXTURE_VARIANT_ADD(errors, regions) {
	.ioc = WSQUERY_IOC_REGIONS, .size = sizeof(struct wsquery_regions),
};

FIXTURE_VARIANT_ADD(errors, count) {
	.ioc = WSQUERY_IOC_COUNT, .size = sizeof(struct wsquery_count),
};

FIXTURE_VARIANT_ADD(errors, list) {
	.ioc = WSQUERY_IOC_LIST, .size = sizeof(struct wsquery_list),
};

FIXTURE_VARIANT_ADD(errors, info) {
	.ioc = WSQUERY_IOC_INFO, .size = sizeof(struct wsquery_info),
};

FIXTURE_SETUP(errors)
{
	self->q = own();
	self->memory = map_anon(PAGES);
	ASSERT_NE(NULL, self->memory);
	fill(self->memory, PAGES);
	request_init(&self->r, self->q, variant->ioc, self->memory, self->array);
}

FIXTURE_TEARDOWN(errors)
{
}

TEST_F(errors, none)
{
	EXPECT_SUCCESS(variant->size);
}

TEST_F(errors, size_too_small)
{
	static const __u32 sizes[] = { 0, 1, 4, 8, 31, 32, 39 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		self->r.size = sizes[i];
		EXPECT_ERROR(EINVAL, variant->size);
	}
	self->r.size = variant->size - 1;
	EXPECT_ERROR(EINVAL, variant->size);
	self->r.size = variant->size - 8;
	EXPECT_ERROR(EINVAL, variant->size);
}

TEST_F(errors, size_too_big_zero_tail)
{
	static const size_t more[] = { 1, 4, 8, 64, 1000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(more); i++) {
		self->r.size = variant->size + more[i];
		EXPECT_SUCCESS(variant->size + more[i]);
	}
	self->r.size = PAGE;
	EXPECT_SUCCESS(PAGE);
}

TEST_F(errors, size_too_big_nonzero_tail)
{
	static const size_t more[] = { 1, 4, 8, 64, 1000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(more); i++) {
		self->r.size = variant->size + more[i];
		self->r.room[variant->size + more[i] - 1] = 1;
		EXPECT_ERROR(E2BIG, variant->size + more[i]);
		self->r.size = variant->size + more[i];
		self->r.room[variant->size] = 0x80;
		EXPECT_ERROR(E2BIG, variant->size + more[i]);
	}
}

TEST_F(errors, size_longer_than_a_page)
{
	self->r.size = PAGE + 1;
	EXPECT_ERROR(E2BIG, 2 * PAGE);
	self->r.size = PAGE + 8;
	EXPECT_ERROR(E2BIG, 2 * PAGE);
	self->r.size = 0xffffffff;
	EXPECT_ERROR(E2BIG, 2 * PAGE);
}

/* A tail that is not there to be read. */
TEST_F(errors, tail_unreadable)
{
	self->r.size = variant->size + 8;
	EXPECT_EQ(-EFAULT, wsq_call(self->q->dev, variant->ioc, &self->r, variant->size));
}

TEST_F(errors, structure_unreadable)
{
	char *hole = map_anon(2);

	munmap(hole, 2 * PAGE);
	EXPECT_EQ(-1, ioctl(self->q->dev, variant->ioc, hole));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->q->dev, variant->ioc, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->q->dev, variant->ioc, (void *)-64L));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(errors, structure_half_readable)
{
	char *p = map_anon(1);

	memcpy(p + PAGE - 16, &self->r, 16);
	EXPECT_EQ(-1, ioctl(self->q->dev, variant->ioc, p + PAGE - 16));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(errors, structure_read_only)
{
	char *p = map_anon(1);

	memcpy(p, &self->r, variant->size);
	ASSERT_EQ(0, mprotect(p, PAGE, PROT_READ));
	EXPECT_EQ(-1, ioctl(self->q->dev, variant->ioc, p));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, memcmp(p, &self->r, variant->size));
}

TEST_HARNESS_MAIN
