/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libwsquery: which pages are in memory, which are in swap, which are neither.
 *
 * A thin layer over /dev/wsquery, whose structures, states and attributes are
 * those of <linux/wsquery.h>. Without the device the answers come from
 * /proc/PID/pagemap and /proc/PID/maps: slower, and with holes that those files
 * cannot see through. Such holes are marked %WSQUERY_NOT_TOLD; they are never
 * guessed.
 *
 * Conventions of all functions that return int:
 *  - 0 or a count on success, a negative errno value on error; errno itself is
 *    not part of the interface. The errors are those of <linux/wsquery.h>.
 *  - Addresses and lengths are in bytes and 64 bits wide in every build, since
 *    a 32-bit program can ask about a 64-bit one. Those of a range are multiples
 *    of the page size.
 *  - A NULL context means the calling process through the default backend. It
 *    is always there, needs no opening, and is correct in any thread and after
 *    fork(2).
 *  - Queries allocate nothing and take no lock in user space. A context can be
 *    used by any number of threads at once.
 */
#ifndef WSQUERY_H
#define WSQUERY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/wsquery.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum wsquery_backend - where the answers come from
 * @WSQUERY_BACKEND_ANY: the best there is: the first of the others that works,
 *	or the one that the environment variable WSQUERY_BACKEND names (which is
 *	ignored in programs with elevated privileges)
 * @WSQUERY_BACKEND_DEVICE: /dev/wsquery; its name is "device"
 * @WSQUERY_BACKEND_SCAN: ioctl PAGEMAP_SCAN, Linux 6.7 or later; "scan"
 * @WSQUERY_BACKEND_PAGEMAP: reading /proc/PID/pagemap; "pagemap"
 *
 * What SCAN and PAGEMAP cannot know:
 *  - what is behind a hole of a file or of shared memory: %WSQUERY_NOT_TOLD;
 *  - markers other than guard regions, pages under migration, poisoned pages and
 *    device-private memory: the kernel calls them swapped, and so does the
 *    answer, unless the mapping excludes it: then %WSQUERY_NOT_TOLD;
 *  - that a file is of a tmpfs that is not mounted where the caller can see it:
 *    such a mapping has %WSQUERY_FILE instead of %WSQUERY_SHMEM;
 *  - the attributes that wsquery_tells() lacks.
 *
 * They need /proc, and a process that is not dumpable, because it changed its
 * user or executed a file that it may not read, cannot open its own files there:
 * -EACCES. The device has no such needs.
 */
enum wsquery_backend {
	WSQUERY_BACKEND_ANY,
	WSQUERY_BACKEND_DEVICE,
	WSQUERY_BACKEND_SCAN,
	WSQUERY_BACKEND_PAGEMAP,
};

/** struct wsquery - a context: a process to ask about, and a backend (opaque) */
struct wsquery;

/**
 * wsquery_open() - context for the calling process
 * @ws: where to store the context; unchanged on error
 * @backend: a backend, or %WSQUERY_BACKEND_ANY
 *
 * The context is about whichever process uses it: after fork(2) the child asks
 * about itself.
 *
 * Return: 0, -ENOENT or another error of open(2) if the backend does not exist,
 * -ENOTTY if the kernel has no PAGEMAP_SCAN, -EINVAL for an unknown backend
 * (also in the environment), -ENOMEM.
 */
int wsquery_open(struct wsquery **ws, enum wsquery_backend backend);

/**
 * wsquery_open_pid() - context for another process
 * @ws: where to store the context; unchanged on error
 * @pid: its id
 * @backend: a backend, or %WSQUERY_BACKEND_ANY
 *
 * Return: as wsquery_open(), and -ESRCH if there is no such process or it has no
 * memory, -EACCES or -EPERM if the caller may not look into it (the rule is that
 * of ptrace(2), PTRACE_MODE_READ_FSCREDS).
 */
int wsquery_open_pid(struct wsquery **ws, pid_t pid, enum wsquery_backend backend);

/**
 * wsquery_open_fd() - context for the process behind a descriptor
 * @ws: where to store the context; unchanged on error
 * @fd: open descriptor of /proc/PID/pagemap; duplicated, so that the caller can
 *	close its own
 * @backend: a backend, or %WSQUERY_BACKEND_ANY
 *
 * Return: as wsquery_open_pid(), and -EBADF, -EOPNOTSUPP if @fd is something
 * else.
 */
