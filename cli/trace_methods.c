/* SPDX-License-Identifier: MIT */
/*
 * The methods of --method, in one table: which engine each needs, and how miss ratios and fill
 * times come out of it.
 *
 *   exact        LRU simulation at all sizes (stack distances)
 *   footprint    P(rt > ft(c)), ft the inverse of Xiang's footprint: never rises with size and
 *                counts first accesses, which differentiation of the footprint does not
 *   aet          P(rt > T), T the average eviction time
 *   statstack    P(ES(rt) > c), ES the expected distance; T as for aet, since ES(T) = c
 *   shards:R     the exact method on a share R of the lines
 *   shards-size  the same on as many lines as N allows
 *
 * Exact and SHARDS know no times; theirs come from the miss ratios by Easton and Fagin's recipe,
 * summed over every size up to FINE lines and over steps of 1/STEPS above.
 */

#include "trace_methods.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "size.h"

#define FINE 2048.0
#define STEPS 512.0
#define EASTON_FAGIN "a lower bound by Easton and Fagin"
#define EVICTION "the average eviction time"
#define SHARDS_LINES_MAX 0x1p40
#define NAMES "exact, footprint, aet, statstack, shards:R or shards-size:N"

typedef int (*sizes_function)(void *object, const double *lines, size_t n, double *ret_values);

struct trace_method_kind {
	const char *name; /* with the colon where an argument follows */
	enum engine_type engine;
	sizes_function miss_ratios;
	double (*fill_time)(struct mtl_profile *profile, double lines); /* NULL: Easton-Fagin */
	int (*argument)(const char *text, struct trace_method *method);
	const char *fill_text;
};

static int exact_ratios(void *object, const double *lines, size_t n, double *ret_ratios)
{
	return mtl_stack_miss_ratios(object, lines, n, ret_ratios);
}

static int footprint_ratios(void *object, const double *lines, size_t n, double *ret_ratios)
{
	for (size_t i = 0; i < n; i++)
		ret_ratios[i] = mtl_miss_ratio_by_reuse_time(object, MTL_XIANG, lines[i]);
	return 0;
}

static int eviction_ratios(void *object, const double *lines, size_t n, double *ret_ratios)
{
	for (size_t i = 0; i < n; i++)
		ret_ratios[i] = mtl_miss_ratio_by_eviction_time(object, lines[i]);
	return 0;
}

static int expected_ratios(void *object, const double *lines, size_t n, double *ret_ratios)
{
	for (size_t i = 0; i < n; i++)
		ret_ratios[i] = mtl_miss_ratio_by_expected_distance(object, lines[i]);
	return 0;
}

static int shards_ratios(void *object, const double *lines, size_t n, double *ret_ratios)
{
	return mtl_shards_miss_ratios(object, lines, n, ret_ratios);
}

static double footprint_fill_time(struct mtl_profile *profile, double lines)
{
	return mtl_profile_fill_time(profile, MTL_XIANG, lines);
}

static int argument_rate(const char *text, struct trace_method *method)
{
	char *end;

	method->rate = strtod(text, &end);
	return strspn(text, "0123456789.e-") == strlen(text) && *text != '-' && *text && !*end &&
	                       method->rate > 0 && method->rate <= 1
	               ? 0
	               : -EINVAL;
}

static int argument_lines(const char *text, struct trace_method *method)
{
	char error[256];
	double lines;

	if (count_parse(text, &lines, error, sizeof(error)) < 0 || lines > SHARDS_LINES_MAX)
		return -EINVAL;
	method->rate = 1;
	method->most_lines = (uint64_t)lines;
	return 0;
}

static const struct trace_method_kind kinds[] = {
        {"exact", ENGINE_STACK, exact_ratios, NULL, NULL, EASTON_FAGIN},
        {"footprint", ENGINE_PROFILE, footprint_ratios, footprint_fill_time, NULL,
                "the inverse of the mean footprint"},
        {"aet", ENGINE_PROFILE, eviction_ratios, mtl_profile_eviction_time, NULL, EVICTION},
        {"statstack", ENGINE_PROFILE, expected_ratios, mtl_profile_eviction_time, NULL, EVICTION},
        {"shards:", ENGINE_SHARDS, shards_ratios, NULL, argument_rate, EASTON_FAGIN},
        {"shards-size:", ENGINE_SHARDS, shards_ratios, NULL, argument_lines, EASTON_FAGIN},
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct trace_method_kind *find_kind(const char *text)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		size_t length = strlen(kinds[i].name);

		if (strncmp(kinds[i].name, text, length) == 0 &&
		        (kinds[i].argument || !text[length]))
			return &kinds[i];
	}
	return NULL;
}

