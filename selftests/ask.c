// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to /dev/wsquery on poisoned buffers: the structure and the array end
 * at a page that cannot be accessed and begin after bytes that are watched, and
 * whatever the interface says is not written is compared afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "wsq.h"

#define ARRAY_ROOM	(64UL << 20)
#define WATCHED		64

/* Memory that ends at a page without access. */
static char *guarded(size_t room)
{
	char *p = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED || mprotect(p + room, PAGE, PROT_NONE)) {
		perror("# memory before a guard page");
		_exit(1);
	}
	return p + room;
}

static bool poisoned(const char *p, size_t n)
{
	return !n || ((unsigned char)p[0] == POISON && !memcmp(p, p + 1, n - 1));
}

static char *array_prepare(size_t bytes)
{
	static char *end;

	if (!end)
		end = guarded(ARRAY_ROOM);
	if (bytes + WATCHED > ARRAY_ROOM) {
		fprintf(stderr, "# an array of %zu bytes does not fit\n", bytes);
		_exit(1);
	}
	memset(end - bytes - WATCHED, POISON, bytes + WATCHED);
	return end - bytes;
}

/* Nothing before the array, and nothing after what was answered, is written. */
static int array_check(const char *array, size_t answered, size_t bytes)
{
	if (!poisoned(array - WATCHED, WATCHED)) {
		fprintf(stderr, "# written before the array\n");
		return BROKEN;
	}
	if (answered > bytes || !poisoned(array + answered, bytes - answered)) {
		fprintf(stderr, "# written after the first %zu bytes of the array\n", answered);
		return BROKEN;
	}
	return 0;
}

/* Copies the structure back without those fields that the kernel may write. */
static void outputs_mask(unsigned long ioc, char *a, size_t size)
{
	static const struct {
		unsigned long ioc;
		size_t from, to;
	} outputs[] = {
		{ WSQUERY_IOC_INFO, offsetof(struct wsquery_info, version),
		  sizeof(struct wsquery_info) },
		{ WSQUERY_IOC_PAGES, offsetof(struct wsquery_range, done),
		  sizeof(struct wsquery_range) },
		{ WSQUERY_IOC_REGIONS, offsetof(struct wsquery_range, done),
		  sizeof(struct wsquery_range) },
		{ WSQUERY_IOC_REGIONS, offsetof(struct wsquery_regions, count),
		  sizeof(struct wsquery_regions) },
		{ WSQUERY_IOC_COUNT, offsetof(struct wsquery_range, done),
		  sizeof(struct wsquery_range) },
		{ WSQUERY_IOC_COUNT, offsetof(struct wsquery_count, matched),
		  sizeof(struct wsquery_count) },
		{ WSQUERY_IOC_LIST, offsetof(struct wsquery_list, done),
		  sizeof(struct wsquery_list) },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(outputs); i++) {
		size_t to = outputs[i].to < size ? outputs[i].to : size;

		if (outputs[i].ioc == ioc && outputs[i].from < to)
			memset(a + outputs[i].from, 0, to - outputs[i].from);
	}
}

/*
 * One ioctl with a structure of any size. Whatever the caller left in the
 * outputs of it is what must be there after an error that writes nothing.
 */
int wsq_call(int dev, unsigned long ioc, void *arg, size_t size)
{
	static char *end;
	char before[2 * PAGE], *place;
	int rc, err;

	if (!end)
		end = guarded(4 * PAGE);
	if (size > sizeof(before))
		_exit(1);
	place = end - size;
	memset(place - WATCHED, POISON, WATCHED);
	memcpy(place, arg, size);
	memcpy(before, arg, size);
	errno = 0;
	rc = ioctl(dev, ioc, place);
	err = errno;
	memcpy(arg, place, size);
	if (rc && rc != -1) {
		fprintf(stderr, "# the ioctl returned %d\n", rc);
		return BROKEN;
	}
	if (!poisoned(place - WATCHED, WATCHED)) {
		fprintf(stderr, "# written before the structure\n");
		return BROKEN;
	}
	if (!rc || (err != EINVAL && err != E2BIG && err != ENOTTY)) {
		outputs_mask(ioc, before, size);
		outputs_mask(ioc, place, size);
	}
	if (memcmp(before, place, size)) {
		fprintf(stderr, "# the structure was written where it must not be (%s)\n",
			rc ? strerror(err) : "success");
		return BROKEN;
	}
	return rc ? -err : 0;
}

