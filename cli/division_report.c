/* SPDX-License-Identifier: MIT */
/*
 * A division as a table with reasons, and as CSV.
 */

#include "division_report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "size.h"
#include "table.h"

#define TEXT 640
#define NAME 40

/* --- for people */

static int add_group(struct table *table, const struct division *division, size_t i)
{
	char name[DEMAND_CELL], ways[NUMBER_TEXT], bytes[NUMBER_TEXT], mask[NUMBER_TEXT],
	        misses[NUMBER_TEXT], equal[NUMBER_TEXT], whole[NUMBER_TEXT];
	const char *cells[] = {name, ways, bytes, mask, misses, equal, whole};

	demand_cell(&division->list->operands[i], name);
	snprintf(ways, sizeof(ways), "%u", division->ways[i]);
	demand_size_format(division->list, division->ways[i] * division->way_bytes, bytes);
	mtl_division_mask(division, i, mask);
	count_format(division->chosen.misses[i], misses);
	count_format(division->equal.misses[i], equal);
	count_format(division->whole.misses[i], whole);
	return table_add(table, cells, false);
}

static int add_total(struct table *table, const struct division *division)
{
	char chosen[NUMBER_TEXT], equal[NUMBER_TEXT], whole[NUMBER_TEXT];
	const char *cells[] = {"total", "", "", "", chosen, equal, whole};

	for (size_t i = 0; i < division->list->n; i++)
		if (division->weights[i] != 1)
			cells[0] = "weighted total";
	count_format(division->chosen.total, chosen);
	count_format(division->equal.total, equal);
	count_format(division->whole.total, whole);
	return table_add(table, cells, false);
}

static int print_table(FILE *file, const struct division *division, const struct terminal *terminal)
{
	static const struct table_column columns[] = {{"group", LEFT, 0}, {"ways", RIGHT, 0},
	        {"size", RIGHT, 0}, {"mask", RIGHT, 0}, {"divided so", RIGHT, 0},
	        {"equal shares", RIGHT, 0}, {"undivided", RIGHT, 0}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(columns, sizeof(columns) / sizeof(*columns), terminal, &table);

	for (size_t i = 0; r == 0 && i < division->list->n; i++)
		r = add_group(table, division, i);
	r = r ?: add_total(table, division);
	return r ?: table_print(table, file);
}

static void print_wrapped(
        FILE *file, const struct terminal *terminal, const char *before, const char *text)
{
	char shown[NAME + TEXT + 8];

	snprintf(shown, sizeof(shown), "%s%s", before, text);
	make_showable(shown);
	wrap_words(shown, terminal->width - 1);
	fprintf(file, "%s\n", shown);
}

static void print_words(
        FILE *file, const struct division *division, const struct terminal *terminal)
{
	char text[TEXT], before[NAME + 8], name[NAME];

	for (size_t i = 0; i < division->list->n; i++) {
		mtl_division_reason(division, i, text, sizeof(text));
		snprintf(before, sizeof(before),
		        "%s: ", show_name(division->list->operands[i].name, name, sizeof(name)));
		print_wrapped(file, terminal, before, text);
	}
	fputc('\n', file);
	mtl_division_verdict(division, text, sizeof(text));
	print_wrapped(file, terminal, "", text);
	for (size_t i = 0; i < division->list->n; i++) {
		const char *at = NULL;

		while (mtl_demand_next_note(&division->list->operands[i], &at, text, sizeof(text)))
			print_wrapped(file, terminal, "note: ", text);
		if (mtl_division_note(division, i, text, sizeof(text)))
			print_wrapped(file, terminal, "note: ", text);
	}
}

static void print_schemata(FILE *file, const struct division *division)
{
	int width = 0;

	if (!division->lines)
		return;
	fputs("\nSchemata:\n", file);
	for (size_t i = 0; i < division->list->n; i++)
		width = (int)fmax(width, strlen(division->lines[i].group));
	for (unsigned c = 0; c < division->n_clusters; c++) {
		const struct division_lines *lines =
		        &division->lines[mtl_division_first(division, c)];
		const char *text = lines->schemata;

		for (size_t length; *text; text += length + (text[length] == '\n')) {
			length = strcspn(text, "\n");
			fprintf(file, "  %-*s  %.*s\n", width, lines->group, (int)length, text);
		}
	}
}

int division_report(FILE *file, const struct division *division, const struct terminal *terminal)
{
	char size[NUMBER_TEXT], way[NUMBER_TEXT];
	int r;

	fprintf(file, "A cache of %s in %u ways of %s, objective %s. In %s:\n\n",
	        demand_size_format(division->list, division->cache.bytes, size),
	        division->cache.ways, demand_size_format(division->list, division->way_bytes, way),
	        mtl_objective_name(division->objective), mtl_demands_unit(division->list));
	r = print_table(file, division, terminal);
	if (r < 0)
		return r;
	fputc('\n', file);
	print_words(file, division, terminal);
	print_schemata(file, division);
	return 0;
}

/* --- for programs */

void division_csv(FILE *file, const struct division *division)
{
	char mask[NUMBER_TEXT];

	fputs("name,ways,mask,misses,equal_share,unpartitioned\n", file);
	for (size_t i = 0; i < division->list->n; i++) {
		demand_csv_name(file, &division->list->operands[i]);
		fprintf(file, ",%u,%s,%.17g,%.17g,%.17g\n", division->ways[i],
		        mtl_division_mask(division, i, mask), division->chosen.misses[i],
		        division->equal.misses[i], division->whole.misses[i]);
	}
}
