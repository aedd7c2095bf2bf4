/* SPDX-License-Identifier: MIT */
/*
 * The objects that take the lines of a trace, behind one set of verbs, in one table.
 *
 * Whoever calls access() has made a batch of lines first, so that the call through a pointer is
 * paid once in thousands of accesses.
 *
 * An engine that has no memory does not say whether its limit or the machine was the reason. It
 * asked for less than its limit leaves; so if the machine gives all of that, it was the limit.
 */

#include "trace_engine.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "size.h"

#define FIRST_ROOM 65536
#define SET_WORDS 2 /* beside one for each way: how many there are, how many lines it gets */
#define SET_CACHE_BYTES 256 /* beside the sets, at most */
#define LEAST_MOST (UINT64_C(1) << 50)
#define SEQUENCE_PEAK 5 /* converted (trace_sequences.c) it takes up to five times its room */

struct engine_kind {
	int (*new)(const struct engine_wish *wish, uint64_t memory, void **ret_object);
	void (*free)(void *object);
	int (*access)(void *object, const uint64_t *lines, size_t n);
	uint64_t (*accesses)(const void *object);
	double (*distinct)(const void *object);
	uint64_t (*bytes)(const void *object);
	unsigned growth;
	const char *what;
};

static int profile_new(const struct engine_wish *wish, uint64_t memory, void **ret_object)
{
	(void)wish;
	return mtl_profile_new(memory, (struct mtl_profile **)ret_object);
}

static void profile_free(void *object)
{
	mtl_profile_free(object);
}

static int profile_access(void *object, const uint64_t *lines, size_t n)
{
	return mtl_profile_access(object, lines, n, NULL);
}

static uint64_t profile_accesses(const void *object)
{
	return mtl_profile_accesses(object);
}

static double profile_distinct(const void *object)
{
	return (double)mtl_profile_distinct(object);
}

static uint64_t profile_bytes(const void *object)
{
	return mtl_profile_bytes(object);
}

static int stack_new(const struct engine_wish *wish, uint64_t memory, void **ret_object)
{
	(void)wish;
	return mtl_stack_new(memory, (struct mtl_stack **)ret_object);
}

static void stack_free(void *object)
{
	mtl_stack_free(object);
}

static int stack_access(void *object, const uint64_t *lines, size_t n)
{
	return mtl_stack_access(object, lines, n, NULL);
}

static uint64_t stack_accesses(const void *object)
{
	return mtl_stack_accesses(object);
}

static double stack_distinct(const void *object)
{
	return (double)mtl_stack_distinct(object);
}

static uint64_t stack_bytes(const void *object)
{
	return mtl_stack_bytes(object);
}

static int shards_new(const struct engine_wish *wish, uint64_t memory, void **ret_object)
{
	return mtl_shards_new(
	        wish->rate, wish->most_lines, memory, (struct mtl_shards **)ret_object);
}

static void shards_free(void *object)
{
	mtl_shards_free(object);
}

static int shards_access(void *object, const uint64_t *lines, size_t n)
{
	return mtl_shards_access(object, lines, n);
}

static uint64_t shards_accesses(const void *object)
{
	return mtl_shards_accesses(object);
}

static double shards_distinct(const void *object)
{
	return mtl_shards_distinct(object);
}

static uint64_t shards_bytes(const void *object)
{
	return mtl_shards_bytes(object);
}

static int sets_new(const struct engine_wish *wish, uint64_t memory, void **ret_object)
{
	return mtl_set_cache_new(
	        wish->sets, wish->ways, memory, (struct mtl_set_cache **)ret_object);
}

static void sets_free(void *object)
{
	mtl_set_cache_free(object);
}

static int sets_access(void *object, const uint64_t *lines, size_t n)
{
	mtl_set_cache_access(object, lines, n);
	return 0;
}

static uint64_t sets_accesses(const void *object)
{
	return mtl_set_cache_accesses(object);
}

static double sets_distinct(const void *object)
{
	(void)object;
	return NAN;
}

static uint64_t sets_bytes(const void *object)
{
	(void)object;
	return 0;
}

static int sequence_new(const struct engine_wish *wish, uint64_t memory, void **ret_object)
{
	struct line_sequence *sequence = calloc(1, sizeof(*sequence));

	(void)wish;
	if (!sequence)
		return -ENOMEM;
	sequence->memory_bytes = memory / SEQUENCE_PEAK;
	if (memory && sequence->memory_bytes == 0)
		sequence->memory_bytes = 1;
	*ret_object = sequence;
	return 0;
}

static void sequence_free(void *object)
{
	free(((struct line_sequence *)object)->lines);
	free(object);
}

