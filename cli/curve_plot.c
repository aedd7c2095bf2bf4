/* SPDX-License-Identifier: MIT */
/*
 * The curve drawn with characters: misses per second upwards (linear), or what a look says they
 * are, size to the right (logarithmic).
 *
 * A column stands for the size in its middle; misses and interval there are interpolated between
 * the neighbouring points, linearly in log size. From the bottom up a column shows: full up to the
 * low end of the 90 % interval, a lighter shade to the estimate, the lightest to the high end.
 * Where the whole interval lies within one character, an eighth block says where the estimate is.
 * Columns left of the smallest trusted size have a pattern of their own, as does the axis below
 * them. The scale follows the trusted points; what rises above it ends in an arrow.
 */

#include "curve_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "size.h"

#define ROWS 12
#define MARGIN 11 /* left of the first column: label and axis */
#define FAINT "\033[2m"
#define PLAIN "\033[0m"

enum glyph { BLANK, FULL, INSIDE, ABOVE, UNTRUSTED, CLIPPED, N_GLYPHS };

struct glyphs {
	const char *cell[N_GLYPHS];
	const char *eighths[8]; /* one eighth to full */
	const char *axis, *axis_untrusted, *tick, *corner, *wall, *wall_tick;
};

static const struct glyphs unicode_glyphs = {
        .cell = {" ", "█", "▓", "░", "▒", "↑"},
        .eighths = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
        .axis = "─",
        .axis_untrusted = "╌",
        .tick = "┬",
        .corner = "└",
        .wall = "│",
        .wall_tick = "┤",
};

static const struct glyphs ascii_glyphs = {
        .cell = {" ", "#", "+", ".", ":", "^"},
        .eighths = {"_", "_", "_", "=", "=", "=", "#", "#"},
        .axis = "-",
        .axis_untrusted = "~",
        .tick = "+",
        .corner = "+",
        .wall = "|",
        .wall_tick = "+",
};

struct column {
	double misses, low, high; /* in rows */
	bool untrusted;
};

struct plot {
	const struct mtl_curve *curve;
	const struct curve_look *look;
	const struct glyphs *glyphs;
	bool colours;
	unsigned width;
	double left, right; /* log2 of the outermost sizes */
	double top;         /* misses per second at the upper edge */
	double trusted;     /* smallest trusted size; INFINITY: none */
	bool seen[N_GLYPHS];
	struct column *columns;
};

static double smallest_trusted(const struct mtl_curve *curve)
{
	for (size_t i = 0; i < curve->n_points; i++) {
		if (!curve->points[i].below_resolution)
			return curve->points[i].size_bytes;
	}
	return INFINITY;
}

/* Room for the trusted points and, within reason, for their intervals. */
static double scale_top(const struct mtl_curve *curve, double trusted)
{
	double misses = 0, high = 0;

	for (size_t i = 0; i < curve->n_points; i++) {
		const struct mtl_curve_point *point = &curve->points[i];

		if (point->below_resolution && isfinite(trusted))
			continue;
		misses = fmax(misses, point->misses_per_second);
		high = fmax(high, point->high);
	}
	high = fmin(high, 1.5 * misses);
	return high > 0 ? high * 1.02 : 1;
}

static double column_log_size(const struct plot *plot, unsigned x)
{
	return plot->left + (plot->right - plot->left) * x / (plot->width - 1);
}

static struct column column_at(const struct plot *plot, double log_size)
{
	const struct mtl_curve_point *points = plot->curve->points;
	size_t i = 0;

	while (i + 2 < plot->curve->n_points && log2(points[i + 1].size_bytes) < log_size)
		i++;
	double from = log2(points[i].size_bytes), to = log2(points[i + 1].size_bytes);
	double share = to > from ? (log_size - from) / (to - from) : 0;
	double unit = ROWS / plot->top;
#define MIX(field) (unit * ((1 - share) * points[i].field + share * points[i + 1].field))
	struct column column = {
	        .misses = MIX(misses_per_second),
	        .low = MIX(low),
	        .high = MIX(high),
	        .untrusted = log_size < log2(plot->trusted) - 1e-9,
	};
#undef MIX
	return column;
}

