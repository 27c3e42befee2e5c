// SPDX-License-Identifier: GPL-2.0
/*
 * Functions run by other processes: as another user, without capabilities, in a
 * user namespace; and processes that stand still while they are asked about.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wsq.h"

static int finish(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

int in_child(child_fn fn, void *arg)
{
	pid_t pid = fork();

	if (!pid)
		_exit(fn(arg));
	return finish(pid);
}

static int become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		return -1;
	/* A changed identity makes /proc/self root's, as after a setuid program. */
	return prctl(PR_SET_DUMPABLE, 1);
}

int as_user(uid_t uid, child_fn fn, void *arg)
{
	pid_t pid = fork();

	if (!pid) {
		if (become(uid)) {
			perror("# another user");
			raise(SIGKILL);
		}
		_exit(fn(arg));
	}
	return finish(pid);
}

/* Stays root by number, but may do nothing that root may. */
int without_caps(child_fn fn, void *arg)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = {};
	pid_t pid = fork();

	if (!pid) {
		if (syscall(SYS_capset, &header, none)) {
			perror("# dropping capabilities");
			raise(SIGKILL);
		}
		prctl(PR_SET_DUMPABLE, 1);
		_exit(fn(arg));
	}
	return finish(pid);
}

/* An ordinary user who is root, with all capabilities, in a namespace of its own. */
int in_user_ns(uid_t uid, child_fn fn, void *arg)
{
	pid_t pid = fork();
	char map[64];

	if (!pid) {
		snprintf(map, sizeof(map), "0 %u 1", uid);
		if (become(uid) || unshare(CLONE_NEWUSER) ||
		    write_text("/proc/self/setgroups", "deny") ||
		    write_text("/proc/self/uid_map", map) ||
		    write_text("/proc/self/gid_map", map) || setresuid(0, 0, 0)) {
			perror("# user namespace");
			raise(SIGKILL);
		}
		prctl(PR_SET_DUMPABLE, 1);
		_exit(fn(arg));
	}
	return finish(pid);
}

/* All capabilities that the kernel has. */
__u64 caps_all(void)
{
	FILE *f = fopen("/proc/sys/kernel/cap_last_cap", "re");
	int last = 0;

	if (!f || fscanf(f, "%d", &last) != 1)
		perror("# cap_last_cap");
	if (f)
		fclose(f);
	return (2ULL << last) - 1;
}

static int caps_get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capget, &header, data);
}

__u64 caps_effective(void)
{
	struct __user_cap_data_struct data[2] = {};

	return caps_get(data) ? 0 : data[0].effective | (__u64)data[1].effective << 32;
}

/* Those that are in effect; the others can be taken again if they are permitted. */
int caps_set(__u64 effective)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};

	if (caps_get(data))
		return -1;
	data[0].effective = effective;
	data[1].effective = effective >> 32;
	return syscall(SYS_capset, &header, data);
}

/* Another user who may take any capability that this process has. */
int as_user_keeping_caps(uid_t uid, child_fn fn, void *arg)
{
	pid_t pid = fork();

	if (!pid) {
		if (prctl(PR_SET_KEEPCAPS, 1) || become(uid)) {
			perror("# another user");
			raise(SIGKILL);
		}
		_exit(fn(arg));
	}
	return finish(pid);
}

