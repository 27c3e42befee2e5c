// SPDX-License-Identifier: GPL-2.0
/* Input, verdicts, and calls that may end the program. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sanitizer/allocator_interface.h>
#include <sanitizer/asan_interface.h>

#include "fuzz.h"
#include "real.h"
#include "world.h"

void fuzz_wrong(const char *file, int line, const char *what)
{
	dprintf(2, "%s:%d: wrong: %s\n", file, line, what);
	abort();
}

uint64_t input_number(struct input *input, unsigned int bytes)
{
	uint64_t number = 0;

	while (bytes--) {
		number <<= 8;
		if (input->left) {
			number |= *input->at++;
			input->left--;
		}
	}
	return number;
}

static char *text_copy(const uint8_t *at, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, at, size);
	text[size] = '\0';
	return text;
}

static size_t line_size(const struct input *input)
{
	const uint8_t *end = memchr(input->at, '\n', input->left);

	return end ? (size_t)(end - input->at) : input->left;
}

static void input_skip(struct input *input, size_t size)
{
	input->at += size;
	input->left -= size;
}

char *input_line(struct input *input)
{
	size_t size;
	char *line;

	if (!input->left)
		return NULL;
	size = line_size(input);
	line = text_copy(input->at, size);
	input_skip(input, size + (size < input->left));
	return line;
}

char *input_part(struct input *input)
{
	const uint8_t *start = input->at;
	size_t size;
	char *part;

	while (input->left) {
		size = line_size(input);
		if (size == 2 && !memcmp(input->at, "--", 2))
			break;
		input_skip(input, size + (size < input->left));
	}
	part = text_copy(start, input->at - start);
	if (input->left)
		input_skip(input, 2 + (input->left > 2));
	return part;
}

/* The length of the character at text, or 0 if it is none. RFC 3629. */
static size_t utf8_length(const unsigned char *text, size_t size, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length, i;

	if (*text < 0x80) {
		*code = *text;
		return 1;
	}
	length = *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;
	if (*text < 0xc0 || *text > 0xf7 || length > size)
		return 0;
	*code = *text & (0x7f >> length);
	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (text[i] & 0x3f);
	}
	if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return length;
}

bool text_clean(const char *text, size_t size, const char *allowed)
{
	size_t length;
	uint32_t code;

	for (; size; text += length, size -= length) {
		length = utf8_length((const unsigned char *)text, size, &code);
		if (!length)
			return false;
		if ((code < 0x20 || (code >= 0x7f && code < 0xa0)) &&
		    (!code || code >= 0x7f || !strchr(allowed, code)))
			return false;
	}
	return true;
}

bool text_utf8(const char *text, size_t size)
{
	size_t length;
	uint32_t code;

	for (; size; text += length, size -= length) {
		length = utf8_length((const unsigned char *)text, size, &code);
		if (!length)
			return false;
	}
	return true;
}

char said[1 << 20], warned[1 << 14];
size_t said_size, warned_size;

/* Keeps what fits; the writer is told that all was taken, as by a terminal. */
static ssize_t take(char *into, size_t room, size_t *used, const char *text, size_t size)
{
	size_t fits = size < room - *used ? size : room - *used;

	memcpy(into + *used, text, fits);
	*used += fits;
	return size;
}

static ssize_t say(void *cookie, const char *text, size_t size)
{
	(void)cookie;
	return take(said, sizeof(said), &said_size, text, size);
}

static ssize_t warn(void *cookie, const char *text, size_t size)
{
	(void)cookie;
	return take(warned, sizeof(warned), &warned_size, text, size);
}

/* Memory that a call has and did not give back yet. */
#define SLOTS	(1 << 14)

static const volatile void *kept[SLOTS];
static size_t kept_count;
static __thread bool watching;	/* the fuzzer's own threads are not */

static size_t slot_of(const volatile void *memory)
{
	return ((uintptr_t)memory >> 4) * 0x9e3779b97f4a7c15ULL >> 50;
}

static void on_malloc(const volatile void *memory, size_t size)
{
	size_t slot = slot_of(memory);

	(void)size;
	if (!watching || !memory || kept_count > SLOTS / 2)
		return;
	while (kept[slot])
		slot = (slot + 1) % SLOTS;
	kept[slot] = memory;
	kept_count++;
}

static void on_free(const volatile void *memory)
{
	size_t slot = slot_of(memory), next;

	if (!watching || !memory)
		return;
	while (kept[slot] && kept[slot] != memory)
		slot = (slot + 1) % SLOTS;
	if (!kept[slot])
		return;
	kept[slot] = NULL;
	kept_count--;
	/* What was put behind it moves up, so that it is found again. */
	for (next = (slot + 1) % SLOTS; kept[next]; next = (next + 1) % SLOTS) {
		const volatile void *moved = kept[next];

		kept[next] = NULL;
		for (slot = slot_of(moved); kept[slot]; slot = (slot + 1) % SLOTS)
			;
		kept[slot] = moved;
	}
}

static void kept_free(void)
{
	size_t slot;

	for (slot = 0; slot < SLOTS && kept_count; slot++) {
		if (!kept[slot])
			continue;
		free((void *)kept[slot]);
		kept[slot] = NULL;
		kept_count--;
	}
}

/* Says where what is kept was allocated. */
static void kept_describe(void)
{
	size_t slot;

	for (slot = 0; slot < SLOTS; slot++)
		if (kept[slot])
			__asan_describe_address((void *)kept[slot]);
}

static jmp_buf ending;
static bool inside;
static bool usage_error;

void __wrap_exit(int status)
{
	if (inside)
		longjmp(ending, status + 1);
	__real_exit(status);
	abort();
}

/* The command closes standard output when it is done; here it stays open for the next one. */
int __wrap_finish(void)
{
	return ferror(stdout) ? 1 : 0;
}

/* Inside libc, exit() is not ours, so that argp must not call it. */
void __wrap_argp_error(const struct argp_state *state, const char *format, ...)
{
	(void)state;
	(void)format;
	usage_error = true;
}

error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			  int *index, void *input)
{
	error_t error;

	usage_error = false;
	error = __real_argp_parse(argp, argc, argv, flags | ARGP_NO_EXIT, index, input);
	if (error || usage_error)
		__wrap_exit(argp_err_exit_status);
	return 0;
}

int fuzz_call(void (*run)(void *arg), void *arg)
{
	static char out_buffer[1 << 16], err_buffer[1 << 12];
	static FILE *out, *err;
	static bool warm;
	FILE *real_out = stdout, *real_err = stderr;
	int status;

	if (!out) {
		out = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = say });
		err = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = warn });
		setvbuf(out, out_buffer, _IOFBF, sizeof(out_buffer));
		setvbuf(err, err_buffer, _IOFBF, sizeof(err_buffer));
		__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	}
	said_size = 0;
	warned_size = 0;
	stdout = out;
	stderr = err;
	watching = true;
	inside = true;
	status = setjmp(ending);
	if (!status)
		run(arg);
	inside = false;
	fflush(out);
	fflush(err);
	stdout = real_out;
	stderr = real_err;
	world_close();
	watching = false;
	if (!status && kept_count && warm)
		kept_describe();
	/* What libc keeps after its first call it keeps for good. */
	CHECK(status || !kept_count || !warm);
	if (status)
		kept_free();
	warm |= !status;
	memset(kept, 0, kept_count ? sizeof(kept) : 0);
	kept_count = 0;
	return status - 1;
}