int wsq_info(int dev, struct wsquery_info *info)
{
	memset(info, POISON, sizeof(*info));
	info->size = sizeof(*info);
	return wsq_call(dev, WSQUERY_IOC_INFO, info, sizeof(*info));
}

int wsq_open(struct wsq *q)
{
	struct wsquery_info info;
	int rc;

	memset(q, 0, sizeof(*q));
	q->target = -1;
	q->dev = open("/dev/wsquery", O_RDONLY | O_CLOEXEC);
	if (q->dev < 0)
		return -errno;
	rc = wsq_info(q->dev, &info);
	if (rc)
		return rc;
	q->forms = info.forms;
	q->attrs = info.attrs & ALL_ATTRS;
	return 0;
}

/*
 * The process itself, all attributes. Pages of 4 KiB only, unless a test says
 * otherwise.
 */
struct wsq *own(void)
{
	static struct wsq q = { .dev = -1 };

	if (q.dev < 0) {
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
		/* So that no mapping appears between two requests. */
		array_prepare(0);
		if (wsq_open(&q))
			perror("# /dev/wsquery");
	}
	return &q;
}

bool wsq_has(const struct wsq *q, unsigned long ioc)
{
	return q->forms & (1ULL << _IOC_NR(ioc));
}

void wsq_range_init(struct wsquery_range *r, const struct wsq *q, size_t size,
		    const void *start, size_t pages)
{
	memset(r, POISON, size);
	r->size = size;
	r->flags = q->flags | (q->target >= 0 ? WSQUERY_TARGET_FD : 0);
	r->target = q->target >= 0 ? q->target : 0;
	r->entry_size = 0;
	r->start = (uintptr_t)start;
	r->length = (__u64)pages * PAGE;
	r->attrs = q->attrs;
}

/* What must hold of done after any request about a range. */
static int range_check(struct wsq *q, const struct wsquery_range *r, int rc, bool may_be_short)
{
	q->done = 0;
	q->not_told = 0;
	if (rc == BROKEN || rc == -EINVAL || rc == -E2BIG || rc == -ENOTTY)
		return rc;
	if (r->done > r->length || r->done % PAGE ||
	    (!rc && !may_be_short && r->done != r->length)) {
		fprintf(stderr, "# done is %#llx of %#llx, status %d\n",
			(unsigned long long)r->done, (unsigned long long)r->length, rc);
		return BROKEN;
	}
	if (r->not_told > r->done / PAGE) {
		fprintf(stderr, "# not_told is %#llx\n", (unsigned long long)r->not_told);
		return BROKEN;
	}
	q->done = r->done;
	q->not_told = r->not_told;
	return rc;
}

int wsq_pages(struct wsq *q, const void *start, size_t pages, unsigned int entry_size, void *out)
{
	size_t bytes = pages * entry_size;
	char *array = array_prepare(bytes);
	struct wsquery_pages p;
	int rc;

	wsq_range_init(&p.range, q, sizeof(p), start, pages);
	p.range.entry_size = entry_size;
	if (entry_size == 1)
		p.range.attrs = 0;
	p.entries = (uintptr_t)array;
	rc = wsq_call(q->dev, WSQUERY_IOC_PAGES, &p, sizeof(p));
	rc = range_check(q, &p.range, rc, false);
	if (array_check(array, q->done / PAGE * entry_size, bytes))
		return BROKEN;
	memcpy(out, array, bytes);
	return rc;
}

