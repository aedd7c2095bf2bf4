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
#include "option_values.h"
#include "terminal.h"

#define DEFAULT_SOCKET "/run/mtld/io.mtld"
#define LEFT_USUAL 18 /* columns of an option's name in the help */
#define LEFT_MAX 64
#define HELP_WIDTH 77 /* without the blanks between */
#define CURVES (COMMAND_RUN | COMMAND_CURVE)
#define OF_CURVES (COMMAND_SHARE | COMMAND_PARTITION) /* with operands that are curves */
#define TABLES                                                                                     \
	(CURVES | COMMAND_LIST | COMMAND_STATUS | COMMAND_DOCTOR | COMMAND_TRACE | OF_CURVES |     \
	        COMMAND_STUB | COMMAND_PROBE)

struct row {
	const char *name;
	const char *argument; /* NULL: a flag; "[=FILE]": may be left out */
	const char *help;
	int commands;
	value_function parse;
	size_t offset;
};

struct conflict {
	const char *one, *other, *why;
};

#define FIELD(name) offsetof(struct options, name)

static const struct row rows[] = {
        {"socket", "PATH", "where mtld listens (or MTL_SOCKET; default " DEFAULT_SOCKET ")",
                COMMAND_ANY & ~(COMMAND_TRACE | COMMAND_STUB | COMMAND_PROBE), value_text,
                FIELD(socket)},
        {"root", "DIR", "take /proc and /sys from below DIR", COMMAND_ANY, value_text, FIELD(root)},
        {"help", NULL, "show this help", COMMAND_ANY, value_flag, FIELD(help)},
        {"version", NULL, "show the version", COMMAND_ANY, value_flag, FIELD(version)},
        {"json", NULL, "one JSON object on standard output and nothing else", TABLES, value_flag,
                FIELD(json)},
        {"csv", NULL, "comma-separated values, a header line first",
                COMMAND_RUN | COMMAND_TRACE | OF_CURVES, value_flag, FIELD(csv)},
        {"csv", NULL, "comma-separated values, a header line first; of one process only",
                COMMAND_CURVE, value_flag, FIELD(csv)},
        {"sizes", "LIST", "cache sizes to report, such as 512K,1.5M,8M", CURVES | COMMAND_EXPORT,
                value_cache_sizes, FIELD(sizes)},
        {"sizes", "LIST", "cache sizes to report, such as 512K,1.5M,8M", COMMAND_TRACE, value_sizes,
                FIELD(sizes)},
        {"windows", "LIST", "windows of CPU time to report the footprint at, such as 1ms,0.1s",
                CURVES, value_windows, FIELD(windows)},
        {"reference", "SIZE", "size that relative miss ratios refer to (default: the L2 cache)",
                CURVES, value_cache_size, FIELD(reference)},
        {"record", "FILE", "save the observations, for `mtl curve --from FILE`", COMMAND_RUN,
                value_text, FIELD(record)},
        {"record", "FILE",
                "save the observations, for `mtl curve --from FILE`; of one process only",
                COMMAND_CURVE, value_text, FIELD(record)},
        {"duration", "S", "end the command after S seconds (default: when it ends by itself)",
                COMMAND_RUN, value_duration, FIELD(duration)},
        {"rung", "NAME",
                "measure with pebs, ibs, counters or watchpoints, or not at all (default: auto, "
                "the best that works)",
                COMMAND_RUN | COMMAND_DOCTOR, value_rung, FIELD(rung)},
        {"verbose", NULL, "show what mtld says", COMMAND_RUN | COMMAND_DOCTOR, value_flag,
                FIELD(verbose)},
        {"watch", NULL, "go on, with a new curve about once a second; of one process only",
                COMMAND_CURVE, value_flag, FIELD(watch)},
        {"watch", NULL,
                "go on: say each --interval which division is best by the curves of then and, with "
                "--apply, put it in force where that is worth it",
                COMMAND_PARTITION, value_flag, FIELD(watch)},
        {"interval", "S", "with --watch: seconds from one round to the next (default 10)",
                COMMAND_PARTITION, value_duration, FIELD(interval)},
        {"gain", "F",
                "with --watch: a change has to gain this fraction of the misses (or the worst "
                "slowdown) in force (default 0.05)",
                COMMAND_PARTITION, value_fraction, FIELD(gain)},
        {"rounds", "N",
                "with --watch: in so many rounds in a row a change has to be worth it (default 3)",
                COMMAND_PARTITION, value_rounds, FIELD(rounds)},
        {"pause", "S", "with --watch: seconds from one change to the next at least (default 60)",
                COMMAND_PARTITION, value_seconds, FIELD(pause)},
        {"keep", NULL, "with --watch and --apply: leave the division in force at the end",
                COMMAND_PARTITION, value_flag, FIELD(keep)},
        {"from", "FILE", "estimate from saved observations, without mtld", COMMAND_CURVE,
                value_text, FIELD(from)},
        {"wait", "S", "how long to wait for enough observations (default 10)",
                COMMAND_CURVE | OF_CURVES, value_seconds, FIELD(wait)},
        {"idle", "S", "forget the process when nobody asked for it for S seconds (default: never)",
                COMMAND_TRACK, value_seconds, FIELD(idle)},
        {"format", "FORMAT",
                "lackey, perf-script, tokens, u64 or oracle (default: as the content looks)",
                COMMAND_TRACE, value_format, FIELD(format)},
        {"line-size", "SIZE",
                "bytes of a line, a power of two (default 64; where data are named instead of "
                "addresses, 1: sizes are then numbers of data)",
                COMMAND_TRACE, value_line_size, FIELD(line_size)},
        {"instructions", NULL, "count accesses to code too", COMMAND_TRACE, value_flag,
                FIELD(instructions)},
        {"method", "METHOD",
                "exact (default), footprint, aet, statstack, shards:R (of a share R of the lines) "
                "or shards-size:N (of N lines)",
                COMMAND_TRACE, value_method, FIELD(method)},
        {"cache", "SIZE:WAYS:LINE",
                "a set-associative cache, simulated and predicted, such as 32K:8:64, or auto: "
                "those of this machine; may be repeated",
                COMMAND_TRACE, value_cache, FIELD(caches)},
        {"emit", "WHAT",
                "instead of the curve: ai, rt, rd, pd-rt, pd-rd (sequences), rt-hist, rd-hist, "
                "footprint, fill-time, aet, inter-miss, residence or easton-fagin",
                COMMAND_TRACE, value_emission, FIELD(emission)},
        {"windows", "LIST", "accesses to report the footprint at, such as 1000,50k,2M",
                COMMAND_TRACE, value_counts, FIELD(windows)},
        {"compare", NULL, "all methods: their errors against exact, time and memory", COMMAND_TRACE,
                value_flag, FIELD(compare)},
        {"plot", "FILE", "draw the curve into a .svg, .png or .pdf, by gnuplot",
                CURVES | COMMAND_TRACE | COMMAND_SHARE | COMMAND_PROBE, value_plot, FIELD(plot)},
        {"history", NULL,
                "the last hour at --sizes (at most 16; default: L2, half of the last-level cache, "
                "all of it), while mtld has known the process; of one process only",
                COMMAND_CURVE, value_flag, FIELD(history)},
        {"memory", "SIZE", "how much to use at most (default: half of what is available)",
                COMMAND_TRACE, value_size, FIELD(memory)},
        {"size", "SIZE", "of the cache (default: the last level of this machine)", COMMAND_SHARE,
                value_size, FIELD(size)},
        {"size", "SIZE", "of the cache, with --ways (default: as resctrl or sysfs says)",
                COMMAND_PARTITION, value_size, FIELD(size)},
        {"ways", "N", "parts of equal size that the cache has, at most 64", COMMAND_PARTITION,
                value_ways, FIELD(ways)},
        {"objective", "WHAT",
                "total: the fewest misses (default); fair: the least worst slowdown; guarantee: "
                "the fewest in which nobody misses more than with an equal share",
                COMMAND_PARTITION, value_objective, FIELD(objective)},
        {"weight", "NAME=W,...", "what a miss of a group counts (default 1)", COMMAND_PARTITION,
                value_weights, FIELD(weights)},
        {"least", "N", "ways that each group gets at least (default 1)", COMMAND_PARTITION,
                value_ways, FIELD(least)},
        {"measure", "S", "what resctrl counts of processes within S seconds, beside the prediction",
                OF_CURVES, value_duration, FIELD(measure)},
        {"domain", "ID,...", "caches to divide, by their ids in schemata (default: all of them)",
                COMMAND_PARTITION, value_domains, FIELD(domains)},
        {"clusters", NULL, "groups may share a part where that is better", COMMAND_PARTITION,
                value_flag, FIELD(clusters)},
        {"miss-cost", "X",
                "of a miss, for slowdowns: seconds (default 1e-7), or accesses where curves are "
                "of traces (default 100)",
                COMMAND_PARTITION, value_positive, FIELD(miss_cost)},
        {"apply", NULL, "divide the cache so, by resctrl: groups mtl.NAME", COMMAND_PARTITION,
                value_flag, FIELD(apply)},
        {"verify", NULL, "show what was requested and measured at each point", COMMAND_STUB,
                value_flag, FIELD(verify)},
        {"calibrate", NULL, "measure again what stubs cost here, and show it", COMMAND_STUB,
                value_flag, FIELD(calibrate)},
        {"no-calibration", NULL, "run as if nothing cost anything", COMMAND_STUB, value_flag,
                FIELD(no_calibration)},
        {"repeat", "N", "run the file N times over (default 1)", COMMAND_STUB, value_repeat,
                FIELD(repeat)},
        {"emit-truth", "[=FILE]",
                "write the exact curve of the access phases into FILE; without one, on standard "
                "output, and do not run",
                COMMAND_STUB, value_output, FIELD(emit_truth)},
        {"from", "PID", "record a process into a data file, on standard output", COMMAND_STUB,
                value_text, FIELD(from)},
        {"duration", "S", "record for S seconds (default: until it ends)", COMMAND_STUB,
                value_duration, FIELD(duration)},
        {"interval", "S", "time between samples (default 0.1)", COMMAND_STUB, value_duration,
                FIELD(interval)},
        {"interval", "S", "seconds from one look to the next (default 1)", COMMAND_TOP,
                value_duration, FIELD(interval)},
        {"sort", "COLUMN",
                "pid, command, cpu (default), resident, footprint, l2, llc, fill or error",
                COMMAND_TOP, value_text, FIELD(sort)},
        {"filter", "TEXT", "only commands with TEXT in their name, or a process number",
                COMMAND_TOP, value_text, FIELD(filter)},
        {"level", "L", "only that level of cache, from 1 on, and without the TLB", COMMAND_PROBE,
                value_level, FIELD(level)},
        {"listen", "ADDRESS:PORT", "where to serve HTTP (default 127.0.0.1:9857)", COMMAND_EXPORT,
                value_listen, FIELD(listen)},
        {"top", "N", "of at most N processes, those that are busiest (default 32)", COMMAND_EXPORT,
                value_top, FIELD(top)},
        {"allow-host", "NAME,...",
                "names besides this machine's by which it may be asked for (default: none)",
                COMMAND_EXPORT, value_text, FIELD(allow_host)},
        {"revert", NULL, "undo --apply", COMMAND_PARTITION, value_flag, FIELD(revert)},
};

