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
	fprintf(file, ", %s of the accesses\n",
	        percent_format(facts->distinct / (double)facts->accesses, share));
	print_note(file, facts, terminal);
}

static int add_point(struct table *table, const struct trace_facts *facts,
        const struct trace_point *point, double resolution)
{
	char size[NUMBER_TEXT], time[NUMBER_TEXT], ratio[CELL];
	const char *cells[] = {size, time, ratio};

	trace_size_text(facts, point->size_bytes, size);
	count_format(point->fill_time, time);
	snprintf(ratio, sizeof(ratio), "%.6f", point->miss_ratio);
	return table_add(table, cells, point->size_bytes < resolution);
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
		r = add_point(table, curve->facts, &curve->points[i], curve->resolution_bytes);
	r = r ?: table_print(table, file);
	fprintf(file, "sizes: %s; fills in: accesses, k, M = 10^3, 10^6; never: it holds all\n",
	        curve->facts->bytes ? "K = 1024 bytes" : "numbers of data");
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

/* As the plotter of live curves wants it: known exactly, the miss ratio where it has a rate. */
static int print_plot(FILE *file, const struct trace_curve *curve, const struct terminal *terminal)
{
	const struct curve_look look = {
	        .caption = "miss ratio",
	        .size_text = curve->facts->bytes ? size_format : data_format,
	        .top = curve->points[0].miss_ratio,
	};
	_cleanup_free_ struct mtl_curve_point *points = calloc(curve->n_points, sizeof(*points));
	struct mtl_curve drawn = {.points = points, .n_points = curve->n_points};

	if (!points)
		return -ENOMEM;
	for (size_t i = 0; i < curve->n_points; i++) {
		double ratio = curve->points[i].miss_ratio;

		points[i] = (struct mtl_curve_point){.size_bytes = curve->points[i].size_bytes,
		        .misses_per_second = ratio,
		        .low = ratio,
		        .high = ratio};
	}
	if (curve->n_points > 1)
		fputc('\n', file);
	return curve_plot_as(file, &drawn, &look, terminal);
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
