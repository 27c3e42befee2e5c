/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the host's relay and the guest's init say to each other.
 *
 * Everything travels in frames over one virtio port: one ordered stream, so that when the status
 * has arrived, all output before it has too. The kernel's console is not part of it.
 */
#ifndef WSQ_VM_LINK_H
#define WSQ_VM_LINK_H

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#define __noreturn	__attribute__((__noreturn__))
#define __printf(a, b)	__attribute__((format(printf, a, b)))

#define LINK_PORT_NAME	"wsquery.link"
#define LINK_PAYLOAD	32768

/* Printed into the kernel log last of all: a log that has it is complete. */
#define LINK_LOG_END	"wsquery-vm: end of run"

/* isa-debug-exit makes QEMU exit with (value << 1) | 1, which no crash of guest or QEMU does. */
#define LINK_EXIT_PORT	0xf4
#define LINK_EXIT_VALUE	0x2a

enum link_type {
	/* guest to host */
	LINK_READY = 'r',	/* the command starts now */
	LINK_OUT = 'o',		/* its stdout */
	LINK_ERR = 'e',		/* its stderr */
	LINK_TAR = 't',		/* a tar stream of /out */
	LINK_STATUS = 's',	/* int32: the exit status; nothing follows */
	LINK_FAIL = 'f',	/* text: why there is no status; nothing follows */
	/* host to guest */
	LINK_IN = 'i',		/* the command's stdin; empty: end of file */
	LINK_ACK = 'a',		/* everything arrived, go */
};

struct link_head {
	uint32_t type;
	uint32_t len;
};

/* Returns 0, or -1 when the stream ended or failed. */
static inline int link_read_all(int fd, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

static inline int link_write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

static inline int link_send(int fd, enum link_type type, const void *buf, size_t len)
{
	struct link_head head = { .type = type, .len = len };

	if (link_write_all(fd, &head, sizeof(head)))
		return -1;
	return link_write_all(fd, buf, len);
}

/* Returns the payload's length (buf holds LINK_PAYLOAD bytes), or -1. */
static inline ssize_t link_receive(int fd, uint32_t *type, void *buf)
{
	struct link_head head;

	if (link_read_all(fd, &head, sizeof(head)) || head.len > LINK_PAYLOAD ||
	    link_read_all(fd, buf, head.len))
		return -1;
	*type = head.type;
	return head.len;
}

#endif
