// SPDX-License-Identifier: GPL-2.0
/*
 * Each capability by itself and all but each, for root, for another user, and for
 * root of a user namespace: what comes out of every form is what the rule says
 * and no more. Behind a file's holes mincore(2) has the same rule, asked by the
 * same process; about places in swap and about other processes, pagemap has.
 */
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	32
#define OTHER	(ORDINARY_UID + 1)
#define GROUP	(ORDINARY_UID + 2)

#define CAP(name)	(1ULL << CAP_##name)

/**
 * struct area - memory, and who may know what is behind its holes
 * @name: for messages
 * @start: of PAGES pages
 * @shmem: it is of shared memory
 * @anon: it has no file that can be opened
 * @private: it is a private mapping of its file
 * @may_write: it is a shared mapping that may be made writable
 * @uid: who owns the file
 * @mode: of the file
 * @full: each page as who may know everything is told
 * @places: and where it is in swap
 * @others: the same in the peer
 */
struct area {
	const char *name;
	char *start;
	bool shmem, anon, private, may_write;
	uid_t uid;
	mode_t mode;
	__u64 full[PAGES];
	__u64 others[PAGES];
	struct wsquery_page places[PAGES];
};

/* How the files are mapped: of whom, with which mode. */
static const struct area files[] = {
	{ "root's file", .mode = 0644 },
	{ "root's file, privately", .private = true, .mode = 0644 },
	{ "root's file that all may write", .mode = 0666 },
	{ "root's file, opened to be written", .mode = 0644, .may_write = true },
	{ "another's file", .uid = OTHER, .mode = 0400 },
	{ "the user's file", .uid = ORDINARY_UID, .mode = 0400 },
	{ "the group's file", .uid = OTHER, .mode = 0460 },
	{ "root's tmpfs file", .shmem = true, .mode = 0644 },
	{ "root's tmpfs file, privately", .shmem = true, .private = true, .mode = 0644 },
	{ "root's tmpfs file that all may write", .shmem = true, .mode = 0666 },
	{ "another's tmpfs file", .shmem = true, .uid = OTHER, .mode = 0400 },
	{ "the user's tmpfs file", .shmem = true, .uid = ORDINARY_UID, .mode = 0400 },
};

#define AREAS	(ARRAY_SIZE(files) + 2)

FIXTURE(caps) {
	char dirs[2][32];	/* a ramfs and a tmpfs */
	struct area areas[AREAS];
	struct peer peer;
	struct wsq q;		/* opened by root with all capabilities */
	__u64 all;
	__u64 readers;		/* capabilities that open another's pagemap */
};

/* The first half exists, in the page cache or in swap; nothing of it is mapped. */
static int area_of_file(struct area *a, const char *dir, int number)
{
	char path[80], *p;
	int fd;

	snprintf(path, sizeof(path), "%s/%d", dir, number);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, PAGES * PAGE))
		return -1;
	p = map_shared(fd, PAGES);
	if (!p)
		return -1;
	fill(p, PAGES / 2);
	if (a->shmem && evict(p, PAGES / 2))
		return -1;
	munmap(p, PAGES * PAGE);
	if (fchown(fd, a->uid, a->mode & 0020 ? GROUP : a->uid) || fchmod(fd, a->mode))
		return -1;
	if (!a->may_write) {
		close(fd);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	a->start = mmap(NULL, PAGES * PAGE, PROT_READ, a->private ? MAP_PRIVATE : MAP_SHARED, fd,
			0);
	close(fd);
	return a->start == MAP_FAILED ? -1 : 0;
}

/* A quarter each: written, in swap, read, untouched. */
static int area_anon(struct area *a, bool shared)
{
	char *p = shared ? map_shared(-1, PAGES) : map_anon(PAGES);

	a->name = shared ? "anonymous shared memory" : "anonymous memory";
	a->start = p;
	a->anon = true;
	a->shmem = shared;
	a->may_write = shared;
	if (!p)
		return -1;
	fill(p + PAGES / 4 * PAGE, PAGES / 4);
	if (evict(p + PAGES / 4 * PAGE, PAGES / 4))
		return -1;
	fill(p, PAGES / 4);
	touch_read(p + PAGES / 2 * PAGE, PAGES / 4);
	return 0;
}

