// SPDX-License-Identifier: MIT
/*
 * Loaded with dlopen(), so that mtld runs without it. Only events whose encoding was compared with
 * the vendor's documents are asked for: MEM_TRANS_RETIRED:STORE_SAMPLE comes out as 0x3cd for
 * 0x2cd.
 */
#include "pmu_libpfm.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdbool.h>
#include <string.h>

#include "loaded_library.h"

#define LIBRARY "libpfm.so.4"

struct library {
	__typeof__(&pfm_initialize) initialize;
	__typeof__(&pfm_get_os_event_encoding) encode;
};

static bool load(struct library *ret_library)
{
	static const struct library_symbol symbols[] = {
	        {"pfm_initialize", offsetof(struct library, initialize)},
	        {"pfm_get_os_event_encoding", offsetof(struct library, encode)},
	};

	return library_load(LIBRARY, symbols, sizeof(symbols) / sizeof(symbols[0]), ret_library) &&
	       ret_library->initialize() == PFM_SUCCESS;
}

static const struct library *library(void)
{
	static struct library library;
	static enum { UNTRIED, LOADED, MISSING } state;

	if (state == UNTRIED)
		state = load(&library) ? LOADED : MISSING;
	return state == LOADED ? &library : NULL;
}

int pmu_libpfm_encode(const char *name, uint64_t *ret_config, uint64_t *ret_config1)
{
	const struct library *pfm = library();
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t argument = {.attr = &attr, .size = sizeof(argument)};

	if (!pfm)
		return -ENOSYS;
	if (pfm->encode(name, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument) != PFM_SUCCESS ||
	        attr.type != PERF_TYPE_RAW)
		return -ENOENT;
	*ret_config = attr.config;
	*ret_config1 = attr.config1;
	return 0;
}
