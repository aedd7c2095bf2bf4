/* SPDX-License-Identifier: MIT */
#include "loaded_library.h"

#include <dlfcn.h>

bool library_load(
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
