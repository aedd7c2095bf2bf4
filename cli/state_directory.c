/* SPDX-License-Identifier: MIT */
/*
 * The state directory: a JSON object a file, marked with the machine it was measured on.
 *
 * What does not fit (another CPU, kernel or mtl, no JSON, no object) is as if it were not there:
 * it will be measured again.
 */

#include "state_directory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "json_fields.h"
#include "json_file.h"
#include "machine.h"
#include "regular_file.h"

#ifndef MTL_VERSION
#define MTL_VERSION "unknown"
#endif

#define MACHINE_TEXT 256

static const char *or_else(const char *text, const char *unknown)
{
	return *text ? text : unknown;
}

void state_machine(char *ret_text, size_t size)
{
	struct cpu_identity cpu = machine_identity(NULL);
	struct utsname kernel = {.release = "?"};

	uname(&kernel);
	snprintf(ret_text, size, "%s, family %s model %s stepping %s, Linux %s, mtl %s",
	        or_else(cpu.name, "unknown CPU"), or_else(cpu.family, "?"), or_else(cpu.model, "?"),
	        or_else(cpu.stepping, "?"), kernel.release, MTL_VERSION);
}

int state_path(const char *name, char *ret_path, size_t size)
{
	char path[PATH_MAX];
	int r = machine_state_directory(NULL, path, sizeof(path)), n;

	if (r < 0)
		return r;
	n = snprintf(ret_path, size, "%s/%s", path, name);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* All directories above the last name. */
static int make_directories(const char *path)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

static int write_object(const char *path, struct json_object *object)
{
	_cleanup_fclose_ FILE *file = fopen(path, "we");

	if (!file)
		return -errno;
	fprintf(file, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_SPACED));
	return fflush(file) == 0 ? 0 : -errno;
}

int state_save(const char *name, struct json_object *object, char *ret_path)
{
	char machine[MACHINE_TEXT], unfinished[PATH_MAX + 16];
	int r;

	snprintf(ret_path, PATH_MAX, "%s", name);
	r = state_path(name, ret_path, PATH_MAX);
	if (r < 0)
		return r;
	state_machine(machine, sizeof(machine));
	r = mtl_json_put(object, "machine", json_object_new_string(machine));
	r = r ?: make_directories(ret_path);
	if (r < 0)
		return r;
	snprintf(unfinished, sizeof(unfinished), "%s.%d", ret_path, (int)getpid());
	r = write_object(unfinished, object);
	if (r == 0 && rename(unfinished, ret_path) < 0)
		r = -errno;
	if (r < 0)
		unlink(unfinished);
	return r;
}

int state_load(const char *name, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = NULL;
	char path[PATH_MAX], machine[MACHINE_TEXT], error[128];
	struct json_object *member;
	int r = state_path(name, path, sizeof(path));

	if (r == 0 && !regular_file_is(path))
		r = -ENOENT;
	r = r ?: json_file_read(path, &object, error, sizeof(error));
	if (r < 0)
		return -ENOENT;
	state_machine(machine, sizeof(machine));
	if (!json_object_is_type(object, json_type_object) ||
	        !json_object_object_get_ex(object, "machine", &member) ||
	        strcmp(json_object_get_string(member) ?: "", machine) != 0)
		return -ENOENT;
	*ret_object = TAKE_PTR(object);
	return 0;
}
