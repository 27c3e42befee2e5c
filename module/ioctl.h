/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests: copied, checked, carried out.
 */
#ifndef WSQ_IOCTL_H
#define WSQ_IOCTL_H

#include <linux/types.h>

struct file;
struct wsq_target;
struct wsquery_list;

long wsq_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* list.c */

/* Entries that are read at once, and pages that one walk for them may span. */
#define WSQ_LIST_ENTRIES	16384
#define WSQ_LIST_SPAN		16384
#define WSQ_LIST_BYTES		((WSQ_LIST_ENTRIES + WSQ_LIST_SPAN) * sizeof(u64))

int wsq_list(struct wsquery_list *list, const struct wsq_target *target);
int wsq_list_init(void);
void wsq_list_exit(void);

/* page.c */
long wsq_one(unsigned long addr);

#endif /* WSQ_IOCTL_H */
