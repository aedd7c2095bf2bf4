/* SPDX-License-Identifier: MIT */
/*
 * Curves as a picture, by gnuplot: no library, no shell, no file of gnuplot's own.
 *
 * The commands and the data are one script on gnuplot's standard input, the picture comes on its
 * standard output, what it complains of on standard error; all three are files without a name,
 * large enough for whatever is said, so that nobody waits for anybody. Texts stand between single
 * quotes, in which gnuplot knows no other special character. -d keeps the user's start-up files
 * out.
 *
 * gnuplot ends when mtl does, however that does, and is ended after DRAW_SECONDS.
 *
 * The picture is written beside its place and then takes it, so that an old picture is there until
 * the new one is complete. The place is where symbolic links lead to: these stay.
 */

#include "plot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "process.h"
#include "size.h"
#include "terminal.h"

#define PROGRAM "gnuplot"
#define PACKAGE "gnuplot-nox"
#define NOT_FOUND 127 /* and silence: there was nothing to run */
#define NOT_RUN 126
#define DRAW_SECONDS 60.0
#define END_SECONDS 2.0   /* from SIGTERM to SIGKILL */
#define TICS_MAX 8        /* with room for their texts */
#define BEYOND_VALUES 1.5 /* intervals are shown up to so many times the greatest value */
#define DASHES 5          /* kinds that gnuplot has */
#define COUNTS 1000       /* values as large are written with k, M, G */
#define TEXT 256

struct picture {
	const char *ending, *terminal;
};

static const struct picture pictures[] = {
        {".svg", "svg size 1000,540 dynamic background rgb 'white' font 'sans,14'"},
        {".png", "pngcairo size 1000,540 font 'sans,12'"},
        {".pdf", "pdfcairo size 19cm,10.2cm font 'sans,12'"},
};

static const struct picture *find_picture(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
		size_t ending = strlen(pictures[i].ending);

		if (length > ending && strcasecmp(path + length - ending, pictures[i].ending) == 0)
			return &pictures[i];
	}
	return NULL;
}

int plot_file_check(const char *path, char *ret_error, size_t error_size)
{
	char shown[NAME_SHOWN];

	if (find_picture(path))
		return 0;
	snprintf(ret_error, error_size,
	        "'%s' does not say what to draw: give a name that ends in .svg, .png or .pdf",
	        show_name(path, shown, sizeof(shown)));
	return -EINVAL;
}

/* Between single quotes, where a quote is written twice. */
static void put_text(FILE *script, const char *text)
{
	char clean[TEXT];

	fputc('\'', script);
	for (const char *c = printable(text, clean, sizeof(clean)); *c; c++)
		fputs(*c == '\'' ? "''" : (char[]){*c, '\0'}, script);
	fputc('\'', script);
}

static void put_line(FILE *script, const char *command, const char *text, const char *after)
{
	fprintf(script, "%s ", command);
	put_text(script, text);
	fprintf(script, "%s\n", after);
}

static char *number_format(double number, char *ret_text)
{
	return number < 1e5 ? (snprintf(ret_text, NUMBER_TEXT, "%.0f", number), ret_text)
	                    : count_format(number, ret_text);
}

static void put_tic(FILE *script, const struct plot_request *request, double size, bool first)
{
	char text[NUMBER_TEXT];

	fprintf(script, "%s'%s' %.17g", first ? "" : ", ",
	        (request->bytes ? size_format : number_format)(size, text), size);
}

/* Both ends, in bytes if they would look alike. */
static void put_ends(FILE *script, const struct plot_request *request, double least, double most)
{
	char one[NUMBER_TEXT], other[NUMBER_TEXT];

	if (strcmp(size_format(least, one), size_format(most, other)) == 0) {
		fprintf(script, "'%.0f' %.17g, '%.0f' %.17g", least, least, most, most);
		return;
	}
	put_tic(script, request, least, true);
	put_tic(script, request, most, false);
}

/* Powers of two, so many apart that there are at most TICS_MAX; the ends where there is none. */
static void put_tics(FILE *script, const struct plot_request *request, double least, double most)
{
	double from = floor(log2(least)), to = ceil(log2(most));
	double step = ceil((to - from + 1) / TICS_MAX);

	from = step * ceil(log2(least) / step);
	fputs("set xtics (", script);
	if (exp2(from) > most)
		put_ends(script, request, least, most);
	for (double at = from; at <= to; at += step)
		if (exp2(from) <= most)
			put_tic(script, request, exp2(at), at == from);
	fputs(")\n", script);
}

static void widen(double size, double *least, double *most)
{
	*least = fmin(*least, size);
	*most = fmax(*most, size);
}

