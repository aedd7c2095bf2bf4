/* SPDX-License-Identifier: MIT */
/*
 * A probe for people: what is said and what must follow, before anything is measured; then a table
 * of what came out, the rows around each step, the drawn latencies, and a sentence a level.
 */

#include "probe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "curve_report.h"
#include "mtl.h"
#include "options.h"
#include "plot_file.h"
#include "size.h"
#include "table.h"

#define AROUND 3     /* rows shown before and behind a step */
#define UNIT_NS 0.25 /* the chart begins there */
#define CELL 40

static const char *number(char *text, const char *format, double value)
{
	if (isnan(value) || value == 0)
		return "-";
	snprintf(text, CELL, format, value);
	return text;
}

static void print_machine(FILE *file, const struct probe *probe)
{
	const struct cpu_identity *cpu = &probe->cpu;

	fprintf(file, "CPU %s, family %s, model %s, stepping %s%s%s%s. Caches as %s says:\n\n",
	        *cpu->vendor ? cpu->vendor : "unknown", *cpu->family ? cpu->family : "?",
	        *cpu->model ? cpu->model : "?", *cpu->stepping ? cpu->stepping : "?",
	        *cpu->microcode ? ", microcode " : "", cpu->microcode,
	        cpu->hypervisor ? ", a virtual machine" : "",
	        probe->source == CACHE_FROM_NOTHING ? "nobody" : cache_source_name(probe->source));
}

static int add_prediction(struct table *table, const struct probe_level *level)
{
	const struct cache_level *said = &level->said;
	char name[CELL], size[CELL], ways[CELL], sets[CELL], line[CELL], stride[CELL], step[CELL];
	double apart = cache_aliasing_stride(said);

	snprintf(name, sizeof(name), "L%u %s", said->level, said->type);
	return table_add(table,
	        (const char *[]){name, size_format(said->size_bytes, size),
	                number(ways, "%.0f", said->ways), number(sets, "%.0f", said->sets),
	                number(line, "%.0f", said->line_bytes),
	                apart > 0 ? size_format(apart, stride) : "-",
	                number(step, "%.0f", level->step.predicted)},
	        false);
}

/* The first one, or that which is asked for. */
static const struct probe_level *level_in_words(const struct probe *probe, unsigned asked)
{
	for (size_t i = 0; asked && i < probe->n_levels; i++)
		if (probe->levels[i].said.level == asked)
			return &probe->levels[i];
	return probe->levels;
}

/* What is predicted of a level, in words. */
static void print_words(FILE *file, const struct probe *probe, unsigned asked)
{
	const struct probe_level *level = level_in_words(probe, asked);
	unsigned n = level->step.predicted, line = level->said.line_bytes;
	double stride = cache_aliasing_stride(&level->said);

	if (probe->n_levels && n && stride > 0)
		fprintf(file,
		        "\nPrediction: %u lines %.0f bytes apart, %u bytes in all, do not fit in "
		        "L%u, "
		        "and %u do;\n%u lines %.0f bytes apart do.",
		        n, stride, n * line, level->said.level, n - 1, n, stride + line);
	if (probe->tlb.step.predicted && !asked)
		fprintf(file, " The TLB holds %u pages of 4K and not %u.",
		        probe->tlb.step.predicted - 1, probe->tlb.step.predicted);
	fprintf(file, "\nMeasuring ...\n\n");
}

