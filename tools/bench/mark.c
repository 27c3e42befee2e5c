// SPDX-License-Identifier: GPL-2.0
/*
 * Messages to the plugin of QEMU that counts instructions: what mark.h describes.
 * Without the plugin, they do nothing.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "mark.h"

static const struct symbol {
	const char *name;	/* all that begin with it if it ends in * */
	enum mark_symbol what;
} symbols[] = {
	{ "down_read", SYMBOL_DOWN_READ },
	{ "down_read_killable", SYMBOL_DOWN_READ },
	{ "up_read", SYMBOL_UP_READ },
	{ "_raw_spin_lock", SYMBOL_SPIN_LOCK },
	{ "_raw_spin_unlock", SYMBOL_SPIN_UNLOCK },
	{ "__rcu_read_lock", SYMBOL_RCU_LOCK },
	{ "__rcu_read_unlock", SYMBOL_RCU_UNLOCK },
	{ "asm_sysvec_*", SYMBOL_INTERRUPT },
	{ "asm_common_interrupt", SYMBOL_INTERRUPT },
	{ "asm_spurious_interrupt", SYMBOL_INTERRUPT },
	/* Of other kernels it is a member of pcpu_hot, the second word. */
	{ "__preempt_count", SYMBOL_PREEMPT_COUNT },
	{ "pcpu_hot", SYMBOL_PREEMPT_COUNT },
};

#ifdef __x86_64__
#define TEXT(x)		#x
#define NUMBER(x)	TEXT(x)
#define SLOT		8

/* For each message a no-operation and a return, a slot of 8 bytes. */
#define SLOTS								\
	".pushsection .text\n"						\
	"mark_slots:\n"							\
	".set message, 0\n"						\
	".rept " NUMBER(MARKS) "\n"					\
	"	nopl " NUMBER(MARK_MAGIC) " + message(%rax)\n"		\
	"	ret\n"							\
	"	.set message, message + 1\n"				\
	".endr\n"							\
	".popsection\n"

asm(SLOTS);

void mark(unsigned int what)
{
	((void (*)(void))(mark_slots + what * SLOT))();
}
#else
void mark(unsigned int what)
{
	(void)what;
}
#endif

static bool is_symbol(const struct symbol *symbol, const char *name)
{
	size_t length = strlen(symbol->name);

	if (symbol->name[length - 1] == '*')
		return !strncmp(symbol->name, name, length - 1);
	return !strcmp(symbol->name, name);
}

/* Tell where the kernel's functions are. */
void mark_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long address;
	char line[256], name[128];

	if (!file)
		die("no /proc/kallsyms");
	while (fgets(line, sizeof(line), file)) {
		size_t i;
		int shift;

		if (sscanf(line, "%lx %*c %127s", &address, name) != 2)
			continue;
		for (i = 0; i < ARRAY_SIZE(symbols) && !is_symbol(&symbols[i], name); i++)
			;
		if (i == ARRAY_SIZE(symbols))
			continue;
		if (!strcmp(name, "pcpu_hot"))
			address += sizeof(void *);
		for (shift = 56; shift >= 0; shift -= 8)
			mark(address >> shift & 0xff);
		mark(MARK_SYMBOL + symbols[i].what);
	}
	fclose(file);
}
