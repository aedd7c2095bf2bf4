/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TOP_KEYS_H
#define MTL_CLI_TOP_KEYS_H

#include "top.h"

enum { TOP_KEYS_MAX = 3 };

struct top_binding {
	int keys[TOP_KEYS_MAX];      /* as getch() says them; 0: none */
	const char *names, *meaning; /* NULL: not in the help */
	void (*act)(struct top *top);
};

/* Ends with one that has no act. */
const struct top_binding *top_bindings(enum top_view view);

#endif
