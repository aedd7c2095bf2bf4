// SPDX-License-Identifier: MIT
/* Its functions by name, once; the library stays until the program ends. */
#include "zydis_library.h"

#include "loaded_library.h"

#define LIBRARY "libZydis.so.4.0"

static bool load(struct zydis_library *ret_library)
{
	static const struct library_symbol symbols[] = {
	        {"ZydisDecoderInit", offsetof(struct zydis_library, init)},
	        {"ZydisDecoderDecodeFull", offsetof(struct zydis_library, decode)},
	};

	return library_load(LIBRARY, symbols, sizeof(symbols) / sizeof(symbols[0]), ret_library);
}

const struct zydis_library *zydis_library(void)
{
	static struct zydis_library library;
	static enum { UNTRIED, LOADED, MISSING } state;

	if (state == UNTRIED)
		state = load(&library) ? LOADED : MISSING;
	return state == LOADED ? &library : NULL;
}
