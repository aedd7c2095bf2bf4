/* SPDX-License-Identifier: MIT */
/*
 * Pictures by gnuplot, with programs in its place: one that gives back the script it was given, one
 * that fails, none at all. The old picture stays until there is a new one, and nothing else is
 * left.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../../cli/plot_file.h"
#include "cleanup.h"
#include "fake_root.h"

#define TEXT 8192

static const double sizes[] = {4096, 8192, 1048576}, values[] = {0.5, 0.25, 0.125};
static const struct plot_series series[] = {
        {.name = "exact", .sizes = sizes, .values = values, .n = 3},
        {.name = "it's", .sizes = sizes, .values = values, .n = 2}};
static char old_path[4096];
static double limit;

static int setup(void **state)
{
	limit = 0;
	snprintf(old_path, sizeof(old_path), "%s", getenv("PATH"));
	return fake_root_new(state);
}

static int teardown(void **state)
{
	setenv("PATH", old_path, 1);
	return fake_root_free(state);
}

/* A gnuplot that is this shell script; without one, none is found. */
static void fake_gnuplot(const char *script)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s:%s", fake_path("bin"), script ? old_path : "");
	if (script) {
		fake_file("bin/gnuplot", script);
		chmod(fake_path("bin/gnuplot"), 0755);
	}
	setenv("PATH", path, 1);
}

static int plot(const char *title, size_t n_series, char *ret_error)
{
	struct plot_request request = {.title = title,
	        .size_title = "cache size",
	        .value_title = "miss ratio",
	        .bytes = true,
	        .series = series,
	        .n_series = n_series,
	        .seconds = limit};

	return plot_file_write(fake_path("out/curve.svg"), &request, ret_error, 512);
}

static const char *picture(void)
{
	static char text[TEXT];
	_cleanup_fclose_ FILE *file = fopen(fake_path("out/curve.svg"), "r");

	text[file ? fread(text, 1, sizeof(text) - 1, file) : 0] = '\0';
	return text;
}

static int files_in_out(void)
{
	_cleanup_closedir_ DIR *directory = opendir(fake_path("out"));
	int n = 0;

	for (struct dirent *entry; (entry = readdir(directory));)
		n += entry->d_name[0] != '.';
	return n;
}

static void what_gnuplot_is_told(void **state)
{
	char error[512];
	struct stat status;

	(void)state;
	fake_file("out/curve.svg", "old");
	chmod(fake_path("out/curve.svg"), 0600);
	fake_gnuplot("#!/bin/sh\n[ \"$*\" = -d ] && cat\n");
	assert_int_equal(plot("a 'b' `c` \"d\" \n e", 2, error), 0);
	assert_non_null(strstr(picture(), "set terminal svg"));
	assert_non_null(strstr(picture(), "\nset title 'a ''b'' `c` \"d\" ? e' noenhanced\n"));
	assert_non_null(strstr(picture(), "'4K' 4096, '16K' 16384"));
	assert_non_null(strstr(picture(), "'1M' 1048576)"));
	assert_non_null(
	        strstr(picture(), "$curve0 << END\n4096 0.5\n8192 0.25\n1048576 0.125\nEND"));
	assert_non_null(strstr(picture(), "$curve1 << END\n4096 0.5\n8192 0.25\nEND"));
	assert_non_null(strstr(picture(), " title 'exact', $curve1"));
	assert_non_null(strstr(picture(), " title 'it''s'\n"));
	assert_int_equal(files_in_out(), 1);
	assert_int_equal(stat(fake_path("out/curve.svg"), &status), 0);
	assert_int_equal(status.st_mode & 0600, 0600);
}

static void assert_fails(int wanted, const char *said)
{
	char error[512];

	fake_file("out/curve.svg", "old");
	assert_int_equal(plot("t", 1, error), wanted);
	if (!strstr(error, said))
		print_message("%s\n", error);
	assert_non_null(strstr(error, said));
	assert_string_equal(picture(), "old");
	assert_int_equal(files_in_out(), 1);
}

