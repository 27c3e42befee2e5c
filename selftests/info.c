// SPDX-License-Identifier: GPL-2.0
/*
 * INFO does not lie: whatever it lists is accepted, alone and together; and the
 * few errors that belong to one form only.
 */
#include <fcntl.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	4

FIXTURE(info) {
	struct wsq *q;
	struct wsquery_info info;
	char *memory;
};

FIXTURE_SETUP(info)
{
	self->q = own();
	self->memory = map_anon(PAGES);
	ASSERT_NE(NULL, self->memory);
	fill(self->memory, PAGES);
	ASSERT_EQ(0, wsq_info(self->q->dev, &self->info));
}

FIXTURE_TEARDOWN(info)
{
}

TEST_F(info, says_what_the_header_says)
{
	EXPECT_EQ(sizeof(self->info), self->info.size);
	EXPECT_EQ(WSQUERY_VERSION, self->info.version);
	EXPECT_EQ(0x3f, self->info.forms);
	EXPECT_EQ(WSQUERY_TARGET_FD | WSQUERY_SHARED_ONLY, self->info.flags);
	EXPECT_EQ(sysconf(_SC_PAGESIZE), self->info.page_size);
	EXPECT_EQ(ALL_ATTRS & ~(kernel_before(6, 13) ? WSQUERY_GUARD : 0), self->info.attrs);
	EXPECT_EQ(0, self->info.marker_kinds & ~WSQUERY_MARKER_KIND);
	EXPECT_NE(0, self->info.marker_kinds & WSQUERY_MARKER_UFFD_WP);
	EXPECT_EQ(!kernel_before(6, 13), !!(self->info.marker_kinds & WSQUERY_MARKER_GUARD));
}

TEST_F(info, bounds_are_plausible)
{
	EXPECT_LT(0, self->info.lock_pages);
	EXPECT_GE(1 << 20, self->info.lock_pages);
	EXPECT_LT(0, self->info.call_bytes);
	EXPECT_GE(1 << 20, self->info.call_bytes);
}

/* The size of the structure is the only input. */
TEST_F(info, ignores_outputs)
{
	struct wsquery_info zero = { .size = sizeof(zero) };

	ASSERT_EQ(0, wsq_call(self->q->dev, WSQUERY_IOC_INFO, &zero, sizeof(zero)));
	EXPECT_EQ(0, memcmp(&zero, &self->info, sizeof(zero)));
}

TEST_F(info, every_attribute_alone)
{
	__u64 fields[] = { WSQUERY_SHARE_COUNT, WSQUERY_NODE, WSQUERY_MARKER_KIND };
	__u64 single = self->info.attrs & ~(fields[0] | fields[1] | fields[2]);
	__u64 all[PAGES], one[PAGES], bit;
	struct wsq q = *self->q;
	size_t i, k;

	ASSERT_EQ(0, wsq_wide(&q, self->memory, PAGES, all));
	for (bit = 1; bit; bit <<= 1) {
		q.attrs = single & bit;
		ASSERT_EQ(0, wsq_wide(&q, self->memory, PAGES, one));
		for (i = 0; i < PAGES; i++)
			EXPECT_EQ(all[i] & (q.attrs | WSQUERY_STATE_MASK), one[i]);
		ASSERT_EQ(0, check_forms(&q, self->memory, PAGES, one));
	}
	for (k = 0; k < 3; k++) {
		q.attrs = self->info.attrs & fields[k];
		ASSERT_EQ(0, wsq_wide(&q, self->memory, PAGES, one));
		for (i = 0; i < PAGES; i++)
			EXPECT_EQ(all[i] & (q.attrs | WSQUERY_STATE_MASK), one[i]);
		ASSERT_EQ(0, check_forms(&q, self->memory, PAGES, one));
	}
}

TEST_F(info, every_flag)
{
	struct wsq q = *self->q;
	__u64 mine[PAGES], theirs[PAGES];
	int i;

	ASSERT_EQ(0, wsq_wide(&q, self->memory, PAGES, mine));
	q.target = pagemap_open(0);
	ASSERT_LE(0, q.target);
	ASSERT_EQ(0, wsq_wide(&q, self->memory, PAGES, theirs));
	EXPECT_EQ(0, memcmp(mine, theirs, sizeof(mine)));
	ASSERT_EQ(0, check_forms(&q, self->memory, PAGES, mine));
	q.flags = WSQUERY_SHARED_ONLY;
	for (i = 0; i < 2; i++, q.target = -1) {
		ASSERT_EQ(0, wsq_wide(&q, self->memory, PAGES, theirs));
		ASSERT_EQ(0, check_forms(&q, self->memory, PAGES, theirs));
	}
}

