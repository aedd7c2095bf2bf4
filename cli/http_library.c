/* SPDX-License-Identifier: MIT */
#include "http_library.h"

#define LIBRARY "libmicrohttpd.so.12"

const struct http_library *http_library(void)
{
#define HTTP_SYMBOL(name) {#name, offsetof(struct http_library, name)},
	static const struct library_symbol symbols[] = {HTTP_FUNCTIONS(HTTP_SYMBOL)};
#undef HTTP_SYMBOL
	static struct http_library library;
	static bool loaded;

	loaded = loaded ||
	         library_load(LIBRARY, symbols, sizeof(symbols) / sizeof(*symbols), &library);
	return loaded ? &library : NULL;
}