int wsquery_open_fd(struct wsquery **ws, int fd, enum wsquery_backend backend);

/**
 * wsquery_close() - give a context back
 * @ws: the context, or NULL for nothing
 */
void wsquery_close(struct wsquery *ws);

/**
 * wsquery_backend() - the backend that answers
 * @ws: a context, or NULL
 *
 * Return: never %WSQUERY_BACKEND_ANY; a negative errno value if @ws is NULL and
 * no backend works.
 */
int wsquery_backend(const struct wsquery *ws);

/**
 * wsquery_backend_name() - the name of a backend
 * @backend: an &enum wsquery_backend
 *
 * Return: "any", "device", "scan", "pagemap", or NULL.
 */
const char *wsquery_backend_name(int backend);

/**
 * wsquery_backend_by_name() - the backend of a name
 * @name: as wsquery_backend_name() returns it
 *
 * Return: the backend, or -EINVAL.
 */
int wsquery_backend_by_name(const char *name);

/**
 * wsquery_tells() - what this backend can tell
 * @ws: a context, or NULL
 *
 * Return: the bits of state and attributes that the backend fills in. Others are
 * 0 in its answers, asked for or not. 0 if no backend works.
 */
uint64_t wsquery_tells(const struct wsquery *ws);

/**
 * wsquery_get_info() - what the module and kernel can do
 * @ws: a context, or NULL
 * @info: filled in; the library sets the size
 *
 * Without the device, version is 0 and the rest describes the library.
 *
 * Return: 0 or a negative errno value.
 */
int wsquery_get_info(const struct wsquery *ws, struct wsquery_info *info);

/**
 * struct wsquery_progress - how far an answer goes
 * @done: what was answered, in bytes for a range, in entries for a list
 * @not_told: pages or entries of which the backend or the caller may not know
 *	what is behind the hole (%WSQUERY_NOT_TOLD)
 *
 * Valid after success and after errors: all up to @done was answered and nothing
 * after it was written.
 */
struct wsquery_progress {
	uint64_t done;
	uint64_t not_told;
};

/**
 * wsquery_get_states() - one byte per page: its state
 * @ws: a context, or NULL
 * @start: address of the first page
 * @length: bytes from @start
 * @states: array of @length / page size bytes (%WSQUERY_STATE_MASK)
 * @progress: filled in, or NULL
 *
 * Return: 0 or a negative errno value.
 */
int wsquery_get_states(const struct wsquery *ws, uint64_t start, uint64_t length,
		       uint8_t *states, struct wsquery_progress *progress);

/**
 * wsquery_get_pages() - one word per page: state and attributes
 * @ws: a context, or NULL
 * @start: address of the first page
 * @length: bytes from @start
 * @attrs: attributes to tell
 * @pages: array of @length / page size words
 * @progress: filled in, or NULL
 *
 * Return: 0 or a negative errno value.
 */
int wsquery_get_pages(const struct wsquery *ws, uint64_t start, uint64_t length,
		      uint64_t attrs, uint64_t *pages,
		      struct wsquery_progress *progress);

/**
 * wsquery_get_swap() - state, attributes and place in swap of each page
 * @ws: a context, or NULL
 * @start: address of the first page
 * @length: bytes from @start
 * @attrs: attributes to tell
 * @pages: array of @length / page size entries
 * @progress: filled in, or NULL
 *
 * Only with the device, and with CAP_SYS_ADMIN in the initial user namespace
 * when the context was opened.
 *
 * Return: 0 or a negative errno value: -EPERM without the capability,
 * -EOPNOTSUPP without the device.
 */
int wsquery_get_swap(const struct wsquery *ws, uint64_t start, uint64_t length,
		     uint64_t attrs, struct wsquery_page *pages,
		     struct wsquery_progress *progress);

/**
 * wsquery_get_list() - any addresses in any order
 * @ws: a context, or NULL
 * @entries: array; each address is read, each flags written
 * @count: number of entries
 * @attrs: attributes to tell
 * @progress: filled in, or NULL
 *
 * Return: 0 or a negative errno value: -EFAULT for a bad array, with every
 * backend.
 */
int wsquery_get_list(const struct wsquery *ws, struct wsquery_entry *entries,
		     size_t count, uint64_t attrs,
		     struct wsquery_progress *progress);