static void what_fails_leaves_the_old_picture(void **state)
{
	(void)state;
	fake_gnuplot("#!/bin/sh\nprintf half\nprintf '\\n   ^\\nline 3: odd\\n' >&2\nexit 1\n");
	assert_fails(-EIO, "gnuplot failed: line 3: odd");
	fake_gnuplot("#!/bin/sh\nkill -9 $$\n");
	assert_fails(-EIO, "gnuplot failed: it does not say why");
	fake_gnuplot("#!/bin/sh\necho 'gnuplot: error while loading shared libraries: libx' >&2\n"
	             "exit 127\n");
	assert_fails(-EIO, "gnuplot failed: gnuplot: error while loading shared libraries: libx");
	fake_gnuplot("#!/bin/sh\nexit 127\n");
	assert_fails(-ENOENT, "install the package gnuplot-nox");
	fake_gnuplot("#!/bin/sh\n:\n");
	assert_fails(-ENODATA, "gnuplot has drawn nothing");
	fake_gnuplot(NULL);
	unlink(fake_path("bin/gnuplot"));
	assert_fails(-ENOENT, "install the package gnuplot-nox");
}

static void a_place_that_cannot_be_written_is_said(void **state)
{
	char error[512];

	(void)state;
	fake_gnuplot("#!/bin/sh\ncat\n");
	assert_int_equal(plot("t", 1, error), -ENOENT);
	assert_non_null(strstr(error, "cannot write /"));
	assert_non_null(strstr(error, "No such file"));
}

/* picture() is then what gnuplot was told. */
static void drawn(const struct plot_request *request)
{
	char error[512];

	fake_file("out/curve.svg", "old");
	fake_gnuplot("#!/bin/sh\ncat\n");
	assert_int_equal(
	        plot_file_write(fake_path("out/curve.svg"), request, error, sizeof(error)), 0);
}

static void one_size_is_drawn_too(void **state)
{
	const struct plot_series one = {.name = "one", .sizes = sizes, .values = values, .n = 1};
	struct plot_request request = {
	        .title = "t", .size_title = "s", .value_title = "v", .series = &one, .n_series = 1};

	(void)state;
	drawn(&request);
	assert_non_null(strstr(picture(), "set xrange [2048:8192]"));
	assert_non_null(strstr(picture(), "set xtics ('2048' 2048, '4096' 4096, '8192' 8192)"));
}

static void the_name_says_the_kind(void **state)
{
	char error[512];

	(void)state;
	assert_int_equal(plot_file_check("a.svg", error, sizeof(error)), 0);
	assert_int_equal(plot_file_check("a.PNG", error, sizeof(error)), 0);
	assert_int_equal(plot_file_check("d/a.b.pdf", error, sizeof(error)), 0);
	assert_int_equal(plot_file_check(".pdf", error, sizeof(error)), -EINVAL);
	assert_int_equal(plot_file_check("a.jpg", error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "'a.jpg'"));
}

/* Curves of different widths and dashes, points on them, and points beside them with names. */
static void marks_and_labels(void **state)
{
	const struct plot_series two[] = {{.name = "a",
	                                          .sizes = sizes,
	                                          .values = values,
	                                          .n = 3,
	                                          .marked_sizes = sizes + 1,
	                                          .marked_values = values + 1,
	                                          .n_marked = 1},
	        {.name = "b", .sizes = sizes, .values = values, .n = 3}};
	const struct plot_label labels[] = {{2097152, 0.25, "32K:8:64"}, {4096, 0.5, "4K:4:64"}};
	struct plot_request request = {.title = "t",
	        .size_title = "s",
	        .value_title = "v",
	        .bytes = true,
	        .series = two,
	        .n_series = 2,
	        .labels = labels,
	        .n_labels = 2,
	        .labels_title = "others"};

	(void)state;
	drawn(&request);
	assert_non_null(strstr(picture(), "set xrange [4096:2097152]"));
	assert_non_null(strstr(picture(), "$marked0 << END\n8192 0.25\nEND\n"));
	assert_null(strstr(picture(), "$marked1"));
	assert_non_null(strstr(picture(), "2097152 0.25 \"32K:8:64\"\n4096 0.5 \"4K:4:64\"\nEND"));
	assert_non_null(
	        strstr(picture(), "$curve0 using 1:2 with steps lw 2.8 lc 1 dt 1 title 'a'"));
	assert_non_null(
	        strstr(picture(), "$curve1 using 1:2 with steps lw 2.0 lc 2 dt 2 title 'b'"));
	assert_non_null(strstr(picture(), "with labels"));
	assert_non_null(strstr(picture(), "title 'others'"));
	assert_non_null(strstr(picture(), "set key outside"));
}

