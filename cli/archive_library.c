/* SPDX-License-Identifier: MIT */
/* Its functions by name, once; the library stays until the program ends. */

#include "archive_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#define LIBRARY "libarchive.so.13"

static bool bind_functions(void *handle, struct archive_library *ret_library)
{
	bool found = true;

#define ARCHIVE_BIND(name)                                                                         \
	ret_library->name = (__typeof__(ret_library->name))dlsym(handle, #name);                   \
	found &= ret_library->name != NULL;
	ARCHIVE_FUNCTIONS(ARCHIVE_BIND)
#undef ARCHIVE_BIND
	return found;
}

const struct archive_library *archive_library(void)
{
	static struct archive_library library;
	static bool loaded;

	if (!loaded) {
		void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

		loaded = handle && bind_functions(handle, &library);
	}
	return loaded ? &library : NULL;
}
