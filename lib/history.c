/* SPDX-License-Identifier: MIT */
/*
 * Histories: what is known of a process at chosen sizes over time, and its JSON: {"pid", "comm",
 * "window_seconds", "sizes", "entries": [{..., "footprint_bytes", ..., "misses": [...]}]}, misses
 * in the order of sizes. What is not known is null, and the reason says why.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cleanup.h"
#include "history.h"
#include "json_fields.h"

DEFINE_CLEANUP(struct mtl_history, mtl_history_free)

/* A document with more of them is no history. */
#define SIZES_MAX 256
#define ENTRIES_MAX 10000
/* Sizes that differ by less are the same. */
#define SAME 1e-9

#define N(array) (sizeof(array) / sizeof(*(array)))
#define ENTRY struct mtl_history_entry
#define VALUE struct mtl_history_value
#define UNKNOWN .nullable = true, .null_means = NAN
#define FIELD(holder, its_name, member, ...)                                                       \
	{                                                                                          \
		.name = its_name, .offset = offsetof(holder, member),                              \
		.size = sizeof(((holder *)0)->member), __VA_ARGS__                                 \
	}

static const struct json_field history_fields[] = {
        FIELD(struct mtl_history, "pid", pid, .type = FIELD_PID),
        FIELD(struct mtl_history, "comm", comm, .type = FIELD_STRING),
        FIELD(struct mtl_history, "window_seconds", window_seconds, .type = FIELD_DOUBLE),
};

static const struct json_field entry_fields[] = {
        FIELD(ENTRY, "seconds_ago", seconds_ago, .type = FIELD_DOUBLE),
        FIELD(ENTRY, "wall_seconds", wall_seconds, .type = FIELD_DOUBLE),
        FIELD(ENTRY, "cpu_seconds", cpu_seconds, .type = FIELD_DOUBLE),
        FIELD(ENTRY, "changed", changed, .type = FIELD_BOOL),
        FIELD(ENTRY, "reason", reason, .type = FIELD_STRING, .nullable = true),
        FIELD(ENTRY, "footprint_bytes", footprint.value, UNKNOWN),
        FIELD(ENTRY, "footprint_low", footprint.low, UNKNOWN),
        FIELD(ENTRY, "footprint_high", footprint.high, UNKNOWN),
};

static const struct json_field value_fields[] = {
        FIELD(VALUE, "misses_per_second", value, UNKNOWN),
        FIELD(VALUE, "low", low, UNKNOWN),
        FIELD(VALUE, "high", high, UNKNOWN),
};

static const struct mtl_history_value unknown = {NAN, NAN, NAN};

int mtl_history_new(size_t n_sizes, size_t n_entries, struct mtl_history **ret_history)
{
	_cleanup_(mtl_history_freep) struct mtl_history *history = calloc(1, sizeof(*history));
	size_t n = n_sizes * n_entries;

	if (!history)
		return -ENOMEM;
	history->sizes = calloc(n_sizes + 1, sizeof(*history->sizes));
	history->entries = calloc(n_entries + 1, sizeof(*history->entries));
	history->values = calloc(n + 1, sizeof(*history->values));
	if (!history->sizes || !history->entries || !history->values)
		return -ENOMEM;
	history->n_sizes = n_sizes;
	history->n_entries = n_entries;
	for (size_t i = 0; i < n; i++)
		history->values[i] = unknown;
	for (size_t i = 0; i < n_entries; i++) {
		history->entries[i].footprint = unknown;
		history->entries[i].misses = &history->values[i * n_sizes];
	}
	*ret_history = TAKE_PTR(history);
	return 0;
}

struct mtl_history *mtl_history_free(struct mtl_history *history)
{
	if (!history)
		return NULL;
	free(history->sizes);
	free(history->entries);
	free(history->values);
	free(history);
	return NULL;
}

struct mtl_history_value mtl_history_between(
        const double *sizes, const struct mtl_history_value *misses, size_t n, double size_bytes)
{
	size_t i = 0;

	while (i < n && sizes[i] < size_bytes * (1 - SAME))
		i++;
	if (i == n)
		return unknown;
	if (sizes[i] <= size_bytes * (1 + SAME))
		return misses[i];
	if (i == 0 || isnan(misses[i - 1].value) || isnan(misses[i].value))
		return unknown;
	double share = log(size_bytes / sizes[i - 1]) / log(sizes[i] / sizes[i - 1]);

	return (struct mtl_history_value){
	        .value = (1 - share) * misses[i - 1].value + share * misses[i].value,
	        .low = misses[i].low,
	        .high = misses[i - 1].high,
	};
}

/* --- JSON */

