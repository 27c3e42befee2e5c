// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU that counts instructions: those executed while a lock is held or
 * preemption is off, and how often each one is executed.
 *
 * The benchmark in the guest tells it what to look at by no-operations that nothing else
 * has (mark.h): where the kernel's lock functions are, when to start, and whom it asks
 * which question from now on. Nothing is counted before, so that the guest boots
 * quickly. Nothing in the guest is changed, and what interrupts execute is left out.
 *
 *	-plugin count.so,out=FILE[,profile=on]
 *
 * The output has a line for each question (an ID) and kind of hold: the instructions
 * of the longest hold, the least of that where it was asked repeatedly, and where it
 * began; and with profile a line for each instruction and how often it was executed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mark.h"
#include "api.h"

#define SYMBOLS		256
/* Questions that can be profiled in one run. */
#define PROFILED	32

enum kind {
	MMAP_LOCK,	/* outermost rw_semaphore held for reading: there is no other */
	SPIN_LOCK,	/* taken under it, so that of a page table */
	RCU,		/* under it */
	PREEMPT_OFF,	/* anywhere in the call */
	KINDS,
};

static const char *const kinds[KINDS] = { "mmap", "spin", "rcu", "preempt" };

/* A point in the guest's code at which something happens. */
struct event {
	void (*happen)(const struct event *event);
	uint64_t at;
	enum kind kind;
	int change;		/* by what the depth changes */
	uint64_t not_yet;	/* instructions of its block that were not executed yet */
};

struct hold {
	int depth;
	uint64_t since, from;
	/* In this window, and the least of all windows. */
	uint64_t longest, longest_from, number;
	uint64_t least, least_from, least_number;
};

struct block {
	struct block *next;
	unsigned int size;
	uint64_t runs[PROFILED];
	uint64_t insn[];
};

static const char *out_path;
static bool profile, started;
static qemu_plugin_id_t plugin;

static struct {
	uint64_t at;
	enum mark_symbol what;
} symbols[SYMBOLS];
static unsigned int symbols_filled;

static uint64_t executed, in_interrupts, interrupt_since;
static bool interrupted;
static unsigned int current;
static struct hold holds[MARK_CASES][KINDS];
static bool seen[MARK_CASES];
static struct block *blocks;

/* Instructions executed before the event's, but for those of interrupts. */
static uint64_t now(const struct event *event)
{
	return (interrupted ? interrupt_since : executed - event->not_yet) - in_interrupts;
}

static void hold_change(const struct event *event)
{
	struct hold *hold = &holds[current][event->kind];
	int was = hold->depth;
	uint64_t took;

	if (!current || interrupted)
		return;
	hold->depth += event->change;
	if (hold->depth < 0)
		hold->depth = 0;
	if (!was && hold->depth) {
		hold->since = now(event);
		hold->from = event->at;
		return;
	}
	if (!was || hold->depth)
		return;
	/* What is not held under the mmap lock is not the walk's. */
	if ((event->kind == SPIN_LOCK || event->kind == RCU) && !holds[current][MMAP_LOCK].depth)
		return;
	took = now(event) - hold->since;
	hold->number++;
	if (took > hold->longest) {
		hold->longest = took;
		hold->longest_from = hold->from;
	}
}

static void interrupt_enter(const struct event *event)
{
	if (!current || interrupted)
		return;
	interrupt_since = executed - event->not_yet;
	interrupted = true;
}

static void interrupt_leave(const struct event *event)
{
	if (!interrupted)
		return;
	in_interrupts += executed - event->not_yet - interrupt_since;
	interrupted = false;
}

/* The end of a window: of all of the same, that with the least is free of chance. */
static void window_end(void)
{
	int i;

	for (i = 0; i < KINDS; i++) {
		struct hold *hold = &holds[current][i];

		if (!seen[current] || hold->longest < hold->least) {
			hold->least = hold->longest;
			hold->least_from = hold->longest_from;
			hold->least_number = hold->number;
		}
	}
	seen[current] = true;
}

static void window_start(unsigned int which)
{
	int i;

	for (i = 0; i < KINDS; i++) {
		holds[which][i].depth = 0;
		holds[which][i].longest = 0;
		holds[which][i].longest_from = 0;
		holds[which][i].number = 0;
	}
	interrupted = false;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static void restart(qemu_plugin_id_t id)
{
	started = true;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
}

static void finish(qemu_plugin_id_t id, void *data);

static void marked(unsigned int cpu, void *data)
{
	static uint64_t number;
	uintptr_t mark = (uintptr_t)data;

	(void)cpu;
	if (mark < MARK_SYMBOL) {
		number = number << 8 | mark;
	} else if (mark < MARK_START) {
		if (symbols_filled == SYMBOLS)
			abort();
		symbols[symbols_filled].at = number;
		symbols[symbols_filled++].what = mark - MARK_SYMBOL;
	} else if (mark == MARK_START) {
		qemu_plugin_reset(plugin, restart);
	} else if (mark == MARK_END) {
		finish(plugin, NULL);
	} else {
		if (current)
			window_end();
		current = mark - MARK_CASE;
		if (current)
			window_start(current);
	}
}

static void happened(unsigned int cpu, void *data)
{
	const struct event *event = data;

	(void)cpu;
	event->happen(event);
}

static void event_add(struct qemu_plugin_insn *insn, struct event event)
{
	struct event *copy = malloc(sizeof(*copy));

	if (!copy)
		abort();
	*copy = event;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, happened, QEMU_PLUGIN_CB_NO_REGS, copy);
}

