/* SPDX-License-Identifier: MIT */
/*
 * What an operand is and what there is to know of it, apart from its demand: notes, one sentence a
 * line, and the members of objects that all answers have in common (docs/PROTOCOL.md, Share and
 * Partition).
 */

#include "demand_list.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "json_fields.h"

#define NOTE 640

static const char *const kinds[] = {
        [DEMAND_FILE] = "curve",
        [DEMAND_PROCESS] = "process",
        [DEMAND_CGROUP] = "cgroup",
        [DEMAND_RESCTRL] = "resctrl",
};

int mtl_demand_operand_note(struct demand_operand *operand, const char *format, ...)
{
	size_t length = operand->notes ? strlen(operand->notes) : 0;
	char *larger = realloc(operand->notes, length + NOTE + 2);
	va_list arguments;
	int n;

	if (!larger)
		return -ENOMEM;
	operand->notes = larger;
	if (length)
		larger[length++] = '\n';
	va_start(arguments, format);
	n = vsnprintf(larger + length, NOTE, format, arguments);
	va_end(arguments);
	for (char *c = larger + length; n >= 0 && (c = strchr(c, '\n'));)
		*c = ' ';
	return 0;
}

bool mtl_demand_next_note(
        const struct demand_operand *operand, const char **at, char *ret_text, size_t size)
{
	const char *start = *at ?: operand->notes;

	if (!start || !*start)
		return false;
	snprintf(ret_text, size, "%.*s", (int)strcspn(start, "\n"), start);
	*at = start + strcspn(start, "\n");
	*at += **at == '\n';
	return true;
}

int mtl_demand_operand_put_notes(struct json_object *array, const struct demand_operand *operand)
{
	const char *at = NULL;
	char text[NOTE];
	int r = 0;

	while (r == 0 && mtl_demand_next_note(operand, &at, text, sizeof(text)))
		r = mtl_json_append(array, mtl_json_text_new(text));
	return r;
}

static int put_count(struct json_object *object, const char *key, size_t count)
{
	return mtl_json_put(object, key, json_object_new_int64((int64_t)count));
}

static int put_members(struct json_object *object, const struct demand_operand *operand)
{
	const struct demand_members *members = &operand->members;
	int r = mtl_json_put(object, "kind", json_object_new_string(kinds[operand->kind]));

	r = r ?: put_count(object, "processes", members->processes);

	r = r ?: put_count(object, "processes_without_curve", members->without);
	r = r ?: put_count(object, "processes_idle", members->idle);
	r = r ?: mtl_json_put_number(object, "cpu_covered", members->cpu_covered);
	return r ?: mtl_json_put_number(object, "resident_covered", members->resident_covered);
}

int mtl_demand_operand_put(struct json_object *object, const struct demand_operand *operand)
{
	int r = mtl_json_put(object, "name", mtl_json_text_new(operand->name));

	if (operand->pid)
		r = r ?: mtl_json_put(object, "pid", json_object_new_int(operand->pid));
	return r || !operand->members.processes ? r : put_members(object, operand);
}