int probe_print_prediction(
        FILE *file, const struct probe *probe, unsigned level, const struct terminal *terminal)
{
	static const struct table_column columns[] = {{"cache", LEFT, 0}, {"size", RIGHT, 0},
	        {"ways", RIGHT, 0}, {"sets", RIGHT, 0}, {"line", RIGHT, 0},
	        {"aliasing stride", RIGHT, 0}, {"step at", RIGHT, 0}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(columns, sizeof(columns) / sizeof(columns[0]), terminal, &table);

	print_machine(file, probe);
	for (size_t i = 0; r == 0 && i < probe->n_levels; i++)
		r = add_prediction(table, &probe->levels[i]);
	r = r < 0 || !probe->n_levels ? r : table_print(table, file);
	print_words(file, probe, level);
	return r;
}

/* --- what came out */

static int add_result(struct table *table, const char *name, const struct probe_step *step,
        double size, double measured)
{
	char predicted[CELL], onset[CELL], height[CELL], control[CELL], said[CELL], capacity[CELL];

	return table_add(table,
	        (const char *[]){name, number(predicted, "%.0f", step->predicted),
	                number(onset, "%.0f", step->measured),
	                number(height, "%.2f", step->step_ratio),
	                number(control, "%.2f", step->control_ratio), size_format(size, said),
	                size_format(measured, capacity), probe_verdict_name(step->verdict)},
	        false);
}

static int print_results(FILE *file, const struct probe *probe, const struct terminal *terminal)
{
	static const struct table_column columns[] = {{"", LEFT, 0}, {"predicted", RIGHT, 0},
	        {"step at", RIGHT, 0}, {"height", RIGHT, 0}, {"control", RIGHT, 0},
	        {"size", RIGHT, 0}, {"measured", RIGHT, 0}, {"verdict", LEFT, 0}};
	_cleanup_(table_freep) struct table *table = NULL;
	const struct probe_step *tlb = &probe->tlb.step;
	double page = probe->tlb.page_bytes;
	char name[CELL];
	int r = table_new(columns, sizeof(columns) / sizeof(columns[0]), terminal, &table);

	for (size_t i = 0; r == 0 && i < probe->n_levels; i++) {
		const struct probe_level *level = &probe->levels[i];

		snprintf(name, sizeof(name), "L%u", level->said.level);
		r = add_result(
		        table, name, &level->step, level->said.size_bytes, level->capacity_bytes);
	}
	if (r == 0 && probe->has_tlb)
		r = add_result(table, "TLB", tlb,
		        tlb->predicted ? (tlb->predicted - 1) * page : NAN,
		        tlb->measured ? (tlb->measured - 1) * page : NAN);
	return r < 0 ? r : table_print(table, file);
}

static int add_row(struct table *table, const struct probe_row *row)
{
	char count[CELL], aliased[CELL], spread[CELL], ratio[CELL];

	return table_add(table,
	        (const char *[]){number(count, "%.0f", row->count),
	                number(aliased, "%.2f", row->nanoseconds[0]),
	                number(spread, "%.2f", row->nanoseconds[1]),
	                number(ratio, "%.2f", row->aliased / row->spread)},
	        false);
}

static int print_rows(FILE *file, const struct probe_level *level, const struct terminal *terminal)
{
	static const struct table_column columns[] = {{"lines", RIGHT, 0}, {"aliased ns", RIGHT, 0},
	        {"spread ns", RIGHT, 0}, {"ratio", RIGHT, 0}};
	_cleanup_(table_freep) struct table *table = NULL;
	unsigned at = level->step.measured ?: level->step.predicted;
	int r = table_new(columns, sizeof(columns) / sizeof(columns[0]), terminal, &table);

	for (size_t i = 0; r == 0 && i < level->n_rows; i++) {
		unsigned count = level->rows[i].count;

		if ((count + AROUND >= at && count <= at + AROUND) || i + 1 == level->n_rows)
			r = add_row(table, &level->rows[i]);
	}
	if (r < 0)
		return r;
	fprintf(file,
	        "\nL%u, lines %.0f bytes apart (aliased) and in sets of their own (spread):\n\n",
	        level->said.level, cache_aliasing_stride(&level->said));
	return table_print(table, file);
}

/* --- latencies */

static char *latency_text(double value, char *ret_text)
{
	snprintf(ret_text, NUMBER_TEXT, "%.3g ns", UNIT_NS * exp2(value));
	return ret_text;
}

static double chart_value(double nanoseconds)
{
	return fmax(log2(nanoseconds / UNIT_NS), 0);
}

static int draw(FILE *file, const struct probe *probe, const struct terminal *terminal)
{
	const struct probe_curve *curve = &probe->curve;
	struct mtl_curve_point points[PROBE_SIZES_MAX] = {0};
	struct mtl_curve chart = {.points = points, .n_points = curve->n};
	struct curve_look look = {.caption = "latency of an access by footprint (logarithmic)",
	        .size_text = size_format,
	        .value_text = latency_text,
	        .floor_text = "0.25 ns",
	        .interval_text = "quartiles"};
	struct curve_mark marks[CACHE_LEVELS_MAX];

	for (size_t i = 0; i < curve->n; i++)
		points[i] = (struct mtl_curve_point){
		        .size_bytes = curve->bytes[i],
		        .misses_per_second = chart_value(curve->nanoseconds[i]),
		        .low = chart_value(curve->low[i]),
		        .high = chart_value(curve->high[i]),
		};
	for (size_t i = 0; i < probe->n_levels; i++) {
		marks[i].size = probe->levels[i].said.size_bytes;
		snprintf(marks[i].name, sizeof(marks[i].name), "L%u", probe->levels[i].said.level);
	}
	look.marks = marks;
	look.n_marks = probe->n_levels;
	fputc('\n', file);
	return curve_plot_as(file, &chart, &look, terminal);
}

static void print_sentence(FILE *file, const char *name, const struct probe_step *step)
{
	fprintf(file, "%s: %s. ", name, probe_verdict_name(step->verdict));
	fprintf(file, "%c%s.\n",
	        *step->reason >= 'a' && *step->reason <= 'z' ? *step->reason - 32 : *step->reason,
	        *step->reason ? step->reason + 1 : "");
}

static void print_sentences(FILE *file, const struct probe *probe)
{
	char name[CELL];

	fputc('\n', file);
	for (size_t i = 0; i < probe->n_levels; i++) {
		snprintf(name, sizeof(name), "L%u", probe->levels[i].said.level);
		print_sentence(file, name, &probe->levels[i].step);
	}
	if (probe->has_tlb)
		print_sentence(file, "TLB", &probe->tlb.step);
}

int probe_report(FILE *file, const struct probe *probe, const struct terminal *terminal)
{
	int r = print_results(file, probe, terminal);

	for (size_t i = 0; r == 0 && i < probe->n_levels; i++)
		if (probe->levels[i].step.measured)
			r = print_rows(file, &probe->levels[i], terminal);
	r = r < 0 ? r : draw(file, probe, terminal);
	print_sentences(file, probe);
	return r;
}

int probe_plot(const char *path, const struct probe *probe)
{
	const struct probe_curve *curve = &probe->curve;
	struct plot_label labels[CACHE_LEVELS_MAX];
	struct plot_series series = {.name = "random permutation, median",
	        .sizes = curve->bytes,
	        .values = curve->nanoseconds,
	        .n = curve->n,
	        .marked_sizes = curve->bytes,
	        .marked_values = curve->nanoseconds,
	        .n_marked = curve->n};
	struct plot_request request = {.title = "latency of an access by footprint",
	        .size_title = "footprint",
	        .value_title = "nanoseconds",
	        .bytes = true,
	        .log_values = true,
	        .series = &series,
	        .n_series = 1,
	        .labels = labels,
	        .labels_title = "caches as said"};
	char error[512];

	for (size_t i = 0; i < probe->n_levels; i++) {
		const struct cache_level *said = &probe->levels[i].said;
		size_t at = 0;

		while (at + 1 < curve->n && curve->bytes[at + 1] <= said->size_bytes)
			at++;
		if (said->size_bytes > 2 * curve->bytes[curve->n - 1])
			continue;
		labels[request.n_labels] = (struct plot_label){
		        .size = said->size_bytes, .value = curve->nanoseconds[at]};
		snprintf(labels[request.n_labels++].name, sizeof(labels[0].name), "L%u",
		        said->level);
	}
	return plot_file_write(path, &request, error, sizeof(error)) < 0
	               ? complain(MTL_FAILED, "%s", error)
	               : MTL_DONE;
}
