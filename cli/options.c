/* SPDX-License-Identifier: MIT */
/*
 * Options of all commands, in one table.
 *
 * A row names the option, the commands it belongs to, the field of struct options it sets and the
 * parser that sets it; getopt_long() tables, error messages and help texts are all made from the
 * rows, so that they cannot disagree. Options that exclude each other are a second table.
 */

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "size.h"

#define DEFAULT_SOCKET "/run/mtld/io.mtld"
#define LIST_MAX 4096
#define CURVES (COMMAND_RUN | COMMAND_CURVE)
#define TABLES (CURVES | COMMAND_LIST | COMMAND_STATUS | COMMAND_DOCTOR)

typedef int (*parse_function)(const char *text, void *field, char *ret_error, size_t error_size);

struct row {
	const char *name;
	const char *argument; /* NULL: a flag */
	const char *help;
	int commands;
	parse_function parse;
	size_t offset;
};

struct conflict {
	const char *one, *other, *why;
};

static int parse_flag(const char *text, void *field, char *ret_error, size_t error_size)
{
	(void)text, (void)ret_error, (void)error_size;
	*(bool *)field = true;
	return 0;
}

static int parse_text(const char *text, void *field, char *ret_error, size_t error_size)
{
	if (!*text) {
		snprintf(ret_error, error_size, "an empty name is not accepted");
		return -EINVAL;
	}
	*(const char **)field = text;
	return 0;
}

static int parse_size(const char *text, void *field, char *ret_error, size_t error_size)
{
	return size_parse(text, field, ret_error, error_size);
}

static int parse_seconds(const char *text, void *field, char *ret_error, size_t error_size)
{
	return seconds_parse(text, field, ret_error, error_size);
}

static int parse_duration(const char *text, void *field, char *ret_error, size_t error_size)
{
	double seconds;
	int r = seconds_parse(text, &seconds, ret_error, error_size);

	if (r < 0)
		return r;
	if (seconds <= 0) {
		snprintf(
		        ret_error, error_size, "'%s' is too short: give more than 0 seconds", text);
		return -EINVAL;
	}
	*(double *)field = seconds;
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort_unique(struct number_list *list)
{
	size_t kept = 0;

	qsort(list->values, list->n, sizeof(double), compare_numbers);
	for (size_t i = 0; i < list->n; i++) {
		if (kept == 0 || list->values[i] != list->values[kept - 1])
			list->values[kept++] = list->values[i];
	}
	list->n = kept;
}

static size_t count_items(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == ',';
	return n;
}

static int fill_list(struct number_list *list, char *text, parse_function item, char *ret_error,
        size_t error_size)
{
	char *token;

	while ((token = strsep(&text, ","))) {
		token += strspn(token, " ");
		int r = item(token, &list->values[list->n], ret_error, error_size);

		if (r < 0)
			return r;
		list->n++;
	}
	return 0;
}

static int parse_list(const char *text, struct number_list *ret_list, parse_function item,
        char *ret_error, size_t error_size)
{
	_cleanup_free_ char *copy = strdup(text);
	_cleanup_free_ double *values = NULL;
	struct number_list list = {0};
	size_t n = count_items(text);
	int r;

	if (n > LIST_MAX) {
		snprintf(ret_error, error_size, "%zu items are too many: give at most %d", n,
		        LIST_MAX);
		return -EINVAL;
	}
	list.values = values = calloc(n, sizeof(double));
	if (!copy || !values) {
		snprintf(ret_error, error_size, "out of memory");
		return -ENOMEM;
	}
	r = fill_list(&list, copy, item, ret_error, error_size);
	if (r < 0)
		return r;
	sort_unique(&list);
	free(ret_list->values);
	*ret_list = list;
	TAKE_PTR(values);
	return 0;
}

static int parse_sizes(const char *text, void *field, char *ret_error, size_t error_size)
{
	return parse_list(text, field, parse_size, ret_error, error_size);
}

static int parse_windows(const char *text, void *field, char *ret_error, size_t error_size)
{
	return parse_list(text, field, parse_duration, ret_error, error_size);
}

#define FIELD(name) offsetof(struct options, name)

static const struct row rows[] = {
        {"socket", "PATH", "where mtld listens (or MTL_SOCKET; default " DEFAULT_SOCKET ")",
                COMMAND_ANY, parse_text, FIELD(socket)},
        {"root", "DIR", "take /proc and /sys from below DIR", COMMAND_ANY, parse_text, FIELD(root)},
        {"help", NULL, "show this help", COMMAND_ANY, parse_flag, FIELD(help)},
        {"version", NULL, "show the version", COMMAND_ANY, parse_flag, FIELD(version)},
        {"json", NULL, "one JSON object on standard output and nothing else", TABLES, parse_flag,
                FIELD(json)},
        {"csv", NULL, "comma-separated values, a header line first", CURVES, parse_flag,
                FIELD(csv)},
        {"sizes", "LIST", "cache sizes to report, such as 512K,1.5M,8M", CURVES, parse_sizes,
                FIELD(sizes)},
        {"windows", "LIST", "windows of CPU time to report the footprint at, such as 1ms,0.1s",
                CURVES, parse_windows, FIELD(windows)},
        {"reference", "SIZE", "size that relative miss ratios refer to (default: the L2 cache)",
                CURVES, parse_size, FIELD(reference)},
        {"record", "FILE", "save the observations, for `mtl curve --from FILE`", CURVES, parse_text,
                FIELD(record)},
        {"duration", "S", "end the command after S seconds (default: when it ends by itself)",
                COMMAND_RUN, parse_duration, FIELD(duration)},
        {"verbose", NULL, "show what mtld says", COMMAND_RUN | COMMAND_DOCTOR, parse_flag,
                FIELD(verbose)},
        {"watch", NULL, "go on, with a new curve about once a second", COMMAND_CURVE, parse_flag,
                FIELD(watch)},
        {"from", "FILE", "estimate from saved observations, without mtld", COMMAND_CURVE,
                parse_text, FIELD(from)},
        {"wait", "S", "how long to wait for enough observations (default 10)", COMMAND_CURVE,
                parse_seconds, FIELD(wait)},
        {"idle", "S", "forget the process when nobody asked for it for S seconds (default: never)",
                COMMAND_TRACK, parse_seconds, FIELD(idle)},
};

static const struct conflict conflicts[] = {
        {"json", "csv", "choose one of them"},
        {"csv", "watch", "use --json for a stream"},
        {"record", "watch", "record without --watch"},
        {"record", "from", "FILE is the record already"},
        {"watch", "from", "a record does not change"},
        {"wait", "from", "a record does not grow"},
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

void options_init(struct options *ret_options)
{
	const char *socket = getenv("MTL_SOCKET");

	*ret_options = (struct options){
	        .socket = socket && *socket ? socket : DEFAULT_SOCKET,
	        .reference = NAN,
	        .duration = NAN,
	        .wait = NAN,
	        .idle = NAN,
	};
}

void options_done(struct options *options)
{
	free(options->sizes.values);
	free(options->windows.values);
	options->sizes = options->windows = (struct number_list){0};
}

static size_t row_index(const char *name)
{
	size_t i = 0;

	while (strcmp(rows[i].name, name) != 0)
		i++;
	return i;
}

/* getopt_long() returns 256 + index of the row. */
static void fill_getopt(enum command_bit command, struct option *ret_options)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (!(rows[i].commands & command))
			continue;
		*ret_options++ = (struct option){
		        .name = rows[i].name,
		        .has_arg = rows[i].argument ? required_argument : no_argument,
		        .val = 256 + (int)i,
		};
	}
	*ret_options = (struct option){0};
}