static bool event_of_symbol(enum mark_symbol what, struct event *event)
{
	event->happen = hold_change;
	switch (what) {
	case SYMBOL_DOWN_READ:
	case SYMBOL_UP_READ:
		event->kind = MMAP_LOCK;
		event->change = what == SYMBOL_DOWN_READ ? 1 : -1;
		return true;
	case SYMBOL_SPIN_LOCK:
	case SYMBOL_SPIN_UNLOCK:
		event->kind = SPIN_LOCK;
		event->change = what == SYMBOL_SPIN_LOCK ? 1 : -1;
		return true;
	case SYMBOL_RCU_LOCK:
	case SYMBOL_RCU_UNLOCK:
		event->kind = RCU;
		event->change = what == SYMBOL_RCU_LOCK ? 1 : -1;
		return true;
	case SYMBOL_INTERRUPT:
		event->happen = interrupt_enter;
		return true;
	case SYMBOL_PREEMPT_COUNT:
		break;
	}
	return false;
}

/* An instruction on the preemption count, %gs:disp32(%rip): inc, dec, add or sub. */
static int preempt_change(const struct qemu_plugin_insn *insn)
{
	const unsigned char *code = qemu_plugin_insn_data(insn);
	size_t size = qemu_plugin_insn_size(insn);
	int32_t displacement, operand = 1;
	uint64_t target;
	unsigned int i;

	if (size < 7 || code[0] != 0x65)
		return 0;
	memcpy(&displacement, code + 3, sizeof(displacement));
	target = qemu_plugin_insn_vaddr(insn) + size + displacement;
	for (i = 0; i < symbols_filled; i++)
		if (symbols[i].what == SYMBOL_PREEMPT_COUNT && symbols[i].at == target)
			break;
	if (i == symbols_filled)
		return 0;
	if (code[1] == 0x83 && size == 8)
		operand = (signed char)code[7];
	else if (code[1] == 0x81 && size == 11)
		memcpy(&operand, code + 7, sizeof(operand));
	else if (code[1] == 0xff && size == 7)
		return code[2] == 0x05 ? 1 : code[2] == 0x0d ? -1 : 0;
	else
		return 0;
	return code[2] == 0x05 ? operand : code[2] == 0x2d ? -operand : 0;
}

static void translate_insn(struct qemu_plugin_insn *insn, uint64_t not_yet)
{
	static const unsigned char iretq[] = { 0x48, 0xcf };
	struct event event = { .at = qemu_plugin_insn_vaddr(insn), .not_yet = not_yet };
	unsigned int i;

	if (!(event.at >> 63))
		return;
	for (i = 0; i < symbols_filled; i++)
		if (symbols[i].at == event.at && event_of_symbol(symbols[i].what, &event))
			event_add(insn, event);
	event.change = profile ? 0 : preempt_change(insn);
	if (event.change) {
		event.happen = hold_change;
		event.kind = PREEMPT_OFF;
		event_add(insn, event);
	}
	if (qemu_plugin_insn_size(insn) == sizeof(iretq) &&
	    !memcmp(qemu_plugin_insn_data(insn), iretq, sizeof(iretq))) {
		event.happen = interrupt_leave;
		event_add(insn, event);
	}
}

static void block_run(unsigned int cpu, void *data)
{
	struct block *block = data;

	(void)cpu;
	if (current && current < PROFILED && !interrupted)
		block->runs[current]++;
}

static void block_add(struct qemu_plugin_tb *tb, size_t n)
{
	struct block *block = calloc(1, sizeof(*block) + n * sizeof(block->insn[0]));
	size_t i;

	if (!block)
		abort();
	block->size = n;
	for (i = 0; i < n; i++)
		block->insn[i] = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i));
	block->next = blocks;
	blocks = block;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block_run, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void translate_mark(struct qemu_plugin_insn *insn)
{
	static const unsigned char nop[] = { MARK_NOP };
	const unsigned char *code = qemu_plugin_insn_data(insn);
	uint32_t mark;

	if (qemu_plugin_insn_size(insn) != sizeof(nop) + sizeof(mark) ||
	    memcmp(code, nop, sizeof(nop)))
		return;
	memcpy(&mark, code + sizeof(nop), sizeof(mark));
	if (mark >= MARK_MAGIC && mark - MARK_MAGIC < MARKS)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)(mark - MARK_MAGIC));
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i;

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		translate_mark(insn);
		if (started)
			translate_insn(insn, n - i);
	}
	if (started && profile)
		block_add(tb, n);
	else if (started)
		qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
							 &executed, n);
}

static void finish(qemu_plugin_id_t id, void *data)
{
	FILE *out = fopen(out_path, "we");
	const struct block *block;
	unsigned int i, k;

	(void)id;
	(void)data;
	if (!out)
		abort();
	for (i = 1; i < MARK_CASES; i++)
		for (k = 0; k < KINDS && seen[i] && !profile; k++)
			fprintf(out, "hold %u %s %lu %lu %lx\n", i, kinds[k], holds[i][k].least,
				holds[i][k].least_number, holds[i][k].least_from);
	for (block = blocks; block; block = block->next)
		for (i = 1; i < PROFILED; i++)
			for (k = 0; k < block->size && block->runs[i]; k++)
				fprintf(out, "insn %u %016lx %lu\n", i, block->insn[k],
					block->runs[i]);
	fclose(out);
}

QEMU_EXPORT int qemu_plugin_version = 1;

QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
				    char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out_path = strdup(argv[i] + 4);
		else if (!strcmp(argv[i], "profile=on"))
			profile = true;
	}
	if (!out_path)
		return -1;
	plugin = id;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
