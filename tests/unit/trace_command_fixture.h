/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_TRACE_COMMAND_FIXTURE_H
#define MTL_TEST_TRACE_COMMAND_FIXTURE_H

/*
 * `mtl trace` inside the test: a command line of words, files below fake_root, and what came out.
 * And LRU by the book, to compare with: a list that is searched from the front.
 */

#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../cli/options.h"
#include "cleanup.h"
#include "fake_root.h"

#define SAID 65536
#define WORDS_MAX 24

struct said {
	int status;
	char output[SAID], errors[SAID];
};

static inline FILE *said_redirect(int fd, int *ret_saved)
{
	FILE *file = tmpfile();

	*ret_saved = dup(fd);
	dup2(fileno(file), fd);
	return file;
}

static inline void said_restore(int fd, int saved, FILE *file, char *ret_text)
{
	dup2(saved, fd);
	close(saved);
	rewind(file);
	ret_text[fread(ret_text, 1, SAID - 1, file)] = '\0';
	fclose(file);
}

static inline int trace_command(int argc, char **argv)
{
	struct options options;
	char error[512];
	int first, status;

	options_init(&options);
	options.root = fake_root;
	first = options_parse(COMMAND_TRACE, argc, argv, &options, error, sizeof(error));
	status = first < 0 ? complain(MTL_USAGE, "%s", error)
	                   : command_trace(&options, argc - first, argv + first);
	options_done(&options);
	return status;
}

/* "--json a.trace": words are parted by blanks; the last one is a file below fake_root. */
static inline struct said *say_trace(const char *words)
{
	static struct said said;
	char line[1024], file[512], *rest = line, *word, name[] = "trace";
	char *argv[WORDS_MAX + 2] = {name};
	int argc = 1, saved_out, saved_err;
	FILE *out, *err;

	snprintf(line, sizeof(line), "%s", words);
	while ((word = strsep(&rest, " ")) && argc < WORDS_MAX)
		argv[argc++] = word;
	if (strcmp(argv[argc - 1], "-") != 0) {
		snprintf(file, sizeof(file), "%s", fake_path(argv[argc - 1]));
		argv[argc - 1] = file;
	}
	fflush(stdout);
	out = said_redirect(STDOUT_FILENO, &saved_out);
	err = said_redirect(STDERR_FILENO, &saved_err);
	said.status = trace_command(argc, argv);
	fflush(stdout);
	said_restore(STDERR_FILENO, saved_err, err, said.errors);
	said_restore(STDOUT_FILENO, saved_out, out, said.output);
	return &said;
}

static inline double json_number(struct json_object *object, const char *name)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, name, &value))
		return -1;
	return value ? json_object_get_double(value) : INFINITY;
}

/* --- LRU by the book */

struct lru {
	uint64_t *lines; /* most recent first */
	size_t n, room;
};

/* The reuse distance; 0: first access. Beyond `room` lines the last is lost. */
static inline size_t lru_access(struct lru *lru, uint64_t line)
{
	size_t at = 0;

	while (at < lru->n && lru->lines[at] != line)
		at++;
	size_t distance = at < lru->n ? at + 1 : 0;

	if (!distance && lru->n < lru->room)
		lru->n++;
	if (at >= lru->n)
		at = lru->n - 1;
	memmove(lru->lines + 1, lru->lines, at * sizeof(*lru->lines));
	lru->lines[0] = line;
	return distance;
}

#endif