/**
 * wsquery_get_one() - one address
 * @ws: a context, or NULL
 * @address: any address of the page
 * @attrs: attributes to tell
 * @flags: state and attributes; unchanged on error
 *
 * For the calling process and attributes within %WSQUERY_ONE_MASK the cheapest
 * call there is.
 *
 * Return: 0 or a negative errno value.
 */
int wsquery_get_one(const struct wsquery *ws, uint64_t address, uint64_t attrs,
		    uint64_t *flags);

/**
 * struct wsquery_cursor - a range to be walked region by region
 * @start: next address to ask about; moved on by each call
 * @length: bytes that remain from there
 * @attrs: attributes to tell
 * @select: 0, or only report pages with any of these bits set
 * @flags: 0, or %WSQUERY_SHARED_ONLY
 * @not_told: grows by the pages of which no more may be known
 */
struct wsquery_cursor {
	uint64_t start;
	uint64_t length;
	uint64_t attrs;
	uint64_t select;
	uint32_t flags;
	uint64_t not_told;
};

/**
 * wsquery_get_regions() - the next runs of equal pages
 * @ws: a context, or NULL
 * @cursor: where to go on; start and length cover the whole range at first
 * @regions: array to fill
 * @capacity: its length, at least 1
 *
 * Call again until it returns 0. A run can be cut in two at the boundary of two
 * calls. Unmapped addresses are not reported.
 *
 * Return: the number of regions, 0 at the end of the range, or a negative errno
 * value, after which regions before @cursor's start may be lost.
 */
ssize_t wsquery_get_regions(const struct wsquery *ws, struct wsquery_cursor *cursor,
			    struct wsquery_region *regions, size_t capacity);

/**
 * typedef wsquery_region_fn - what to do with a region
 * @region: the region
 * @arg: as passed to wsquery_for_each_region()
 *
 * Return: 0 to go on, anything else to stop.
 */
typedef int (*wsquery_region_fn)(const struct wsquery_region *region, void *arg);

/**
 * wsquery_for_each_region() - call a function for each run of equal pages
 * @ws: a context, or NULL
 * @cursor: the range, attributes and selection; says afterwards how far it went
 * @fn: the function
 * @arg: its second argument
 *
 * Neighbours with equal flags arrive as one region.
 *
 * Return: 0, what @fn stopped with, or a negative errno value.
 */
int wsquery_for_each_region(const struct wsquery *ws, struct wsquery_cursor *cursor,
			    wsquery_region_fn fn, void *arg);

/**
 * wsquery_get_count() - totals of a range
 * @ws: a context, or NULL
 * @count: set range.start, range.length, range.attrs, mask and value, and zero
 *	the rest; the library fills in the head
 *
 * Return: 0 or a negative errno value. The totals are those of the first
 * range.done bytes. Totals of what the backend cannot tell are 0.
 */
int wsquery_get_count(const struct wsquery *ws, struct wsquery_count *count);

/**
 * struct wsquery_flag - a name of a bit or field
 * @name: short lower-case name, as commands and JSON show it
 * @mask: the bits
 * @shift: of a field: where it starts; 0 for single bits
 * @help: one line
 */
struct wsquery_flag {
	const char *name;
	uint64_t mask;
	unsigned int shift;
	const char *help;
};

/**
 * wsquery_flag_table() - the names of all states and attributes
 * @count: number of rows
 *
 * Return: the table, in the order of the bits.
 */
const struct wsquery_flag *wsquery_flag_table(size_t *count);

/**
 * wsquery_flag_by_name() - find a name in the table
 * @name: the name
 *
 * Return: the row, or NULL.
 */
const struct wsquery_flag *wsquery_flag_by_name(const char *name);

/**
 * wsquery_flags_parse() - names to bits
 * @text: names separated by commas; "state" and "all" stand for all state bits
 *	and for all bits
 * @flags: the bits, or'ed; unchanged on error
 *
 * Return: 0, or -EINVAL for an unknown name.
 */
int wsquery_flags_parse(const char *text, uint64_t *flags);

/**
 * wsquery_flags_format() - bits to names
 * @text: buffer, always terminated if @size is not 0
 * @size: its size in bytes
 * @flags: the bits; a field appears as name=value unless its value is 0
 *
 * Return: the length of the whole text without the terminating zero, as
 * snprintf(3); not smaller than @size if it was cut.
 */
int wsquery_flags_format(char *text, size_t size, uint64_t flags);

#ifdef __cplusplus
}
#endif

#endif /* WSQUERY_H */