static const char *glyph(struct plot *plot, enum glyph which)
{
	plot->seen[which] = true;
	return plot->glyphs->cell[which];
}

/* Of a row whose lower edge is at y rows above the axis. */
static const char *cell(struct plot *plot, const struct column *column, int y)
{
	double middle = y + 0.5;

	if (y == ROWS - 1 && column->misses > ROWS + 1e-6)
		return glyph(plot, CLIPPED);
	if (column->untrusted)
		return glyph(plot, middle <= column->misses ? UNTRUSTED : BLANK);
	if (floor(column->low) >= y && floor(column->high) <= y && column->low < y + 1) {
		int eighth = (int)round((column->misses - y) * 8);

		return eighth > 0 ? plot->glyphs->eighths[(eighth < 8 ? eighth : 8) - 1]
		                  : glyph(plot, BLANK);
	}
	if (column->low >= middle)
		return glyph(plot, FULL);
	if (column->misses >= middle)
		return glyph(plot, INSIDE);
	return glyph(plot, column->high >= middle ? ABOVE : BLANK);
}

static void draw_row(FILE *file, struct plot *plot, int y)
{
	char label[NUMBER_TEXT] = "";
	char *(*value_text)(double value, char *text) = plot->look->value_text ?: count_format;
	bool labelled = y == ROWS - 1 || y == ROWS / 2 - 1;
	bool faint = false;

	if (labelled)
		value_text(plot->top * (y + 1) / ROWS, label);
	fprintf(file, "%*s %s", MARGIN - 2, label,
	        labelled ? plot->glyphs->wall_tick : plot->glyphs->wall);
	for (unsigned x = 0; x < plot->width; x++) {
		if (plot->colours && plot->columns[x].untrusted != faint) {
			faint = !faint;
			fputs(faint ? FAINT : PLAIN, file);
		}
		fputs(cell(plot, &plot->columns[x], y), file);
	}
	fprintf(file, "%s\n", faint ? PLAIN : "");
}

/* A tick at powers of two that leave room for their labels. */
static bool is_tick(const struct plot *plot, unsigned x, double *ret_size)
{
	double per_column = (plot->right - plot->left) / (plot->width - 1);
	double step = ceil(8 * per_column);
	double nearest = step * round(column_log_size(plot, x) / step);
	unsigned column = (unsigned)fmax(round((nearest - plot->left) / per_column), 0);

	if (nearest < plot->left - 1e-9 || nearest > plot->right + 1e-9 || column != x)
		return false;
	*ret_size = exp2(nearest);
	return true;
}

static void draw_axis(FILE *file, struct plot *plot)
{
	const struct glyphs *glyphs = plot->glyphs;
	double size;

	fprintf(file, "%*s %s", MARGIN - 2, plot->look->floor_text ?: "0", glyphs->corner);
	for (unsigned x = 0; x < plot->width; x++) {
		const char *line =
		        plot->columns[x].untrusted ? glyphs->axis_untrusted : glyphs->axis;

		fputs(is_tick(plot, x, &size) ? glyphs->tick : line, file);
	}
	fputc('\n', file);
}

static bool has_tick(const struct plot *plot)
{
	double size;

	for (unsigned x = 0; x < plot->width; x++)
		if (is_tick(plot, x, &size))
			return true;
	return false;
}

/* No power of two is in sight: both ends, in bytes if they would look alike. */
static void draw_ends(FILE *file, const struct plot *plot)
{
	double sizes[] = {exp2(plot->left), exp2(plot->right)};
	char ends[2][NUMBER_TEXT];

	for (int i = 0; i < 2; i++)
		plot->look->size_text(sizes[i], ends[i]);
	if (strcmp(ends[0], ends[1]) == 0)
		for (int i = 0; i < 2; i++)
			snprintf(ends[i], NUMBER_TEXT, "%.0f", sizes[i]);
	fprintf(file, "%*s%s%*s\n", MARGIN, "", ends[0], (int)(plot->width - strlen(ends[0])),
	        ends[1]);
}

