/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PLOT_FILE_H
#define MTL_CLI_PLOT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* One curve: n points, sizes ascending and > 0. */
struct plot_series {
	const char *name;
	const double *sizes, *values;
	size_t n;
};

struct plot_request {
	const char *title, *size_title, *value_title;
	bool bytes; /* sizes are bytes: the axis has KiB, MiB */
	const struct plot_series *series;
	size_t n_series;
};

/* Does the name end in .svg, .png or .pdf? -EINVAL with a sentence. */
int plot_file_check(const char *path, char *ret_error, size_t error_size);

/* Draws the curves over the logarithm of size into a file of that kind, by gnuplot. The file is
 * either complete or as before. Negative errno, with one sentence in ret_error. */
int plot_file_write(
        const char *path, const struct plot_request *request, char *ret_error, size_t error_size);

#endif