static void size_range(const struct plot_request *request, double *ret_least, double *ret_most)
{
	*ret_least = INFINITY;
	*ret_most = 0;
	for (size_t i = 0; i < request->n_series; i++) {
		const struct plot_series *series = &request->series[i];

		if (!series->n)
			continue;
		widen(series->sizes[0], ret_least, ret_most);
		widen(series->sizes[series->n - 1], ret_least, ret_most);
	}
	for (size_t i = 0; i < request->n_labels; i++)
		widen(request->labels[i].size, ret_least, ret_most);
	if (!(*ret_most > *ret_least)) {
		*ret_least /= 2;
		*ret_most *= 2;
	}
}

static double greatest_value(const struct plot_request *request)
{
	double greatest = 0;

	for (size_t i = 0; i < request->n_series; i++) {
		for (size_t j = 0; j < request->series[i].n; j++)
			greatest = fmax(greatest, request->series[i].values[j]);
	}
	return greatest;
}

static double greatest_bound(const struct plot_request *request)
{
	double greatest = 0;

	for (size_t i = 0; i < request->n_series; i++) {
		const struct plot_series *series = &request->series[i];

		for (size_t j = 0; series->low && j < series->n; j++)
			greatest = fmax(greatest, series->high[j]);
	}
	return greatest;
}

/* A wide interval goes beyond the upper edge rather than press all curves flat. */
static void put_value_range(FILE *script, const struct plot_request *request)
{
	double most = BEYOND_VALUES * greatest_value(request);

	if (request->log_values)
		fputs("set logscale y\n", script);
	else if (most > 0 && greatest_bound(request) > most)
		fprintf(script, "set yrange [0:%.17g]\n", most);
	else
		fputs("set yrange [0:*]\n", script);
}

static void put_data(FILE *script, const char *name, size_t number, const double *sizes,
        const double *values, size_t n)
{
	fprintf(script, "$%s%zu << END\n", name, number);
	for (size_t i = 0; i < n; i++)
		fprintf(script, "%.17g %.17g\n", sizes[i], values[i]);
	fputs("END\n", script);
}

static void put_labels(FILE *script, const struct plot_request *request)
{
	fputs("$labels << END\n", script);
	for (size_t i = 0; i < request->n_labels; i++)
		fprintf(script, "%.17g %.17g \"%s\"\n", request->labels[i].size,
		        request->labels[i].value, request->labels[i].name);
	fputs("END\n", script);
}

static void put_band(FILE *script, const struct plot_series *series, size_t number)
{
	fprintf(script, "$band%zu << END\n", number);
	for (size_t i = 0; i < series->n; i++)
		fprintf(script, "%.17g %.17g %.17g\n", series->sizes[i], series->low[i],
		        series->high[i]);
	fputs("END\n", script);
}

/* With names at the upper end, inside the axes. */
static void put_marks(FILE *script, const struct plot_request *request, double least, double most)
{
	for (size_t i = 0; i < request->n_marks; i++) {
		const struct plot_mark *mark = &request->marks[i];

		if (!(mark->size > least && mark->size < most))
			continue;
		fprintf(script,
		        "set arrow from %.17g, graph 0 to %.17g, graph 1 nohead dt 3 lc rgb "
		        "'#808080' back\nset label ",
		        mark->size, mark->size);
		put_text(script, mark->name);
		fprintf(script, " at %.17g, graph 0.97 offset 0.4,0 tc rgb '#606060' noenhanced\n",
		        mark->size);
	}
}

/* Between low and high; and what cannot be relied on in dots, of which the curve is made from there
 * on. */
static void put_beside(FILE *script, const struct plot_series *series, size_t i, size_t colour)
{
	if (series->low)
		fprintf(script,
		        ", $band%zu using 1:2:3 with filledcurves fs transparent solid 0.18 "
		        "noborder lc %zu notitle",
		        i, colour);
	if (series->n_faint > 0)
		fprintf(script, ", $faint%zu using 1:2 with lines lw 2 dt 3 lc %zu notitle", i,
		        colour);
}

/* Curves that coincide are all seen: the first is the widest, each has dashes of its own, unless
 * dots tell what is not to be relied on. Of those with a colour given, each pair of one colour is a
 * dashed and a solid one. */
static void put_style(FILE *script, const struct plot_request *request, size_t i)
{
	const struct plot_series *series = &request->series[i];

	if (series->colour)
		fprintf(script, "lw 2 lc %u dt %d", series->colour, series->dashed ? 2 : 1);
	else
		fprintf(script, "lw %.1f lc %zu dt %zu",
		        2 + 0.8 * (double)(request->n_series - 1 - i), i + 1, i % DASHES + 1);
}