int wsq_bytes(struct wsq *q, const void *start, size_t pages, __u8 *out)
{
	return wsq_pages(q, start, pages, 1, out);
}

int wsq_wide(struct wsq *q, const void *start, size_t pages, __u64 *out)
{
	return wsq_pages(q, start, pages, 8, out);
}

int wsq_regions(struct wsq *q, __u64 start, __u64 length, __u64 select,
		struct wsquery_region *out, size_t capacity, size_t *count)
{
	size_t bytes = capacity * sizeof(*out);
	char *array = array_prepare(bytes);
	struct wsquery_regions r;
	int rc;

	wsq_range_init(&r.range, q, sizeof(r), NULL, 0);
	r.range.start = start;
	r.range.length = length;
	r.regions = (uintptr_t)array;
	r.capacity = capacity;
	r.select = select;
	rc = wsq_call(q->dev, WSQUERY_IOC_REGIONS, &r, sizeof(r));
	rc = range_check(q, &r.range, rc, true);
	if (rc)
		r.count = 0;
	if (r.count > capacity || (!rc && q->done < length && r.count != capacity)) {
		fprintf(stderr, "# %llu of %zu regions, done %#llx of %#llx\n",
			(unsigned long long)r.count, capacity, (unsigned long long)q->done,
			(unsigned long long)length);
		return BROKEN;
	}
	if (!rc && array_check(array, r.count * sizeof(*out), bytes))
		return BROKEN;
	memcpy(out, array, r.count * sizeof(*out));
	*count = r.count;
	return rc;
}

int wsq_count(struct wsq *q, __u64 start, __u64 length, __u64 mask, __u64 value,
	      struct wsquery_count *out)
{
	int rc;

	wsq_range_init(&out->range, q, sizeof(*out), NULL, 0);
	out->range.start = start;
	out->range.length = length;
	out->mask = mask;
	out->value = value;
	rc = wsq_call(q->dev, WSQUERY_IOC_COUNT, out, sizeof(*out));
	return range_check(q, &out->range, rc, false);
}

int wsq_list(struct wsq *q, struct wsquery_entry *entries, size_t count)
{
	size_t i, bytes = count * sizeof(*entries);
	char *array = array_prepare(bytes);
	struct wsquery_entry *e = (struct wsquery_entry *)array;
	struct wsquery_list l;
	int rc;

	memset(&l, POISON, sizeof(l));
	l.size = sizeof(l);
	l.flags = q->flags | (q->target >= 0 ? WSQUERY_TARGET_FD : 0);
	l.target = q->target >= 0 ? q->target : 0;
	l.reserved = 0;
	l.entries = (uintptr_t)array;
	l.count = count;
	l.attrs = q->attrs;
	for (i = 0; i < count; i++)
		e[i].address = entries[i].address;
	rc = wsq_call(q->dev, WSQUERY_IOC_LIST, &l, sizeof(l));
	q->done = 0;
	q->not_told = 0;
	if (rc != BROKEN && rc != -EINVAL && rc != -E2BIG && rc != -ENOTTY) {
		q->done = l.done;
		q->not_told = l.not_told;
	}
	if (q->done > count || (!rc && q->done != count) || q->not_told > q->done) {
		fprintf(stderr, "# done is %llu of %zu entries, not_told %llu\n",
			(unsigned long long)q->done, count, (unsigned long long)q->not_told);
		return BROKEN;
	}
	for (i = 0; i < count; i++) {
		if (e[i].address != entries[i].address ||
		    (i >= q->done && !poisoned((char *)&e[i].flags, 8))) {
			fprintf(stderr, "# entry %zu was written where it must not be\n", i);
			return BROKEN;
		}
		entries[i].flags = e[i].flags;
	}
	return rc;
}

int wsq_one(struct wsq *q, const void *address, __u64 *flags)
{
	int rc = ioctl(q->dev, WSQUERY_IOC_ONE, address);

	*flags = 0;
	if (rc < 0)
		return -errno;
	*flags = rc;
	return 0;
}
