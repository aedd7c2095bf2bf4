/* SPDX-License-Identifier: MIT */
#include "archive_library.h"

#define LIBRARY "libarchive.so.13"

const struct archive_library *archive_library(void)
{
#define ARCHIVE_SYMBOL(name) {#name, offsetof(struct archive_library, name)},
	static const struct library_symbol symbols[] = {ARCHIVE_FUNCTIONS(ARCHIVE_SYMBOL)};
#undef ARCHIVE_SYMBOL
	static struct archive_library library;
	static bool loaded;

	loaded = loaded ||
	         library_load(LIBRARY, symbols, sizeof(symbols) / sizeof(*symbols), &library);
	return loaded ? &library : NULL;
}