static void a_colour_may_be_of_several(void **state)
{
	static const double sizes[] = {4096, 8192}, values[] = {2, 1};
	const struct plot_series pair[] = {{.name = "a alone",
	                                           .sizes = sizes,
	                                           .values = values,
	                                           .n = 2,
	                                           .colour = 3,
	                                           .dashed = true},
	        {.name = "a together",
	                .sizes = sizes,
	                .values = values,
	                .n = 2,
	                .colour = 3,
	                .marked_sizes = sizes,
	                .marked_values = values,
	                .n_marked = 1}};
	struct plot_request request = {
	        .title = "t", .size_title = "s", .value_title = "v", .series = pair, .n_series = 2};

	(void)state;
	drawn(&request);
	assert_non_null(strstr(picture(), "$curve0 using 1:2 with steps lw 2 lc 3 dt 2 title"));
	assert_non_null(strstr(picture(), "$curve1 using 1:2 with steps lw 2 lc 3 dt 1 title"));
	assert_non_null(strstr(picture(), "$marked1 using 1:2 with points pt 7 ps 0.4 lc 3 "));
}

/* A live curve: straight, its interval a band, the part that is not to be relied on in dots; sizes
 * with names are lines where they are in sight, and large values are written with letters. */
static void bands_and_lines(void **state)
{
	static const double many[] = {4e6, 2e6, 1e6}, low[] = {3e6, 1e6, 0},
	                    high[] = {5e6, 3e6, 2e6};
	const struct plot_series live = {.name = "x (1)",
	        .sizes = sizes,
	        .values = many,
	        .n = 3,
	        .straight = true,
	        .low = low,
	        .high = high,
	        .n_faint = 1};
	const struct plot_mark marks[] = {{8192, "L2"}, {1e12, "far"}};
	struct plot_request request = {.title = "t",
	        .size_title = "s",
	        .value_title = "v",
	        .bytes = true,
	        .series = &live,
	        .n_series = 1,
	        .marks = marks,
	        .n_marks = 2};

	(void)state;
	drawn(&request);
	assert_non_null(strstr(picture(), "$curve0 using 1:2 with lines lw 2.0 lc 1 dt 1"));
	assert_non_null(strstr(picture(), "$curve0 << END\n8192 2000000\n"));
	assert_non_null(strstr(picture(), "$faint0 << END\n4096 4000000\n8192 2000000\nEND"));
	assert_non_null(strstr(picture(), "$band0 << END\n4096 3000000 5000000\n"));
	assert_non_null(strstr(picture(), "$band0 using 1:2:3 with filledcurves"));
	assert_non_null(strstr(picture(), "set arrow from 8192, graph 0"));
	assert_non_null(strstr(picture(), "'L2' at 8192"));
	assert_null(strstr(picture(), "far"));
	assert_non_null(strstr(picture(), "set format y '%.1s %c'"));
}

/* Between two powers of two: the ends, which never look alike. */
static void ends_are_labelled_where_nothing_else_is(void **state)
{
	static const double near[] = {1000000, 1000001}, apart[] = {5000, 7000};
	struct plot_series one = {.name = "one", .sizes = near, .values = values, .n = 2};
	struct plot_request request = {.title = "t",
	        .size_title = "s",
	        .value_title = "v",
	        .bytes = true,
	        .series = &one,
	        .n_series = 1};

	(void)state;
	drawn(&request);
	assert_non_null(strstr(picture(), "set xtics ('1000000' 1000000, '1000001' 1000001)"));
	one.sizes = apart;
	drawn(&request);
	assert_non_null(strstr(picture(), "set xtics ('4.88K' 5000, '6.84K' 7000)"));
}

/* ---- a gnuplot without end ---- */

#define ENDLESS "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 0.05; done\n"

