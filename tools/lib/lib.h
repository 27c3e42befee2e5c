/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the rooms of the library share: the context, and the calls between them.
 *
 *  context.c   whom to ask about, and through what
 *  query.c     the public queries: fill in a request, hand it to a backend
 *  device.c    /dev/wsquery
 *  fallback.c  the same requests from runs of pages (fallback-list.c for lists)
 *  walk.c      runs of pages: VMAs from maps.c, pages from pagemap.c or scan.c
 *
 * Requests travel between them in the structures of <linux/wsquery.h>.
 */
#ifndef WSQ_LIB_H
#define WSQ_LIB_H

#include <errno.h>
#include <stdbool.h>
#include <wsquery.h>

#define WSQ_SELF	(-1)

/*
 * @target and @proc are WSQ_SELF for the calling process. That is not the
 * process that opened the context but the one that uses it, which differ after
 * fork(). The device looks at the caller's own memory at each ioctl, and the
 * other backends open /proc/thread-self anew for each query, so that nothing
 * has to be noticed or renewed in a child.
 */
struct wsquery {
	int backend;		/* not WSQUERY_BACKEND_ANY */
	int device;		/* /dev/wsquery, or -1 */
	int target;		/* /proc/PID/pagemap */
	int proc;		/* /proc/PID (O_PATH) */
	bool guards;		/* PAGEMAP_SCAN knows guard regions */
	bool standard;		/* a copy of the default context */
};

/* context.c */
int wsq_context_get(const struct wsquery **ws, struct wsquery *space);
int wsq_context_process(struct wsquery *ws, int pagemap);
int wsq_context_self(struct wsquery *ws, int backend);

/* default.c */
int wsq_default_get(struct wsquery *ws);
int wsq_default_device(void);
bool wsq_default_renew(const struct wsquery *ws);

/* query.c */
int wsq_request(const struct wsquery *ws, unsigned long number, void *request);

/* device.c */
int wsq_device_open(void);
int wsq_device_request(const struct wsquery *ws, unsigned long number, void *request);

/* fallback.c, fallback-list.c */
int wsq_fallback_request(const struct wsquery *ws, unsigned long number, void *request);
int wsq_fallback_list(const struct wsquery *ws, struct wsquery_list *list);
uint64_t wsq_fallback_tells(const struct wsquery *ws);

/* names.c */
uint64_t wsq_known_bits(void);

/* pagemap.c, scan.c */
int wsq_pagemap_alive(int pagemap);
int wsq_scan_probe(int pagemap, bool *guards);

/* user.c */
size_t wsq_user_read(void *to, const void *from, size_t length);
size_t wsq_user_write(void *to, const void *from, size_t length);
unsigned int wsq_page_shift(void);

/* node.c */
bool wsq_one_node(void);

#endif /* WSQ_LIB_H */
