/* SPDX-License-Identifier: MIT */
/*
 * What programs do to each other, as a table with a sentence, as CSV and as a picture.
 *
 * The picture has for each program its misses alone (dashed) and together with the others, in one
 * colour, over the size of
 * the cache, from 1/256 to 4 times the one asked about, which is marked; at every size that a curve
 * lists, so that it falls there where it does in `mtl trace --plot`.
 */

#include "share_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "option_values.h"
#include "plot_file.h"
#include "size.h"
#include "table.h"

#define CELL 160
#define NOTE 640
#define PLOT_STEPS 160 /* 16 a doubling */
#define PLOT_BELOW 8   /* doublings */

/* --- for people */

static void worse_cell(double alone, double together, char ret_text[CELL])
{
	char number[NUMBER_TEXT];

	if (!(together > alone))
		snprintf(ret_text, CELL, "no");
	else if (alone <= 0)
		snprintf(ret_text, CELL, "from none");
	else if (together < 10 * alone)
		snprintf(ret_text, CELL, "+%s", percent_format(together / alone - 1, number));
	else
		snprintf(ret_text, CELL, "%sx", ratio_format(together / alone, number));
}

static void neighbour_cell(const struct share *share, size_t i, char ret_text[CELL])
{
	size_t n = share->list->n, worst = mtl_share_worst(share, i);
	char number[NUMBER_TEXT], name[40];

	if (worst == n)
		snprintf(ret_text, CELL, "-");
	else
		snprintf(ret_text, CELL, "%s (%s)",
		        show_name(share->list->operands[worst].name, name, sizeof(name)),
		        count_format(share->together[i] - share->without[i * n + worst], number));
}

static int add_row(struct table *table, const struct share *share, size_t i)
{
	char name[DEMAND_CELL], worse[CELL], neighbour[CELL];
	char occupancy[NUMBER_TEXT], alone[NUMBER_TEXT], together[NUMBER_TEXT];
	const char *cells[] = {name, occupancy, alone, together, worse, neighbour};

	demand_cell(&share->list->operands[i], name);
	demand_size_format(share->list, share->occupancy[i], occupancy);
	count_format(share->alone[i], alone);
	count_format(share->together[i], together);
	worse_cell(share->alone[i], share->together[i], worse);
	neighbour_cell(share, i, neighbour);
	return table_add(table, cells, false);
}

static int print_table(FILE *file, const struct share *share, const struct terminal *terminal)
{
	_cleanup_(table_freep) struct table *table = NULL;
	const struct table_column columns[] = {{"program", LEFT, 0}, {"occupies", RIGHT, 0},
	        {"alone", RIGHT, 0}, {"together", RIGHT, 0}, {"worse", RIGHT, 0},
	        {"hurt most by", LEFT, 0}};
	int r;

	r = table_new(columns, sizeof(columns) / sizeof(*columns), terminal, &table);
	for (size_t i = 0; r == 0 && i < share->list->n; i++)
		r = add_row(table, share, i);
	return r ?: table_print(table, file);
}

static void print_heading(FILE *file, const struct share *share, const char *source)
{
	const struct demand_list *list = share->list;
	char size[NUMBER_TEXT], time[NUMBER_TEXT];

	fprintf(file, "A cache of %s%s%s%s, ", demand_size_format(list, share->size_bytes, size),
	        source ? " (this machine's, by " : "", source ?: "", source ? ")" : "");
	if (isinf(share->time))
		fprintf(file, "which holds all that they touch.");
	else if (list->operands[0].accesses > 0)
		fprintf(file, "which all together fill in %s of a run.",
		        percent_format(share->time, time));
	else
		fprintf(file, "which all together fill in %s.", seconds_format(share->time, time));
	fprintf(file, " In %s:\n\n", mtl_demands_unit(list));
}

/* Whoever has most misses more than alone; n: nobody. */
static size_t find_sufferer(const struct share *share)
{
	size_t worst = share->list->n;
	double most = 0;

	for (size_t i = 0; i < share->list->n; i++) {
		if (share->together[i] - share->alone[i] > most) {
			most = share->together[i] - share->alone[i];
			worst = i;
		}
	}
	return worst;
}

static void print_sentence(FILE *file, const struct share *share, const struct terminal *terminal)
{
	size_t n = share->list->n, i = find_sufferer(share), worst;
	char text[NOTE], name[NAME_SHOWN], other[NAME_SHOWN], added[NUMBER_TEXT],
	        spared[NUMBER_TEXT];

	if (i == n) {
		fputs("\nNone of them misses more than alone.\n", file);
		return;
	}
	worst = mtl_share_worst(share, i);
	snprintf(text, sizeof(text), "%s pays most for sharing: %s %s more than alone",
	        show_name(share->list->operands[i].name, name, sizeof(name)),
	        count_format(share->together[i] - share->alone[i], added),
	        mtl_demands_unit(share->list));
	if (worst < n)
		text_append(text, sizeof(text), ", %s fewer without %s",
		        count_format(share->together[i] - share->without[i * n + worst], spared),
		        show_name(share->list->operands[worst].name, other, sizeof(other)));
	wrap_words(text, terminal->width - 2); /* and a full stop */
	fprintf(file, "\n%s.\n", text);
}

static void print_notes(FILE *file, const struct share *share, const struct terminal *terminal)
{
	char note[NOTE];

	for (size_t i = 0; i < share->list->n; i++) {
		const struct demand_operand *operand = &share->list->operands[i];
		const char *at = NULL;

		while (mtl_demand_next_note(operand, &at, note, sizeof(note)))
			note_print(file, terminal, note);
		if (mtl_share_note(share, i, note, sizeof(note)))
			note_print(file, terminal, note);
	}
}