static __u64 area_state(const struct area *a, size_t i)
{
	__u64 f = a->anon ? M_RW : M_RO;
	bool shared = a->anon ? a->shmem : !a->private;

	f |= shared ? WSQUERY_SHARED : 0;
	f |= a->shmem ? WSQUERY_SHMEM : a->anon ? 0 : WSQUERY_FILE;
	if (!a->anon)
		return f | (i >= PAGES / 2 ? 0 : a->shmem ? WSQUERY_SWAPPED : WSQUERY_CACHED);
	switch (i / (PAGES / 4)) {
	case 0:
		return f | WSQUERY_PRESENT;
	case 1:
		return f | WSQUERY_SWAPPED;
	case 2:
		return f | WSQUERY_PRESENT | (shared ? 0 : WSQUERY_ZERO);
	default:
		return f;
	}
}

static void stand_still(struct peer *peer, void *arg)
{
	(void)peer;
	(void)arg;
}

/* Newer kernels let in who may watch the whole system by perf. */
static int perf_opens(void *arg)
{
	return caps_set(CAP(PERFMON)) ? 0 : pagemap_open(*(pid_t *)arg) >= 0;
}

FIXTURE_SETUP(caps)
{
	size_t i;
	int k;

	NEED_ROOT();
	NEED_SWAP();
	self->q = *own();
	self->all = caps_all();
	ASSERT_EQ(self->all, caps_effective());
	snprintf(self->dirs[0], sizeof(self->dirs[0]), "/tmp/wsq-XXXXXX");
	snprintf(self->dirs[1], sizeof(self->dirs[1]), "/tmp/wsq-XXXXXX");
	ASSERT_EQ(0, mount_ramfs(self->dirs[0]));
	ASSERT_NE(NULL, mkdtemp(self->dirs[1]));
	ASSERT_EQ(0, mount("tmpfs", self->dirs[1], "tmpfs", 0, "mode=0777"));
	for (i = 0; i < AREAS; i++) {
		struct area *a = &self->areas[i];

		if (i < ARRAY_SIZE(files)) {
			*a = files[i];
			ASSERT_EQ(0, area_of_file(a, self->dirs[a->shmem], i));
		} else {
			ASSERT_EQ(0, area_anon(a, i > ARRAY_SIZE(files)));
		}
	}
	ASSERT_EQ(0, peer_start(&self->peer, stand_still, NULL));
	self->readers = CAP(SYS_PTRACE);
	if (in_child(perf_opens, &self->peer.pid) == 1)
		self->readers |= CAP(PERFMON) | CAP(SYS_ADMIN);
	for (i = 0; i < AREAS; i++) {
		struct area *a = &self->areas[i];

		ASSERT_EQ(0, wsq_wide(&self->q, a->start, PAGES, a->full));
		for (k = 0; k < PAGES; k++)
			ASSERT_EQ(area_state(a, k), a->full[k] & ~VOLATILE_ATTRS)
				TH_LOG("%s, page %d", a->name, k);
		ASSERT_EQ(0, wsq_pages(&self->q, a->start, PAGES, 16, a->places));
		self->q.target = self->peer.pagemap;
		ASSERT_EQ(0, wsq_wide(&self->q, a->start, PAGES, a->others));
		self->q.target = -1;
	}
}

FIXTURE_TEARDOWN(caps)
{
	int i;

	peer_end(&self->peer);
	for (i = 0; i < 2; i++) {
		umount2(self->dirs[i], MNT_DETACH);
		rmdir(self->dirs[i]);
	}
}

/**
 * struct actor - who asks
 * @self: about whose memory, inherited
 * @areas: the same, as this process has it
 * @uid: for files, as the initial namespace has it
 * @mapped: in a user namespace to which OTHER belongs and root does not
 * @member: of GROUP
 * @blind: may not open its own pagemap
 * @caps: capabilities in effect
 */
struct actor {
	const struct _test_data_caps *self;
	const struct area *areas;
	uid_t uid;
	bool mapped;
	bool member;
	bool blind;
	__u64 caps;
};

static int complain(const struct actor *a, const struct area *m, const char *what)
{
	fprintf(stderr, "# user %u%s, capabilities %#llx, %s: %s\n", a->uid,
		a->mapped ? " as root of a namespace" : "", (unsigned long long)a->caps,
		m ? m->name : "all", what);
	return 1;
}

/* Whether a capability is one with regard to a file. */
static bool has(const struct actor *a, const struct area *m, __u64 cap)
{
	if (a->mapped && !m->uid)
		return false;
	/* With regard to its group, too. */
	if (a->mapped && cap == CAP(DAC_OVERRIDE) && (m->mode & 0020))
		return false;
	return a->caps & cap;
}

