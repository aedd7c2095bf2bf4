/* SPDX-License-Identifier: MIT */
/*
 * The curve of a trace for people: what was read, a table, set-associative caches beside it, the
 * drawn curve, and one sentence made of nothing but listed points.
 */

#include "trace_curve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "curve_report.h"
#include "size.h"
#include "table.h"

#define CELL 48
#define CACHE_COLUMNS 6
#define PLAIN_MAX 99999
#define NOTE 512
#define LEAST 1e-6 /* miss ratio that six digits show */

static char *data_format(double count, char *ret_text)
{
	if (!(count <= PLAIN_MAX))
		return count_format(count, ret_text);
	snprintf(ret_text, NUMBER_TEXT, "%.10g", count);
	return ret_text;
}

char *trace_size_text(const struct trace_facts *facts, double size, char *ret_text)
{
	return facts->bytes ? size_format(size, ret_text) : data_format(size, ret_text);
}

#define AS_TOKENS "taken as tokens: each different word is a datum; --format says otherwise"
#define AS_WORDS                                                                                   \
	"taken as tokens: each different word is a datum, and addresses are not grouped into "     \
	"lines; --format perf-script takes one a line with 0x, and "                               \
	"`perl -ne 'print pack \"Q<\", hex'` makes u64 of them"

void trace_note(const struct trace_facts *facts, char *ret_text, size_t size)
{
	int n = 0;

	ret_text[0] = '\0';
	if (facts->format == TRACE_TOKENS && facts->guessed)
		snprintf(ret_text, size, "%s", facts->hexadecimal ? AS_WORDS : AS_TOKENS);
	if (facts->format == TRACE_PERF_SCRIPT)
		n = snprintf(ret_text, size,
		        "these are samples, not all accesses: reuses between samples are not seen, "
		        "and times are in samples");
	if (facts->skipped)
		snprintf(ret_text + n, size - (size_t)n,
		        "%s%llu records without an address left out", n ? "; " : "",
		        (unsigned long long)facts->skipped);
}

void trace_say_note(const struct trace_facts *facts)
{
	char note[NOTE];

	trace_note(facts, note, sizeof(note));
	if (*note)
		complain(MTL_DONE, "note: %s", note);
}

static void print_count(FILE *file, const char *about, double n, const char *one, const char *more)
{
	fprintf(file, "%s%.0f %s", about, n, round(n) == 1 ? one : more);
}

static void print_note(FILE *file, const struct trace_facts *facts, const struct terminal *terminal)
{
	char note[NOTE];

	trace_note(facts, note, sizeof(note));
	if (terminal->is_terminal)
		wrap_words(note, terminal->width - strlen("note: "));
	if (*note)
		fprintf(file, "note: %s\n", note);
}

void trace_header(FILE *file, const struct trace_facts *facts, const char *method,
        const struct terminal *terminal)
{
	const char *base = strrchr(facts->name, '/'), *about = facts->estimated ? "about " : "";
	char name[256], size[NUMBER_TEXT], share[NUMBER_TEXT];

	fprintf(file, "%s (%s): ",
	        printable(base && base[1] ? base + 1 : facts->name, name, sizeof(name)),
	        trace_format_name(facts->format));
	print_count(file, "", (double)facts->accesses, "access to ", "accesses to ");
	print_count(file, about, facts->distinct, facts->addresses ? "line" : "datum",
	        facts->addresses ? "lines" : "data");
	if (facts->bytes)
		fprintf(file, "%s %u bytes, %s in all",
		        facts->addresses ? " of" : ", each counted as", facts->line_bytes,
		        size_format(facts->distinct * facts->line_bytes, size));
	fprintf(file, "\n%s", method ?: "");
	print_count(file, about, facts->distinct, "cold miss", "cold misses");
	fprintf(file, ", %s %% of the accesses\n",
	        trace_ratio_text(100 * facts->distinct / (double)facts->accesses, share));
	print_note(file, facts, terminal);
}

char *trace_ratio_text(double ratio, char *ret_text)
{
	if (!(ratio > 0 && ratio < 1e-3))
		return ratio_format(ratio, ret_text);
	if (ratio < LEAST)
		return strcpy(ret_text, "<0.000001");
	snprintf(ret_text, NUMBER_TEXT, "%.*f", (int)(2 - floor(log10(ratio))), ratio);
	return ret_text;
}

/* Would its text be that of the neighbour at j, which is another size? */
static bool looks_like(const struct trace_curve *curve, size_t j, const char *text)
{
	char other[NUMBER_TEXT];

	return j < curve->n_points &&
	       strcmp(text, trace_size_text(curve->facts, curve->points[j].size_bytes, other)) == 0;
}

char *trace_point_text(const struct trace_curve *curve, size_t i, char *ret_text)
{
	double size = curve->points[i].size_bytes;

	trace_size_text(curve->facts, size, ret_text);
	if ((i > 0 && looks_like(curve, i - 1, ret_text)) || looks_like(curve, i + 1, ret_text))
		snprintf(ret_text, NUMBER_TEXT, curve->facts->bytes ? "%.0fB" : "%.0f", size);
	return ret_text;
}

static int add_point(struct table *table, const struct trace_curve *curve, size_t i)
{
	const struct trace_point *point = &curve->points[i];
	char size[NUMBER_TEXT], time[NUMBER_TEXT], ratio[CELL];
	const char *cells[] = {size, time, ratio};

	trace_point_text(curve, i, size);
	count_format(point->fill_time, time);
	if (point->miss_ratio > 0 && point->miss_ratio < LEAST / 2)
		trace_ratio_text(point->miss_ratio, ratio);
	else
		snprintf(ratio, sizeof(ratio), "%.6f", point->miss_ratio);
	return table_add(table, cells, point->size_bytes < curve->resolution_bytes);
}

