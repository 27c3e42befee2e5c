// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Whether the backend that WSQUERY_BACKEND names exists here: for the runner.
 */
#include <stdio.h>
#include <string.h>
#include <wsquery.h>

int main(void)
{
	int backend = wsquery_backend(NULL);

	if (backend < 0)
		printf("%s\n", strerror(-backend));
	return backend < 0;
}