static bool may_write(const struct actor *a, const struct area *m)
{
	mode_t bit = a->uid == m->uid ? 0200 : a->member && (m->mode & 0020) ? 0020 : 0002;

	return (m->mode & bit) || has(a, m, CAP(DAC_OVERRIDE));
}

static bool owns(const struct actor *a, const struct area *m)
{
	return a->uid == m->uid || has(a, m, CAP(FOWNER));
}

/* The rule of mincore(2), by its documentation. */
static bool mincore_tells(const struct actor *a, const struct area *m)
{
	return m->anon || owns(a, m) || may_write(a, m);
}

static bool told(const struct actor *a, const struct area *m)
{
	return m->may_write || mincore_tells(a, m);
}

/* In another process a shared mapping proves nothing about who asks. */
static bool told_of_others(const struct actor *a, const struct area *m)
{
	if (m->anon && m->shmem)
		return true;
	return m->anon || owns(a, m) || (m->shmem && may_write(a, m));
}

static __u64 without(__u64 flags)
{
	if (flags & WSQUERY_PRESENT)
		return flags;
	return (flags & ~(WSQUERY_SWAPPED | WSQUERY_CACHED)) | WSQUERY_NOT_TOLD;
}

/* The answers are those of who knows everything, or those without what is kept back. */
static int compare(const struct actor *a, const struct area *m, const __u64 *full,
		   const __u64 *seen, bool tells, const char *what)
{
	int i;

	for (i = 0; i < PAGES; i++) {
		__u64 want = tells ? full[i] : without(full[i]);

		if ((want ^ seen[i]) & ~VOLATILE_ATTRS) {
			fprintf(stderr, "# page %d: expected %#llx, seen %#llx\n", i,
				(unsigned long long)want, (unsigned long long)seen[i]);
			return complain(a, m, what);
		}
	}
	return 0;
}

/* What mincore makes up, this does not tell; the untouched half shows which it is. */
static int compare_with_mincore(const struct actor *a, const struct area *m, const __u64 *seen)
{
	unsigned char core[PAGES];
	bool made_up, kept = seen[PAGES - 1] & WSQUERY_NOT_TOLD;

	if (mincore(m->start, PAGES * PAGE, core))
		return complain(a, m, "mincore");
	made_up = core[PAGES - 1] & 1;
	if (made_up == mincore_tells(a, m))
		return complain(a, m, "mincore has another rule");
	return kept != (made_up && !m->may_write) ? complain(a, m, "not mincore's rule") : 0;
}

/* Places in swap: by the opener's capability, as of pagemap, and none of what is kept back. */
static int compare_places(const struct actor *a, const struct area *m, struct wsq *q,
			  bool allowed, const __u64 *seen)
{
	struct wsquery_page e[PAGES];
	int rc = wsq_pages(q, m->start, PAGES, 16, e), i;

	if (!allowed)
		return rc != -EPERM || q->done ? complain(a, m, "places") : 0;
	if (rc)
		return complain(a, m, "no places");
	for (i = 0; i < PAGES; i++) {
		__u64 want = seen[i] & WSQUERY_SWAPPED ? m->places[i].swap : 0;

		if (((e[i].flags ^ seen[i]) & ~VOLATILE_ATTRS) || e[i].swap != want)
			return complain(a, m, "a place");
	}
	return 0;
}

static int compare_pagemap(const struct actor *a, const struct area *m, bool allowed)
{
	int fd = pagemap_open(0), i, rc;
	__u64 pm[PAGES];

	if (fd < 0 && a->blind)
		return 0;
	rc = fd < 0 || pagemap_read(fd, m->start, PAGES, pm);
	close(fd);
	for (i = 0; !rc && i < PAGES; i++)
		if ((pm[i] & PM_SWAP) && (pm[i] & PM_FRAME) != (allowed ? m->places[i].swap : 0))
			return complain(a, m, "pagemap has another rule");
	return rc ? complain(a, m, "pagemap") : 0;
}

/* What can change by itself is told to all, as to the same process with all it can have. */
static int compare_volatile(const struct actor *a, const struct area *m, struct wsq *q)
{
	__u64 most[PAGES], seen[PAGES];
	int tries, i;

	for (tries = 0; tries < 5; tries++) {
		if (caps_set(a->self->all) || wsq_wide(q, m->start, PAGES, most) ||
		    caps_set(a->caps) || wsq_wide(q, m->start, PAGES, seen))
			break;
		for (i = 0; i < PAGES; i++)
			if ((most[i] ^ seen[i]) & VOLATILE_ATTRS)
				break;
		if (i == PAGES)
			return 0;
	}
	return complain(a, m, "attributes");
}

