/* SPDX-License-Identifier: MIT */
/*
 * `mtl run -- CMD`: the curve of a command, with a daemon of its own.
 *
 * In this order: start mtld, fork the command and hold it, track it, let it go; wait for the
 * duration, its end or a signal; fetch the curve; end the command, then mtld; show the curve. The
 * command is reaped only after the curve was fetched, so that its number stays its own. Whatever
 * happens, struct run takes both children and the directory with it when it goes.
 */

#include "options.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>

#include "client.h"
#include "curve_report.h"
#include "monotonic.h"
#include "private_daemon.h"
#include "process.h"
#include "process_stat.h"
#include "question.h"
#include "stop_signals.h"

#define PATIENCE 2.0

struct run {
	const struct options *options;
	struct private_daemon daemon;
	struct held_command command;
	struct client *client;
	struct json_object *curve, *record;
	sigset_t old_mask;
	int signal_fd;
};

static void run_done(struct run *run)
{
	held_command_done(&run->command);
	client_free(run->client);
	private_daemon_done(&run->daemon);
	json_object_put(run->curve);
	json_object_put(run->record);
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
}

static int ask(struct run *run, const char *method, struct json_object *parameters,
        const char *member, struct json_object **ret_value)
{
	int r = question_call(run->client, method, parameters, member, ret_value);

	return r < 0 ? private_daemon_explain(&run->daemon, r) : r;
}

static int start_command(struct run *run, char **argv)
{
	int r = held_command_new(argv, &run->old_mask, run->options->json, &run->command);

	if (r < 0)
		return complain(MTL_FAILED, "cannot start a process: %s", strerror(-r));
	r = ask(run, "Track", question_pid(run->command.process.pid), NULL, NULL);
	if (r != MTL_DONE)
		return r;
	r = held_command_start(&run->command);
	if (r < 0)
		return complain(MTL_FAILED, "cannot run %s: %s", argv[0],
		        r == -ENOENT ? "no such program" : strerror(-r));
	return MTL_DONE;
}

/* Until the duration is over, the command or mtld has ended, or a signal came. */
static void wait_for_end(struct run *run)
{
	double end = monotonic_seconds() + run->options->duration;
	struct pollfd fds[] = {
	        {.fd = run->command.process.fd, .events = POLLIN},
	        {.fd = run->signal_fd, .events = POLLIN},
	        {.fd = run->daemon.process.fd, .events = POLLIN},
	};
	int n;

	do {
		double left = end - monotonic_seconds();

		if (left <= 0)
			return;
		n = poll(fds, 3, isnan(left) ? -1 : (int)fmin(ceil(left * 1000), 3600e3));
	} while (n == 0 || (n < 0 && errno == EINTR));
}

static int fetch(struct run *run)
{
	pid_t pid = run->command.process.pid;
	int code = ask(run, "Curve", question_curve(pid, run->options), "curve", &run->curve);

	if (run->options->record && (code == MTL_DONE || code == MTL_NOT_ENOUGH)) {
		int r = ask(run, "Observations", question_pid(pid), "record", &run->record);

		code = code == MTL_DONE ? r : code;
	}
	return code;
}

static int observe(struct run *run, char **argv)
{
	int r = private_daemon_start(run->options, run->signal_fd, &run->daemon, &run->client);
	struct children children;
	bool known;

	if (r == -ECANCELED)
		return complain(MTL_FAILED, "interrupted before the command was started");
	r = r ?: start_command(run, argv);
	if (r != MTL_DONE)
		return r;
	wait_for_end(run);
	known = children_look(NULL, run->command.process.pid, &children) == 0;
	r = fetch(run);
	if (known && (r == MTL_DONE || r == MTL_NOT_ENOUGH))
		children_complain(&children, true);
	process_end(&run->command.process, PATIENCE);
	return r;
}

int command_run(const struct options *options, int n_operands, char **operands)
{
	_cleanup_(run_done) struct run run = {
	        .options = options,
	        .daemon.messages = -1,
	        .command.hold = -1,
	        .signal_fd = -1,
	};
	int code, r = stop_signals_catch(&run.old_mask);

	(void)n_operands;
	run.signal_fd = r;
	if (r < 0)
		return complain(MTL_FAILED, "cannot wait for signals: %s", strerror(-r));
	code = observe(&run, operands);
	private_daemon_done(&run.daemon);
	if (run.curve)
		code = curve_output(run.curve, options) ?: code;
	if (run.record)
		code = question_save(run.record, options) ?: code;
	return code;
}
