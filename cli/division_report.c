/* SPDX-License-Identifier: MIT */
/*
 * A division as a table with reasons, as JSON and as CSV.
 */

#include "division.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "json_fields.h"
#include "object.h"
#include "size.h"
#include "table.h"

#define TEXT 400
#define NAME 40

static char *size_text(const struct division *division, double size, char *ret_text)
{
	return (division->list->operands[0].is_data ? count_format : size_format)(size, ret_text);
}

static char *mask_text(const struct division *division, size_t i, char ret_text[NUMBER_TEXT])
{
	snprintf(ret_text, NUMBER_TEXT, "0x%" PRIx64, division->masks[i]);
	return ret_text;
}

/* --- for people */

static int add_group(struct table *table, const struct division *division, size_t i)
{
	const struct demand_operand *operand = &division->list->operands[i];
	char name[NAME + sizeof(operand->comm) + 1], shown[NAME], ways[NUMBER_TEXT],
	        bytes[NUMBER_TEXT], mask[NUMBER_TEXT], misses[NUMBER_TEXT], equal[NUMBER_TEXT],
	        whole[NUMBER_TEXT];
	const char *cells[] = {name, ways, bytes, mask, misses, equal, whole};

	snprintf(name, sizeof(name), "%s%s%s", show_name(operand->name, shown, sizeof(shown)),
	        operand->pid ? " " : "", operand->pid ? operand->comm : "");
	snprintf(ways, sizeof(ways), "%u", division->ways[i]);
	size_text(division, division->ways[i] * division->way_bytes, bytes);
	mask_text(division, i, mask);
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
	wrap_words(shown, terminal->width - 1);
	fprintf(file, "%s\n", shown);
}

static void print_words(
        FILE *file, const struct division *division, const struct terminal *terminal)
{
	char text[TEXT], before[NAME + 8], name[NAME];

	for (size_t i = 0; i < division->list->n; i++) {
		division_reason(division, i, text, sizeof(text));
		snprintf(before, sizeof(before),
		        "%s: ", show_name(division->list->operands[i].name, name, sizeof(name)));
		print_wrapped(file, terminal, before, text);
	}
	fputc('\n', file);
	division_verdict(division, text, sizeof(text));
	print_wrapped(file, terminal, "", text);
	for (size_t i = 0; i < division->list->n; i++)
		if (division_note(division, i, text, sizeof(text)))
			print_wrapped(file, terminal, "note: ", text);
}

static void print_schemata(FILE *file, const struct division *division)
{
	if (!division->lines)
		return;
	fputs("\nSchemata:\n", file);
	for (unsigned c = 0; c < division->n_clusters; c++) {
		const struct division_lines *lines = &division->lines[division_first(division, c)];
		const char *text = lines->schemata;

		for (size_t length; *text; text += length + (text[length] == '\n')) {
			length = strcspn(text, "\n");
			fprintf(file, "  %s  %.*s\n", lines->group, (int)length, text);
		}
	}
}

int division_report(FILE *file, const struct division *division, const struct terminal *terminal)
{
	char size[NUMBER_TEXT], way[NUMBER_TEXT];
	int r;

	fprintf(file, "A cache of %s in %u ways of %s, objective %s. In %s:\n\n",
	        size_text(division, division->cache.bytes, size), division->cache.ways,
	        size_text(division, division->way_bytes, way), objective_name(division->objective),
	        demands_unit(division->list));
	r = print_table(file, division, terminal);
	if (r < 0)
		return r;
	fputc('\n', file);
	print_words(file, division, terminal);
	print_schemata(file, division);
	return 0;
}

/* --- for programs */

static int put_text(struct json_object *object, const char *key, const char *text)
{
	return mtl_json_put(object, key, json_object_new_string(text));
}

static int put_misses(struct json_object *group, const struct division *division, size_t i)
{
	const struct demand_operand *operand = &division->list->operands[i];
	double misses = division->chosen.misses[i];
	int r;

	if (operand->accesses > 0)
		r = object_put_number(group, "miss_ratio", misses / operand->accesses);
	else
		r = object_put_number(group, "misses_per_second", misses);
	r = r ?: object_put_number(group, "misses", misses);
	r = r ?: object_put_number(group, "equal_share", division->equal.misses[i]);
	return r ?: object_put_number(group, "unpartitioned", division->whole.misses[i]);
}