static int ask_area(const struct actor *a, const struct area *m, struct wsq *q, struct wsq *full)
{
	const bool tells = told(a, m), admin = !a->mapped && (a->caps & CAP(SYS_ADMIN));
	struct wsquery_count c;
	__u64 seen[PAGES];
	int bad;

	/* Whoever opened the device, it is who asks that counts. */
	if (wsq_wide(full, m->start, PAGES, seen))
		return complain(a, m, "the device of another");
	bad = compare(a, m, m->full, seen, tells, "the device of another");
	bad += compare_places(a, m, full, true, seen);
	if (wsq_wide(q, m->start, PAGES, seen))
		return complain(a, m, "wide");
	bad += compare(a, m, m->full, seen, tells, "wide");
	bad += check_forms(q, m->start, PAGES, seen);
	if (wsq_count(q, (uintptr_t)m->start, PAGES * PAGE, 0, 0, &c) ||
	    q->not_told != (tells ? 0 : PAGES))
		bad += complain(a, m, "count of what is not told");
	bad += compare_with_mincore(a, m, seen);
	bad += compare_places(a, m, q, admin, seen);
	bad += compare_pagemap(a, m, admin);
	return bad + compare_volatile(a, m, q);
}

/* The peer is root and has all capabilities. */
static bool may_open_peer(const struct actor *a)
{
	if (a->mapped)
		return false;
	/* The mode of the file, then the rule of ptrace(2), or that of perf. */
	if (a->uid && !(a->caps & (CAP(DAC_OVERRIDE) | CAP(DAC_READ_SEARCH))))
		return false;
	return a->caps & a->self->readers;
}

static int ask_peer(const struct actor *a, struct wsq *q)
{
	int fd = pagemap_open(a->self->peer.pid), bad = 0;
	__u64 seen[PAGES];
	size_t i;

	if (fd < 0 && may_open_peer(a))
		bad += complain(a, NULL, "another process's pagemap cannot be opened");
	if (fd >= 0 && !may_open_peer(a))
		bad += complain(a, NULL, "another process's pagemap can be opened");
	if (fd >= 0)
		close(fd);
	/* One that was passed on: whoever opened it, it is who asks that counts. */
	q->target = a->self->peer.pagemap;
	for (i = 0; i < AREAS; i++) {
		const struct area *m = &a->areas[i];

		if (wsq_wide(q, m->start, PAGES, seen))
			return complain(a, m, "in another process");
		bad += compare(a, m, m->others, seen, told_of_others(a, m), "in another process");
		bad += check_forms(q, m->start, PAGES, seen);
	}
	q->target = -1;
	return bad;
}

static int ask(struct actor *a, __u64 caps)
{
	struct wsq q, full = a->self->q;
	size_t i;
	int bad = 0;

	a->caps = caps;
	if (caps_set(caps) || caps_effective() != caps || wsq_open(&q))
		return complain(a, NULL, "nothing can be asked");
	for (i = 0; i < AREAS; i++)
		bad += ask_area(a, &a->areas[i], &q, &full);
	bad += ask_peer(a, &q);
	close(q.dev);
	return bad;
}

static int begin(struct actor *a)
{
	const struct area *anon = &a->self->areas[ARRAY_SIZE(files) + 1];

	/* What is shared is not mapped after a fork. */
	touch_read(anon->start, PAGES / 4);
	touch_read(anon->start + PAGES / 2 * PAGE, PAGES / 4);
	a->areas = a->self->areas;
	return caps_set(a->self->all);
}

static int ask_with_one(void *arg)
{
	struct actor *a = arg;
	int bad;
	__u64 bit;

	if (begin(a))
		return 255;
	bad = ask(a, 0);
	for (bit = 1; bit <= a->self->all && !bad; bit <<= 1)
		bad += ask(a, bit);
	return bad < 255 ? bad : 255;
}

/* The last is without the two that open files. */
static int ask_without_one(void *arg)
{
	struct actor *a = arg;
	const __u64 all = a->self->all;
	int bad;
	__u64 bit;

	if (begin(a))
		return 255;
	bad = ask(a, all);
	for (bit = 1; bit <= all && !bad; bit <<= 1)
		bad += ask(a, all & ~bit);
	bad += ask(a, all & ~(CAP(FOWNER) | CAP(DAC_OVERRIDE)));
	return bad < 255 ? bad : 255;
}

