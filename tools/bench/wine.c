// SPDX-License-Identifier: GPL-2.0
/*
 * Wine's two ways to answer QueryWorkingSetEx, written anew from their description.
 *
 * Until 9.12 ("wine-8"): for each entry a look-up in the ordered tree of views and
 * one read of 8 bytes. From 9.13 ("wine-10"): sort the entries by address, walk the
 * views beside them, read pagemap through a buffer of 256 entries.
 *
 * What Wine does besides is left out, in its favour: locking, blocking signals,
 * and searching for the end of a run of equal protections. It sorts with qsort(3),
 * always; here what is in order or in reverse order already is cheap.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

/* As many views as a program of some size has. */
#define VIEWS		512
#define PM_BUFFER	256UL
#define PM_FILE		(1ULL << 61)
#define PM_PRESENT	(1ULL << 63)

#define VALID		1ULL
#define SHARE_COUNT_1	(1ULL << 1)
#define PROT(p)		((__u64)(p) << 4)
#define SHARED		(1ULL << 15)

struct view {
	__u64 base;
	__u64 end;
	struct view *left, *right, *next;
	bool file;
	const __u8 *prot;	/* of each page, 0 if it is not committed */
};

struct ref {
	__u64 address;
	struct wsquery_entry *entry;
};

static struct view views[VIEWS];
static struct view *root;
static int pagemap = -1;

static struct view *tree(int first, int end)
{
	int mid = (first + end) / 2;

	if (first == end)
		return NULL;
	views[mid].left = tree(first, mid);
	views[mid].right = tree(mid + 1, end);
	return &views[mid];
}

/* The population is one view; the others lie around it, as a program's do. */
void wine_views(const struct pop *pop)
{
	static __u8 *prot;
	__u64 start = (uintptr_t)pop->start;
	size_t i;

	if (pagemap < 0)
		pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	free(prot);
	prot = malloc(pop->pages);
	for (i = 0; i < pop->pages; i++)
		prot[i] = 4;
	for (i = 0; i < VIEWS; i++) {
		struct view *view = &views[i];

		view->base = start + ((__s64)i - VIEWS / 2) * 16 * PAGE;
		if (i > VIEWS / 2)
			view->base += pop->pages * PAGE;
		view->end = view->base + (i == VIEWS / 2 ? pop->pages * PAGE : 8 * PAGE);
		view->file = pop->file;
		view->prot = prot;
		view->next = i + 1 < VIEWS ? view + 1 : NULL;
	}
	root = tree(0, VIEWS);
}

static const struct view *view_find(__u64 address)
{
	const struct view *view = root;

	while (view) {
		if (address < view->base)
			view = view->left;
		else if (address >= view->end)
			view = view->right;
		else
			return view;
	}
	return NULL;
}

/* The first view that ends after the address. */
static const struct view *view_from(__u64 address)
{
	const struct view *view = root, *found = NULL;

	while (view) {
		if (address < view->end) {
			found = view;
			view = view->left;
		} else {
			view = view->right;
		}
	}
	return found;
}

static __u64 word_of(const struct view *view, __u64 address, __u64 pm)
{
	__u8 prot = view->prot[(address - view->base) / PAGE];
	__u64 word = 0;

	if (!prot)
		return 0;
	if (view->file && (pm & PM_FILE))
		word |= SHARED;
	if (pm & PM_PRESENT) {
		word |= VALID | PROT(prot);
		if (word & SHARED)
			word |= SHARE_COUNT_1;
	}
	return word;
}

static void wine_8(struct wsquery_entry *entry, size_t n)
{
	for (; n; n--, entry++) {
		__u64 address = entry->address & ~(PAGE - 1), pm;
		const struct view *view;

		entry->flags = 0;
		view = view_find(address);
		if (view && pread(pagemap, &pm, sizeof(pm), address / PAGE * sizeof(pm)) ==
			    sizeof(pm))
			entry->flags = word_of(view, address, pm);
	}
}

static int ref_compare(const void *one, const void *other)
{
	const struct ref *a = one, *b = other;

	return a->address < b->address ? -1 : a->address > b->address;
}

static void refs_sort(struct ref *refs, size_t n)
{
	size_t up, down, i;

	for (up = 1; up < n && refs[up - 1].address <= refs[up].address; up++)
		;
	if (up == n)
		return;
	for (down = 1; down < n && refs[down - 1].address >= refs[down].address; down++)
		;
	if (down < n) {
		qsort(refs, n, sizeof(*refs), ref_compare);
		return;
	}
	for (i = 0; i < n / 2; i++) {
		struct ref swap = refs[i];

		refs[i] = refs[n - 1 - i];
		refs[n - 1 - i] = swap;
	}
}

static void wine_10(struct wsquery_entry *entry, size_t n)
{
	struct ref few[PM_BUFFER], *refs = few, *ref, *end;
	__u64 buffer[PM_BUFFER], first = 0, filled = 0, last;
	const struct view *view;
	size_t i;

	if (n > PM_BUFFER)
		refs = malloc(n * sizeof(*refs));
	for (i = 0; i < n; i++) {
		refs[i] = (struct ref){ entry[i].address & ~(PAGE - 1), entry + i };
		entry[i].flags = 0;
	}
	refs_sort(refs, n);
	end = refs + n;
	last = refs[n - 1].address / PAGE + 1;

	view = view_from(refs->address);
	for (ref = refs; ref < end && view; ref++) {
		__u64 page = ref->address / PAGE;

		while (view && view->end <= ref->address)
			view = view->next;
		if (!view || ref->address < view->base)
			continue;
		if (page - first >= filled) {
			__u64 want = last - page < PM_BUFFER ? last - page : PM_BUFFER;
			ssize_t got = pread(pagemap, buffer, want * sizeof(*buffer),
					    page * sizeof(*buffer));

			if (got <= 0)
				continue;
			first = page;
			filled = got / sizeof(*buffer);
		}
		ref->entry->flags = word_of(view, ref->address, buffer[page - first]);
	}
	if (refs != few)
		free(refs);
}

static void wine_ask(struct job *job, size_t first, size_t n,
		     void (*algorithm)(struct wsquery_entry *entry, size_t n))
{
	struct wsquery_entry one;

	if (job->per_call != 1) {
		algorithm(job->entries + first, n);
		return;
	}
	for (; n; n--, first++) {
		one.address = job->entries[first].address;
		algorithm(&one, 1);
		job->entries[first].flags = one.flags;
	}
}

static void ask_wine_8(struct job *job, size_t first, size_t n)
{
	wine_ask(job, first, n, wine_8);
}

static void ask_wine_10(struct job *job, size_t first, size_t n)
{
	wine_ask(job, first, n, wine_10);
}

static bool check_wine(struct job *job, size_t first, size_t n, bool blind)
{
	size_t i;

	(void)blind;
	for (i = first; i < first + n; i++) {
		bool present = job->pop->want[job_page(job, i)] == PRESENT;
		__u64 flags = job->entries[i].flags;

		if (flags >> 32 || (flags & VALID) != present ||
		    !!(flags & SHARED) != (present && job->pop->file))
			return false;
	}
	return true;
}

const struct who peer_wine_8 = { "wine-8", ask_wine_8, check_wine, true, NULL };
const struct who peer_wine_10 = { "wine-10", ask_wine_10, check_wine, true, NULL };