int trace_method_parse(
        const char *text, struct trace_method *ret_method, char *ret_error, size_t error_size)
{
	struct trace_method method = {.kind = find_kind(text)};

	if (!method.kind || strlen(text) >= sizeof(method.name)) {
		snprintf(ret_error, error_size, "there is no method '%.60s'; there are " NAMES,
		        text);
		return -EINVAL;
	}
	if (method.kind->argument &&
	        method.kind->argument(text + strlen(method.kind->name), &method) < 0) {
		snprintf(ret_error, error_size,
		        "'%.60s' does not fit: give shards:R with a rate 0 < R <= 1, such as "
		        "shards:0.01, or shards-size:N with N lines, such as shards-size:8192",
		        text);
		return -EINVAL;
	}
	snprintf(method.name, sizeof(method.name), "%s", text);
	*ret_method = method;
	return 0;
}

struct trace_method trace_method_chosen(const struct trace_method *given)
{
	return given->kind ? *given : (struct trace_method){.kind = &kinds[0], .name = "exact"};
}

struct engine_wish trace_method_wish(const struct trace_method *method, uint32_t line_bytes)
{
	return (struct engine_wish){
	        .type = method->kind->engine,
	        .line_bytes = line_bytes,
	        .rate = method->rate,
	        .most_lines = method->most_lines,
	};
}

int trace_method_miss_ratios(const struct trace_method *method, struct trace_engine *engine,
        const double *lines, size_t n, double *ret_ratios)
{
	return method->kind->miss_ratios(engine->object, lines, n, ret_ratios);
}

const char *trace_method_fill_text(const struct trace_method *method)
{
	return method->kind->fill_text;
}

double trace_method_resolution(const struct trace_method *method, const struct trace_engine *engine)
{
	double rate = method->kind->engine == ENGINE_SHARDS ? mtl_shards_rate(engine->object) : 1;

	return rate < 1 ? 1 / rate : 0;
}

/* The grid of sizes that the recipe sums over, with those asked for among them. */
struct grid {
	double *lines, *ratios, *times;
	size_t n;
};

static void grid_done(struct grid *grid)
{
	free(grid->lines);
	free(grid->ratios);
	free(grid->times);
}

static double next_size(double lines)
{
	return lines < FINE ? floor(lines) + 1 : floor(lines * (1 + 1 / STEPS)) + 1;
}

static size_t grid_size(double most)
{
	return (size_t)(FINE + 3 + STEPS * 1.01 * log(fmax(most / FINE, 1)) + 2);
}

static int grid_fill(struct grid *grid, const double *lines, size_t n, double most)
{
	size_t room = grid_size(most) + n;
	double next = 1;

	grid->lines = calloc(room, sizeof(double));
	grid->ratios = calloc(room, sizeof(double));
	grid->times = calloc(room, sizeof(double));
	if (!grid->lines || !grid->ratios || !grid->times)
		return -ENOMEM;
	for (size_t i = 0; grid->n < room && (next < most || (i < n && lines[i] < most));) {
		bool asked = i < n && lines[i] <= next;
		double size = asked ? lines[i] : next;

		i += asked;
		if (!asked || size == next)
			next = next_size(next);
		grid->lines[grid->n++] = size;
	}
	return 0;
}

static void grid_read(const struct grid *grid, const double *lines, size_t n, double *ret_times)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		while (at < grid->n && grid->lines[at] < lines[i])
			at++;
		ret_times[i] = at < grid->n ? grid->times[at] : INFINITY;
	}
}

int trace_method_easton_fagin(const struct trace_method *method, struct trace_engine *engine,
        const double *lines, size_t n, double *ret_times)
{
	_cleanup_(grid_done) struct grid grid = {0};
	int r = grid_fill(&grid, lines, n, trace_engine_distinct(engine));

	r = r ?: trace_method_miss_ratios(method, engine, grid.lines, grid.n, grid.ratios);
	if (r == 0 && grid.n)
		r = mtl_fill_times_from_miss_ratios(grid.lines, grid.ratios, grid.n, grid.times);
	if (r < 0)
		return r;
	grid_read(&grid, lines, n, ret_times);
	return 0;
}

int trace_method_fill_times(const struct trace_method *method, struct trace_engine *engine,
        const double *lines, size_t n, double *ret_times)
{
	if (!method->kind->fill_time)
		return trace_method_easton_fagin(method, engine, lines, n, ret_times);
	for (size_t i = 0; i < n; i++)
		ret_times[i] = method->kind->fill_time(engine->object, lines[i]);
	return 0;
}
