/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of /dev/wsquery share: requests on poisoned buffers (ask.c),
 * independent peers to compare with (peers.c, smaps.c), memory in known states
 * (memory.c), other users (users.c), and the check that puts them together
 * (check.c).
 */
#ifndef WSQ_H
#define WSQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/const.h>
#include <linux/wsquery.h>

/*
 * The harness gives a test 30 seconds, which an emulated machine on a busy host can take to
 * start a few dozen processes. Time is there to end what hangs.
 */
#ifdef TEST_TIMEOUT_DEFAULT
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	240
#endif

#define PAGE		4096UL
#define HUGE2M		(2UL << 20)
#define HUGE1G		(1UL << 30)

#define IS_32BIT	(sizeof(void *) == 4)

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif
#ifndef __aligned
#define __aligned(n)	__attribute__((aligned(n)))
#endif

/* What every page of a mapping with these protections has. */
#define M_NONE		WSQUERY_MAPPED
#define M_RO		(WSQUERY_MAPPED | WSQUERY_READABLE)
#define M_RW		(WSQUERY_MAPPED | WSQUERY_READABLE | WSQUERY_WRITABLE)

/* Attributes that the content of memory does not decide: compared with peers. */
#define VOLATILE_ATTRS	(WSQUERY_DIRTY | WSQUERY_ACCESSED | WSQUERY_SOFT_DIRTY | \
			 WSQUERY_SHARE_COUNT | WSQUERY_NODE)

/* All attributes that the header names. */
#define ALL_ATTRS	(WSQUERY_SHARED | WSQUERY_READABLE | WSQUERY_EXECUTABLE | \
			 WSQUERY_LOCKED | WSQUERY_HUGETLB | WSQUERY_COPY | WSQUERY_ZERO | \
			 WSQUERY_DIRTY | WSQUERY_ACCESSED | WSQUERY_SOFT_DIRTY | \
			 WSQUERY_UFFD_WP | WSQUERY_MIGRATING | WSQUERY_HWPOISON | \
			 WSQUERY_DEVICE | WSQUERY_GUARD | WSQUERY_CACHED | \
			 WSQUERY_NOT_TOLD | WSQUERY_KSM | WSQUERY_SHARE_COUNT | \
			 WSQUERY_NODE | WSQUERY_MARKER_KIND)

#define SHARE_COUNT(flags)	(((flags) & WSQUERY_SHARE_COUNT) >> WSQUERY_SHARE_COUNT_SHIFT)
#define NODE(flags)		(((flags) & WSQUERY_NODE) >> WSQUERY_NODE_SHIFT)

/**
 * struct wsq - who asks about whom
 * @dev: open /dev/wsquery
 * @target: open /proc/PID/pagemap, or -1 for the caller itself
 * @flags: WSQUERY_SHARED_ONLY or 0
 * @attrs: attributes to ask for
 * @forms: of INFO: which requests exist
 * @done: of the last request
 * @not_told: of the last request
 */
struct wsq {
	int dev;
	int target;
	__u32 flags;
	__u64 attrs;
	__u64 forms;
	__u64 done;
	__u64 not_told;
};

/* Returned in place of -errno if the request broke a rule of the interface. */
#define BROKEN		(-1000)
/* What every output holds before a request: a state that cannot exist. */
#define POISON		0xff

/* ask.c: each returns 0, -errno or BROKEN, and says on stderr what broke. */
int wsq_open(struct wsq *q);
struct wsq *own(void);
int wsq_info(int dev, struct wsquery_info *info);
bool wsq_has(const struct wsq *q, unsigned long ioc);
int wsq_call(int dev, unsigned long ioc, void *arg, size_t size);
int wsq_pages(struct wsq *q, const void *start, size_t pages, unsigned int entry_size,
	      void *out);
int wsq_bytes(struct wsq *q, const void *start, size_t pages, __u8 *out);
int wsq_wide(struct wsq *q, const void *start, size_t pages, __u64 *out);
int wsq_regions(struct wsq *q, __u64 start, __u64 length, __u64 select,
		struct wsquery_region *out, size_t capacity, size_t *count);
int wsq_count(struct wsq *q, __u64 start, __u64 length, __u64 mask, __u64 value,
	      struct wsquery_count *out);
int wsq_list(struct wsq *q, struct wsquery_entry *entries, size_t count);
int wsq_one(struct wsq *q, const void *address, __u64 *flags);
void wsq_range_init(struct wsquery_range *r, const struct wsq *q, size_t size,
		    const void *start, size_t pages);

/* peers.c: what the kernel's other interfaces say. */
#define PM_SOFT_DIRTY	_BITULL(55)
#define PM_UFFD_WP	_BITULL(57)
#define PM_FILE		_BITULL(61)
#define PM_SWAP		_BITULL(62)
#define PM_PRESENT	_BITULL(63)
#define PM_FRAME	(_BITULL(55) - 1)

#define KPF_ZERO_PAGE	_BITULL(24)
#define KPF_KSM_PAGE	_BITULL(21)

