/* SPDX-License-Identifier: MIT */
/*
 * Reader -> batches of accesses -> lines -> engines.
 *
 * There is a stream for each line size, and it makes lines of a batch once for all engines that
 * want that size: the numbers address >> shift of all lines from the first byte touched to the
 * last. Nearly all accesses touch one; the loop does these without a branch, and puts the others
 * aside into spread(). Invariant of a stream's buffer: beside the lines in it, there is room for
 * one line of each access still to come of the batch.
 *
 * Memory is shared out before the start: what an engine needs in any case comes off, the rest goes
 * to those that grow, in proportion to what each needs for a further datum, so that with equal line
 * sizes all would be full at the same time.
 */

#include "trace_pass.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size.h"
#include "trace_progress.h"

#define BATCH 4096
#define LINES (2 * BATCH)
#define MORE "--memory SIZE allows more"
#define SAMPLES "--method shards-size:N does with N lines"

struct stream {
	uint32_t line_bytes;
	unsigned shift;
	struct trace_engine **engines;
	size_t n_engines;
	const struct trace_engine *full; /* the one that refused */
	uint64_t lines[LINES];
};

struct trace_pass {
	bool addresses;
	uint32_t last_kind; /* kinds up to this one count */
	uint64_t memory_bytes;
	uint64_t read;
	struct stream **streams;
	size_t n_streams;
	struct trace_engine **engines; /* all, each once */
	size_t n_engines;
	size_t n_wishes;
	size_t *engine_of; /* index of each wish's */
	struct trace_access accesses[BATCH];
};

static struct stream *stream_free(struct stream *stream)
{
	if (stream)
		free(stream->engines);
	free(stream);
	return NULL;
}

DEFINE_CLEANUP(struct stream, stream_free)

struct trace_pass *trace_pass_free(struct trace_pass *pass)
{
	if (!pass)
		return NULL;
	for (size_t i = 0; i < pass->n_streams; i++)
		stream_free(pass->streams[i]);
	for (size_t i = 0; i < pass->n_engines; i++)
		trace_engine_free(pass->engines[i]);
	free(pass->streams);
	free(pass->engines);
	free(pass->engine_of);
	free(pass);
	return NULL;
}

static int stream_new(
        const struct trace_pass *pass, uint32_t line_bytes, struct stream **ret_stream)
{
	_cleanup_(stream_freep) struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return -ENOMEM;
	stream->engines = calloc(pass->n_wishes, sizeof(*stream->engines));
	if (!stream->engines)
		return -ENOMEM;
	stream->line_bytes = line_bytes;
	stream->shift = pass->addresses ? (unsigned)__builtin_ctz(line_bytes) : 0;
	*ret_stream = TAKE_PTR(stream);
	return 0;
}

static int find_stream(struct trace_pass *pass, uint32_t line_bytes, struct stream **ret_stream)
{
	int r;

	for (size_t i = 0; i < pass->n_streams; i++) {
		if (pass->streams[i]->line_bytes == line_bytes) {
			*ret_stream = pass->streams[i];
			return 0;
		}
	}
	r = stream_new(pass, line_bytes, ret_stream);
	if (r == 0)
		pass->streams[pass->n_streams++] = *ret_stream;
	return r;
}

static int add_engine(struct trace_pass *pass, const struct engine_wish *wish, uint64_t memory)
{
	struct trace_engine **engine = &pass->engines[pass->n_engines];
	struct stream *stream;
	int r = find_stream(pass, wish->line_bytes, &stream);

	r = r ?: trace_engine_new(wish, memory, engine);
	if (r < 0)
		return r;
	pass->n_engines++;
	stream->engines[stream->n_engines++] = *engine;
	return 0;
}

/* Which of the wishes have engines of their own: one that none before them has. */
static size_t find_alike(const struct engine_wish *wishes, size_t i)
{
	size_t j = 0;

	while (!engine_wish_same(&wishes[j], &wishes[i]))
		j++;
	return j;
}

static int share_out(const struct engine_wish *wishes, size_t n, uint64_t memory,
        uint64_t *ret_rest, unsigned *ret_growth)
{
	*ret_rest = memory;
	*ret_growth = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t fixed = engine_wish_fixed(&wishes[i]);

		if (find_alike(wishes, i) < i)
			continue;
		*ret_growth += engine_wish_growth(&wishes[i]);
		if (memory && fixed >= *ret_rest)
			return -ENOMEM;
		*ret_rest -= memory ? fixed : 0;
	}
	return 0;
}

static int add_engines(struct trace_pass *pass, const struct engine_wish *wishes)
{
	uint64_t rest;
	unsigned growth;
	int r = share_out(wishes, pass->n_wishes, pass->memory_bytes, &rest, &growth);

	for (size_t i = 0; r == 0 && i < pass->n_wishes; i++) {
		size_t alike = find_alike(wishes, i);
		unsigned own = engine_wish_growth(&wishes[i]);
		uint64_t memory = own ? (uint64_t)((double)rest * own / growth) : 0;

		pass->engine_of[i] = alike < i ? pass->engine_of[alike] : pass->n_engines;
		if (alike == i)
			r = add_engine(pass, &wishes[i], memory);
	}
	return r;
}

