/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of libc that the linker (--wrap) has calls go past, as they are. */
#ifndef WSQ_FUZZ_REAL_H
#define WSQ_FUZZ_REAL_H

#include <argp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>

int __real_open(const char *path, int flags, ...);
int __real_openat(int dir, const char *path, int flags, ...);
ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __real_pread(int fd, void *buffer, size_t size, off_t offset);
off_t __real_lseek(int fd, off_t offset, int whence);
int __real_close(int fd);
int __real_ioctl(int fd, unsigned long number, void *arg);
FILE *__real_fopen(const char *path, const char *mode);
int __real_fclose(FILE *stream);
int __real_memfd_create(const char *name, unsigned int flags);
int __real_fstat(int fd, struct stat *st);
int __real_stat(const char *path, struct stat *st);
int __real_statfs(const char *path, struct statfs *fs);
int __real_fstatfs(int fd, struct statfs *fs);
int __real_fstatat(int dir, const char *path, struct stat *st, int flags);
ssize_t __real_readlink(const char *path, char *target, size_t size);

void __real_exit(int status);
error_t __real_argp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			  int *index, void *input);

#endif /* WSQ_FUZZ_REAL_H */