/* All numbers of the type: those that INFO lists exist, no other does. */
TEST_F(info, every_ioctl_number)
{
	char room[PAGE] = {};
	int nr;

	for (nr = 0; nr < 256; nr++) {
		int rc = ioctl(self->q->dev, _IO(WSQUERY_IOC_TYPE, nr), room);
		bool exists = nr < 64 && (self->info.forms & (1ULL << nr));

		if (nr == _IOC_NR(WSQUERY_IOC_ONE)) {
			EXPECT_LE(0, rc);
			continue;
		}
		EXPECT_EQ(-1, rc);
		EXPECT_EQ(exists ? EINVAL : ENOTTY, errno) TH_LOG("ioctl number %d", nr);
	}
}

/* The size is in the structure; a number that has one is another ioctl. */
TEST_F(info, other_ioctls)
{
	char room[PAGE] = {};

	EXPECT_EQ(-1, ioctl(self->q->dev, _IOWR(WSQUERY_IOC_TYPE, 0, struct wsquery_info), room));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-1, ioctl(self->q->dev, _IOR(WSQUERY_IOC_TYPE, 1, struct wsquery_pages), room));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-1, ioctl(self->q->dev, _IO('f', 1), room));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-1, ioctl(self->q->dev, 0, room));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_F(info, bytes_have_no_attributes)
{
	char out[PAGES] __aligned(8);
	struct wsquery_pages p;

	wsq_range_init(&p.range, self->q, sizeof(p), self->memory, PAGES);
	p.range.entry_size = 1;
	p.entries = (uintptr_t)out;
	p.range.attrs = WSQUERY_SHARED;
	EXPECT_EQ(-EINVAL, wsq_call(self->q->dev, WSQUERY_IOC_PAGES, &p, sizeof(p)));
	p.range.attrs = 0;
	EXPECT_EQ(0, wsq_call(self->q->dev, WSQUERY_IOC_PAGES, &p, sizeof(p)));
}

/* The state is always told: its bits are not attributes. */
TEST_F(info, state_bits_are_no_attributes)
{
	__u64 out[PAGES], bit;
	struct wsq q = *self->q;

	for (bit = 1; bit < 0x100; bit <<= 1) {
		q.attrs = bit;
		EXPECT_EQ(-EINVAL, wsq_wide(&q, self->memory, PAGES, out));
	}
}

TEST_F(info, regions_fields)
{
	struct wsquery_region out[4] = {};
	struct wsquery_regions good, r;

	wsq_range_init(&good.range, self->q, sizeof(good), self->memory, PAGES);
	good.range.attrs = WSQUERY_SHARED;
	good.regions = (uintptr_t)out;
	good.capacity = 4;
	good.select = WSQUERY_PRESENT | WSQUERY_SHARED;
	r = good;
	EXPECT_EQ(0, wsq_call(self->q->dev, WSQUERY_IOC_REGIONS, &r, sizeof(r)));
	r = good;
	r.capacity = 0;
	EXPECT_EQ(-EINVAL, wsq_call(self->q->dev, WSQUERY_IOC_REGIONS, &r, sizeof(r)));
	r = good;
	r.select = WSQUERY_READABLE;
	EXPECT_EQ(-EINVAL, wsq_call(self->q->dev, WSQUERY_IOC_REGIONS, &r, sizeof(r)));
	r = good;
	r.select = 1ULL << 63;
	EXPECT_EQ(-EINVAL, wsq_call(self->q->dev, WSQUERY_IOC_REGIONS, &r, sizeof(r)));
}

TEST_F(info, count_fields)
{
	struct wsquery_count good = {}, c;

	wsq_range_init(&good.range, self->q, sizeof(good), self->memory, PAGES);
	good.range.attrs = WSQUERY_SHARED;
	good.mask = WSQUERY_PRESENT | WSQUERY_SHARED;
	good.value = WSQUERY_PRESENT;
	c = good;
	EXPECT_EQ(0, wsq_call(self->q->dev, WSQUERY_IOC_COUNT, &c, sizeof(c)));
	EXPECT_EQ(PAGES, c.matched);
	c = good;
	c.mask |= WSQUERY_READABLE;
	EXPECT_EQ(-EINVAL, wsq_call(self->q->dev, WSQUERY_IOC_COUNT, &c, sizeof(c)));
	c = good;
	c.value |= WSQUERY_SWAPPED;
	EXPECT_EQ(-EINVAL, wsq_call(self->q->dev, WSQUERY_IOC_COUNT, &c, sizeof(c)));
}

TEST_F(info, list_reserved)
{
	struct wsquery_entry e = { .address = (uintptr_t)self->memory };
	struct wsquery_list l = {
		.size = sizeof(l), .entries = (uintptr_t)&e, .count = 1, .reserved = 1,
	};

	EXPECT_EQ(-EINVAL, wsq_call(self->q->dev, WSQUERY_IOC_LIST, &l, sizeof(l)));
	l.reserved = 0;
	EXPECT_EQ(0, wsq_call(self->q->dev, WSQUERY_IOC_LIST, &l, sizeof(l)));
}

TEST_F(info, device_has_no_read_or_write)
{
	char c;

	EXPECT_EQ(-1, read(self->q->dev, &c, 1));
	EXPECT_EQ(-1, write(self->q->dev, "", 1));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->q->dev, 0));
}

TEST_HARNESS_MAIN