static void put_curve(FILE *script, const struct plot_request *request, size_t i)
{
	const struct plot_series *series = &request->series[i];
	size_t colour = series->colour ?: i + 1;

	fprintf(script, "%s$curve%zu using 1:2 with %s ", i ? ", " : "", i,
	        series->straight ? "lines" : "steps");
	put_style(script, request, i);
	fputs(" title ", script);
	put_text(script, series->name);
	put_beside(script, series, i, colour);
	if (series->n_marked)
		fprintf(script, ", $marked%zu using 1:2 with points pt 7 ps 0.4 lc %zu notitle", i,
		        colour);
}

/* The first trusted point belongs to both parts, so that they meet. */
static void put_series(FILE *script, const struct plot_series *series, size_t i)
{
	size_t faint = series->n_faint < series->n ? series->n_faint : series->n - 1;

	put_data(script, "curve", i, series->sizes + faint, series->values + faint,
	        series->n - faint);
	if (series->n_faint > 0)
		put_data(script, "faint", i, series->sizes, series->values, faint + 1);
	if (series->low)
		put_band(script, series, i);
	if (series->n_marked)
		put_data(script, "marked", i, series->marked_sizes, series->marked_values,
		        series->n_marked);
}

/* Told apart on white and by the colour-blind, the darker ones first (Okabe and Ito, 2008). */
static void put_colours(FILE *script)
{
	static const char *const colours[] = {
	        "0072b2", "d55e00", "009e73", "9400d3", "56b4e9", "e69f00", "000000", "cc79a7"};

	for (size_t i = 0; i < sizeof(colours) / sizeof(*colours); i++)
		fprintf(script, "set linetype %zu lc rgb '#%s'\n", i + 1, colours[i]);
	fprintf(script, "set linetype cycle %zu\n", sizeof(colours) / sizeof(*colours));
}

static void put_script(FILE *script, const struct plot_request *request, const char *terminal)
{
	double least, most;

	size_range(request, &least, &most);
	fprintf(script, "set terminal %s\nset encoding utf8\n", terminal);
	put_line(script, "set title", request->title, " noenhanced");
	put_line(script, "set xlabel", request->size_title, " noenhanced");
	put_line(script, "set ylabel", request->value_title, " noenhanced");
	fprintf(script, "%sset xrange [%.17g:%.17g]\n", request->linear ? "" : "set logscale x 2\n",
	        least, most);
	put_value_range(script, request);
	put_colours(script);
	if (!request->linear)
		put_tics(script, request, least, most);
	if (greatest_value(request) >= COUNTS)
		fputs("set format y '%.1s %c'\n", script);
	fputs("set grid lt 1 lc rgb '#dddddd'\nset key outside right top noenhanced\nset border 3\n"
	      "set tics nomirror\n",
	        script);
	put_marks(script, request, least, most);
	for (size_t i = 0; i < request->n_series; i++)
		put_series(script, &request->series[i], i);
	if (request->n_labels)
		put_labels(script, request);
	fputs("plot ", script);
	for (size_t i = 0; i < request->n_series; i++)
		put_curve(script, request, i);
	if (request->n_labels) {
		fputs(", $labels using 1:2 with points pt 2 ps 1 lc rgb 'black' title ", script);
		put_text(script, request->labels_title);
		fputs(", $labels using 1:2:3 with labels left offset 0.8,0.6 noenhanced notitle",
		        script);
	}
	fputc('\n', script);
}

static bool is_silent(FILE *complaints)
{
	struct stat status;

	return fstat(fileno(complaints), &status) == 0 && status.st_size == 0;
}

static void __attribute__((noreturn)) gnuplot_child(FILE *script, FILE *picture, FILE *complaints)
{
	char program[] = PROGRAM, option[] = "-d", *argv[] = {program, option, NULL};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(fileno(script), STDIN_FILENO) < 0 || dup2(fileno(picture), STDOUT_FILENO) < 0 ||
	        dup2(fileno(complaints), STDERR_FILENO) < 0)
		_exit(NOT_RUN);
	execvp(PROGRAM, argv);
	if (errno == ENOENT)
		_exit(NOT_FOUND);
	dprintf(STDERR_FILENO, "cannot be run: %s\n", strerror(errno));
	_exit(NOT_RUN);
}

/* Waits for its end: 0 and what became of it; or a negative errno: -ENOENT where there is none,
 * -ETIME when it was ended since it did not come to one. */
static int run_gnuplot(
        FILE *script, FILE *picture, FILE *complaints, double seconds, int *ret_status)
{
	struct process process = {0};
	int r = process_fork(&process);

	if (r == 1)
		gnuplot_child(script, picture, complaints);
	if (r < 0)
		return r;
	if (!process_wait(&process, seconds)) {
		process_end(&process, END_SECONDS);
		return -ETIME;
	}
	*ret_status = process.status;
	if (WIFEXITED(*ret_status) && WEXITSTATUS(*ret_status) == NOT_FOUND &&
	        is_silent(complaints))
		return -ENOENT;
	return 0;
}