static int apply(
        size_t index, const char *text, struct options *options, char *ret_error, size_t error_size)
{
	char reason[256];
	int r = rows[index].parse(
	        text, (char *)options + rows[index].offset, reason, sizeof(reason));

	if (r < 0) {
		snprintf(ret_error, error_size, "--%s: %s", rows[index].name, reason);
		return r;
	}
	options->given |= UINT64_C(1) << index;
	return 0;
}

static int check_conflicts(const struct options *options, char *ret_error, size_t error_size)
{
	for (size_t i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) {
		const struct conflict *c = &conflicts[i];

		if (options->given >> row_index(c->one) & options->given >> row_index(c->other) &
		        1) {
			snprintf(ret_error, error_size, "--%s and --%s do not go together: %s",
			        c->one, c->other, c->why);
			return -EINVAL;
		}
	}
	return 0;
}

static int bad_option(int result, char **argv, char *ret_error, size_t error_size)
{
	snprintf(ret_error, error_size,
	        result == ':' ? "option %s needs a value" : "option %s is not known here",
	        argv[optind - 1]);
	return -EINVAL;
}

int options_parse(enum command_bit command, int argc, char **argv, struct options *options,
        char *ret_error, size_t error_size)
{
	bool stop_early = command & (COMMAND_GLOBAL | COMMAND_RUN);
	struct option getopt_rows[N_ROWS + 1];
	int result, r;

	fill_getopt(command, getopt_rows);
	optind = 0;
	opterr = 0;
	for (;;) {
		result = getopt_long(argc, argv, stop_early ? "+:h" : ":h", getopt_rows, NULL);
		if (result == -1)
			break;
		if (result == 'h')
			result = 256 + (int)row_index("help");
		if (result < 256)
			return bad_option(result, argv, ret_error, error_size);
		r = apply((size_t)result - 256, optarg, options, ret_error, error_size);
		if (r < 0)
			return r;
	}
	r = check_conflicts(options, ret_error, error_size);
	return r < 0 ? r : optind;
}

void options_print(FILE *file, enum command_bit command)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		char left[32];

		if (!(rows[i].commands & command))
			continue;
		snprintf(left, sizeof(left), "--%s%s%s", rows[i].name, rows[i].argument ? " " : "",
		        rows[i].argument ?: "");
		fprintf(file, "  %-18s %s\n", left, rows[i].help);
	}
}

int complain(enum exit_code code, const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	va_start(arguments, format);
	fputs("mtl: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return code;
}
