// SPDX-License-Identifier: GPL-2.0
/* Frames from the emulated machine: what is read is what was sent, and never more than fits. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char buffer[LINK_PAYLOAD + 1], again[LINK_PAYLOAD + sizeof(struct link_head)];
	static int in = -1, out = -1;
	size_t taken = 0;
	uint32_t type;
	ssize_t length;

	if (in < 0) {
		in = memfd_create("in", MFD_CLOEXEC);
		out = memfd_create("out", MFD_CLOEXEC);
	}
	CHECK(!ftruncate(in, 0) && pwrite(in, data, size, 0) == (ssize_t)size);
	CHECK(!lseek(in, 0, SEEK_SET));
	buffer[LINK_PAYLOAD] = 'x';
	while ((length = link_receive(in, &type, buffer)) >= 0) {
		CHECK(length <= LINK_PAYLOAD);
		CHECK(!ftruncate(out, 0) && !lseek(out, 0, SEEK_SET));
		CHECK(!link_send(out, type, buffer, length));
		CHECK(pread(out, again, sizeof(again), 0) == length + 8);
		CHECK(taken + length + 8 <= size && !memcmp(again, data + taken, length + 8));
		taken += length + 8;
	}
	CHECK(buffer[LINK_PAYLOAD] == 'x');
	return 0;
}
