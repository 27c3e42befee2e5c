// SPDX-License-Identifier: GPL-2.0
/*
 * The list form: whatever the order, each entry gets what the pages form says of
 * its page.
 */
#include <pthread.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	3000

/* Memory, what the pages form says of it, and room for entries. */
struct listed {
	struct wsq *q;
	char *p;
	__u64 f[PAGES];
	struct wsquery_entry *e;
};

FIXTURE(list) {
	struct listed l;
};

FIXTURE_SETUP(list)
{
	int i;

	self->l.q = own();
	self->l.p = map_anon(PAGES);
	ASSERT_NE(NULL, self->l.p);
	for (i = 0; i < PAGES; i++) {
		if (i % 11 < 4)
			fill(self->l.p + i * PAGE, 1);
		else if (i % 17 == 5)
			touch_read(self->l.p + i * PAGE, 1);
	}
	/* Less than any later mapping takes. */
	ASSERT_EQ(0, munmap(self->l.p + 1000 * PAGE, 2 * PAGE));
	self->l.e = calloc(10 * PAGES, sizeof(*self->l.e));
	ASSERT_NE(NULL, self->l.e);
	ASSERT_EQ(0, wsq_wide(self->l.q, self->l.p, PAGES, self->l.f));
}

FIXTURE_TEARDOWN(list)
{
}

/* Each entry's answer is that of its page. Returns how many are not. */
static int answers(struct wsq *q, struct wsquery_entry *e, size_t n, const char *p, const __u64 *f)
{
	int rc = wsq_list(q, e, n), bad = 0;
	size_t i;

	if (rc) {
		fprintf(stderr, "# a list of %zu: status %d\n", n, rc);
		return -1;
	}
	for (i = 0; i < n; i++) {
		__u64 page = (e[i].address - (uintptr_t)p) / PAGE;

		if (e[i].flags != (page < PAGES ? f[page] : 0) && bad++ < 4)
			fprintf(stderr, "# entry %zu, page %llu: %#llx\n", i,
				(unsigned long long)page, (unsigned long long)e[i].flags);
	}
	return bad;
}

static int orders(struct listed *l, size_t n, size_t from, size_t step, size_t modulo)
{
	size_t i;

	for (i = 0; i < n; i++)
		l->e[i].address = (uintptr_t)l->p + (from + i * step) % modulo * PAGE;
	return answers(l->q, l->e, n, l->p, l->f);
}

TEST_F(list, sequential)
{
	EXPECT_EQ(0, orders(&self->l, PAGES, 0, 1, PAGES));
}

TEST_F(list, reverse)
{
	EXPECT_EQ(0, orders(&self->l, PAGES, PAGES - 1, PAGES - 1, PAGES));
}

TEST_F(list, strided)
{
	static const size_t strides[] = { 2, 3, 8, 63, 64, 512, 513, 1000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(strides); i++)
		EXPECT_EQ(0, orders(&self->l, PAGES / strides[i] + 1, 0, strides[i], PAGES));
}

TEST_F(list, random)
{
	unsigned int seed = 1;
	size_t i, n;

	for (n = 1; n <= 10 * PAGES; n = n * 3 + 1) {
		for (i = 0; i < n; i++)
			self->l.e[i].address = (uintptr_t)self->l.p +
					       rand_r(&seed) % PAGES * PAGE + rand_r(&seed) % PAGE;
		EXPECT_EQ(0, answers(self->l.q, self->l.e, n, self->l.p, self->l.f));
	}
}

TEST_F(list, duplicated)
{
	size_t i;

	EXPECT_EQ(0, orders(&self->l, 1000, 4, 0, PAGES));
	for (i = 0; i < 10 * PAGES; i++)
		self->l.e[i].address = (uintptr_t)self->l.p + i / 10 * PAGE;
	EXPECT_EQ(0, answers(self->l.q, self->l.e, 10 * PAGES, self->l.p, self->l.f));
}