static int print_points(
        FILE *file, const struct trace_curve *curve, const struct terminal *terminal)
{
	static const struct table_column columns[] = {
	        {"SIZE", RIGHT, 0},
	        {"FILLS IN", RIGHT, 0},
	        {"MISS RATIO", RIGHT, 0},
	};
	_cleanup_(table_freep) struct table *table = NULL;
	char size[NUMBER_TEXT];
	int r = table_new(columns, sizeof(columns) / sizeof(columns[0]), terminal, &table);

	for (size_t i = 0; r == 0 && i < curve->n_points; i++)
		r = add_point(table, curve, i);
	r = r ?: table_print(table, file);
	fprintf(file,
	        "sizes: %s; fills in: accesses, k, M = 10^3, 10^6,\n%s; never: it holds all\n",
	        curve->facts->bytes ? "K = 1024 bytes" : "numbers of data",
	        trace_method_fill_text(&curve->by));
	if (curve->resolution_bytes > curve->points[0].size_bytes)
		fprintf(file, "below %s this sample cannot tell\n",
		        trace_size_text(curve->facts, curve->resolution_bytes, size));
	return r;
}

static int add_cache(struct table *table, const struct trace_curve *curve,
        const struct trace_cache_result *result)
{
	const struct trace_cache *cache = &result->cache;
	const double ratios[] = {result->simulated, result->uniform, result->measured,
	        result->patent, result->distances};
	char texts[CACHE_COLUMNS][CELL], size[NUMBER_TEXT];
	const char *cells[CACHE_COLUMNS];

	snprintf(texts[0], CELL, "%s:%llu:%u",
	        cache->line_bytes > 1 ? size_format(cache->size_bytes, size)
	                              : trace_size_text(curve->facts, cache->size_bytes, size),
	        (unsigned long long)cache->ways, cache->line_bytes);
	cells[0] = texts[0];
	for (int i = 1; i < CACHE_COLUMNS; i++) {
		snprintf(texts[i], CELL, isnan(ratios[i - 1]) ? "-" : "%.6f", ratios[i - 1]);
		cells[i] = texts[i];
	}
	return table_add(table, cells, false);
}

static int print_caches(
        FILE *file, const struct trace_curve *curve, const struct terminal *terminal)
{
	static const struct table_column columns[CACHE_COLUMNS] = {
	        {"CACHE", LEFT, 0},
	        {"SIMULATED", RIGHT, 0},
	        {"PREDICTED", RIGHT, 0},
	        {"BY ITS SETS", RIGHT, 0},
	        {"AS PATENT", RIGHT, 0},
	        {"BY DISTANCES", RIGHT, 0},
	};
	_cleanup_(table_freep) struct table *table = NULL;
	int r;

	if (!curve->n_caches)
		return 0;
	fputc('\n', file);
	r = table_new(columns, CACHE_COLUMNS, terminal, &table);
	for (size_t i = 0; r == 0 && i < curve->n_caches; i++)
		r = add_cache(table, curve, &curve->caches[i]);
	r = r ?: table_print(table, file);
	fprintf(file, "miss ratios: exact simulation; predicted from reuse times with sets equally "
	              "likely,\nwith sets as they are, in the patent's order of steps; from exact "
	              "reuse distances\n");
	return r;
}

/* As the plotter of live curves wants it, at the size of each of its columns: known exactly, the
 * miss ratio where it has a rate. */
static int fill_columns(const struct trace_curve *curve, struct mtl_curve_point *points, size_t n)
{
	double first = curve->points[0].size_bytes;
	double last = curve->points[curve->n_points - 1].size_bytes;
	_cleanup_free_ double *sizes = calloc(n, 2 * sizeof(double));
	int r;

	if (!sizes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sizes[i] = fmin(first * pow(last / first, (double)i / (double)(n - 1)), last);
	sizes[n - 1] = last;
	r = trace_curve_at(curve, sizes, n, sizes + n);
	for (size_t i = 0; r == 0 && i < n; i++)
		points[i] = (struct mtl_curve_point){.size_bytes = sizes[i],
		        .misses_per_second = sizes[n + i],
		        .low = sizes[n + i],
		        .high = sizes[n + i]};
	return r;
}

static int print_plot(FILE *file, const struct trace_curve *curve, const struct terminal *terminal)
{
	const struct curve_look look = {
	        .caption = "miss ratio",
	        .size_text = curve->facts->bytes ? size_format : data_format,
	        .top = curve->points[0].miss_ratio,
	        .value_text = trace_ratio_text,
	};
	size_t n = curve_plot_width(terminal);
	_cleanup_free_ struct mtl_curve_point *points = calloc(n, sizeof(*points));
	struct mtl_curve drawn = {.points = points, .n_points = n};
	int r = points ? 0 : -ENOMEM;

	if (r < 0 || curve->n_points < 2)
		return r;
	r = fill_columns(curve, points, n);
	fputc('\n', file);
	return r ?: curve_plot_as(file, &drawn, &look, terminal);
}

int trace_curve_report(FILE *file, const struct trace_curve *curve, const struct terminal *terminal)
{
	char method[64], sentence[512];
	int r;

	snprintf(method, sizeof(method), "method %s; ", curve->method);
	trace_header(file, curve->facts, method, terminal);
	fputc('\n', file);
	r = print_points(file, curve, terminal);
	r = r ?: print_caches(file, curve, terminal);
	r = r ?: print_plot(file, curve, terminal);
	trace_sentence(curve, sentence, sizeof(sentence));
	if (terminal->is_terminal)
		wrap_words(sentence, terminal->width);
	fprintf(file, "\n%s\n", sentence);
	return r;
}
