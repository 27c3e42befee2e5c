// SPDX-License-Identifier: GPL-2.0
/*
 * Every error that the interface documents. wsq_call() sees to it that a request
 * refused with EINVAL or E2BIG left every byte of its structure as it was.
 */
#include <fcntl.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	8

union request {
	__u32 size;
	struct wsquery_info info;
	struct wsquery_range range;
	struct wsquery_pages pages;
	struct wsquery_regions regions;
	struct wsquery_count count;
	struct wsquery_list list;
	char room[2 * PAGE];
};

/* The forms, each with a request that succeeds. */
FIXTURE(errors) {
	struct wsq *q;
	char *memory;
	char array[PAGES * sizeof(struct wsquery_region)] __attribute__((aligned(8)));
	union request r;
};

FIXTURE_VARIANT(errors) {
	unsigned long ioc;
	size_t size;
	bool has_range;
};

FIXTURE_VARIANT_ADD(errors, pages) {
	.ioc = WSQUERY_IOC_PAGES, .size = sizeof(struct wsquery_pages), .has_range = true,
};

FIXTURE_VARIANT_ADD(errors, regions) {
	.ioc = WSQUERY_IOC_REGIONS, .size = sizeof(struct wsquery_regions), .has_range = true,
};

FIXTURE_VARIANT_ADD(errors, count) {
	.ioc = WSQUERY_IOC_COUNT, .size = sizeof(struct wsquery_count), .has_range = true,
};

FIXTURE_VARIANT_ADD(errors, list) {
	.ioc = WSQUERY_IOC_LIST, .size = sizeof(struct wsquery_list),
};

FIXTURE_VARIANT_ADD(errors, info) {
	.ioc = WSQUERY_IOC_INFO, .size = sizeof(struct wsquery_info),
};

static void request_init(union request *r, struct wsq *q, unsigned long ioc, char *memory,
			 char *array)
{
	struct wsquery_entry *e = (struct wsquery_entry *)array;
	int i;

	memset(r, 0, sizeof(*r));
	if (ioc == WSQUERY_IOC_LIST) {
		r->list.size = sizeof(r->list);
		r->list.entries = (uintptr_t)array;
		r->list.count = PAGES;
		r->list.done = r->list.not_told = -1;
		for (i = 0; i < PAGES; i++)
			e[i].address = (uintptr_t)memory + i * PAGE;
		return;
	}
	if (ioc == WSQUERY_IOC_INFO) {
		memset(&r->info, POISON, sizeof(r->info));
		r->info.size = sizeof(r->info);
		return;
	}
	wsq_range_init(&r->range, q, sizeof(r->range), memory, PAGES);
	r->range.attrs = 0;
	if (ioc == WSQUERY_IOC_PAGES) {
		r->range.size = sizeof(r->pages);
		r->range.entry_size = 8;
		r->pages.entries = (uintptr_t)array;
	} else if (ioc == WSQUERY_IOC_REGIONS) {
		r->range.size = sizeof(r->regions);
		r->regions.regions = (uintptr_t)array;
		r->regions.capacity = PAGES;
		r->regions.count = -1;
	} else {
		r->range.size = sizeof(r->count);
		memset(&r->count.matched, POISON,
		       sizeof(r->count) - offsetof(struct wsquery_count, matched));
	}
}

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

/* What the array holds must not change with a refused request. */
#define EXPECT_ERROR(error, size) do { \
	char before[sizeof(self->array)]; \
	memcpy(before, self->array, sizeof(before)); \
	EXPECT_EQ(-(error), wsq_call(self->q->dev, variant->ioc, &self->r, size)); \
	EXPECT_EQ(0, memcmp(before, self->array, sizeof(before))); \
	request_init(&self->r, self->q, variant->ioc, self->memory, self->array); \
} while (0)
#define EXPECT_SUCCESS(size) do { \
	EXPECT_EQ(0, wsq_call(self->q->dev, variant->ioc, &self->r, size)); \
	request_init(&self->r, self->q, variant->ioc, self->memory, self->array); \
} while (0)

TEST_F(errors, none)
{
	EXPECT_SUCCESS(variant->size);
}

TEST_F(errors, size_too_small)
{
	static const __u32 sizes[] = { 0, 1, 4, 8, 31, 32, 39 };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
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

	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
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

	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
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

TEST_F(errors, unknown_flags)
{
	int bit;

	if (variant->ioc == WSQUERY_IOC_INFO)
		return;
	for (bit = 0; bit < 32; bit++) {
		if ((WSQUERY_TARGET_FD | WSQUERY_SHARED_ONLY) & (1U << bit))
			continue;
		self->r.range.flags = 1U << bit;
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

TEST_F(errors, unknown_attributes)
{
	struct wsquery_info info;
	__u64 bit;

	if (variant->ioc == WSQUERY_IOC_INFO)
		return;
	ASSERT_EQ(0, wsq_info(self->q->dev, &info));
	for (bit = 1; bit; bit <<= 1) {
		if (info.attrs & bit)
			continue;
		if (variant->has_range)
			self->r.range.attrs = bit;
		else
			self->r.list.attrs = bit;
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

/* A field is asked for by all of its bits. */
TEST_F(errors, half_a_field)
{
	static const __u64 fields[] = {
		WSQUERY_SHARE_COUNT, WSQUERY_NODE, WSQUERY_MARKER_KIND,
	};
	size_t i;

	if (variant->ioc == WSQUERY_IOC_INFO)
		return;
	for (i = 0; i < 3; i++) {
		__u64 half = fields[i] & (fields[i] - 1);

		if (variant->has_range)
			self->r.range.attrs = half;
		else
			self->r.list.attrs = half;
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

TEST_F(errors, target_without_its_flag)
{
	static const int targets[] = { 1, -1, 0x7fffffff };
	size_t i;

	if (variant->ioc == WSQUERY_IOC_INFO)
		return;
	for (i = 0; i < 3; i++) {
		self->r.range.target = targets[i];
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

/* In a list the same place is the reserved field. */
TEST_F(errors, entry_size)
{
	__u32 size;

	if (variant->ioc == WSQUERY_IOC_INFO)
		return;
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

TEST_F(errors, misaligned_range)
{
	static const __u64 odd[] = { 1, 8, 2048, 4095 };
	size_t i;

	if (!variant->has_range)
		return;
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

TEST_F(errors, range_past_the_end)
{
	if (!variant->has_range)
		return;
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

TEST_F(errors, misaligned_array)
{
	__u64 odd;

	for (odd = 1; odd < 8; odd++) {
		if (variant->ioc == WSQUERY_IOC_PAGES)
			self->r.pages.entries += odd;
		else if (variant->ioc == WSQUERY_IOC_REGIONS)
			self->r.regions.regions += odd;
		else if (variant->ioc == WSQUERY_IOC_LIST)
			self->r.list.entries += odd;
		else
			return;
		EXPECT_ERROR(EINVAL, variant->size);
	}
}

TEST_HARNESS_MAIN