int pagemap_open(pid_t pid);
int pagemap_read(int fd, const void *start, size_t pages, __u64 *out);
int scan_read(int fd, const void *start, size_t pages, __u64 *out);
int kpage_read(const char *name, __u64 frame, __u64 *out);
int compare_peers(const struct wsq *q, const void *start, size_t pages, const __u64 *flags);

/* smaps.c */
struct smaps {
	__u64 start, end;
	char perms[5];
	char flags[128];	/* two letters each, " rd wr" */
	unsigned long rss, swap, referenced, hugetlb, locked, anon_huge;	/* kB */
};

int smaps_read(pid_t pid, struct smaps *out, int max);
int smaps_of(const void *address, struct smaps *out);
long proc_value(const char *file, const char *key);
long numa_node_of(const void *address);

/* memory.c */
void *map_anon(size_t pages);
void *map_shared(int fd, size_t pages);
void *map_aligned(size_t size, size_t align, int prot, int flags);
void fill(void *start, size_t pages);
int verify(const void *start, size_t pages);
void touch_read(const void *start, size_t pages);
bool have_swap(void);
void lists_drain(void);
int evict(void *start, size_t pages);
int swap_content(__u64 swap, void *page);
int write_text(const char *path, const char *text);
int mount_ramfs(char *dir);
int regular_file(bool disk, size_t pages);
int cache_file(int fd, size_t pages);
long huge_kb(const void *p);
int hugetlb_reserve(size_t size, int pages);
int thp_allow(void);
void sysfs_choice(const char *path, char *word, size_t size);
bool kernel_before(int major, int minor);

/* users.c */
#define ORDINARY_UID	1000

/*
 * Runs a function in a child and returns what it returns (0 to 255), or -1 if
 * it did not get to run or was killed.
 */
typedef int (*child_fn)(void *arg);
int in_child(child_fn fn, void *arg);
int as_user(uid_t uid, child_fn fn, void *arg);
int without_caps(child_fn fn, void *arg);
int in_user_ns(uid_t uid, child_fn fn, void *arg);
int as_user_keeping_caps(uid_t uid, child_fn fn, void *arg);
int in_shared_user_ns(uid_t uid, uid_t other, child_fn fn, void *arg);
__u64 caps_all(void);
__u64 caps_effective(void);
int caps_set(__u64 effective);
int send_fd(int socket, int fd);
int recv_fd(int socket);

/*
 * A process that prepares memory in a function, stands still while it is asked
 * about, and takes steps when told.
 */
struct peer {
	pid_t pid;
	int to, from;
	int pagemap;
};

typedef void (*peer_fn)(struct peer *peer, void *arg);
int peer_start(struct peer *peer, peer_fn fn, void *arg);
void peer_ready(struct peer *peer);
int peer_wait(struct peer *peer);
int peer_step(struct peer *peer);
void peer_end(struct peer *peer);

/* uffd.c */
struct watched {
	char *p;
	size_t pages;
	int uffd;
};

int uffd_watch(struct watched *w, __u64 features, __u64 mode);
int uffd_protect(struct watched *w, bool on);
int uffd_poison(struct watched *w);

#define NEED_UFFD(w, features, mode) do { \
	if (uffd_watch(w, features, mode)) \
		SKIP(return, "userfaultfd does not do this here: %s", strerror(errno)); \
} while (0)

/* What its marks look like, on pages and in place of them. */
#define WP	(WSQUERY_UFFD_WP)
#define WP_MARK	(WSQUERY_MARKER | WSQUERY_UFFD_WP | WSQUERY_MARKER_UFFD_WP)
#define POISONED (WSQUERY_MARKER | WSQUERY_HWPOISON | WSQUERY_MARKER_POISON)

/* check.c */
int check_flags(struct wsq *q, const char *file, int line, const void *start, size_t pages,
		__u64 expected, __u64 care);
int check_forms(struct wsq *q, const void *start, size_t pages, const __u64 *flags);

/* All pages are exactly in this state, all forms agree, no peer contradicts. */
#define check(start, pages, expected) \
	check_flags(own(), __FILE__, __LINE__, start, pages, expected, ~VOLATILE_ATTRS)
#define EXPECT_PAGES(start, pages, expected) \
	EXPECT_EQ(0, check(start, pages, expected))
#define ASSERT_PAGES(start, pages, expected) \
	ASSERT_EQ(0, check(start, pages, expected))

#define NEED_SWAP() do { \
	if (!have_swap()) \
		SKIP(return, "no swap"); \
} while (0)
#define NEED_ROOT() do { \
	if (geteuid()) \
		SKIP(return, "needs root"); \
} while (0)

#define THP_DIR	"/sys/kernel/mm/transparent_hugepage/"
#define NEED_HUGE(p, size) do { \
	if (huge_kb(p) != (long)((size) / 1024)) \
		SKIP(return, "no huge pages to be had: %ld kB", huge_kb(p)); \
} while (0)

#endif /* WSQ_H */
