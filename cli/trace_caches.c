/* SPDX-License-Identifier: MIT */
/*
 * --cache SIZE:WAYS:LINE: a set-associative cache, simulated exactly, and what statistics predict
 * of it: from reuse times, with the sets taken as equally likely and as they are; in the order of
 * steps of patent CN105677584B; and from exact distances where a pass has them.
 *
 * An access to a simulated set costs as much as the set has ways. A single set is all of an LRU
 * cache, so its misses are counted from exact distances instead, however many ways; several sets
 * have to make do with TRACE_WAYS_MOST.
 */

#include "trace_caches.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "size.h"

#define LINE_MAX_BYTES 65536
#define PARTS 3

int trace_line_size_parse(const char *text, uint32_t *ret_bytes, char *ret_error, size_t error_size)
{
	double bytes;

	if (size_parse(text, &bytes, ret_error, error_size) < 0)
		return -EINVAL;
	if (bytes > LINE_MAX_BYTES || ((uint32_t)bytes & ((uint32_t)bytes - 1))) {
		snprintf(ret_error, error_size,
		        "'%.60s' is no size of a line: give a power of two, 1 to 64K", text);
		return -EINVAL;
	}
	*ret_bytes = (uint32_t)bytes;
	return 0;
}

static int parse_ways(const char *text, uint64_t *ret_ways, char *ret_error, size_t error_size)
{
	char *end;
	unsigned long long ways = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || ways < 1 || ways > UINT32_MAX) {
		snprintf(ret_error, error_size,
		        "'%.60s' ways are not possible: give a number from 1 on", text);
		return -EINVAL;
	}
	*ret_ways = ways;
	return 0;
}

static int parse_parts(char **parts, struct trace_cache *cache, char *ret_error, size_t error_size)
{
	double way;
	int r = size_parse(parts[0], &cache->size_bytes, ret_error, error_size);

	r = r ?: parse_ways(parts[1], &cache->ways, ret_error, error_size);
	r = r ?: trace_line_size_parse(parts[2], &cache->line_bytes, ret_error, error_size);
	if (r < 0)
		return r;
	way = (double)cache->ways * cache->line_bytes;
	if (cache->size_bytes < way || fmod(cache->size_bytes, way) != 0) {
		snprintf(ret_error, error_size,
		        "SIZE must be sets x WAYS x LINE, a multiple of %.0f bytes with %llu ways "
		        "and lines of %u",
		        way, (unsigned long long)cache->ways, cache->line_bytes);
		return -EINVAL;
	}
	cache->sets = (uint64_t)(cache->size_bytes / way);
	if (cache->sets > 1 && cache->ways > TRACE_WAYS_MOST) {
		snprintf(ret_error, error_size,
		        "%llu sets of %llu ways would take too long to simulate: give at most %d "
		        "ways, or all %.0f lines in one set",
		        (unsigned long long)cache->sets, (unsigned long long)cache->ways,
		        TRACE_WAYS_MOST, cache->size_bytes / cache->line_bytes);
		return -EINVAL;
	}
	return 0;
}

int trace_cache_parse(
        const char *text, struct trace_cache *ret_cache, char *ret_error, size_t error_size)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *parts[PARTS] = {NULL};
	struct trace_cache cache;
	int n = 0, r;

	if (!copy) {
		snprintf(ret_error, error_size, "out of memory");
		return -ENOMEM;
	}
	while (rest && n < PARTS)
		parts[n++] = strsep(&rest, ":");
	if (rest || n < PARTS) {
		snprintf(ret_error, error_size,
		        "'%.60s' is not SIZE:WAYS:LINE, such as 32K:8:64 for 32 KiB in 8 ways of "
		        "64-byte lines",
		        text);
		return -EINVAL;
	}
	r = parse_parts(parts, &cache, ret_error, error_size);
	if (r == 0)
		*ret_cache = cache;
	return r;
}

struct engine_wish trace_cache_wish(const struct trace_cache *cache)
{
	if (cache->sets == 1)
		return (struct engine_wish){.type = ENGINE_STACK, .line_bytes = cache->line_bytes};
	return (struct engine_wish){
	        .type = ENGINE_SETS,
	        .line_bytes = cache->line_bytes,
	        .sets = cache->sets,
	        .ways = cache->ways,
	};
}

struct engine_wish trace_cache_profile_wish(const struct trace_cache *cache)
{
	return (struct engine_wish){.type = ENGINE_PROFILE, .line_bytes = cache->line_bytes};
}

static uint64_t misses_of(const struct trace_cache *cache, const struct trace_engine *simulator)
{
	uint64_t misses = trace_engine_accesses(simulator);

	if (simulator->wish.type == ENGINE_SETS)
		return mtl_set_cache_misses(simulator->object);
	for (uint64_t d = 1; d <= cache->ways && d <= mtl_stack_distinct(simulator->object); d++)
		misses -= mtl_stack_count(simulator->object, d);
	return misses;
}

int trace_cache_result(const struct trace_cache *cache, struct trace_engine *simulator,
        struct trace_engine *profile, struct trace_engine *stack,
        struct trace_cache_result *ret_result)
{
	_cleanup_free_ uint64_t *in_set = calloc(cache->sets, sizeof(*in_set));
	uint64_t ways = cache->ways;
	double uniform = 1 / (double)cache->sets, measured;

	if (!in_set)
		return -ENOMEM;
	mtl_profile_lines_in_sets(profile->object, cache->sets, in_set);
	measured = mtl_set_probability(in_set, cache->sets);
	*ret_result = (struct trace_cache_result){
	        .cache = *cache,
	        .accesses = trace_engine_accesses(simulator),
	        .misses = misses_of(cache, simulator),
	        .set_probability = measured,
	        .uniform = mtl_profile_set_miss_ratio(profile->object, uniform, ways),
	        .measured = mtl_profile_set_miss_ratio(profile->object, measured, ways),
	        .patent = mtl_profile_set_miss_ratio_patent(profile->object, measured, ways),
	        .distances = stack ? mtl_stack_set_miss_ratio(stack->object, uniform, ways) : NAN,
	};
	ret_result->simulated = (double)ret_result->misses / (double)ret_result->accesses;
	return 0;
}
