/* SPDX-License-Identifier: MIT */
/*
 * The workload's command line. What is wrong with it ends the program with status 2.
 */

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "workload.h"

static void usage(FILE *stream)
{
	fprintf(stream,
	        "usage: workload KIND --working-set SIZE [OPTION…]\n"
	        "       workload expect KIND --working-set SIZE --size SIZE[,SIZE…] [--skew S]\n\n"
	        "  --resident SIZE    memory touched once at the start (default: the working set)\n"
	        "  --seconds S        end after S seconds of wall-clock time (default: SIGTERM)\n"
	        "  --threads N        threads, sharing the set, or dividing it with --private\n"
	        "  --seed N           of the random choices (default 1)\n"
	        "  --skew S           zipf: exponent (default 1)\n"
	        "  --rate BYTES       fresh, moving: bytes per second of CPU time (default 200000000)\n"
	        "  --switches N       pingpong: rounds per second (default: as many as there can be)\n"
	        "  --report S         {\"cpu_seconds\",\"accesses\"} on stderr every S seconds\n"
	        "  --progress FILE    accesses so far, as a uint64 at the start of FILE\n"
	        "  --help\n\nkinds:\n");
	for (const struct kind *kind = kinds; kind->name; kind++)
		fprintf(stream, "  %-18s %s\n", kind->name, kind->help);
}

static void __attribute__((noreturn, format(printf, 1, 2))) bad(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("workload: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs(" (see workload --help)\n", stderr);
	va_end(arguments);
	exit(2);
}

static double number(const char *option, const char *text, double low, double high)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= low && value <= high))
		bad("--%s %s: a number from %g to %g is wanted", option, text, low, high);
	return value;
}

static double size_at(const char *text, char **ret_end)
{
	static const char suffixes[] = "KMGT";
	double value = strtod(text, ret_end);
	const char *suffix = **ret_end ? strchr(suffixes, **ret_end) : NULL;

	if (*ret_end == text || !(value > 0))
		bad("%s is not a size", text);
	if (suffix) {
		(*ret_end)++;
		value *= (double)(1ULL << (10 * (suffix - suffixes + 1)));
	}
	return value;
}

static uint64_t size(const char *text)
{
	char *end;
	double value = size_at(text, &end);

	if (*end || value > 1e15)
		bad("%s is not a size (512K, 16M, plain bytes)", text);
	return (uint64_t)value;
}

int expect(const struct options *options)
{
	const char *sizes = options->sizes;
	char *end = (char *)sizes;

	if (!sizes)
		bad("expect wants --size");
	do {
		double bytes = size_at(sizes, &end);
		if (*end && *end != ',')
			bad("%s is not a list of sizes", sizes);
		printf("%.6g\n", expect_misses(options, bytes));
		sizes = end + 1;
	} while (*end);
	return 0;
}

static void check(struct options *options)
{
	uint64_t least = 4 * LINE_BYTES * (uint64_t)options->threads;

	options->working_set &= ~(uint64_t)(2 * LINE_BYTES - 1);
	if (options->working_set < least)
		bad("--working-set is missing or less than %llu bytes", (unsigned long long)least);
	if (options->resident == 0)
		options->resident = options->working_set;
	if (options->resident < options->working_set)
		bad("--resident must not be less than --working-set");
	if (options->threads > 1 && strcmp(options->kind->name, "pingpong") == 0)
		bad("pingpong has no --threads");
}

static void parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {{"working-set", 1, NULL, 'w'},
	        {"resident", 1, NULL, 'm'}, {"seconds", 1, NULL, 's'}, {"threads", 1, NULL, 't'},
	        {"seed", 1, NULL, 'n'}, {"skew", 1, NULL, 'k'}, {"rate", 1, NULL, 'r'},
	        {"switches", 1, NULL, 'x'},
	        {"report", 1, NULL, 'e'}, {"progress", 1, NULL, 'p'}, {"private", 0, NULL, 'v'},
	        {"size", 1, NULL, 'c'}, {"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0)
		switch (c) {
		case 'w':
			options->working_set = size(optarg);
			break;
		case 'm':
			options->resident = size(optarg);
			break;
		case 's':
			options->seconds = number("seconds", optarg, 0.01, 1e6);
			break;
		case 't':
			options->threads = (unsigned)number("threads", optarg, 1, THREADS_MAX);
			break;
		case 'n':
			options->seed = (uint64_t)number("seed", optarg, 1, 1e15);
			break;
		case 'k':
			options->skew = number("skew", optarg, 0, 5);
			break;
		case 'r':
			options->rate = number("rate", optarg, 1e5, 1e12);
			break;
		case 'x':
			options->switches = number("switches", optarg, 1, 1e6);
			break;
		case 'e':
			options->report_seconds = number("report", optarg, 0.01, 1e6);
			break;
		case 'p':
			options->progress = optarg;
			break;
		case 'v':
			options->private = true;
			break;
		case 'c':
			options->sizes = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			exit(2);
		}
}

void arguments_parse(int argc, char **argv, struct options *ret_options)
{
	const char *name;

	*ret_options = (struct options){.threads = 1, .seed = 1, .skew = 1, .rate = 200e6};
	parse(argc, argv, ret_options);
	ret_options->expect = optind < argc && strcmp(argv[optind], "expect") == 0;
	optind += ret_options->expect;
	name = optind < argc ? argv[optind++] : NULL;
	ret_options->kind = name ? kind_find(name) : NULL;
	if (!ret_options->kind)
		bad(name ? "no kind %s" : "KIND is missing", name);
	if (optind < argc)
		bad("%s is one argument too many", argv[optind]);
	check(ret_options);
}