int trace_pass_new(const struct engine_wish *wishes, size_t n, bool addresses, bool instructions,
        uint64_t memory_bytes, struct trace_pass **ret_pass)
{
	_cleanup_(trace_pass_freep) struct trace_pass *pass = calloc(1, sizeof(*pass));
	int r;

	if (!pass)
		return -ENOMEM;
	pass->addresses = addresses;
	pass->last_kind = instructions ? TRACE_INSTRUCTION : TRACE_STORE;
	pass->memory_bytes = memory_bytes;
	pass->n_wishes = n;
	pass->streams = calloc(n, sizeof(*pass->streams));
	pass->engines = calloc(n, sizeof(*pass->engines));
	pass->engine_of = calloc(n, sizeof(*pass->engine_of));
	if (!pass->streams || !pass->engines || !pass->engine_of)
		return -ENOMEM;
	r = add_engines(pass, wishes);
	if (r < 0)
		return r;
	*ret_pass = TAKE_PTR(pass);
	return 0;
}

static int flush(struct stream *stream, size_t *n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < stream->n_engines; i++) {
		r = stream->engines[i]->access(stream->engines[i]->object, stream->lines, *n);
		stream->full = stream->engines[i];
	}
	*n = 0;
	return r;
}

/* All lines of one access; `left` accesses are still to come of its batch. */
static int spread(struct stream *stream, uint64_t first, uint64_t last, size_t left, size_t *n)
{
	int r;

	for (uint64_t line = first;; line++) {
		if (*n + left >= LINES) {
			r = flush(stream, n);
			if (r < 0)
				return r;
		}
		stream->lines[(*n)++] = line;
		if (line == last)
			return 0;
	}
}

static int stream_take(const struct trace_pass *pass, struct stream *stream,
        const struct trace_access *accesses, size_t count)
{
	const struct trace_access *end = accesses + count;
	const uint64_t bytes = pass->addresses ? UINT64_MAX : 0;
	const uint32_t last_kind = pass->last_kind;
	const unsigned shift = stream->shift;
	size_t n = 0;
	int r;

	for (const struct trace_access *a = accesses; a < end; a++) {
		uint64_t first = a->address >> shift;
		uint64_t last = (a->address + ((a->size - UINT64_C(1)) & bytes)) >> shift;
		bool counts = a->kind <= last_kind;

		stream->lines[n] = first;
		if (__builtin_expect(first == last || !counts, true)) {
			n += counts;
			continue;
		}
		r = spread(stream, first, last, (size_t)(end - a), &n);
		if (r < 0)
			return r;
	}
	return flush(stream, &n);
}

int trace_pass_take(struct trace_pass *pass, const struct trace_access *accesses, size_t n,
        const struct trace_engine **ret_full)
{
	pass->read += n;
	for (size_t i = 0; i < pass->n_streams; i++) {
		int r = stream_take(pass, pass->streams[i], accesses, n);

		if (r < 0) {
			*ret_full = pass->streams[i]->full;
			return r;
		}
	}
	return 0;
}

/* The limit or the machine, where in the trace, and what helps. */
static int explain_full(const struct trace_pass *pass, const struct trace_engine *engine,
        char *ret_error, size_t error_size)
{
	static const char *const fixes[2][2] = {
	        {"", ": " SAMPLES}, {": " MORE, ": " MORE ", " SAMPLES}};
	char about[100] = "the machine has no more memory", data[2 * NUMBER_TEXT] = "";
	char text[NUMBER_TEXT], at[NUMBER_TEXT];
	double distinct = trace_engine_distinct(engine);
	bool limited = trace_engine_limited(engine), counts = !isnan(distinct);

	if (counts)
		snprintf(data, sizeof(data), " to %s distinct lines", count_format(distinct, text));
	if (limited)
		snprintf(about, sizeof(about),
		        "the trace needs more than the %s of memory it may use",
		        size_format((double)pass->memory_bytes, text));
	snprintf(ret_error, error_size, "%s, after %s accesses%s%s", about,
	        count_format((double)trace_engine_accesses(engine), at), data,
	        fixes[limited][counts]);
	return -ENOMEM;
}

int trace_pass_run(
        struct trace_pass *pass, struct trace_reader *reader, char *ret_error, size_t error_size)
{
	_cleanup_(trace_progress_end) struct trace_progress progress = {.reader = reader};
	const struct trace_engine *full = NULL;
	size_t n;
	int r;

	trace_progress_begin(&progress);
	for (;;) {
		r = trace_read(reader, pass->accesses, BATCH, &n, ret_error, error_size);
		if (r < 0 || n == 0)
			return r;
		r = trace_pass_take(pass, pass->accesses, n, &full);
		if (r < 0)
			return explain_full(pass, full, ret_error, error_size);
		trace_progress_count(&progress, n);
	}
}

uint64_t trace_pass_read(const struct trace_pass *pass)
{
	return pass->read;
}

struct trace_engine *trace_pass_engine(struct trace_pass *pass, size_t i)
{
	return pass->engines[pass->engine_of[i]];
}
