/* SPDX-License-Identifier: GPL-2.0 */
/* The guest's init: what its parts share. */
#ifndef WSQ_VM_INIT_H
#define WSQ_VM_INIT_H

#include <stdbool.h>
#include <stddef.h>

#include "link.h"

/* Ends the run as failed, with a sentence for the one who started it. */
__noreturn __printf(1, 2) void fail(const char *format, ...);

/* The value of NAME in /etc/vm/conf, or the fallback when it is not there. */
const char *conf(const char *name, const char *fallback);
bool conf_is(const char *name);

/* init-system.c */
void system_mount(void);
int system_open_link(void);
void system_prepare(void);
void system_write(const char *path, const char *text);
void module_load(const char *name);
void module_insert(const char *path);
void module_remove(const char *path);

/* init-run.c: run the command, carry its streams over the link, return its exit status */
int run_command(int link);
int run_wait(const char *const argv[]);
void run_send_out(int link);

#endif
