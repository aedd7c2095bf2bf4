/* SPDX-License-Identifier: MIT */
/*
 * mtl: the command line. One table of commands, from which dispatch and help come.
 *
 * Reading order: this file, options.c (what every command accepts), client.c and explain.c (talking
 * to mtld), question.c (its methods), then one file a command. A curve is shown by curve_report.c
 * with curve_table.c, curve_plot.c and curve_sentence.c. `mtl trace` begins in command_trace.c,
 * `mtl share` and `mtl partition`, whose operands are curves (demands.c), in files of their names,
 * `mtl stub` in command_stub.c, `mtl probe` in command_probe.c and probe.h, `mtl top` in
 * command_top.c and top.h; `mtl partition --watch` in partition_watch.c, `mtl export` in
 * command_export.c.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

#ifndef MTL_VERSION
#define MTL_VERSION "unknown"
#endif

static const struct command commands[] = {
        {"run", command_run, "[--] CMD [ARG]...", 1, INT_MAX,
                "the miss-ratio curve of a command, with a mtld of its own", COMMAND_RUN},
        {"curve", command_curve, "PID... | --from FILE", 0, INT_MAX,
                "the curve of running processes, or of saved observations", COMMAND_CURVE},
        {"top", command_top, "", 0, 0, "the tracked processes and their curves, live", COMMAND_TOP},
        {"list", command_list, "", 0, 0, "the processes mtld tracks", COMMAND_LIST},
        {"status", command_status, "", 0, 0, "how mtld is and what it costs", COMMAND_STATUS},
        {"doctor", command_doctor, "", 0, 0, "what works on this machine, why not, and the fix",
                COMMAND_DOCTOR},
        {"track", command_track, "PID | cgroup:PATH", 1, 1,
                "start observing a process, or those of a control group", COMMAND_TRACK},
        {"untrack", command_untrack, "PID | cgroup:PATH", 1, 1, "stop observing it",
                COMMAND_UNTRACK},
        {"trace", command_trace, "FILE | -", 1, 1,
                "the curve of a recorded trace, and all that follows from it", COMMAND_TRACE},
        {"share", command_share, "PID|FILE|GROUP...", 1, INT_MAX,
                "what programs do to each other in a cache they share", COMMAND_SHARE},
        {"partition", command_partition, "PID|FILE|GROUP... | --revert", 0, INT_MAX,
                "the best division of a cache among programs", COMMAND_PARTITION},
        {"stub", command_stub, "FILE | --calibrate | --from PID", 0, 1,
                "replay a memory behaviour, calibrated, or record one", COMMAND_STUB},
        {"probe", command_probe, "", 0, 0,
                "what the caches of this machine are: predicted, then measured", COMMAND_PROBE},
        {"export", command_export, "", 0, 0, "metrics for Prometheus and a live page, over HTTP",
                COMMAND_EXPORT},
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
	printf("usage: mtl [--socket PATH] [--root DIR] COMMAND [OPTION]... [OPERAND]...\n\n"
	       "How many cache misses a program takes with any size of cache, live or from a\n"
	       "trace.\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("  %-18s %s\n", commands[i].name, commands[i].help);
	printf("\n");
	options_print(stdout, COMMAND_GLOBAL);
	printf("\n`mtl COMMAND --help` tells the options of a command.\n"
	       "Exit status: 0 done, 1 failed, 2 wrong usage, 3 not enough observations yet or\n"
	       "too uncertain to advise, 4 sampling impossible here.\n");
}

static void print_command_help(const struct command *command)
{
	printf("usage: mtl %s [OPTION]...%s%s\n\n%s\n\n", command->name,
	        *command->operands ? " " : "", command->operands, command->help);
	options_print(stdout, command->bit);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static int show_version(void)
{
	printf("mtl %s\n", MTL_VERSION);
	return MTL_DONE;
}

static int wrong_count(const struct command *command, int n, char **operands)
{
	if (n < command->min_operands)
		complain(MTL_USAGE, "%s: %s is missing", command->name, command->operands);
	else
		complain(MTL_USAGE, "%s: '%s' is too much", command->name,
		        operands[command->max_operands]);
	return complain(MTL_USAGE, "see `mtl %s --help`", command->name);
}

static int run_command(
        const struct command *command, int argc, char **argv, struct options *options)
{
	char error[512];
	int first = options_parse(command->bit, argc, argv, options, error, sizeof(error));

	if (first < 0)
		return complain(MTL_USAGE, "%s: %s; see `mtl %s --help`", command->name, error,
		        command->name);
	if (options->version)
		return show_version();
	if (options->help) {
		print_command_help(command);
		return MTL_DONE;
	}
	if (argc - first < command->min_operands || argc - first > command->max_operands)
		return wrong_count(command, argc - first, argv + first);
	return command->run(options, argc - first, argv + first);
}

static int dispatch(int argc, char **argv, struct options *options)
{
	const struct command *command;
	char error[512];
	int first = options_parse(COMMAND_GLOBAL, argc, argv, options, error, sizeof(error));

	if (first < 0)
		return complain(MTL_USAGE, "%s; see `mtl --help`", error);
	if (options->version)
		return show_version();
	if (options->help) {
		print_help();
		return MTL_DONE;
	}
	if (first == argc)
		return complain(MTL_USAGE, "a command is missing; see `mtl --help`");
	command = find_command(argv[first]);
	if (!command)
		return complain(
		        MTL_USAGE, "there is no command '%s'; see `mtl --help`", argv[first]);
	return run_command(command, argc - first, argv + first, options);
}

/* What is opened later must not take the place of a standard stream that is closed: what is for
 * people would be written there. */
static void fill_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct options options;
	int code;

	fill_standard_streams();
	setlocale(LC_CTYPE, "");
	options_init(&options);
	code = dispatch(argc, argv, &options);
	options_done(&options);
	if (fflush(stdout) != 0 || ferror(stdout))
		code = complain(MTL_FAILED, "cannot write to standard output: %s", strerror(errno));
	return code;
}
