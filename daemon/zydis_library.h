/* SPDX-License-Identifier: MIT */
#ifndef MTLD_ZYDIS_LIBRARY_H
#define MTLD_ZYDIS_LIBRARY_H

/* The decoder of x86 instructions, loaded when it is wanted: mtld runs without it. */

#include <Zydis/Zydis.h>

struct zydis_library {
	__typeof__(&ZydisDecoderInit) init;
	__typeof__(&ZydisDecoderDecodeFull) decode;
};

/* NULL: libZydis (package libzydis4.0) is not installed. */
const struct zydis_library *zydis_library(void);

#endif
