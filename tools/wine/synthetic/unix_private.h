/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The place in Wine's file of this name that the edit script looks for. */
#ifndef SYNTHETIC_UNIX_PRIVATE_H
#define SYNTHETIC_UNIX_PRIVATE_H

typedef int VM_COUNTERS_EX;

extern void fill_vm_counters( VM_COUNTERS_EX *counters, int pid );
extern int neighbour( void );

extern int further_down( void );

#endif
