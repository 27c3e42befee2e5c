/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs of equal pages, from what /proc offers: the walker of the backends that
 * do without the device.
 *
 * Everything here counts in page numbers, so that the end of the highest page
 * does not overflow.
 */
#ifndef WSQ_WALK_H
#define WSQ_WALK_H

#include "lib.h"

/* A mapping: page numbers, and the bits that all its pages have in common. */
struct wsq_vma {
	uint64_t start;
	uint64_t end;
	uint64_t flags;
};

/* A line reader with its own buffer; long lines lose their ends. */
struct wsq_lines {
	int fd;
	unsigned int next;
	unsigned int filled;
	bool skip;
	char buffer[4096];
};

int wsq_lines_next(struct wsq_lines *lines, char **line);

/* The last few devices seen in maps, and what is on them. */
#define WSQ_FS_CACHE	8

struct wsq_fs {
	uint64_t device[WSQ_FS_CACHE];
	uint64_t flags[WSQ_FS_CACHE];
	unsigned int count;
};

uint64_t wsq_fs_flags(struct wsq_fs *fs, uint64_t device, const char *path);

/* /proc/PID/maps, read in order. */
struct wsq_maps {
	struct wsq_lines lines;
	struct wsq_fs fs;
	unsigned int shift;
};

int wsq_maps_open(struct wsq_maps *maps, int proc);
void wsq_maps_close(struct wsq_maps *maps);
int wsq_maps_rewind(struct wsq_maps *maps);
int wsq_maps_next(struct wsq_maps *maps, struct wsq_vma *vma);

/**
 * typedef wsq_run_fn - takes a run
 * @arg: the taker's own
 * @page: first page number
 * @count: pages
 * @flags: of each of them; 0 if they are not mapped
 *
 * Return: 0, or anything else to stop. A stopped run counts as not taken.
 */
typedef int (*wsq_run_fn)(void *arg, uint64_t page, uint64_t count, uint64_t flags);

/* What a page source says of a page, before it is seen with its mapping. */
struct wsq_seen {
	bool present;
	bool swapped;		/* or anything else that is not present and not a hole */
	bool file;		/* a page of the page cache, or an entry that refers to one */
	bool guard;
	uint64_t flags;		/* attributes that need no interpretation */
};

struct wsq_walk {
	const struct wsquery *ws;
	int pagemap;
	uint64_t keep;		/* bits to show */
	struct wsq_maps maps;
	struct wsq_vma vma;
	bool vma_known;		/* vma is the first one that ends after the last range */
	bool vma_last;		/* there is none after it */
	uint64_t walked;	/* page after the last range */
};

int wsq_walk_open(struct wsq_walk *walk, const struct wsquery *ws, uint64_t attrs);
int wsq_walk_close(struct wsq_walk *walk);
int wsq_walk_range(struct wsq_walk *walk, uint64_t page, uint64_t end, wsq_run_fn run, void *arg);
uint64_t wsq_walk_flags(const struct wsq_walk *walk, const struct wsq_seen *seen);

int wsq_pagemap_range(struct wsq_walk *walk, uint64_t page, uint64_t end, wsq_run_fn run,
		      void *arg);
int wsq_scan_range(struct wsq_walk *walk, uint64_t page, uint64_t end, wsq_run_fn run, void *arg);

#endif /* WSQ_WALK_H */
