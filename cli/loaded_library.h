/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_LOADED_LIBRARY_H
#define MTL_CLI_LOADED_LIBRARY_H

/*
 * Libraries that few commands need and that bring many others along: loaded when they are asked
 * for, so that every other start of mtl need not bind them. A struct of function pointers, and the
 * table that fills it, come from one list X(name)...
 */

#include <stdbool.h>
#include <stddef.h>

#define LIBRARY_MEMBER(name) __typeof__(&(name)) name;

struct library_symbol {
	const char *name;
	size_t offset; /* of the pointer */
};

/* The library stays until the program ends. false: it is not installed, or lacks one of them; some
 * pointers may then be set. */
bool library_load(
        const char *name, const struct library_symbol *symbols, size_t n, void *ret_functions);

#endif