static const struct conflict conflicts[] = {
        {"json", "csv", "choose one of them"},
        {"csv", "watch", "use --json for a stream"},
        {"record", "watch", "record without --watch"},
        {"record", "from", "FILE is the record already"},
        {"watch", "from", "a record does not change"},
        {"wait", "from", "a record does not grow"},
        {"history", "watch", "ask again"},
        {"history", "record", "a history is not what was observed"},
        {"history", "from", "a record has no history"},
        {"history", "windows", "its footprint is that of the longest window"},
        {"history", "reference", "it has no ratios"},
        {"history", "wait", "it is what there is"},
        {"compare", "method", "it takes all methods"},
        {"compare", "emit", "choose one of them"},
        {"compare", "cache", "caches go with one curve"},
        {"emit", "cache", "caches go with the curve"},
        {"emit", "plot", "only curves are drawn"},
        {"apply", "revert", "choose one of them"},
        {"watch", "revert", "choose one of them"},
        {"calibrate", "no-calibration", "choose one of them"},
        {"from", "verify", "nothing is run"},
        {"from", "calibrate", "nothing is run"},
        {"from", "no-calibration", "nothing is run"},
        {"from", "repeat", "nothing is run"},
        {"from", "emit-truth", "nothing is run"},
        {"measure", "watch", "what a change does is measured anyway"},
        {"apply", "ways", "what can be divided is read from resctrl"},
        {"domain", "ways", "caches with ids are read from resctrl"},
};

