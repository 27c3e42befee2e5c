/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of any form that succeed, for tests that then make one thing wrong.
 */
#ifndef WSQ_REQUEST_H
#define WSQ_REQUEST_H

#include <string.h>

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

/* What is asked for goes to an array of PAGES entries of any kind. */
static inline void request_init(union request *r, struct wsq *q, unsigned long ioc, char *memory,
				char *array)
{
	struct wsquery_entry *e = (struct wsquery_entry *)array;
	int i;

	memset(r, 0, sizeof(*r));
	if (ioc == WSQUERY_IOC_LIST) {
		r->list.size = sizeof(r->list);
		r->list.entries = (uintptr_t)array;
		r->list.count = PAGES;
		r->list.done = -1;
		r->list.not_told = -1;
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

/*
 * To be used where self has q, memory, array and r, and variant has ioc. What the
 * array holds must not change with a refused request.
 */
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

#endif /* WSQ_REQUEST_H */
