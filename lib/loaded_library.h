/* SPDX-License-Identifier: MIT */
#ifndef MTL_LOADED_LIBRARY_H
#define MTL_LOADED_LIBRARY_H

/*
 * Libraries that are needed seldom, or that programs do without: loaded when they are asked for, so that
 * every other start need not bind them. A struct of function pointers, and the table that fills it, can
 * come from one list X(name)... Header-only, since libmtl itself loads nothing.
 */

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#define LIBRARY_MEMBER(name) __typeof__(&(name)) name;

struct library_symbol {
	const char *name;
	size_t offset; /* of the pointer */
};

/* The library stays until the program ends. false: it is not installed, or lacks one of them; some
 * pointers may then be set. */
static inline bool library_load(
        const char *name, const struct library_symbol *symbols, size_t n, void *ret_functions)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; handle && i < n; i++) {
		void *function = dlsym(handle, symbols[i].name);

		if (!function)
			return false;
		*(void **)((char *)ret_functions + symbols[i].offset) = function;
	}
	return handle != NULL;
}

#endif
