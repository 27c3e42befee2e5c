// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of a request's fields, each alone in a request that is right otherwise.
 * wsq_call() sees to it that a request refused with EINVAL left every byte of its
 * structure as it was.
 */
#include "kselftest_harness.h"
#include "request.h"

FIXTURE(fields) {
	struct wsq *q;
	char *memory;
	char array[PAGES * sizeof(struct wsquery_region)] __aligned(8);
	union request r;
};

FIXTURE_VARIANT(fields) {
	unsigned long ioc;
	size_t size;
};

FIXTURE_VARIANT_ADD(fields, pages) {
	.ioc = WSQUERY_IOC_PAGES, .size = sizeof(struct wsquery_pages),
};

FIXTURE_VARIANT_ADD(fields, regions) {
	.ioc = WSQUERY_IOC_REGIONS, .size = sizeof(struct wsquery_regions),
};

FIXTURE_VARIANT_ADD(fields, count) {
	.ioc = WSQUERY_IOC_COUNT, .size = sizeof(struct wsquery_count),
};

FIXTURE_VARIANT_ADD(fields, list) {
	.ioc = WSQUERY_IOC_LIST, .size = sizeof(struct wsquery_list),
};

FIXTURE_SETUP(fields)
{
	self->q = own();
	self->memory = map_anon(PAGES);
	ASSERT_NE(NULL, self->memory);
	request_init(&self->r, self->q, variant->ioc, self->memory, self->array);
}

FIXTURE_TEARDOWN(fields)
{
}

TEST_F(fields, unknown_flags)
{
	int bit;

	for (bit = 0; bit < 32; bit++) {
		if ((WSQUERY_TARGET_FD | WSQUERY_SHARED_ONLY) & (1U << bit))
			continue;
		self->r.range.flags = 1U << bit;
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

TEST_F(fields, unknown_attributes)
{
	struct wsquery_info info;
	__u64 bit;

	ASSERT_EQ(0, wsq_info(self->q->dev, &info));
	for (bit = 1; bit; bit <<= 1) {
		if (info.attrs & bit)
			continue;
		if (variant->ioc != WSQUERY_IOC_LIST)
			self->r.range.attrs = bit;
		else
			self->r.list.attrs = bit;
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

/* A field is asked for by all of its bits. */
TEST_F(fields, half_a_field)
{
	static const __u64 fields[] = {
		WSQUERY_SHARE_COUNT, WSQUERY_NODE, WSQUERY_MARKER_KIND,
	};
	size_t i;

	for (i = 0; i < 3; i++) {
		__u64 half = fields[i] & (fields[i] - 1);

		if (variant->ioc != WSQUERY_IOC_LIST)
			self->r.range.attrs = half;
		else
			self->r.list.attrs = half;
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

TEST_F(fields, target_without_its_flag)
{
	static const int targets[] = { 1, -1, 0x7fffffff };
	size_t i;

	for (i = 0; i < 3; i++) {
		self->r.range.target = targets[i];
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

/* In a list the same place is the reserved field. */
TEST_F(fields, entry_size)
{
	__u32 size;

	for (size = 1; size < 40; size++) {
		if (variant->ioc == WSQUERY_IOC_PAGES && (size == 1 || size == 8 || size == 16))
			continue;
		self->r.range.entry_size = size;
		EXPECT_ERROR(EINVAL, variant->size);
	}
	if (variant->ioc == WSQUERY_IOC_PAGES) {
		self->r.range.entry_size = 0;
		EXPECT_ERROR(EINVAL, variant->size);
	}
	self->r.range.entry_size = 0x80000008;
	EXPECT_ERROR(EINVAL, variant->size);
}

/* Forms that are about a range. */
FIXTURE(range) {
	struct wsq *q;
	char *memory;
	char array[PAGES * sizeof(struct wsquery_region)] __aligned(8);
	union request r;
};

FIXTURE_VARIANT(range) {
	unsigned long ioc;
	size_t size;
};

FIXTURE_VARIANT_ADD(range, pages) {
	.ioc = WSQUERY_IOC_PAGES, .size = sizeof(struct wsquery_pages),
};

FIXTURE_VARIANT_ADD(range, regions) {
	.ioc = WSQUERY_IOC_REGIONS, .size = sizeof(struct wsquery_regions),
};

FIXTURE_VARIANT_ADD(range, count) {
	.ioc = WSQUERY_IOC_COUNT, .size = sizeof(struct wsquery_count),
};

FIXTURE_SETUP(range)
{
	self->q = own();
	self->memory = map_anon(PAGES);
	ASSERT_NE(NULL, self->memory);
	request_init(&self->r, self->q, variant->ioc, self->memory, self->array);
}

FIXTURE_TEARDOWN(range)
{
}

TEST_F(range, misaligned_range)
{
	static const __u64 odd[] = { 1, 8, 2048, 4095 };
	size_t i;

	for (i = 0; i < 4; i++) {
		self->r.range.start += odd[i];
		EXPECT_ERROR(EINVAL, variant->size);
		self->r.range.length -= odd[i];
		EXPECT_ERROR(EINVAL, variant->size);
		self->r.range.start += odd[i];
		self->r.range.length -= odd[i];
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

TEST_F(range, range_past_the_end)
{
	self->r.range.start = -(__u64)PAGE;
	self->r.range.length = 2 * PAGE;
	EXPECT_ERROR(EINVAL, variant->size);
	self->r.range.start = 2 * PAGE;
	self->r.range.length = -(__u64)PAGE;
	EXPECT_ERROR(EINVAL, variant->size);
	self->r.range.start = 1ULL << 63;
	self->r.range.length = (1ULL << 63) + PAGE;
	EXPECT_ERROR(EINVAL, variant->size);
}

/* Forms that have an array. */
FIXTURE(array) {
	struct wsq *q;
	char *memory;
	char array[PAGES * sizeof(struct wsquery_region)] __aligned(8);
	union request r;
};

FIXTURE_VARIANT(array) {
	unsigned long ioc;
	size_t size;
};

FIXTURE_VARIANT_ADD(array, pages) {
	.ioc = WSQUERY_IOC_PAGES, .size = sizeof(struct wsquery_pages),
};

FIXTURE_VARIANT_ADD(array, regions) {
	.ioc = WSQUERY_IOC_REGIONS, .size = sizeof(struct wsquery_regions),
};

FIXTURE_VARIANT_ADD(array, list) {
	.ioc = WSQUERY_IOC_LIST, .size = sizeof(struct wsquery_list),
};

FIXTURE_SETUP(array)
{
	self->q = own();
	self->memory = map_anon(PAGES);
	ASSERT_NE(NULL, self->memory);
	request_init(&self->r, self->q, variant->ioc, self->memory, self->array);
}

FIXTURE_TEARDOWN(array)
{
}

TEST_F(array, misaligned_array)
{
	__u64 odd;

	for (odd = 1; odd < 8; odd++) {
		if (variant->ioc == WSQUERY_IOC_PAGES)
			self->r.pages.entries += odd;
		else if (variant->ioc == WSQUERY_IOC_REGIONS)
			self->r.regions.regions += odd;
		else
			self->r.list.entries += odd;
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

TEST_HARNESS_MAIN
