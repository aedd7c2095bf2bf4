/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_COMMAND_FIXTURE_H
#define MTL_TEST_COMMAND_FIXTURE_H

/* Commands of files: a directory to write them in, what a command prints and returns. Include
 * cmocka.h first. */

#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../cli/options.h"
#include "../../cli/object.h"
#include "cleanup.h"

#define OUTPUT 65536
#define FILES_MAX 16

typedef int command_function(const struct options *options, int n_operands, char **operands);

static char directory[32], output[OUTPUT], errors[OUTPUT];
static char paths[FILES_MAX][96];
static int n_paths;

static inline int files_setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/test-command-XXXXXX");
	n_paths = 0;
	return mkdtemp(directory) ? 0 : -1;
}

static inline int files_teardown(void **state)
{
	(void)state;
	for (int i = 0; i < n_paths; i++)
		unlink(paths[i]);
	return rmdir(directory);
}

static inline char *file_with(const char *name, const char *text)
{
	char *path = paths[n_paths++];
	FILE *file;

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	return path;
}

static inline void capture(int fd, FILE *file, int saved, char *ret_text)
{
	dup2(saved, fd);
	close(saved);
	rewind(file);
	ret_text[fread(ret_text, 1, OUTPUT - 1, file)] = '\0';
	fclose(file);
}

static inline int run_command(
        command_function *command, const struct options *options, int n, char **operands)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int saved_out = dup(STDOUT_FILENO), saved_err = dup(STDERR_FILENO), code;

	fflush(stdout);
	dup2(fileno(out), STDOUT_FILENO);
	dup2(fileno(err), STDERR_FILENO);
	code = command(options, n, operands);
	fflush(stdout);
	capture(STDERR_FILENO, err, saved_err, errors);
	capture(STDOUT_FILENO, out, saved_out, output);
	return code;
}

/* Options as from a command line, "--size=40"; NULL ends them. */
static inline struct options options_of(enum command_bit command, const char *const *words)
{
	struct options options;
	char *argv[16] = {(char *)"it"}, error[512];
	int argc = 1, first;

	while (*words)
		argv[argc++] = (char *)*words++;
	options_init(&options);
	first = options_parse(command, argc, argv, &options, error, sizeof(error));
	if (first < 0)
		fail_msg("%s", error);
	return options;
}

static inline bool is_said(const char *text, const char *words)
{
	if (strstr(text, words))
		return true;
	print_message("\"%s\" is not in: %s\n", words, text);
	return false;
}

/* --- curves */

/* As from a trace of 1000 accesses to lines of 1 byte, `distinct` of them; points "size:time:ratio"
 * between blanks, time "-": never. */
static inline void trace_text(const char *points, int distinct, char *ret_text, size_t size)
{
	char copy[2048], *rest = copy, *word;
	int at = snprintf(ret_text, size,
	        "{\"accesses\":1000,\"distinct\":%d,\"line_bytes\":1,\"points\":[", distinct);

	snprintf(copy, sizeof(copy), "%s", points);
	for (bool first = true; (word = strsep(&rest, " ")); first = false) {
		char *point_size = strsep(&word, ":"), *time = strsep(&word, ":");

		at += snprintf(ret_text + at, size - (size_t)at,
		        "%s{\"size_bytes\":%s,\"fill_time_accesses\":%s,\"miss_ratio\":%s}",
		        first ? "" : ",", point_size, *time == '-' ? "null" : time, word);
	}
	snprintf(ret_text + at, size - (size_t)at, "]}");
}

static inline char *trace_file(const char *name, const char *points, int distinct)
{
	char text[8192];

	trace_text(points, distinct, text, sizeof(text));
	return file_with(name, text);
}

/* As of a process that had half of the wall-clock time, which touches footprint bytes in 2 s of
 * CPU time, misses[i] times a second of it in (i + 1) x step bytes, more or less by width. */
struct live {
	int pid;
	double footprint, resolution, step, width;
	double misses[16];
	int n;
};

static inline void live_text(const struct live *live, char *ret_text, size_t size)
{
	int at = snprintf(ret_text, size,
	        "{\"pid\":%d,\"comm\":\"prog\",\"method\":\"residual\",\"rung\":\"watchpoints\","
	        "\"clock\":\"cpu\",\"window_seconds\":30,\"wall_seconds\":20,\"observations\":881,"
	        "\"effective_observations\":700,\"lost\":0,\"resident_bytes\":17825792,"
	        "\"footprint_bytes\":%.17g,\"footprint_window_seconds\":2,\"resolution_bytes\":"
	        "%.17g,\"resolution_seconds\":5e-05,\"cpu_seconds\":10,"
	        "\"accesses_per_second\":null,\"reference_bytes\":1048576,\"overhead\":{"
	        "\"target\":0.004,\"daemon\":null},\"note\":null,\"footprint\":[],\"points\":[",
	        live->pid, live->footprint, live->resolution);

	for (int i = 0; i < live->n; i++) {
		double bytes = live->step * (i + 1);

		at += snprintf(ret_text + at, size - (size_t)at,
		        "%s{\"size_bytes\":%.17g,\"fill_time_seconds\":", i ? "," : "", bytes);
		at += bytes < live->footprint ? snprintf(ret_text + at, size - (size_t)at, "%.17g",
		                                        2 * bytes / live->footprint)
		                              : snprintf(ret_text + at, size - (size_t)at, "null");
		at += snprintf(ret_text + at, size - (size_t)at,
		        ",\"misses_per_second\":%.17g,\"low\":%.17g,\"high\":%.17g,"
		        "\"miss_ratio\":null,\"relative_miss_ratio\":1,\"below_resolution\":false}",
		        live->misses[i], live->misses[i] * (1 - live->width),
		        live->misses[i] * (1 + live->width));
	}
	snprintf(ret_text + at, size - (size_t)at, "]}");
}

static inline char *live_file(const char *name, const struct live *live)
{
	char text[16384];

	live_text(live, text, sizeof(text));
	return file_with(name, text);
}

/* --- answers */

static inline struct json_object *answer(void)
{
	struct json_object *object = json_tokener_parse(output);

	if (!object)
		fail_msg("no JSON: %s%s", output, errors);
	return object;
}

static inline struct json_object *element(struct json_object *object, const char *key, size_t i)
{
	struct json_object *array = NULL;

	assert_true(json_object_object_get_ex(object, key, &array));
	assert_true(i < json_object_array_length(array));
	return json_object_array_get_idx(array, i);
}

#endif