int share_report(
        FILE *file, const struct share *share, const char *source, const struct terminal *terminal)
{
	int r;

	print_heading(file, share, source);
	r = print_table(file, share, terminal);
	if (r < 0)
		return r;
	print_sentence(file, share, terminal);
	print_notes(file, share, terminal);
	return 0;
}

/* --- for programs */

void share_csv(FILE *file, const struct share *share)
{
	size_t n = share->list->n;

	fputs("name,neighbour,occupancy_bytes,misses_alone,misses_together,misses_without\n", file);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			if (j == i)
				continue;
			demand_csv_name(file, &share->list->operands[i]);
			fputc(',', file);
			demand_csv_name(file, &share->list->operands[j]);
			fprintf(file, ",%.17g,%.17g,%.17g,%.17g\n", share->occupancy[i],
			        share->alone[i], share->together[i], share->without[i * n + j]);
		}
	}
}

/* --- the picture */

/* n sizes, and for each program as many misses alone and together, with names. */
struct drawing {
	double *sizes, *values;
	size_t n;
	char (*names)[64];
	struct plot_series *series;
};

static void drawing_done(struct drawing *drawing)
{
	free(drawing->sizes);
	free(drawing->values);
	free(drawing->names);
	free(drawing->series);
}

/* Even ones, and those between which the curves are known: a cliff stands where it is. */
static int choose_sizes(const struct share *share, struct drawing *drawing)
{
	double least = share->size_bytes * exp2(-PLOT_BELOW);
	double most = share->size_bytes * exp2((PLOT_STEPS - 1) / 16.0 - PLOT_BELOW);
	size_t room = PLOT_STEPS;

	for (size_t i = 0; i < share->list->n; i++)
		room += share->list->demands[i]->n;
	drawing->sizes = calloc(room, sizeof(double));
	if (!drawing->sizes)
		return -ENOMEM;
	while (drawing->n < PLOT_STEPS) {
		drawing->sizes[drawing->n] = least * exp2((double)drawing->n / 16);
		drawing->n++;
	}
	for (size_t i = 0; i < share->list->n; i++) {
		const struct mtl_demand *demand = share->list->demands[i];

		for (size_t k = 0; k < demand->n; k++)
			if (demand->points[k].size_bytes > least &&
			        demand->points[k].size_bytes < most)
				drawing->sizes[drawing->n++] = demand->points[k].size_bytes;
	}
	drawing->n = numbers_sort_unique(drawing->sizes, drawing->n);
	return 0;
}

static int compute(const struct share *share, struct drawing *drawing)
{
	size_t n = share->list->n, steps = drawing->n;
	_cleanup_free_ double *numbers = calloc(2 * n, sizeof(double));
	double time, *values = drawing->values;
	int r = numbers ? 0 : -ENOMEM;

	for (size_t s = 0; r == 0 && s < steps; s++) {
		double size = drawing->sizes[s];

		r = mtl_demands_share(share->list->demands, n, size, &time, numbers, numbers + n);
		for (size_t i = 0; r == 0 && i < n; i++) {
			values[2 * i * steps + s] =
			        mtl_demand_misses(share->list->demands[i], size, NULL, NULL);
			values[(2 * i + 1) * steps + s] = numbers[n + i];
		}
	}
	return r;
}

static void fill_series(const struct share *share, struct drawing *drawing)
{
	for (size_t k = 0; k < 2 * share->list->n; k++) {
		char name[40];

		snprintf(drawing->names[k], sizeof(drawing->names[k]), "%s %s",
		        show_name(share->list->operands[k / 2].name, name, sizeof(name)),
		        k % 2 ? "together" : "alone");
		drawing->series[k] = (struct plot_series){
		        .name = drawing->names[k],
		        .sizes = drawing->sizes,
		        .values = drawing->values + k * drawing->n,
		        .n = drawing->n,
		        .marked_sizes = &share->size_bytes,
		        .marked_values = k % 2 ? &share->together[k / 2] : &share->alone[k / 2],
		        .n_marked = 1,
		        .straight = true,
		        .colour = (unsigned)(k / 2 + 1),
		        .dashed = k % 2 == 0,
		};
	}
}

int share_plot(const char *path, const struct share *share)
{
	_cleanup_(drawing_done) struct drawing drawing = {0};
	size_t n = 2 * share->list->n;
	struct plot_request request = {
	        .title = "Alone, and together in one cache",
	        .size_title = share->list->operands[0].is_data ? "data" : "cache size",
	        .value_title = mtl_demands_unit(share->list),
	        .bytes = !share->list->operands[0].is_data,
	        .n_series = n,
	};
	struct plot_mark mark = {.size = share->size_bytes};
	char error[256], size[NUMBER_TEXT];
	int r;

	snprintf(mark.name, sizeof(mark.name), "%.15s",
	        demand_size_format(share->list, share->size_bytes, size));
	request.marks = &mark;
	request.n_marks = 1;
	drawing.names = calloc(n, sizeof(*drawing.names));
	drawing.series = calloc(n, sizeof(*drawing.series));
	r = choose_sizes(share, &drawing);
	drawing.values = calloc(n, (drawing.n + 1) * sizeof(double));
	if (r < 0 || !drawing.values || !drawing.names || !drawing.series)
		return complain(MTL_FAILED, "out of memory");
	r = compute(share, &drawing);
	if (r < 0)
		return complain(MTL_FAILED, "cannot predict this: %s", strerror(-r));
	fill_series(share, &drawing);
	request.series = drawing.series;
	r = plot_file_write(path, &request, error, sizeof(error));
	return r < 0 ? complain(MTL_FAILED, "%s", error) : MTL_DONE;
}