/* Options that are of no use to a command without another one. */
static const struct {
	enum command_bit command;
	const char *one, *other;
} companions[] = {
        {COMMAND_PARTITION, "interval", "watch"},
        {COMMAND_PARTITION, "gain", "watch"},
        {COMMAND_PARTITION, "rounds", "watch"},
        {COMMAND_PARTITION, "pause", "watch"},
        {COMMAND_PARTITION, "keep", "watch"},
        {COMMAND_PARTITION, "keep", "apply"},
        {COMMAND_STUB, "interval", "from"},
        {COMMAND_STUB, "duration", "from"},
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(N_ROWS <= 64, "struct options has a bit for each row");

void options_init(struct options *ret_options)
{
	const char *socket = getenv("MTL_SOCKET");

	*ret_options = (struct options){
	        .socket = socket && *socket ? socket : DEFAULT_SOCKET,
	        .reference = NAN,
	        .duration = NAN,
	        .wait = NAN,
	        .idle = NAN,
	        .memory = NAN,
	        .size = NAN,
	        .miss_cost = NAN,
	        .interval = NAN,
	        .gain = NAN,
	        .pause = NAN,
	        .repeat = 1,
	        .measure = NAN,
	};
}

void options_done(struct options *options)
{
	free(options->sizes.values);
	free(options->windows.values);
	free(options->domains.values);
	free(options->caches.caches);
	weights_done(&options->weights);
	options->sizes = options->windows = options->domains = (struct number_list){0};
	options->caches = (struct trace_cache_list){0};
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
		        .has_arg = !rows[i].argument          ? no_argument
		                   : *rows[i].argument == '[' ? optional_argument
		                                              : required_argument,
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

/* A second value would take the place of the first without a word, but for caches. */
static int check_again(enum command_bit command, size_t index, const struct options *options,
        char *ret_error, size_t error_size)
{
	if (!(command & (COMMAND_TRACE | OF_CURVES | COMMAND_STUB | COMMAND_PROBE)) ||
	        !rows[index].argument || rows[index].parse == value_cache ||
	        !(options->given >> index & 1))
		return 0;
	snprintf(ret_error, error_size, "--%s is given twice: choose one value", rows[index].name);
	return -EINVAL;
}

/* Commands may have rows of the same name. */
static bool is_given(const struct options *options, const char *name)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (strcmp(rows[i].name, name) == 0 && options->given >> i & 1)
			return true;
	}
	return false;
}

