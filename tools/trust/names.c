// SPDX-License-Identifier: GPL-2.0
/*
 * What the forms of requests are called in reports.
 */
#include "trust.h"

const char * const form_names[FORMS] = {
	"bytes", "wide", "places", "regions", "count", "list", "one",
};
