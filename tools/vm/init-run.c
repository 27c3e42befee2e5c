// SPDX-License-Identifier: GPL-2.0
/* The guest's init: runs the command and carries its streams over the link. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "init.h"
#include "link.h"

#define STRINGS 1024

static int link_fd;
static pid_t command;
static int in_fd = -1, out_fd = -1, err_fd = -1;
static char in_buf[LINK_PAYLOAD];
static size_t in_len, in_done;
static bool in_end;

/* A file of NUL-ended strings as an argument vector; empty strings are strings too. */
static char **read_strings(const char *path)
{
	static char *none[1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char **list, *text, *p;
	struct stat st;
	size_t n = 0;

	if (fd < 0)
		return none;
	fstat(fd, &st);
	text = malloc(st.st_size + 1);
	list = calloc(STRINGS + 1, sizeof(*list));
	if (!text || !list || link_read_all(fd, text, st.st_size))
		fail("%s cannot be read", path);
	close(fd);
	for (p = text; p < text + st.st_size; p += strlen(p) + 1) {
		if (n == STRINGS)
			fail("more than %d strings in %s", STRINGS, path);
		list[n++] = p;
	}
	return list;
}

int run_wait(const char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

static __noreturn void become_command(char **argv, char **env)
{
	const char *user = conf("user", "");
	sigset_t none;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	for (; *env; env++)
		putenv(*env);
	if (*user) {
		uid_t uid = atoi(user);

		if (setgroups(0, NULL) || setgid(uid) || setuid(uid)) {
			dprintf(2, "vm: cannot become user %s: %s\n", user, strerror(errno));
			_exit(126);
		}
	}
	if (chdir(conf("cwd", "/")))
		dprintf(2, "vm: no directory %s\n", conf("cwd", "/"));
	execvp(argv[0], argv);
	err = errno;
	dprintf(2, "vm: %s: %s\n", argv[0], strerror(err));
	_exit(err == ENOENT ? 127 : 126);
}

static void make_pipe(int p[2])
{
	if (pipe2(p, O_CLOEXEC))
		fail("no pipe: %s", strerror(errno));
}

static void start_piped(char **argv, char **env)
{
	bool input = conf_is("stdin");
	int in[2] = { -1, -1 }, out[2], err[2];

	make_pipe(out);
	make_pipe(err);
	if (input)
		make_pipe(in);
	else
		in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	command = fork();
	if (!command) {
		setsid();
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		become_command(argv, env);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	if (input) {
		/* A command that does not read must not stop its own output from being carried. */
		in_fd = in[1];
		fcntl(in_fd, F_SETFL, O_NONBLOCK);
	}
	out_fd = out[0];
	err_fd = err[0];
}

static void start_on_terminal(char **argv, char **env)
{
	struct winsize size = {
		.ws_row = atoi(conf("rows", "24")),
		.ws_col = atoi(conf("columns", "80")),
	};
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char *name;

	if (master < 0 || grantpt(master) || unlockpt(master))
		fail("no terminal: %s", strerror(errno));
	name = ptsname(master);
	ioctl(master, TIOCSWINSZ, &size);
	command = fork();
	if (!command) {
		int tty;

		setsid();
		tty = open(name, O_RDWR);
		ioctl(tty, TIOCSCTTY, 0);
		dup2(tty, 0);
		dup2(tty, 1);
		dup2(tty, 2);
		if (tty > 2)
			close(tty);
		become_command(argv, env);
	}
	out_fd = master;
	in_fd = fcntl(master, F_DUPFD_CLOEXEC, 0);
	fcntl(in_fd, F_SETFL, O_NONBLOCK);
}

/* Returns false at the end of the stream. */
static bool carry(int fd, enum link_type type)
{
	char buf[LINK_PAYLOAD];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	/* The terminal's end of file is an error, for there may be another opener. */
	if (n <= 0)
		return false;
	if (link_send(link_fd, type, buf, n))
		fail("output could not be sent: %s", strerror(errno));
	return true;
}

static void take_input(void)
{
	uint32_t type;
	ssize_t n = link_receive(link_fd, &type, in_buf);

	if (n < 0)
		fail("the host went away");
	if (type != LINK_IN)
		return;
	in_len = n;
	in_done = 0;
	in_end = !n;
}

static void give_input(void)
{
	ssize_t n = write(in_fd, in_buf + in_done, in_len - in_done);

	if (n > 0)
		in_done += n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		in_end = true;
}

/* One round; false when it took nothing within ms (-1: no limit). */
static bool carry_round(int child_fd, int ms)
{
	bool pending = in_fd >= 0 && in_done < in_len;
	struct pollfd fds[] = {
		{ .fd = child_fd, .events = POLLIN },
		{ .fd = out_fd, .events = POLLIN },
		{ .fd = err_fd, .events = POLLIN },
		{ .fd = in_fd >= 0 && !pending ? link_fd : -1, .events = POLLIN },
		{ .fd = pending ? in_fd : -1, .events = POLLOUT },
	};

	if (poll(fds, 5, ms) <= 0)
		return false;
	if (fds[1].revents && !carry(out_fd, LINK_OUT)) {
		close(out_fd);
		out_fd = -1;
	}
	if (fds[2].revents && !carry(err_fd, LINK_ERR)) {
		close(err_fd);
		err_fd = -1;
	}
	if (fds[3].revents)
		take_input();
	if (fds[4].revents)
		give_input();
	if (in_end && in_fd >= 0) {
		close(in_fd);
		in_fd = -1;
	}
	return fds[1].revents || fds[2].revents;
}

/* Collects the dead, orphans too. Returns true when the command is among them. */
static bool reap(int child_fd, int *status)
{
	struct signalfd_siginfo info;
	bool found = false;
	pid_t pid;
	int s;

	while (read(child_fd, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &s, WNOHANG)) > 0) {
		if (pid == command) {
			*status = s;
			found = true;
		}
	}
	return found;
}

int run_command(int link)
{
	char **argv = read_strings("/etc/vm/argv"), **env = read_strings("/etc/vm/env");
	int child_fd, status;
	sigset_t child;

	link_fd = link;
	if (!argv[0])
		fail("no command");
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	child_fd = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
	if (child_fd < 0)
		fail("no signalfd: %s", strerror(errno));

	if (link_send(link_fd, LINK_READY, NULL, 0))
		fail("the host went away");
	if (conf_is("tty"))
		start_on_terminal(argv, env);
	else
		start_piped(argv, env);
	if (command < 0)
		fail("no process: %s", strerror(errno));

	while (!reap(child_fd, &status))
		carry_round(child_fd, -1);
	/* What it wrote is in the pipes by now. Who else holds them open is not waited for. */
	while ((out_fd >= 0 || err_fd >= 0) && carry_round(-1, 0))
		;
	close(child_fd);
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

void run_send_out(int link)
{
	int p[2], status;
	pid_t pid;

	if (!conf_is("out"))
		return;
	make_pipe(p);
	pid = fork();
	if (!pid) {
		dup2(p[1], 1);
		execl("/bin/tar", "tar", "-c", "-C", "/out", ".", NULL);
		_exit(127);
	}
	close(p[1]);
	link_fd = link;
	while (carry(p[0], LINK_TAR))
		;
	if (waitpid(pid, &status, 0) != pid || status)
		fail("/out could not be packed");
}
