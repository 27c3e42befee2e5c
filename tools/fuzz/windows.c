// SPDX-License-Identifier: GPL-2.0
/*
 * QueryWorkingSetEx and its neighbours with arrays of any place, size and content, and handles
 * of anything. The words are compared field by field with the structures of the header. Input:
 * numbers.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "win.h"
#include "world.h"

#define BASE	0x10000ULL
#define PAGES	64
#define ROOM	4096

typedef PSAPI_WORKING_SET_EX_INFORMATION entry_t;
typedef PSAPI_WORKING_SET_EX_BLOCK block_t;

/* Four mappings of 16 pages: private, a private file, shared memory, and inaccessible. */
static const char maps[] =
	"10000000-10010000 rwxp 00000000 00:00 0                          [heap]\n"
	"10010000-10020000 rw-p 00000000 08:01 5                          /bin/file\n"
	"10020000-10030000 r--s 00000000 00:01 6                          /memfd:a (deleted)\n"
	"10030000-10040000 ---p 00000000 00:00 0                          [anon:a]\n";

static unsigned char seen[PAGES];
static char *room;	/* ROOM bytes, and then nothing */

static uint64_t state(uint64_t page, unsigned int *flags)
{
	*flags = page >= BASE && page < BASE + PAGES ? seen[page - BASE] : 0;
	return page + 1 == BASE + PAGES ? UINT64_MAX : page < BASE ? BASE : page + 1;
}

/* What the header of the shim says of a page. */
static block_t expected(uint64_t address)
{
	static const unsigned int protections[] = {
		PAGE_EXECUTE_READWRITE, PAGE_WRITECOPY, PAGE_READONLY,
	};
	uint64_t page = address >> 12, mapping = (page - BASE) / 16;
	block_t block = { .Flags = 0 };
	unsigned int flags;
	bool file, copy;

	if (page < BASE || page >= BASE + PAGES)
		return block;
	state(page, &flags);
	file = mapping == 1 || mapping == 2;
	copy = mapping == 1 && ((flags & PAGE_PRESENT && !(flags & PAGE_FILE)) ||
				(!(flags & PAGE_PRESENT) && !(flags & PAGE_GUARD_PTE) &&
				 flags & PAGE_SWAP && !(flags & PAGE_FILE)));
	block.Shared = file && !copy;
	block.SharedOriginal = block.Shared;
	if (flags & PAGE_PRESENT && mapping < 3) {
		block.Valid = 1;
		block.ShareCount = block.Shared;
		block.Win32Protection = copy ? PAGE_READWRITE : protections[mapping];
	} else if (flags & PAGE_PRESENT) {
		block.Invalid.Location = 1;
	} else if (flags & PAGE_SWAP && !(flags & (PAGE_FILE | PAGE_GUARD_PTE)) && mapping != 2) {
		block.Invalid.Location = 2;
	}
	return block;
}

static uint64_t some_address(struct input *input)
{
	uint64_t number = input_number(input, 2);

	switch (number >> 14) {
	case 0:
		return input_number(input, 8);
	default:
		return (BASE << 12) + (number & 0x3fff) * 32;
	}
}

struct place {
	char *at;
	size_t size;		/* of what the call is told */
	bool whole;		/* all of it is there */
};

static struct place some_place(struct input *input, size_t most)
{
	uint64_t how = input_number(input, 1), number = input_number(input, 2);
	struct place place = { .size = number % (most + 1), .whole = true };

	place.at = room + ROOM - (place.size + 7) / 8 * 8;
	if (how < 16) {
		place.at += (how + 1) * 8;
		place.whole = place.at + place.size <= room + ROOM;
	} else if (how < 32 && place.at > room) {
		place.at -= how & 7;
	} else if (how == 32) {
		place.at = NULL;
		place.whole = false;
	} else if (how == 33) {
		place.at = (char *)-8;
		place.whole = false;
	}
	return place;
}

static void ask_ex(struct input *input)
{
	struct place place = some_place(input, ROOM);
	size_t count = place.size / sizeof(entry_t), i;
	static char before[ROOM];
	entry_t *entry = (entry_t *)place.at;
	bool good;

	for (i = 0; i < ROOM / 8; i++)
		((uint64_t *)room)[i] = some_address(input);
	memcpy(before, room, ROOM);
	SetLastError(ERROR_SUCCESS);
	good = QueryWorkingSetEx(GetCurrentProcess(), place.at, place.size);
	if (!count)
		CHECK(!good && GetLastError() == ERROR_BAD_LENGTH);
	else if ((uintptr_t)place.at & 7)
		CHECK(!good && GetLastError() == ERROR_NOACCESS);
	else if (!place.whole && place.at < room)
		CHECK(!good && GetLastError() == ERROR_NOACCESS);
	else
		CHECK(good || (!place.whole && GetLastError() == ERROR_NOACCESS));
	if (place.at < room || place.at >= room + ROOM || (uintptr_t)place.at & 7)
		count = 0;
	for (i = 0; good && i < count; i++) {
		block_t want;

		memcpy(&want.Flags, before + ((char *)&entry[i] - room), 8);
		want = expected(want.Flags);
		CHECK(entry[i].VirtualAttributes.Flags == want.Flags);
		memcpy(before + ((char *)&entry[i].VirtualAttributes - room), &want.Flags, 8);
	}
	/* Nothing else was written, and after an error no address was. */
	for (i = 0; !good && i < count && (char *)&entry[i + 1] <= room + ROOM; i++)
		memcpy(before + ((char *)&entry[i].VirtualAttributes - room),
		       &entry[i].VirtualAttributes, 8);
	CHECK(!memcmp(before, room, ROOM));
}

