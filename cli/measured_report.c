/* SPDX-License-Identifier: MIT */
/*
 * What was measured beside what is predicted, as a table with notes and as JSON. A miss moves a
 * line, so misses/s x 64 B stand beside bytes/s; what is measured has prefetches and write-backs in
 * it, too.
 */

#include "measured.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "json_fields.h"
#include "size.h"
#include "table.h"

#define LINE_BYTES 64
#define NAME 40
#define NOTE (RESCTRL_ERROR + 80)

/* "1.2M", "unknown" */
static const char *size_cell(double bytes, const char *unit, char ret_text[NUMBER_TEXT + 8])
{
	char number[NUMBER_TEXT];

	if (isnan(bytes))
		return "unknown";
	snprintf(ret_text, NUMBER_TEXT + 8, "%s%s", size_format(bytes, number), unit);
	return ret_text;
}

static int add_row(struct table *table, const struct measurements *measurements,
        const struct demand_list *list, const struct measured_beside *beside, size_t i)
{
	const struct measured *measured = &measurements->of[i];
	char name[NAME], texts[4][NUMBER_TEXT + 8];
	const char *cells[] = {show_name(list->operands[i].name, name, sizeof(name)),
	        size_cell(measured->occupancy, "", texts[0]),
	        size_cell(beside->occupancy[i], "", texts[1]),
	        size_cell(measured->bytes_per_second, "/s", texts[2]),
	        size_cell(beside->misses[i] * LINE_BYTES, "/s", texts[3])};

	return measured->tried ? table_add(table, cells, false) : 0;
}

static int print_table(FILE *file, const struct measurements *measurements,
        const struct demand_list *list, const struct measured_beside *beside,
        const struct terminal *terminal)
{
	static const struct table_column columns[] = {{"measured", LEFT, 0}, {"occupies", RIGHT, 0},
	        {"predicted", RIGHT, 0}, {"moves", RIGHT, 0}, {"predicted", RIGHT, 0}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(columns, isnan(measurements->seconds) ? 3 : 5, terminal, &table);

	for (size_t i = 0; r == 0 && i < list->n; i++)
		r = add_row(table, measurements, list, beside, i);
	return r ?: table_print(table, file);
}

static size_t others(const struct measured *measured)
{
	size_t n = 0;

	for (size_t i = 0; i < measured->homes.n; i++)
		n += measured->homes.homes[i].others;
	return n;
}

static void print_notes(FILE *file, const struct measured *measured,
        const struct demand_operand *operand, const struct terminal *terminal)
{
	const char *group = measured->homes.n ? measured->homes.homes[0].group : "";
	char name[NAME], note[NOTE];

	show_name(operand->name, name, sizeof(name));
	if (*measured->why) {
		snprintf(note, sizeof(note), "of %s not all can be measured: %s", name,
		        measured->why);
		note_print(file, terminal, note);
	}
	if (!others(measured))
		return;
	snprintf(note, sizeof(note),
	        "%s is in %s of resctrl with %zu other process%s: what is measured is of all of "
	        "them",
	        name,
	        measured->homes.n > 1 ? "several groups"
	        : *group              ? group
	                              : "the default group",
	        others(measured), others(measured) == 1 ? "" : "es");
	note_print(file, terminal, note);
}

int measured_report(FILE *file, const struct measurements *measurements,
        const struct demand_list *list, const struct measured_beside *beside,
        const struct terminal *terminal)
{
	char seconds[NUMBER_TEXT], heading[200] = "Measured by resctrl";
	size_t caches = 0;
	int r;

	if (!measurements->of)
		return 0;
	for (size_t i = 0; i < list->n; i++)
		caches = measurements->of[i].caches > caches ? measurements->of[i].caches : caches;
	if (!isnan(measurements->seconds))
		text_append(heading, sizeof(heading), " within %s",
		        seconds_format(measurements->seconds, seconds));
	if (caches > 1)
		text_append(heading, sizeof(heading), ", in %zu caches together", caches);
	text_append(heading, sizeof(heading), "; predicted of one cache that all share:");
	wrap_words(heading, terminal->width - 1);
	fprintf(file, "\n%s\n\n", heading);
	r = print_table(file, measurements, list, beside, terminal);
	for (size_t i = 0; r == 0 && i < list->n; i++)
		if (measurements->of[i].tried)
			print_notes(file, &measurements->of[i], &list->operands[i], terminal);
	return r;
}

/* --- for programs */

static int put_groups(struct json_object *object, const struct measured *measured)
{
	struct json_object *array = json_object_new_array();
	int r = mtl_json_put(object, "groups", array);

	for (size_t i = 0; r == 0 && i < measured->homes.n; i++)
		r = mtl_json_append(array, mtl_json_text_new(measured->homes.homes[i].group));
	return r;
}

static int put_one(struct json_object *program, const struct measurements *measurements,
        const struct measured_beside *beside, size_t i)
{
	const struct measured *measured = &measurements->of[i];
	struct json_object *object = json_object_new_object();
	int r = mtl_json_put(program, "measured", object);

	r = r ?: mtl_json_put_number(object, "seconds", measurements->seconds);
	r = r ?: mtl_json_put_number(object, "occupancy_bytes", measured->occupancy);
	r = r ?: mtl_json_put_number(object, "bytes_per_second", measured->bytes_per_second);
	r = r ?: mtl_json_put_number(object, "local_bytes_per_second", measured->local_per_second);
	r = r ?: mtl_json_put_number(object, "predicted_occupancy_bytes", beside->occupancy[i]);
	r = r
	            ?: mtl_json_put_number(object, "predicted_bytes_per_second",
	                       beside->misses[i] * LINE_BYTES);
	r = r ?: mtl_json_put(object, "caches", json_object_new_int64((int64_t)measured->caches));
	r = r ?: put_groups(object, measured);
	r = r
	            ?: mtl_json_put(object, "other_processes",
	                       json_object_new_int64((int64_t)others(measured)));
	if (*measured->why)
		r = r ?: mtl_json_put(object, "unknown", mtl_json_text_new(measured->why));
	return r;
}

int measured_put(struct json_object *object, const char *key,
        const struct measurements *measurements, const struct measured_beside *beside)
{
	struct json_object *array = NULL;
	int r = 0;

	if (!measurements->of || !json_object_object_get_ex(object, key, &array))
		return 0;
	for (size_t i = 0; r == 0 && i < measurements->n; i++)
		if (measurements->of[i].tried)
			r = put_one(json_object_array_get_idx(array, i), measurements, beside, i);
	return r;
}
