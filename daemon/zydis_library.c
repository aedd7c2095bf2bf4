// SPDX-License-Identifier: MIT
/* Its functions by name, once; the library stays until the program ends. */
#include "zydis_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#define LIBRARY "libZydis.so.4.0"

static bool load(struct zydis_library *ret_library)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return false;
	ret_library->init = (__typeof__(ret_library->init))dlsym(handle, "ZydisDecoderInit");
	ret_library->decode =
	        (__typeof__(ret_library->decode))dlsym(handle, "ZydisDecoderDecodeFull");
	return ret_library->init && ret_library->decode;
}

const struct zydis_library *zydis_library(void)
{
	static struct zydis_library library;
	static enum { UNTRIED, LOADED, MISSING } state;

	if (state == UNTRIED)
		state = load(&library) ? LOADED : MISSING;
	return state == LOADED ? &library : NULL;
}
