/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzzers of the parsers share. Each is one file, named after what it feeds, and links
 * the objects of tools/cli and tools/lib as they are, built with sanitizers.
 *
 *  fuzz.c      input, verdicts, and calls that may end the program
 *  world.c     a /proc of our own, so that a process can look like anything
 *
 *  units.c     sizes, ranges, and numbers as the command prints them
 *  flags.c     lists of flags and columns
 *  mappings.c  the command's reading of maps and of names files
 *  print.c     tables and JSON about mappings with any name
 *  command.c   whole command lines, with any environment, about any process
 *  maps.c      the library's reading of maps and mountinfo
 *  walk.c      the library's answers from pagemap and PAGEMAP_SCAN
 *  windows.c   QueryWorkingSetEx and its neighbours
 *  link.c      what the emulated machine sends
 */
#ifndef WSQ_FUZZ_H
#define WSQ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An answer that is wrong ends the fuzzer like a crash does, with the input kept. */
#define CHECK(good)	((good) ? (void)0 : fuzz_wrong(__FILE__, __LINE__, #good))
__attribute__((noreturn)) void fuzz_wrong(const char *file, int line, const char *what);

/* The input, taken from the front; what is missing is 0. */
struct input {
	const uint8_t *at;
	size_t left;
};

uint64_t input_number(struct input *input, unsigned int bytes);
/* Text up to the next line "--" or the end, as a string of its exact size; free it. */
char *input_part(struct input *input);
/* One line without its end; NULL at the end. Free it. */
char *input_line(struct input *input);

/* Whether text has an end within size bytes and is UTF-8 without control characters. */
bool text_clean(const char *text, size_t size, const char *allowed);
bool text_utf8(const char *text, size_t size);

/*
 * Calls run(arg), which may call exit(). Standard output and error go to said and warned. Memory
 * that is not given back is a mistake, unless the program would have ended.
 *
 * Return: -1 if it came back, or the exit status.
 */
int fuzz_call(void (*run)(void *arg), void *arg);
extern char said[1 << 20], warned[1 << 14];
extern size_t said_size, warned_size;

#endif /* WSQ_FUZZ_H */