static int map_ids(pid_t pid, const char *file, uid_t uid, uid_t other)
{
	char path[64], map[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	snprintf(map, sizeof(map), "0 %u 1\n1 %u 1\n", uid, other);
	return write_text(path, map);
}

/*
 * As in_user_ns(), in a namespace to which another user belongs, too: the new root
 * has capabilities with regard to files that it does not own.
 */
int in_shared_user_ns(uid_t uid, uid_t other, child_fn fn, void *arg)
{
	int in[2], out[2];
	pid_t pid;
	char c;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		close(in[1]);
		if (become(uid) || unshare(CLONE_NEWUSER) || write(out[1], "m", 1) != 1 ||
		    read(in[0], &c, 1) != 1 || setresgid(0, 0, 0) || setresuid(0, 0, 0)) {
			perror("# user namespace");
			raise(SIGKILL);
		}
		prctl(PR_SET_DUMPABLE, 1);
		_exit(fn(arg));
	}
	close(in[0]);
	close(out[1]);
	if (read(out[0], &c, 1) == 1 && !map_ids(pid, "uid_map", uid, other) &&
	    !map_ids(pid, "gid_map", uid, other) && write(in[1], "m", 1) != 1)
		perror("# user namespace");
	close(in[1]);
	close(out[0]);
	return finish(pid);
}

static void fd_message(struct msghdr *m, struct iovec *v, void *control, size_t size)
{
	static char byte;

	v->iov_base = &byte;
	v->iov_len = 1;
	memset(control, 0, size);
	memset(m, 0, sizeof(*m));
	m->msg_iov = v;
	m->msg_iovlen = 1;
	m->msg_control = control;
	m->msg_controllen = size;
}

int send_fd(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] __aligned(8);
	struct cmsghdr *c;
	struct msghdr m;
	struct iovec v;

	fd_message(&m, &v, control, sizeof(control));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(socket, &m, 0) == 1 ? 0 : -1;
}

int recv_fd(int socket)
{
	char control[CMSG_SPACE(sizeof(int))] __aligned(8);
	struct cmsghdr *c;
	struct msghdr m;
	struct iovec v;
	int fd;

	fd_message(&m, &v, control, sizeof(control));
	if (recvmsg(socket, &m, 0) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/* In the peer: what was prepared so far can be looked at. */
void peer_ready(struct peer *peer)
{
	if (write(peer->to, "r", 1) != 1)
		_exit(1);
}

/* In the peer: until the other side wants the next step. */
int peer_wait(struct peer *peer)
{
	char c;

	return read(peer->from, &c, 1) == 1 ? 0 : -1;
}

static void peer_run(struct peer *peer, peer_fn fn, void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fn(peer, arg);
	peer_ready(peer);
	while (!peer_wait(peer))
		;
	_exit(0);
}

/* Waits until the peer has done its last instruction for now: it sleeps in a read. */
static int peer_asleep(const struct peer *peer)
{
	char path[64], line[512], *at;
	int tries;

	snprintf(path, sizeof(path), "/proc/%d/stat", peer->pid);
	for (tries = 0; tries < 5000; tries++) {
		FILE *f = fopen(path, "re");

		if (!f)
			return -1;
		at = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		fclose(f);
		if (at && !strncmp(at, ") S", 3))
			return 0;
		usleep(1000);
	}
	return -1;
}

/* Starts a peer and returns when it is ready, with its pagemap open. */
int peer_start(struct peer *peer, peer_fn fn, void *arg)
{
	int down[2], up[2];
	char c;

	if (pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC))
		return -1;
	peer->pid = fork();
	if (!peer->pid) {
		close(down[1]);
		close(up[0]);
		peer->from = down[0];
		peer->to = up[1];
		peer_run(peer, fn, arg);
	}
	close(down[0]);
	close(up[1]);
	peer->to = down[1];
	peer->from = up[0];
	if (peer->pid < 0 || read(peer->from, &c, 1) != 1)
		return -1;
	peer->pagemap = pagemap_open(peer->pid);
	return peer->pagemap < 0 ? -1 : peer_asleep(peer);
}

/* Has the peer do its next step and returns when it is ready again. */
int peer_step(struct peer *peer)
{
	char c;

	if (write(peer->to, "s", 1) != 1 || read(peer->from, &c, 1) != 1)
		return -1;
	return peer_asleep(peer);
}

void peer_end(struct peer *peer)
{
	kill(peer->pid, SIGKILL);
	waitpid(peer->pid, NULL, 0);
	close(peer->pagemap);
	close(peer->to);
	close(peer->from);
}