static void a_gnuplot_without_end_is_ended(void **state)
{
	(void)state;
	limit = 0.2;
	fake_gnuplot(ENDLESS);
	assert_fails(-ETIME, "gnuplot had not drawn it after 0.2 s and was ended");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* The number that the gnuplot of `writer` writes down; it is a whole line. */
static pid_t written_pid(void)
{
	int pid = 0;
	char end = 0;

	for (int i = 0; i < 1000 && end != '\n'; i++) {
		_cleanup_fclose_ FILE *file = fopen(fake_path("out/pid"), "r");

		if (!file || fscanf(file, "%d%c", &pid, &end) != 2)
			usleep(10000);
	}
	assert_int_equal(end, '\n');
	return pid;
}

/* It becomes ours when its parent is gone, and would go on for a minute. */
static void it_ends_with_who_asked_for_the_picture(void **state)
{
	char script[1024], error[512];
	pid_t writer, pid;
	int status;

	(void)state;
	fake_file("out/curve.svg", "old");
	snprintf(script, sizeof(script), "#!/bin/sh\necho $$ >%s\nexec sleep 60\n",
	        fake_path("out/pid"));
	fake_gnuplot(script);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	writer = fork();
	assert_true(writer >= 0);
	if (writer == 0) {
		sigset_t blocked; /* as `mtl run` has it */

		sigfillset(&blocked);
		sigprocmask(SIG_SETMASK, &blocked, NULL);
		_exit(plot("t", 1, error) == 0);
	}
	pid = written_pid();
	kill(writer, SIGKILL);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	alarm(30); /* its end, not this one's */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	alarm(0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

/* ---- symbolic links ---- */

static void link_to(const char *target)
{
	unlink(fake_path("out/curve.svg"));
	assert_int_equal(symlink(target, fake_path("out/curve.svg")), 0);
}

static bool is_link(void)
{
	struct stat status;

	return lstat(fake_path("out/curve.svg"), &status) == 0 && S_ISLNK(status.st_mode);
}

static void a_link_stays_and_what_it_leads_to_is_written(void **state)
{
	char error[512];
	struct stat status;

	(void)state;
	fake_file("elsewhere/real.svg", "old");
	fake_file("out/curve.svg", "");
	fake_gnuplot("#!/bin/sh\nexit 1\n");
	link_to("../elsewhere/real.svg");
	assert_int_equal(plot("t", 1, error), -EIO);
	assert_string_equal(picture(), "old");
	fake_gnuplot("#!/bin/sh\ncat\n");
	for (int i = 0; i < 2; i++) { /* there is one; there is none yet */
		assert_int_equal(plot("t", 1, error), 0);
		assert_non_null(strstr(picture(), "set terminal svg"));
		assert_true(is_link());
		assert_int_equal(files_in_out(), 1);
		assert_int_equal(lstat(fake_path("elsewhere/real.svg"), &status), 0);
		assert_true(S_ISREG(status.st_mode));
		unlink(fake_path("elsewhere/real.svg"));
	}
	fake_gnuplot("#!/bin/sh\n:\n");
	assert_int_equal(plot("t", 1, error), -ENODATA);
	assert_int_equal(lstat(fake_path("elsewhere/real.svg"), &status), -1);
}

static void a_link_to_what_is_no_file_is_refused(void **state)
{
	char error[512];
	struct stat status;

	(void)state;
	fake_file("out/curve.svg", "");
	fake_gnuplot("#!/bin/sh\ncat\n");
	link_to("/dev/null");
	assert_int_equal(plot("t", 1, error), -EMEDIUMTYPE);
	assert_non_null(strstr(error, "leads to something that is no file"));
	assert_true(is_link());
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
	link_to("curve.svg");
	assert_int_equal(plot("t", 1, error), -ELOOP);
	link_to("nowhere/at/all.svg");
	assert_int_equal(plot("t", 1, error), -ENOENT);
}

#define ROOTED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        ROOTED(what_gnuplot_is_told),
	        ROOTED(what_fails_leaves_the_old_picture),
	        ROOTED(a_place_that_cannot_be_written_is_said),
	        ROOTED(a_gnuplot_without_end_is_ended),
	        ROOTED(it_ends_with_who_asked_for_the_picture),
	        ROOTED(a_link_stays_and_what_it_leads_to_is_written),
	        ROOTED(a_link_to_what_is_no_file_is_refused),
	        ROOTED(one_size_is_drawn_too),
	        ROOTED(marks_and_labels),
	        ROOTED(a_colour_may_be_of_several),
	        ROOTED(bands_and_lines),
	        ROOTED(ends_are_labelled_where_nothing_else_is),
	        cmocka_unit_test(the_name_says_the_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
