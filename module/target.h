/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose address space a request is about.
 */
#ifndef WSQ_TARGET_H
#define WSQ_TARGET_H

#include <linux/types.h>

struct mm_struct;

/**
 * struct wsq_target - an address space that stays for the time of a request
 * @mm: the address space
 * @own: it is the caller's, which keeps it anyway; otherwise a reference is held
 */
struct wsq_target {
	struct mm_struct *mm;
	bool own;
};

void wsq_target_learn(void);
int wsq_target_get(struct wsq_target *target, u32 flags, s32 fd);
void wsq_target_put(struct wsq_target *target);

#endif /* WSQ_TARGET_H */
