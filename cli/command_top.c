/* SPDX-License-Identifier: MIT */
/*
 * `mtl top`: the tracked processes, live. One loop: news from mtld (top_feed.c) or a key
 * (top_keys.c), then the screen anew (top_screen.c). The terminal is put back however it ends, but
 * for SIGKILL.
 */

#include "options.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cleanup.h"
#include "stop_signals.h"
#include "top.h"
#include "top_columns.h"

#define INTERVAL_SECONDS 1.0
#define STEP_SECONDS 0.2  /* so soon a new size of the window is noticed */
#define ESCAPE_DELAY 25   /* milliseconds: a sequence of a key arrives as a whole */
#define EMPTY_WAKEUPS 100 /* a terminal that is gone can be read for ever, and brings nothing */

/* Readable when there is a key or a signal; both descriptors stay their owners'. */
static int wake_on(int signals, int *ret_fd)
{
	const int fds[] = {STDIN_FILENO, signals};
	int fd = epoll_create1(EPOLL_CLOEXEC);

	for (int i = 0; fd >= 0 && i < 2; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.fd = fds[i]};

		if (epoll_ctl(fd, EPOLL_CTL_ADD, fds[i], &event) < 0) {
			int r = -errno;

			close(fd);
			return r;
		}
	}
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

static bool is_signalled(int wake_fd, int signals)
{
	struct epoll_event events[2];
	int n = epoll_wait(wake_fd, events, 2, 0);

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == signals)
			return true;
	}
	return false;
}

/* The selected process first, then those on the screen. Returns how many. */
static size_t wanted(const struct top *top, const struct top_row **ret_wanted)
{
	size_t n = 0, place = top_selected(top);

	if (top->n)
		ret_wanted[n++] = top->order[place];
	for (size_t i = 0; top->view == TOP_TABLE && i < top->page && top->first + i < top->n;
	        i++) {
		if (top->first + i != place)
			ret_wanted[n++] = top->order[top->first + i];
	}
	return n;
}

static int step(struct top *top, int wake_fd)
{
	_cleanup_free_ const struct top_row **rows = calloc(top->n + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	return top_feed_step(
	        &top->feed, &top->rows, rows, wanted(top, rows), wake_fd, STEP_SECONDS);
}

static bool take_keys(struct top *top)
{
	bool any = false;

	for (int key; !top->quit && (key = getch()) != ERR; any = true) {
		top_key(top, key);
		if (top_arrange(top) < 0)
			top->quit = true;
	}
	return any;
}

static int loop(struct top *top, int wake_fd, int signals)
{
	unsigned empty = 0;
	int r = 0;

	while (!top->quit && r >= 0) {
		r = top_draw(top);
		r = r ?: step(top, wake_fd);
		if (r == -ECANCELED && is_signalled(wake_fd, signals))
			return 0;
		if (r == -ECANCELED || r > 0) {
			bool woken = r == -ECANCELED;

			r = top_arrange(top);
			empty = take_keys(top) || !woken ? 0 : empty + 1;
		}
		if (empty > EMPTY_WAKEUPS)
			return 0;
	}
	return r;
}

/* The kind of terminal is unknown; or known, like TERM=dumb, but the cursor cannot be placed. */
static int refuse_terminal(SCREEN *screen)
{
	const char *kind = getenv("TERM") ?: "";

	if (!screen)
		return complain(MTL_FAILED,
		        "cannot use a terminal of type '%s': set TERM to what it is", kind);
	endwin();
	delscreen(screen);
	return complain(MTL_FAILED,
	        "a terminal of type '%s' cannot place its cursor: set TERM to what it is, or use "
	        "`mtl list` and `mtl curve PID`",
	        kind);
}

static int on_screen(struct top *top, int wake_fd, int signals)
{
	SCREEN *screen = newterm(NULL, stdout, stdin);
	int r;

	if (!screen || !tigetstr("cup"))
		return refuse_terminal(screen);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_DELAY);
	curs_set(0);
	r = loop(top, wake_fd, signals);
	endwin();
	delscreen(screen);
	return r < 0 ? complain(MTL_FAILED, "%s", strerror(-r)) : MTL_DONE;
}

static int start(struct top *top)
{
	sigset_t old_mask;
	_cleanup_close_ int signals = stop_signals_catch(&old_mask), wake_fd = -1;
	int r = signals < 0 ? signals : wake_on(signals, &wake_fd);

	r = r ?: top_arrange(top);
	return r < 0 ? complain(MTL_FAILED, "cannot wait for keys: %s", strerror(-r))
	             : on_screen(top, wake_fd, signals);
}

int command_top(const struct options *options, int n_operands, char **operands)
{
	struct top top = {
	        .rows = {.l2_bytes = NAN, .llc_bytes = NAN},
	        .feed = {.socket = options->socket,
	                .interval =
	                        isnan(options->interval) ? INTERVAL_SECONDS : options->interval},
	        .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
	char error[TOP_NAME * 8];
	int code;

	(void)n_operands, (void)operands;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return complain(MTL_USAGE, "top: this is no terminal; use `mtl list --json` and "
		                           "`mtl curve PID --json` instead");
	if (top_column_parse(options->sort ?: "cpu", &top.column, error, sizeof(error)) < 0)
		return complain(MTL_USAGE, "--sort: %s", error);
	snprintf(top.filter, sizeof(top.filter), "%s", options->filter ?: "");
	code = start(&top);
	top_feed_done(&top.feed);
	top_rows_done(&top.rows);
	free(top.order);
	return code;
}
