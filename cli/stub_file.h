/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_FILE_H
#define MTL_CLI_STUB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUB_LINE_BYTES 64
#define STUB_ROWS_MAX 1000000

/* How a phase goes through its working set. */
enum stub_pattern {
	STUB_REST,   /* there is no phase */
	STUB_SCAN,   /* every word in order */
	STUB_STRIDE, /* a word every stride_bytes, in order */
	STUB_RANDOM, /* a word of a line, each as likely as another; as many as there are lines */
	STUB_CHASE,  /* a word of every line, in one random order, each telling where the next is */
};

/* A point: after `seconds`, in which the accesses of its phase are made, stack and heap change. */
struct stub_row {
	size_t place; /* line of a CSV file, index among the points of a JSON file */
	double seconds;
	int64_t stack_bytes, heap_bytes; /* changes */
	enum stub_pattern pattern;
	uint64_t working_set_bytes; /* a multiple of a line */
	uint64_t stride_bytes;      /* a multiple of 8 */
	uint64_t repeats;           /* passes */
};

struct stub_file {
	bool json;
	struct stub_row *rows;
	size_t n; /* at least 1 */
};

/*
 * A data file, CSV or JSON (docs/PROTOCOL.md). Each row by itself is in order; stub_file_check()
 * looks at all of them. -EBADMSG with the line in ret_error, or what the file system said.
 */
int stub_file_read(
        const char *path, struct stub_file *ret_file, char *ret_error, size_t error_size);
/* The same of a text with a NUL byte behind it. */
int stub_file_parse(const char *text, size_t length, struct stub_file *ret_file, char *ret_error,
        size_t error_size);
/* One more row, as it is. -ENOMEM. */
int stub_file_add(struct stub_file *file, const struct stub_row *row);
void stub_file_done(struct stub_file *file);

/* "line 3" or "points[2]" */
char *stub_place_text(const struct stub_file *file, size_t row, char *ret_text, size_t size);
#define STUB_PLACE_TEXT 32

/* What a file needs, and what there is. */
struct stub_needs {
	uint64_t stack_bytes, heap_bytes; /* at most */
	uint64_t working_set_bytes;       /* of all phases */
	double seconds;                   /* of all delays */
};
struct stub_limits {
	uint64_t stack_bytes, memory_bytes;
};

/* Could the rows be run, `repeat` times over? -ERANGE with the line in ret_error. */
int stub_file_check(const struct stub_file *file, uint64_t repeat, const struct stub_limits *limits,
        struct stub_needs *ret_needs, char *ret_error, size_t error_size);

#endif