static int draw_labels(FILE *file, struct plot *plot)
{
	size_t length = MARGIN + plot->width + NUMBER_TEXT;
	_cleanup_free_ char *line = malloc(length + 1);
	size_t end = 0;
	double size;

	if (!line)
		return -ENOMEM;
	memset(line, ' ', length);
	for (unsigned x = 0; x < plot->width; x++) {
		char label[NUMBER_TEXT];

		if (!is_tick(plot, x, &size))
			continue;
		plot->look->size_text(size, label);
		size_t start = MARGIN + x - strlen(label) / 2;

		if (start + strlen(label) > MARGIN + plot->width)
			start = MARGIN + plot->width - strlen(label);
		if (end && start <= end)
			continue;
		memcpy(line + start, label, strlen(label));
		end = start + strlen(label);
	}
	line[end] = '\0';
	fprintf(file, "%s\n", line);
	return 0;
}

static int draw_marks(FILE *file, const struct plot *plot)
{
	size_t length = MARGIN + plot->width + sizeof(plot->look->marks->name);
	_cleanup_free_ char *line = malloc(length + 1);
	size_t end = 0;

	if (!line)
		return -ENOMEM;
	memset(line, ' ', length);
	for (size_t i = 0; i < plot->look->n_marks; i++) {
		const struct curve_mark *mark = &plot->look->marks[i];
		double share = (log2(mark->size) - plot->left) / (plot->right - plot->left);
		size_t at = MARGIN + (size_t)(fmin(fmax(share, 0), 1) * (plot->width - 1));

		if (share < 0 || share > 1 || (end && at <= end))
			continue;
		memcpy(line + at, mark->name, strlen(mark->name));
		end = at + strlen(mark->name);
	}
	line[end] = '\0';
	if (end)
		fprintf(file, "%s\n", line);
	return 0;
}

static void draw_legend(FILE *file, const struct plot *plot)
{
	const char *const *cell = plot->glyphs->cell;

	if (plot->seen[INSIDE] || plot->seen[ABOVE])
		fprintf(file, "   %s%s %s", cell[INSIDE], cell[ABOVE],
		        plot->look->interval_text ?: "90 % interval");
	if (plot->seen[UNTRUSTED])
		fprintf(file, "   %s below resolution", cell[UNTRUSTED]);
	if (plot->seen[CLIPPED])
		fprintf(file, "   %s goes on above", cell[CLIPPED]);
}

static int draw(FILE *file, struct plot *plot)
{
	int r = 0;

	for (int y = ROWS - 1; y >= 0; y--)
		draw_row(file, plot, y);
	draw_axis(file, plot);
	if (has_tick(plot))
		r = draw_labels(file, plot);
	else
		draw_ends(file, plot);
	if (r == 0 && plot->look->n_marks)
		r = draw_marks(file, plot);
	fprintf(file, "%*s%s", MARGIN, "", plot->look->caption);
	draw_legend(file, plot);
	fputc('\n', file);
	return r;
}

unsigned curve_plot_width(const struct terminal *terminal)
{
	return terminal->width - MARGIN - 1;
}

int curve_plot_as(FILE *file, const struct mtl_curve *curve, const struct curve_look *look,
        const struct terminal *terminal)
{
	_cleanup_free_ struct column *columns = NULL;
	struct plot plot = {
	        .curve = curve,
	        .look = look,
	        .glyphs = terminal->utf8 ? &unicode_glyphs : &ascii_glyphs,
	        .colours = terminal->colours,
	        .width = curve_plot_width(terminal),
	};

	if (curve->n_points < 2 ||
	        curve->points[0].size_bytes >= curve->points[curve->n_points - 1].size_bytes)
		return 0;
	plot.columns = columns = calloc(plot.width, sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	plot.left = log2(curve->points[0].size_bytes);
	plot.right = log2(curve->points[curve->n_points - 1].size_bytes);
	plot.trusted = smallest_trusted(curve);
	plot.top = look->top > 0 ? look->top : scale_top(curve, plot.trusted);
	for (unsigned x = 0; x < plot.width; x++)
		columns[x] = column_at(&plot, column_log_size(&plot, x));
	return draw(file, &plot);
}

int curve_plot(FILE *file, const struct mtl_curve *curve, const struct terminal *terminal)
{
	static const struct curve_look look = {
	        .caption = "misses per second of CPU time", .size_text = size_format};

	return curve_plot_as(file, curve, &look, terminal);
}