static void ask_set(struct input *input)
{
	struct place place = some_place(input, ROOM);
	PSAPI_WORKING_SET_BLOCK *block;
	size_t found = 0, room_for, i;
	static char before[ROOM];
	ULONG_PTR *number = (ULONG_PTR *)place.at;
	uint64_t page;
	bool good;

	memset(room, 0xaa, ROOM);
	memcpy(before, room, ROOM);
	for (page = BASE; page < BASE + PAGES; page++)
		found += expected(page << 12).Valid;
	SetLastError(ERROR_SUCCESS);
	good = QueryWorkingSet(GetCurrentProcess(), place.at, place.size);
	if (place.size < sizeof(*number)) {
		CHECK(!good && GetLastError() == ERROR_BAD_LENGTH);
	} else if ((uintptr_t)place.at & 7 || place.at < room || place.at >= room + ROOM) {
		CHECK(!good && GetLastError() == ERROR_NOACCESS);
	} else {
		room_for = place.size / sizeof(*number) - 1;
		CHECK(good == (found <= room_for) || !place.whole);
		CHECK(good || GetLastError() == ERROR_BAD_LENGTH || !place.whole);
		if (place.whole)
			CHECK(*number == found);
		block = (PSAPI_WORKING_SET_BLOCK *)(number + 1);
		for (i = 0, page = BASE; good && i < found; i++, block++, page++) {
			while (!expected(page << 12).Valid)
				page++;
			CHECK(block->VirtualPage == page);
			CHECK(block->Shared == expected(page << 12).Shared);
		}
	}
	if (place.at > room && place.at < room + ROOM)
		CHECK(!memcmp(before, room, place.at - room));
}

static void ask_handle(struct input *input)
{
	HANDLE handle = (HANDLE)(uintptr_t)input_number(input, 8);
	entry_t entry = { .VirtualAddress = (PVOID)(BASE << 12) };
	SIZE_T returned = 77;
	NTSTATUS status;
	int info_class = input_number(input, 1);

	if (handle == GetCurrentProcess())
		return;
	/* Descriptors of the fuzzer's own are none of /proc/PID/pagemap. */
	world.on = false;
	CHECK(!QueryWorkingSetEx(handle, &entry, sizeof(entry)));
	CHECK(GetLastError() == ERROR_INVALID_HANDLE);
	CHECK(!QueryWorkingSet(handle, &entry, sizeof(entry)));
	CHECK(GetLastError() == ERROR_INVALID_HANDLE);
	CHECK(!CloseHandle(handle) && GetLastError() == ERROR_INVALID_HANDLE);
	world.on = true;
	status = NtQueryVirtualMemory(GetCurrentProcess(), handle, info_class, &entry,
				      sizeof(entry), &returned);
	if (info_class == WSQUERY_MemoryWorkingSetExInformation)
		CHECK(status == STATUS_SUCCESS && returned == sizeof(entry));
	else
		CHECK(status != STATUS_SUCCESS ||
		      info_class == WSQUERY_MemoryWorkingSetInformation);
	CHECK(status == STATUS_SUCCESS || returned == 77);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char states[] = {
		0, PAGE_PRESENT, PAGE_PRESENT | PAGE_FILE, PAGE_SWAP, PAGE_SWAP | PAGE_FILE,
		PAGE_SWAP | PAGE_GUARD_PTE, PAGE_PRESENT | PAGE_ZERO, PAGE_PRESENT | PAGE_HUGE,
	};
	struct input input = { data, size };
	size_t i;

	if (!room) {
		room = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		CHECK(room != MAP_FAILED && !mprotect(room + ROOM, ROOM, PROT_NONE));
	}
	for (i = 0; i < PAGES; i++)
		seen[i] = states[input_number(&input, 1) % ARRAY_SIZE(states)];
	world = (struct world){
		.on = true, .maps = maps, .maps_size = sizeof(maps) - 1, .mounts = "",
		.state = state, .scan = true, .guards = true, .budget = 100000,
	};
	ask_handle(&input);
	ask_set(&input);
	ask_ex(&input);
	world.on = false;
	return 0;
}