TEST_F(list, misaligned)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		self->l.e[i].address = (uintptr_t)self->l.p + i * PAGE + (i * 7 + 1) % PAGE;
	EXPECT_EQ(0, answers(self->l.q, self->l.e, PAGES, self->l.p, self->l.f));
}

TEST_F(list, of_each_length)
{
	size_t n;

	for (n = 0; n < 300; n++)
		ASSERT_EQ(0, orders(&self->l, n, n * 31, 17, PAGES)) TH_LOG("%zu entries", n);
}

/* Far apart: across tables of every level, mapped and not. */
TEST_F(list, scattered)
{
	char *far[8];
	size_t i, k, n = 0;
	__u64 f;

	for (i = 0; i < 8; i++) {
		far[i] = map_aligned(2 * HUGE2M, HUGE2M, PROT_READ | PROT_WRITE, MAP_PRIVATE);
		ASSERT_NE(NULL, far[i]);
		far[i][PAGE * (i + 1)] = 1;
	}
	for (k = 0; k < 64; k++)
		for (i = 0; i < 8; i++)
			self->l.e[n++].address = (uintptr_t)far[(i * 5 + k) % 8] +
					       k * 13 % 1024 * PAGE;
	ASSERT_EQ(0, wsq_list(self->l.q, self->l.e, n));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, wsq_wide(self->l.q, (void *)(uintptr_t)self->l.e[i].address, 1, &f));
		EXPECT_EQ(f, self->l.e[i].flags);
	}
}

TEST_F(list, unmapped_and_wild)
{
	static const __u64 wild[] = {
		0, 1, PAGE, 0x7ffffffff000, 0x7fffffffffff, 0x0000800000000000,
		0xffff7fffffffffff, 0xffff800000000000, 0xffffffff81000000,
		0xffffffffff600000, 0x8000000000000000, -(__u64)PAGE, -1ULL,
	};
	size_t i, n = ARRAY_SIZE(wild);

	/* Among ordinary ones, which must not suffer. */
	for (i = 0; i < n; i++) {
		self->l.e[2 * i].address = wild[i];
		self->l.e[2 * i + 1].address = (uintptr_t)self->l.p + i * PAGE;
	}
	ASSERT_EQ(0, wsq_list(self->l.q, self->l.e, 2 * n));
	for (i = 0; i < n; i++) {
		EXPECT_EQ(0, self->l.e[2 * i].flags) TH_LOG("%#llx", (unsigned long long)wild[i]);
		EXPECT_EQ(self->l.f[i], self->l.e[2 * i + 1].flags);
	}
	for (i = 0; i < n; i++) {
		self->l.e[0].address = wild[i];
		ASSERT_EQ(0, wsq_list(self->l.q, self->l.e, 1));
		EXPECT_EQ(0, self->l.e[0].flags);
	}
}

/* The entry says exactly how many were answered, wherever the array ends. */
static int cut_off(const struct listed *list, size_t total, size_t room, int prot)
{
	size_t bytes = (room * sizeof(struct wsquery_entry) + PAGE - 1) / PAGE * PAGE, i;
	char *array = map_anon(bytes / PAGE + 1);
	struct wsquery_entry *e = (void *)(array + bytes - room * sizeof(*e));
	struct wsquery_list l = { .size = sizeof(l), .count = total, .attrs = list->q->attrs };
	int rc, bad = 0;

	for (i = 0; i < room + PAGE / sizeof(*e); i++) {
		e[i].address = (uintptr_t)list->p + i % PAGES * PAGE;
		e[i].flags = -1;
	}
	mprotect(array + bytes, PAGE, prot);
	l.entries = (uintptr_t)e;
	rc = wsq_call(list->q->dev, WSQUERY_IOC_LIST, &l, sizeof(l));
	mprotect(array + bytes, PAGE, PROT_READ | PROT_WRITE);
	if (rc != -EFAULT || l.done != room) {
		fprintf(stderr, "# status %d, %llu of %zu\n", rc, (unsigned long long)l.done, room);
		bad++;
	}
	for (i = 0; i < room + PAGE / sizeof(*e); i++)
		bad += e[i].flags != (i < l.done ? list->f[i % PAGES] : -1ULL) ||
		       e[i].address != (uintptr_t)list->p + i % PAGES * PAGE;
	munmap(array, bytes + PAGE);
	return bad;
}