static int check_conflicts(const struct options *options, char *ret_error, size_t error_size)
{
	for (size_t i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) {
		const struct conflict *c = &conflicts[i];

		if (is_given(options, c->one) && is_given(options, c->other)) {
			snprintf(ret_error, error_size, "--%s and --%s do not go together: %s",
			        c->one, c->other, c->why);
			return -EINVAL;
		}
	}
	return 0;
}

static int check_companions(
        enum command_bit command, const struct options *options, char *ret_error, size_t error_size)
{
	for (size_t i = 0; i < sizeof(companions) / sizeof(companions[0]); i++) {
		const char *one = companions[i].one, *other = companions[i].other;

		if (command == companions[i].command && is_given(options, one) &&
		        !is_given(options, other)) {
			snprintf(ret_error, error_size, "--%s goes with --%s", one, other);
			return -EINVAL;
		}
	}
	return 0;
}

/* The command's options that begin so, "--compare, --csv"; how many there are. */
static size_t list_alike(
        enum command_bit command, const char *text, size_t length, char *ret_list, size_t size)
{
	size_t n = 0, used = 0;

	for (size_t i = 0; i < N_ROWS; i++) {
		if (!(rows[i].commands & command) || strncmp(rows[i].name, text, length) != 0)
			continue;
		used += (size_t)snprintf(
		        ret_list + used, size - used, "%s--%s", n ? ", " : "", rows[i].name);
		used = used < size ? used : size - 1;
		n++;
	}
	return n;
}