static int ask_dropping(void *arg)
{
	struct actor *a = arg;
	__u64 left;
	int bad = 0;

	if (begin(a))
		return 255;
	for (left = a->self->all; left && !bad; left &= left - 1)
		bad += ask(a, left);
	return bad < 255 ? bad : 255;
}

/* Where only what tells something is of interest. */
static int ask_with_some(void *arg)
{
	struct actor *a = arg;

	if (begin(a))
		return 255;
	return !!(ask(a, 0) + ask(a, CAP(FOWNER)) + ask(a, CAP(DAC_OVERRIDE)) +
		  ask(a, CAP(SYS_ADMIN)) + ask(a, CAP(SYS_PTRACE)) + ask(a, a->self->all));
}

TEST_F(caps, one_of_root)
{
	struct actor a = { .self = self };

	EXPECT_EQ(0, in_child(ask_with_one, &a));
}

TEST_F(caps, all_but_one_of_root)
{
	struct actor a = { .self = self };

	EXPECT_EQ(0, in_child(ask_without_one, &a));
}

TEST_F(caps, dropped_by_root)
{
	struct actor a = { .self = self };

	EXPECT_EQ(0, in_child(ask_dropping, &a));
}

TEST_F(caps, one_of_another_user)
{
	struct actor a = { .self = self, .uid = ORDINARY_UID };

	EXPECT_EQ(0, as_user_keeping_caps(ORDINARY_UID, ask_with_one, &a));
}

TEST_F(caps, all_but_one_of_another_user)
{
	struct actor a = { .self = self, .uid = ORDINARY_UID };

	EXPECT_EQ(0, as_user_keeping_caps(ORDINARY_UID, ask_without_one, &a));
}

TEST_F(caps, dropped_by_another_user)
{
	struct actor a = { .self = self, .uid = ORDINARY_UID };

	EXPECT_EQ(0, as_user_keeping_caps(ORDINARY_UID, ask_dropping, &a));
}

TEST_F(caps, one_of_root_of_a_namespace)
{
	struct actor a = { .self = self, .uid = ORDINARY_UID, .mapped = true };

	EXPECT_EQ(0, in_shared_user_ns(ORDINARY_UID, OTHER, ask_with_one, &a));
}

TEST_F(caps, all_but_one_of_root_of_a_namespace)
{
	struct actor a = { .self = self, .uid = ORDINARY_UID, .mapped = true };

	EXPECT_EQ(0, in_shared_user_ns(ORDINARY_UID, OTHER, ask_without_one, &a));
}

TEST_F(caps, dropped_by_root_of_a_namespace)
{
	struct actor a = { .self = self, .uid = ORDINARY_UID, .mapped = true };

	EXPECT_EQ(0, in_shared_user_ns(ORDINARY_UID, OTHER, ask_dropping, &a));
}

static int as_member(void *arg)
{
	gid_t group = GROUP;

	if (caps_set(((struct actor *)arg)->self->all) || setgroups(1, &group))
		return 254;
	return ask_with_some(arg);
}

TEST_F(caps, of_a_member_of_the_group)
{
	struct actor a = { .self = self, .uid = ORDINARY_UID, .member = true };

	EXPECT_EQ(0, as_user_keeping_caps(ORDINARY_UID, as_member, &a));
}

/* Files go by the file system's user, whoever the process is else. */
static int as_fsuid(void *arg)
{
	setfsuid(ORDINARY_UID);
	return setfsuid(-1) != ORDINARY_UID ? 254 : ask_with_some(arg);
}

TEST_F(caps, of_another_user_for_files)
{
	struct actor a = { .self = self, .uid = ORDINARY_UID, .blind = true };

	EXPECT_EQ(0, in_child(as_fsuid, &a));
}

static int with_no_new_privs(void *arg)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? 254 : ask_with_some(arg);
}

static int with_securebits(void *arg)
{
	return prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NO_SETUID_FIXUP |
		     SECBIT_NO_CAP_AMBIENT_RAISE) ? 254 : ask_with_some(arg);
}

/* These are about what an exec or a change of user gives, and nothing else. */
TEST_F(caps, no_new_privs_and_securebits)
{
	struct actor a = { .self = self };
	struct actor user = { .self = self, .uid = ORDINARY_UID };

	EXPECT_EQ(0, in_child(with_no_new_privs, &a));
	EXPECT_EQ(0, in_child(with_securebits, &a));
	EXPECT_EQ(0, as_user_keeping_caps(ORDINARY_UID, with_no_new_privs, &user));
}

TEST_HARNESS_MAIN