TEST_F(list, array_cut_off)
{
	static const size_t rooms[] = { 0, 1, 2, 7, 8, 9, 63, 64, 65, 256, 1000, 3000, 9999 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		EXPECT_EQ(0, cut_off(&self->l, rooms[i] + 1, rooms[i], PROT_NONE));
		EXPECT_EQ(0, cut_off(&self->l, rooms[i] + 200, rooms[i], PROT_NONE));
		EXPECT_EQ(0, cut_off(&self->l, rooms[i] + 1, rooms[i], PROT_READ));
	}
}

/* More entries than memory has room for, and than 64 bits have. */
TEST_F(list, count_too_big)
{
	static const __u64 counts[] = { 1ULL << 40, 1ULL << 60, (1ULL << 60) + 1, -1ULL };
	struct wsquery_list l;
	size_t i;

	for (i = 0; i < 4; i++) {
		struct wsquery_entry *e = map_anon(1);

		memset(&l, 0, sizeof(l));
		l.size = sizeof(l);
		l.entries = (uintptr_t)e;
		l.count = counts[i];
		EXPECT_EQ(-EFAULT, wsq_call(self->l.q->dev, WSQUERY_IOC_LIST, &l, sizeof(l)));
		EXPECT_GE(PAGE / sizeof(*e), l.done);
	}
}

TEST_F(list, holds_its_own_pages)
{
	struct wsquery_entry *e = map_anon(4);
	size_t i, n = 4 * PAGE / sizeof(*e);
	struct wsquery_list l = { .size = sizeof(l), .count = n, .entries = (uintptr_t)e };

	for (i = 0; i < n; i++)
		e[i].address = (uintptr_t)e + i % 4 * PAGE;
	ASSERT_EQ(0, wsq_call(self->l.q->dev, WSQUERY_IOC_LIST, &l, sizeof(l)));
	for (i = 0; i < n; i++)
		EXPECT_EQ(WSQUERY_MAPPED | WSQUERY_WRITABLE | WSQUERY_PRESENT, e[i].flags);
}

struct asker {
	const struct listed *list;
	pthread_t thread;
	unsigned int seed;
	int bad;
};

/* Lists of all lengths, so that what an open file keeps is too small, enough and taken. */
static void *ask_all_lengths(void *arg)
{
	static const size_t lengths[] = { 9, 17, 300, 20, 5000, 17, 1000, 9000 };
	struct asker *a = arg;
	const struct listed *list = a->list;
	struct wsquery_entry *e = calloc(9000, sizeof(*e));
	struct wsquery_list l = { .size = sizeof(l), .attrs = list->q->attrs };
	size_t round, i;

	for (round = 0; e && round < 80; round++) {
		size_t n = lengths[(round + a->seed) % ARRAY_SIZE(lengths)];

		for (i = 0; i < n; i++) {
			e[i].address = (uintptr_t)list->p + rand_r(&a->seed) % PAGES * PAGE;
			e[i].flags = -1;
		}
		l.entries = (uintptr_t)e;
		l.count = n;
		a->bad += ioctl(list->q->dev, WSQUERY_IOC_LIST, &l) || l.done != n;
		for (i = 0; i < n; i++)
			a->bad += e[i].flags != list->f[(e[i].address - (uintptr_t)list->p) / PAGE];
	}
	a->bad += round != 80;
	free(e);
	return NULL;
}

TEST_F(list, threads_share_a_file)
{
	struct asker askers[4] = {};
	int i;

	for (i = 0; i < 4; i++) {
		askers[i].list = &self->l;
		askers[i].seed = i;
		ASSERT_EQ(0, pthread_create(&askers[i].thread, NULL, ask_all_lengths, &askers[i]));
	}
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_join(askers[i].thread, NULL));
		EXPECT_EQ(0, askers[i].bad);
	}
}

TEST_HARNESS_MAIN
