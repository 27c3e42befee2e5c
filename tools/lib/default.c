// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The default context: the calling process, through the best backend.
 *
 * One number is all there is to remember, so that neither a lock nor an
 * initialiser is needed, and nothing can be half done when a thread forks: the
 * descriptor of the device, or which of the other backends answers instead.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "lib.h"

enum {
	NOT_OPENED	= -1,
	USE_SCAN	= -2,
	USE_SCAN_GUARDS	= -3,
	USE_PAGEMAP	= -4,
};

static atomic_int standard = NOT_OPENED;

static int number_of(const struct wsquery *ws)
{
	if (ws->backend == WSQUERY_BACKEND_DEVICE)
		return ws->device;
	if (ws->backend == WSQUERY_BACKEND_PAGEMAP)
		return USE_PAGEMAP;
	return ws->guards ? USE_SCAN_GUARDS : USE_SCAN;
}

static int default_open(void)
{
	struct wsquery ws;
	int number;
	int first = NOT_OPENED;
	int err;

	err = wsq_context_self(&ws, WSQUERY_BACKEND_ANY);
	if (err)
		return err;
	number = number_of(&ws);
	if (!atomic_compare_exchange_strong(&standard, &first, number) && number >= 0) {
		/* Another thread was faster. */
		close(number);
	}
	return 0;
}

int wsq_default_get(struct wsquery *ws)
{
	int number = atomic_load_explicit(&standard, memory_order_relaxed);
	int err;

	while (number == NOT_OPENED) {
		err = default_open();
		if (err)
			return err;
		number = atomic_load(&standard);
	}

	*ws = (struct wsquery){
		.device = number >= 0 ? number : -1,
		.target = WSQ_SELF,
		.proc = WSQ_SELF,
		.guards = number == USE_SCAN_GUARDS,
		.standard = true,
	};
	if (number >= 0)
		ws->backend = WSQUERY_BACKEND_DEVICE;
	else if (number == USE_PAGEMAP)
		ws->backend = WSQUERY_BACKEND_PAGEMAP;
	else
		ws->backend = WSQUERY_BACKEND_SCAN;
	return 0;
}

/* Return: the descriptor of the device, or negative if another backend answers. */
int wsq_default_device(void)
{
	int number = atomic_load_explicit(&standard, memory_order_relaxed);

	if (number == NOT_OPENED && !default_open())
		number = atomic_load(&standard);
	return number;
}

/*
 * After EBADF or ENOTTY: a program that closes all descriptors, as daemons do,
 * closed ours too. Forget the number, without closing what may have it by now.
 */
bool wsq_default_renew(const struct wsquery *ws)
{
	int device = ws->device;

	if (!ws->standard || device < 0)
		return false;
	atomic_compare_exchange_strong(&standard, &device, NOT_OPENED);
	return true;
}