static int put_fields(struct json_object *array, const struct json_field *fields, size_t n,
        const void *from, struct json_object **ret_item)
{
	struct json_object *item = json_object_new_object();
	int r = mtl_json_append(array, item);

	r = r ?: mtl_json_fields_write(item, fields, n, from);
	if (r == 0 && ret_item)
		*ret_item = item;
	return r;
}

static int put_entry(struct json_object *array, const struct mtl_history_entry *entry, size_t n)
{
	struct json_object *item = NULL, *misses;
	int r = put_fields(array, entry_fields, N(entry_fields), entry, &item);

	if (r < 0)
		return r;
	misses = json_object_new_array();
	r = mtl_json_put(item, "misses", misses);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = put_fields(misses, value_fields, N(value_fields), &entry->misses[i], NULL);
	return r;
}

int mtl_history_to_json(const struct mtl_history *history, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	struct json_object *sizes = json_object_new_array(), *entries;
	int r = object ? mtl_json_put(object, "sizes", sizes) : -ENOMEM;

	r = r ?: mtl_json_fields_write(object, history_fields, N(history_fields), history);
	for (size_t i = 0; r == 0 && i < history->n_sizes; i++)
		r = mtl_json_append(sizes, mtl_json_number_new(history->sizes[i]));
	if (r < 0)
		return r;
	entries = json_object_new_array();
	r = mtl_json_put(object, "entries", entries);
	for (size_t i = 0; r == 0 && i < history->n_entries; i++)
		r = put_entry(entries, &history->entries[i], history->n_sizes);
	if (r < 0)
		return r;
	*ret_object = TAKE_PTR(object);
	return 0;
}

static int read_sizes(
        struct json_object *array, const struct json_place *place, struct mtl_history *history)
{
	char name[JSON_PATH_SIZE];

	for (size_t i = 0; i < history->n_sizes; i++) {
		snprintf(name, sizeof(name), "sizes[%zu]", i);
		if (mtl_json_read_double(
		            json_object_array_get_idx(array, i), 1, &history->sizes[i]) < 0)
			return mtl_json_refuse(place, name, "expected a size");
	}
	return 0;
}

static int read_entry(struct json_object *object, const struct json_place *place, const char *path,
        size_t n, struct mtl_history_entry *entry)
{
	struct mtl_history_value *misses = entry->misses;
	struct json_place inside = *place;
	struct json_object *array;
	char deeper[2 * JSON_PATH_SIZE];
	int r;

	inside.path = path;
	r = mtl_json_fields_read(object, entry_fields, N(entry_fields), entry, &inside);
	r = r ?: mtl_json_member(object, "misses", json_type_array, &inside, &array);
	if (r < 0)
		return r;
	if (json_object_array_length(array) != n)
		return mtl_json_refuse(&inside, "misses", "expected one for each size");
	for (size_t i = 0; r == 0 && i < n; i++) {
		snprintf(deeper, sizeof(deeper), "%s.misses[%zu]", path, i);
		inside.path = deeper;
		r = mtl_json_fields_read(json_object_array_get_idx(array, i), value_fields,
		        N(value_fields), &misses[i], &inside);
	}
	return r;
}

static int read_history(struct json_object *object, struct json_object *sizes,
        struct json_object *entries, const struct json_place *place, struct mtl_history *history)
{
	char path[JSON_PATH_SIZE];
	int r = mtl_json_fields_read(object, history_fields, N(history_fields), history, place);

	r = r ?: read_sizes(sizes, place, history);
	for (size_t i = 0; r == 0 && i < history->n_entries; i++) {
		snprintf(path, sizeof(path), "entries[%zu]", i);
		r = read_entry(json_object_array_get_idx(entries, i), place, path, history->n_sizes,
		        &history->entries[i]);
	}
	return r;
}

int mtl_history_from_json(struct json_object *object, struct mtl_history **ret_history,
        char *ret_error, size_t error_size)
{
	const struct json_place place = {ret_error, error_size, ""};
	_cleanup_(mtl_history_freep) struct mtl_history *history = NULL;
	struct json_object *sizes, *entries;
	int r = mtl_json_member(object, "sizes", json_type_array, &place, &sizes);

	r = r ?: mtl_json_member(object, "entries", json_type_array, &place, &entries);
	if (r < 0)
		return r;
	if (json_object_array_length(sizes) > SIZES_MAX ||
	        json_object_array_length(entries) > ENTRIES_MAX)
		return mtl_json_refuse(&place, "entries", "too many");
	r = mtl_history_new(
	        json_object_array_length(sizes), json_object_array_length(entries), &history);
	r = r ?: read_history(object, sizes, entries, &place, history);
	if (r < 0)
		return r;
	*ret_history = TAKE_PTR(history);
	return 0;
}