static int sequence_grow(struct line_sequence *sequence)
{
	size_t room = sequence->room ? sequence->room + sequence->room / 2 : FIRST_ROOM;
	uint64_t limit = sequence->memory_bytes / sizeof(*sequence->lines);
	uint64_t *lines;

	if (sequence->memory_bytes && room > limit)
		room = limit;
	if (room <= sequence->room)
		return -ENOMEM;
	lines = reallocarray(sequence->lines, room, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	sequence->lines = lines;
	sequence->room = room;
	return 0;
}

static int sequence_access(void *object, const uint64_t *lines, size_t n)
{
	struct line_sequence *sequence = object;

	while (sequence->n + n > sequence->room) {
		int r = sequence_grow(sequence);

		if (r < 0)
			return r;
	}
	memcpy(sequence->lines + sequence->n, lines, n * sizeof(*lines));
	sequence->n += n;
	return 0;
}

static uint64_t sequence_accesses(const void *object)
{
	return ((const struct line_sequence *)object)->n;
}

static uint64_t sequence_bytes(const void *object)
{
	return ((const struct line_sequence *)object)->room * sizeof(uint64_t);
}

/* clang-format off */
static const struct engine_kind kinds[] = {
        [ENGINE_PROFILE] = {profile_new, profile_free, profile_access, profile_accesses, profile_distinct, profile_bytes, 27, "the table of reuse times"},
        [ENGINE_STACK] = {stack_new, stack_free, stack_access, stack_accesses, stack_distinct, stack_bytes, 40, "exact LRU"},
        [ENGINE_SHARDS] = {shards_new, shards_free, shards_access, shards_accesses, shards_distinct, shards_bytes, 40, "SHARDS"},
        [ENGINE_SETS] = {sets_new, sets_free, sets_access, sets_accesses, sets_distinct, sets_bytes, 0, NULL},
        [ENGINE_LINES] = {sequence_new, sequence_free, sequence_access, sequence_accesses, sets_distinct, sequence_bytes, 8, "the sequence"},
};
/* clang-format on */

int trace_engine_new(
        const struct engine_wish *wish, uint64_t memory_bytes, struct trace_engine **ret_engine)
{
	_cleanup_free_ struct trace_engine *engine = calloc(1, sizeof(*engine));
	int r;

	if (!engine)
		return -ENOMEM;
	engine->wish = *wish;
	engine->memory_bytes = memory_bytes;
	engine->access = kinds[wish->type].access;
	r = kinds[wish->type].new(wish, memory_bytes, &engine->object);
	if (r < 0)
		return r;
	*ret_engine = TAKE_PTR(engine);
	return 0;
}

struct trace_engine *trace_engine_free(struct trace_engine *engine)
{
	if (!engine)
		return NULL;
	kinds[engine->wish.type].free(engine->object);
	free(engine);
	return NULL;
}

bool engine_wish_same(const struct engine_wish *one, const struct engine_wish *other)
{
	return one->type == other->type && one->line_bytes == other->line_bytes &&
	       one->rate == other->rate && one->most_lines == other->most_lines &&
	       one->sets == other->sets && one->ways == other->ways;
}

unsigned engine_wish_growth(const struct engine_wish *wish)
{
	return kinds[wish->type].growth;
}

uint64_t engine_wish_fixed(const struct engine_wish *wish)
{
	double words = (double)wish->sets * ((double)wish->ways + SET_WORDS);
	double bytes = words ? words * sizeof(uint64_t) + SET_CACHE_BYTES : 0;

	return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

static bool can_begin(const struct engine_wish *wish, uint64_t memory)
{
	_cleanup_(trace_engine_freep) struct trace_engine *engine = NULL;

	return trace_engine_new(wish, memory, &engine) == 0;
}

/* Tried out. */
uint64_t engine_wish_least(const struct engine_wish *wish)
{
	uint64_t enough = 1024, step;

	if (engine_wish_fixed(wish))
		return engine_wish_fixed(wish);
	while (enough < LEAST_MOST && !can_begin(wish, enough))
		enough *= 2;
	for (step = enough / 4; step > 0; step /= 2)
		if (can_begin(wish, enough - step))
			enough -= step;
	return enough;
}

const char *engine_wish_text(const struct engine_wish *wish, char *ret_text, size_t size)
{
	double bytes = (double)wish->sets * (double)wish->ways * wish->line_bytes;
	char number[NUMBER_TEXT];

	if (wish->type == ENGINE_SETS)
		snprintf(ret_text, size, "--cache %s:%" PRIu64 ":%" PRIu32,
		        size_format(bytes, number), wish->ways, wish->line_bytes);
	else
		snprintf(ret_text, size, "%s", kinds[wish->type].what);
	return ret_text;
}

uint64_t trace_engine_accesses(const struct trace_engine *engine)
{
	return kinds[engine->wish.type].accesses(engine->object);
}

double trace_engine_distinct(const struct trace_engine *engine)
{
	return kinds[engine->wish.type].distinct(engine->object);
}

uint64_t trace_engine_bytes(const struct trace_engine *engine)
{
	return kinds[engine->wish.type].bytes(engine->object);
}

bool trace_engine_limited(const struct trace_engine *engine)
{
	uint64_t used = trace_engine_bytes(engine), limit = engine->memory_bytes;
	size_t rest = limit > used ? limit - used : 1;
	void *memory =
	        limit ? mmap(NULL, rest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
	              : MAP_FAILED;

	if (memory == MAP_FAILED)
		return false;
	munmap(memory, rest);
	return true;
}