static int put_group(struct json_object *groups, const struct division *division, size_t i)
{
	const struct demand_operand *operand = &division->list->operands[i];
	struct json_object *group = json_object_new_object();
	char mask[NUMBER_TEXT], reason[TEXT];
	int r = mtl_json_append(groups, group);

	division_reason(division, i, reason, sizeof(reason));
	r = r ?: put_text(group, "name", operand->name);
	if (operand->pid)
		r = r ?: mtl_json_put(group, "pid", json_object_new_int(operand->pid));
	r = r ?: mtl_json_put(group, "ways", json_object_new_int64(division->ways[i]));
	r = r ?: put_text(group, "mask", mask_text(division, i, mask));
	r = r ?: put_misses(group, division, i);
	r = r ?: object_put_number(group, "weight", division->weights[i]);
	if (division->clusters)
		r = r
		            ?: mtl_json_put(group, "cluster",
		                       json_object_new_int64(division->cluster[i]));
	if (division->lines) {
		r = r ?: put_text(group, "resctrl_group", division->lines[i].group);
		r = r ?: put_text(group, "schemata", division->lines[i].schemata);
	}
	return r ?: put_text(group, "reason", reason);
}

static int put_gain(struct json_object *object, const char *key, const struct division_gain *gain)
{
	struct json_object *inner = json_object_new_object();
	int r = mtl_json_put(object, key, inner);

	r = r ?: object_put_number(inner, "gain", gain->gain);
	r = r ?: object_put_number(inner, "low", gain->least);
	return r ?: object_put_number(inner, "high", gain->most);
}

static int put_slowdowns(struct json_object *object, const struct division *division)
{
	struct json_object *inner = json_object_new_object();
	int r = mtl_json_put(object, "worst_slowdown", inner);

	r = r ?: object_put_number(inner, "total", division->chosen.worst);
	r = r ?: object_put_number(inner, "equal_share", division->equal.worst);
	return r ?: object_put_number(inner, "unpartitioned", division->whole.worst);
}

static int put_notes(struct json_object *object, const struct division *division)
{
	struct json_object *notes = json_object_new_array();
	char text[TEXT];
	int r = mtl_json_put(object, "notes", notes);

	for (size_t i = 0; r == 0 && i < division->list->n; i++)
		if (division_note(division, i, text, sizeof(text)))
			r = mtl_json_append(notes, json_object_new_string(text));
	return r;
}

static int put_rest(struct json_object *object, const struct division *division)
{
	char verdict[TEXT];
	int r = object_put_number(object, "total", division->chosen.total);

	division_verdict(division, verdict, sizeof(verdict));
	r = r ?: object_put_number(object, "equal_share", division->equal.total);
	r = r ?: object_put_number(object, "unpartitioned", division->whole.total);
	r = r ?: object_put_number(object, "regret_bound", division->regret);
	r = r ?: put_text(object, "unit", division->list->demands[0]->unit);
	r = r ?: put_text(object, "objective", objective_name(division->objective));
	r = r ?: object_put_number(object, "size_bytes", division->cache.bytes);
	r = r ?: mtl_json_put(object, "ways", json_object_new_int64(division->cache.ways));
	r = r
	            ?: mtl_json_put(object, "advised",
	                       json_object_new_boolean(division_is_better(division)));
	r = r ?: put_gain(object, "over_equal_share", &division->over_equal);
	r = r ?: put_gain(object, "over_unpartitioned", &division->over_whole);
	r = r ?: put_slowdowns(object, division);
	r = r ?: put_text(object, "verdict", verdict);
	return r ?: put_notes(object, division);
}

int division_to_json(const struct division *division, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	struct json_object *groups;
	int r;

	if (!object)
		return -ENOMEM;
	groups = json_object_new_array();
	r = mtl_json_put(object, "groups", groups);
	for (size_t i = 0; r == 0 && i < division->list->n; i++)
		r = put_group(groups, division, i);
	r = r ?: put_rest(object, division);
	if (r == 0)
		*ret_object = TAKE_PTR(object);
	return r;
}

void division_csv(FILE *file, const struct division *division)
{
	char mask[NUMBER_TEXT];

	fputs("name,ways,mask,misses,equal_share,unpartitioned\n", file);
	for (size_t i = 0; i < division->list->n; i++) {
		demand_csv_name(file, &division->list->operands[i]);
		fprintf(file, ",%u,%s,%.17g,%.17g,%.17g\n", division->ways[i],
		        mask_text(division, i, mask), division->chosen.misses[i],
		        division->equal.misses[i], division->whole.misses[i]);
	}
}