/* getopt_long() says the same of an option that it does not know, one that could be several and one
 * that takes no value. A letter may stand anywhere in its word. */
static int bad_option(
        enum command_bit command, int result, char **argv, char *ret_error, size_t error_size)
{
	const char *word = argv[optind - 1];
	size_t length = strcspn(word, "=");
	char list[256];

	if (result == ':')
		snprintf(ret_error, error_size, "option %.60s needs a value", word);
	else if (optopt > 0 && optopt < 256)
		snprintf(ret_error, error_size, "option -%c is not known here", optopt);
	else if (optopt)
		snprintf(ret_error, error_size, "option %.60s: --%s takes no value", word,
		        rows[optopt - 256].name);
	else if (length > 2 && list_alike(command, word + 2, length - 2, list, sizeof(list)) > 1)
		snprintf(ret_error, error_size, "option %.60s could be any of %s", word, list);
	else
		snprintf(ret_error, error_size, "option %.60s is not known here", word);
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
			return bad_option(command, result, argv, ret_error, error_size);
		r = check_again(command, (size_t)result - 256, options, ret_error, error_size);
		r = r ?: apply((size_t)result - 256, optarg, options, ret_error, error_size);
		if (r < 0)
			return r;
	}
	r = check_conflicts(options, ret_error, error_size);
	r = r ?: check_companions(command, options, ret_error, error_size);
	if (r == 0 && options->caches.machine) {
		r = trace_caches_of_machine(&options->caches, options->root);
		if (r < 0)
			snprintf(ret_error, error_size, "--cache auto: %s", options->caches.note);
	}
	return r < 0 ? r : optind;
}

static int left_text(const struct row *row, char *ret_text, size_t size)
{
	return snprintf(ret_text, size, "--%s%s%s", row->name,
	        row->argument && *row->argument != '[' ? " " : "", row->argument ?: "");
}

static int left_width(enum command_bit command)
{
	char left[LEFT_MAX];
	int width = LEFT_USUAL;

	for (size_t i = 0; i < N_ROWS; i++) {
		int n = rows[i].commands & command ? left_text(&rows[i], left, sizeof(left)) : 0;

		width = n > width ? n : width;
	}
	return width;
}

static void print_row(FILE *file, const struct row *row, int width)
{
	char left[LEFT_MAX], help[512], *rest = help;

	left_text(row, left, sizeof(left));
	snprintf(help, sizeof(help), "%s", row->help);
	wrap_words(help, (size_t)(HELP_WIDTH - width));
	fprintf(file, "  %-*s %s\n", width, left, strsep(&rest, "\n"));
	while (rest)
		fprintf(file, "  %-*s %s\n", width, "", strsep(&rest, "\n"));
}

void options_print(FILE *file, enum command_bit command)
{
	int width = left_width(command);

	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].commands & command)
			print_row(file, &rows[i], width);
	}
}

static struct {
	char *text;
	size_t size;
} kept;

void complain_into(char *ret_text, size_t size)
{
	kept.text = ret_text;
	kept.size = size;
	if (ret_text)
		*ret_text = '\0';
}

int complain(enum exit_code code, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;

	fflush(stdout);
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text)
		make_showable(text);
	if (kept.text && code != MTL_DONE)
		text_append(kept.text, kept.size, "%s%s", *kept.text ? "; " : "",
		        text ?: "out of memory");
	else
		fprintf(stderr, "mtl: %s\n", text ?: "out of memory");
	return code;
}
