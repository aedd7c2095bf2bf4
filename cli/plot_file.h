/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PLOT_FILE_H
#define MTL_CLI_PLOT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* One curve: n sizes, ascending and > 0, each with the value from there to the next; and points on
 * it that are marked. */
struct plot_series {
	const char *name;
	const double *sizes, *values;
	size_t n;
	bool straight;            /* lines from point to point, not steps */
	const double *low, *high; /* interval around each value, drawn as a band; NULL: none */
	size_t n_faint;           /* so many of the first values are not to be relied on */
	const double *marked_sizes, *marked_values;
	size_t n_marked;
	unsigned colour; /* number of it, that others may have too; 0: one of its own */
	bool dashed;     /* of those with a colour given */
};

/* A point with a name beside the curves. */
struct plot_label {
	double size, value;
	char name[32]; /* without blanks */
};

/* A size that has a name: a line from top to bottom. */
struct plot_mark {
	double size;
	char name[16];
};

struct plot_request {
	const char *title, *size_title, *value_title;
	bool log_values;
	bool linear; /* sizes are not sizes but times, or the like: no logarithm, gaps where values
	                are NAN */
	bool bytes;  /* sizes are bytes: the axis has K, M */
	const struct plot_series *series;
	size_t n_series;
	const struct plot_label *labels;
	size_t n_labels;
	const char *labels_title;
	const struct plot_mark *marks;
	size_t n_marks;
	double seconds; /* for gnuplot to draw it in; 0: a minute */
};

/* Does the name end in .svg, .png or .pdf? -EINVAL with a sentence. */
int plot_file_check(const char *path, char *ret_error, size_t error_size);

/* Draws the curves over the logarithm of size into a file of that kind, by gnuplot. The file is
 * either complete or as before; where the path is a symbolic link, the file it leads to. Negative
 * errno, with one sentence in ret_error. */
int plot_file_write(
        const char *path, const struct plot_request *request, char *ret_error, size_t error_size);

#endif