static int copy(FILE *from, FILE *to)
{
	char buffer[16384];
	size_t n, all = 0;

	rewind(from);
	while ((n = fread(buffer, 1, sizeof(buffer), from)) > 0) {
		all += n;
		if (fwrite(buffer, 1, n, to) != n)
			return -errno;
	}
	return ferror(from) ? -EIO : all == 0 ? -ENODATA : fflush(to) != 0 ? -errno : 0;
}

static int put_beside_then_at(FILE *picture, const char *path)
{
	_cleanup_free_ char *beside = NULL;
	mode_t mask = umask(0);
	FILE *file;
	int fd, r;

	umask(mask);
	if (asprintf(&beside, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	r = file ? copy(picture, file) : -errno;
	if (r == 0 && (fchmod(fd, 0666 & ~mask) < 0 || rename(beside, path) < 0))
		r = -errno;
	if (file)
		fclose(file);
	else
		close(fd);
	if (r < 0)
		unlink(beside);
	return r;
}

/* The file that a symbolic link leads to, made where there is none. It is opened, since the kernel
 * may forbid to follow that link (fs.protected_symlinks), and then asked for its name. */
static int follow_link(const char *path, char *ret_target)
{
	_cleanup_close_ int fd =
	        open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
	struct stat status;
	char opened[32];

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EMEDIUMTYPE;
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
	return realpath(opened, ret_target) ? 0 : -errno;
}

static int put_in_place(FILE *picture, const char *path)
{
	char target[PATH_MAX];
	struct stat link, before;
	bool is_new = stat(path, &before) < 0;
	int r;

	if (lstat(path, &link) < 0 || !S_ISLNK(link.st_mode))
		return put_beside_then_at(picture, path);
	r = follow_link(path, target);
	if (r < 0)
		return r;
	r = put_beside_then_at(picture, target);
	if (r < 0 && is_new)
		unlink(target);
	return r;
}

static const char *not_written(int error)
{
	return error == -ENODATA       ? "gnuplot has drawn nothing"
	       : error == -EMEDIUMTYPE ? "that link leads to something that is no file"
	                               : strerror(-error);
}

/* The first line that gnuplot has to say which is not its caret. */
static void first_complaint(FILE *complaints, char *ret_text, size_t size)
{
	char line[TEXT];

	snprintf(ret_text, size, "it does not say why");
	rewind(complaints);
	while (fgets(line, sizeof(line), complaints)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[strspn(line, " \t^")]) {
			printable(line + strspn(line, " \t"), ret_text, size);
			return;
		}
	}
}

static int draw(const struct plot_request *request, const char *terminal, FILE *picture,
        char *ret_error, size_t error_size)
{
	_cleanup_fclose_ FILE *script = tmpfile(), *complaints = tmpfile();
	double seconds = request->seconds > 0 ? request->seconds : DRAW_SECONDS;
	char complaint[TEXT];
	int status, r = script && complaints ? 0 : -errno;

	if (r == 0) {
		put_script(script, request, terminal);
		r = fflush(script) != 0 ? -errno : 0;
		rewind(script);
	}
	r = r ?: run_gnuplot(script, picture, complaints, seconds, &status);
	if (r == -ENOENT)
		snprintf(ret_error, error_size,
		        "--plot needs gnuplot, which is not there: install the package " PACKAGE);
	else if (r == -ETIME)
		snprintf(ret_error, error_size,
		        "gnuplot had not drawn it after %g s and was ended: does `" PROGRAM
		        " -d </dev/null` end?",
		        seconds);
	else if (r < 0)
		snprintf(ret_error, error_size, "cannot run gnuplot: %s", strerror(-r));
	if (r < 0)
		return r;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	first_complaint(complaints, complaint, sizeof(complaint));
	snprintf(ret_error, error_size, "gnuplot failed: %s", complaint);
	return -EIO;
}

int plot_file_write(
        const char *path, const struct plot_request *request, char *ret_error, size_t error_size)
{
	const struct picture *kind = find_picture(path);
	_cleanup_fclose_ FILE *picture = tmpfile();
	char shown[NAME_SHOWN];
	int r;

	if (!kind)
		return plot_file_check(path, ret_error, error_size);
	if (!picture) {
		snprintf(
		        ret_error, error_size, "cannot make a temporary file: %s", strerror(errno));
		return -EIO;
	}
	r = draw(request, kind->terminal, picture, ret_error, error_size);
	if (r < 0)
		return r;
	r = put_in_place(picture, path);
	if (r < 0)
		snprintf(ret_error, error_size, "cannot write %s: %s",
		        show_name(path, shown, sizeof(shown)), not_written(r));
	return r;
}
