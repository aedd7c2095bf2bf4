/* SPDX-License-Identifier: MIT */
/*
 * A curve object in the form that was asked for: as JSON or CSV straight from the object, so that
 * nothing is lost on the way, or for people as header, table, plot, footprint and one sentence.
 */

#include "curve_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "cleanup.h"
#include "curve_picture.h"
#include "mtl.h"
#include "object.h"
#include "size.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

static const char *const csv_columns[] = {"size_bytes", "fill_time_seconds", "misses_per_second",
        "low", "high", "miss_ratio", "relative_miss_ratio", "below_resolution"};

#define ITEM 160
#define PHASE_WINDOWS 4 /* what is older weighs next to nothing in a curve */
#define N_CSV (sizeof(csv_columns) / sizeof(csv_columns[0]))

void json_output(FILE *file, struct json_object *object)
{
	fprintf(file, "%s\n",
	        json_object_to_json_string_ext(
	                object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

static void csv_row(FILE *file, struct json_object *point)
{
	for (size_t i = 0; i < N_CSV; i++) {
		struct json_object *value = NULL;

		json_object_object_get_ex(point, csv_columns[i], &value);
		fprintf(file, "%s%s", i ? "," : "", value ? json_object_get_string(value) : "");
	}
	fputc('\n', file);
}

int curve_csv(FILE *file, struct json_object *curve)
{
	struct json_object *points;

	if (!json_object_object_get_ex(curve, "points", &points) ||
	        !json_object_is_type(points, json_type_array))
		return -EBADMSG;
	for (size_t i = 0; i < N_CSV; i++)
		fprintf(file, "%s%s", i ? "," : "", csv_columns[i]);
	fputc('\n', file);
	for (size_t i = 0; i < json_object_array_length(points); i++)
		csv_row(file, json_object_array_get_idx(points, i));
	return 0;
}

static void print_share(FILE *file, const char *before, double share, const char *of)
{
	char text[NUMBER_TEXT];

	if (isnan(share))
		fprintf(file, "%s unknown", before);
	else
		fprintf(file, "%s %s of %s", before, percent_format(share, text), of);
}

/* While the window would otherwise hold more than what came since. */
static void print_phase(FILE *file, const struct mtl_curve_origin *origin)
{
	char ago[NUMBER_TEXT], text[sizeof(origin->phase_reason)];

	if (!(origin->phase_seconds < PHASE_WINDOWS * origin->window_seconds))
		return;
	fprintf(file, "changed %s ago", seconds_format(origin->phase_seconds, ago));
	if (origin->phase_reason[0])
		fprintf(file, " (%s)", printable(origin->phase_reason, text, sizeof(text)));
	fprintf(file, ": the window holds what came since\n");
	if (origin->phase_changes > 1)
		fprintf(file,
		        "it has changed %llu times in %s of CPU time: this is its latest phase, "
		        "not a "
		        "mean\n",
		        (unsigned long long)origin->phase_changes,
		        seconds_format(
		                fmin(10 * origin->window_seconds, origin->cpu_seconds), ago));
}

/* By other instruments, where there are any. */
static void print_agreement(
        FILE *file, const struct mtl_curve *curve, const struct mtl_curve_origin *origin)
{
	const struct mtl_reuse *reuse = curve->reuse;
	char text[NUMBER_TEXT], size[NUMBER_TEXT];
	struct mtl_agreement agreement;

	mtl_agreement(curve, origin, &agreement);
	if (!isnan(agreement.ratio))
		fprintf(file, "misses at %s, the last-level cache: %s of what was counted\n",
		        size_format(agreement.cache_bytes, size),
		        percent_format(agreement.ratio, text));
	if (reuse && !isnan(reuse->difference))
		fprintf(file,
		        "%llu reuse times at misses give a curve that differs by %s in the mean\n",
		        (unsigned long long)reuse->observations,
		        percent_format(reuse->difference, text));
}

static void print_header(FILE *file, const struct mtl_curve *curve,
        const struct mtl_curve_origin *origin, unsigned parts)
{
	char comm[sizeof(origin->comm)], text[NUMBER_TEXT];

	fprintf(file, "%s (pid %d), %s resident; method %s, rung %s\n",
	        printable(origin->comm, comm, sizeof(comm)), (int)origin->pid,
	        size_format(origin->resident_bytes, text), origin->method, origin->rung);
	fprintf(file, "%llu observations (effective %.0f)", (unsigned long long)curve->observations,
	        curve->effective_observations);
	if (origin->lost)
		fprintf(file, ", %llu lost,", (unsigned long long)origin->lost);
	fprintf(file, " in %s of CPU time,", seconds_format(origin->cpu_seconds, text));
	fprintf(file, " %s by the clock\n", seconds_format(origin->wall_seconds, text));
	fprintf(file, "window %s;", seconds_format(origin->window_seconds, text));
	print_share(file, " overhead", origin->overhead_target, "its CPU time");
	print_share(file, "; mtld takes", origin->overhead_daemon, "a core");
	fputc('\n', file);
	if (parts & CURVE_LAST)
		fprintf(file, "it has ended: this is its last curve\n");
	print_phase(file, origin);
	if (origin->note[0])
		fprintf(file, "note: %s\n", origin->note);
	print_agreement(file, curve, origin);
}

/* What the table's marks and units mean. */
static void print_notes(FILE *file, const struct mtl_curve *curve, const struct terminal *terminal)
{
	char text[ITEM * 2], longest[NUMBER_TEXT];
	bool unfilled = false;

	fprintf(file, "sizes: K = 1024 bytes; rates: k, M = 10^3, 10^6\n");
	for (size_t i = 0; i < curve->n_points; i++)
		unfilled |= isinf(curve->points[i].fill_time_seconds);
	if (!unfilled)
		return;
	seconds_format(curve->footprint_window_seconds, longest);
	snprintf(text, sizeof(text),
	        "> %s: not filled within the longest window watched; misses there are those of new "
	        "pages only, and memory swept less often than once in %s is not seen",
	        longest, longest);
	wrap_words(text, terminal->width);
	fprintf(file, "%s\n", text);
}

/* Where a window is against the longest that was watched: shorter, that one, longer. */
static int against_longest(const struct mtl_curve *curve, const struct mtl_footprint_point *point)
{
	double ratio = point->window_seconds / curve->footprint_window_seconds;

	return ratio > 1 + 1e-9 ? 1 : ratio < 1 - 1e-9 ? -1 : 0;
}

/* A window that says what the longest says already: nearly as long, or nothing more is touched. */
static bool is_redundant(const struct mtl_curve *curve, size_t i)
{
	const struct mtl_footprint_point *point = &curve->footprint[i];
	char here[NUMBER_TEXT], all[NUMBER_TEXT];

	if (i + 1 < curve->n_footprint && against_longest(curve, point + 1) < 0)
		return false;
	return point->window_seconds * 2 > curve->footprint_window_seconds ||
	       strcmp(size_format(point->bytes, here), size_format(curve->footprint_bytes, all)) ==
	               0;
}

static char *interval_text(const struct mtl_footprint_point *point, char *ret_text, size_t size)
{
	char low[NUMBER_TEXT], high[NUMBER_TEXT];

	snprintf(ret_text, size, " (90 %% interval %s .. %s)", size_format(point->low, low),
	        size_format(point->high, high));
	return ret_text;
}

static void shorter_item(const struct mtl_footprint_point *point, char *ret_text)
{
	char size[NUMBER_TEXT], window[NUMBER_TEXT];

	snprintf(ret_text, ITEM, " %s in %s,",
	        point->bytes < MTL_LINE_BYTES ? "less than a line"
	                                      : size_format(point->bytes, size),
	        seconds_format(point->window_seconds, window));
}

/* Its interval is known where it is one of the windows. */
static void longest_item(const struct mtl_curve *curve, char *ret_text)
{
	char size[NUMBER_TEXT], window[NUMBER_TEXT], interval[3 * NUMBER_TEXT] = "";

	for (size_t i = 0; i < curve->n_footprint; i++)
		if (against_longest(curve, &curve->footprint[i]) == 0)
			interval_text(&curve->footprint[i], interval, sizeof(interval));
	snprintf(ret_text, ITEM, " %s%s within %s, the longest window watched",
	        size_format(curve->footprint_bytes, size), interval,
	        seconds_format(curve->footprint_window_seconds, window));
}

/* Nobody has watched for so long: what is known is that it is no less. */
static void longer_item(const struct mtl_footprint_point *point, char *ret_text)
{
	char size[NUMBER_TEXT], window[NUMBER_TEXT], interval[3 * NUMBER_TEXT];

	snprintf(ret_text, ITEM, "; at least %s%s in %s", size_format(point->bytes, size),
	        interval_text(point, interval, sizeof(interval)),
	        seconds_format(point->window_seconds, window));
}

static int print_item(FILE *file, const char *item, int column, const struct terminal *terminal)
{
	if (column + strlen(item) > terminal->width)
		column = fprintf(file, "\n          ") - 1;
	return column + fprintf(file, "%s", item);
}

/* What is no longer than the longest window watched, it, and what was asked for beyond. */
static void print_footprint(FILE *file, const struct mtl_curve *curve,
        const struct terminal *terminal, bool all_windows)
{
	char item[ITEM];
	int column = fprintf(file, "footprint:");

	for (size_t i = 0; i < curve->n_footprint; i++) {
		if (against_longest(curve, &curve->footprint[i]) >= 0 ||
		        (!all_windows && is_redundant(curve, i)))
			continue;
		shorter_item(&curve->footprint[i], item);
		column = print_item(file, item, column, terminal);
	}
	longest_item(curve, item);
	column = print_item(file, item, column, terminal);
	for (size_t i = 0; i < curve->n_footprint; i++) {
		if (!all_windows || against_longest(curve, &curve->footprint[i]) <= 0)
			continue;
		longer_item(&curve->footprint[i], item);
		column = print_item(file, item, column, terminal);
	}
	fputc('\n', file);
}

int curve_report(FILE *file, const struct mtl_curve *curve, const struct mtl_curve_origin *origin,
        const struct terminal *terminal, unsigned parts)
{
	char sentence[512];
	int r = 0;

	print_header(file, curve, origin, parts);
	fputc('\n', file);
	if (parts & CURVE_TABLE) {
		r = curve_table(file, curve, terminal);
		print_notes(file, curve, terminal);
		fputc('\n', file);
	}
	r = r ?: curve_plot(file, curve, terminal);
	print_footprint(file, curve, terminal, parts & CURVE_ALL_WINDOWS);
	curve_sentence(curve, sentence, sizeof(sentence));
	fputc('\n', file);
	if (terminal->is_terminal)
		wrap_words(sentence, terminal->width);
	fprintf(file, "%s\n", sentence);
	return r;
}

static int compare_points(const void *a, const void *b)
{
	const struct mtl_curve_point *x = a, *y = b;

	return (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes);
}

void curve_sort(struct mtl_curve *curve)
{
	qsort(curve->points, curve->n_points, sizeof(*curve->points), compare_points);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static int render(const struct mtl_curve *curve, const struct mtl_curve_origin *origin,
        const struct terminal *terminal, unsigned parts, char **ret_text)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int r;

	if (!file)
		return -ENOMEM;
	r = curve_report(file, curve, origin, terminal, parts);
	if (fclose(file) != 0)
		return -ENOMEM;
	if (r < 0)
		return r;
	*ret_text = TAKE_PTR(text);
	return 0;
}

/* Over what was there before; without the table where the terminal is not high enough. */
static void redraw(const char *text)
{
	fputs("\033[H", stdout);
	for (size_t length; *text; text += length + 1) {
		length = strcspn(text, "\n");
		printf("%.*s\033[K\n", (int)length, text);
	}
	fputs("\033[J", stdout);
}

static int output_words(struct json_object *object, const struct options *options)
{
	unsigned parts = options->windows.n ? CURVE_ALL_WINDOWS : 0;
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	struct terminal terminal = terminal_describe(stdout);
	struct mtl_curve_origin origin;
	_cleanup_free_ char *text = NULL;
	char error[256];
	bool in_place;
	int r = mtl_curve_from_json(object, &curve, &origin, error, sizeof(error));

	if (r < 0)
		return complain(MTL_FAILED, "the curve cannot be read: %s", error);
	if (strcmp(object_text(object, "state"), "exited") == 0)
		parts |= CURVE_LAST;
	curve_sort(curve);
	in_place = options->watch && terminal.is_terminal;
	r = render(curve, &origin, &terminal, parts | CURVE_TABLE, &text);
	if (r == 0 && in_place && count_lines(text) >= terminal.height) {
		free(TAKE_PTR(text));
		r = render(curve, &origin, &terminal, parts, &text);
	}
	if (r < 0)
		return complain(MTL_FAILED, "the curve cannot be shown: %s", strerror(-r));
	in_place ? redraw(text) : (void)fputs(text, stdout);
	return MTL_DONE;
}

int curve_show(struct json_object *curve, const struct options *options)
{
	int code = MTL_DONE;

	if (options->json)
		json_output(stdout, curve);
	else if (options->csv && curve_csv(stdout, curve) < 0)
		code = complain(MTL_FAILED, "the curve has no points");
	else if (!options->csv)
		code = output_words(curve, options);
	if (fflush(stdout) != 0)
		code = complain(MTL_FAILED, "cannot write the curve: %s", strerror(errno));
	return code;
}

int curve_output(struct json_object *curve, const struct options *options)
{
	int code = curve_show(curve, options);

	return options->plot ? curve_picture(options->plot, &curve, 1) ?: code : code;
}
