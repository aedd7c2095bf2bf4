/* SPDX-License-Identifier: MIT */
/*
 * play_trace [OPTION]... TRACE...: recorded programs, run over and over, as mtld would see them on
 * a machine with a PMU (played.h): its planner, watchpoints and estimators against the exact curve.
 *
 *     --observations N    of each kind (4000)
 *     --delay ACCESSES    from a sample to the armed watch (2000)
 *     --most ERROR        fail when a mean error of the two estimators exceeds it
 *     --seed N
 *
 * A row for each trace: the mean (greatest) absolute error of the miss ratio at sizes from 4 x the
 * footprint of the delay up to all lines, a factor of sqrt(2) apart, by
 *     residual     lines drawn by the planner, watched from moments of their own
 *     reuse        samples of misses of a cache that the program fills within the delay
 *     unfiltered   samples of all accesses, armed as late: what happens without the miss filter
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cleanup.h"
#include "fake_root.h"
#include "planner.h"
#include "played.h"
#include "simulate.h"
#include "trace_reader.h"
#include "visit.h"

#define PID 5
#define SIZES 64
#define PAGES_MAX (1 << 20)
#define PRESENT (1ULL << 63)
#define CHUNK 4096
#define SLOTS 4
/* Fewest rounds that what is touched once a round is watched for. */
#define ROUNDS 1.5
#define SLICE_WATCHES 8 /* slices are so many times as long as the longest watch */

struct settings {
	size_t observations;
	double delay, most;
	uint64_t seed;
};

struct errors {
	double mean, greatest;
};

static void __attribute__((noreturn)) give_up(const char *what, int error)
{
	fprintf(stderr, "play_trace: %s: %s\n", what, strerror(error));
	exit(1);
}

/* --- the trace */

struct words {
	uint64_t *words;
	size_t n, room;
};

static void add_access(struct words *words, const struct trace_access *access)
{
	uint64_t last = (access->address + access->size - 1) / 8;

	for (uint64_t word = access->address / 8; word <= last; word++) {
		if (words->n == words->room) {
			words->room = words->room ? 2 * words->room : CHUNK;
			words->words = realloc(words->words, words->room * sizeof(uint64_t));
			if (!words->words)
				give_up("trace", ENOMEM);
		}
		words->words[words->n++] = word;
	}
}

static struct played *play(const char *path)
{
	_cleanup_(trace_closep) struct trace_reader *reader = NULL;
	static struct trace_access accesses[CHUNK];
	struct words words = {0};
	struct played *played;
	char error[512] = "";
	size_t n;
	int r = trace_open(path, TRACE_GUESS, 0, &reader, error, sizeof(error));

	do {
		r = r ?: trace_read(reader, accesses, CHUNK, &n, error, sizeof(error));
		if (r < 0)
			give_up(error, -r);
		for (size_t i = 0; i < n; i++)
			if (accesses[i].kind != TRACE_INSTRUCTION)
				add_access(&words, &accesses[i]);
	} while (n > 0);
	r = played_new(words.words, words.n, &played);
	free(words.words);
	if (r < 0)
		give_up(path, -r);
	return played;
}

/* --- the planner, which sees the process as files */

static void write_maps(const uint64_t *pages, size_t n)
{
	int pagemap = fake_open("proc/5/pagemap"), maps = fake_open("proc/5/maps");

	if (pagemap < 0 || maps < 0)
		give_up("files of a process", errno);
	for (size_t i = 0; i < n; i++) {
		uint64_t entry = PRESENT | i;
		size_t end = i + 1;

		if (pwrite(pagemap, &entry, 8, (off_t)pages[i] * 8) != 8)
			give_up("pagemap", errno);
		if (i > 0 && pages[i] == pages[i - 1] + 1)
			continue;
		while (end < n && pages[end] == pages[end - 1] + 1)
			end++;
		dprintf(maps, "%lx-%lx rw-p 00000000 00:00 0\n", pages[i] << 12,
		        (pages[end - 1] + 1) << 12);
	}
	close(pagemap);
	close(maps);
}

static struct planner *plan(const struct played *played, uint64_t seed)
{
	_cleanup_free_ uint64_t *pages = malloc(PAGES_MAX * sizeof(*pages));
	struct planner *planner;
	int r;

	if (!pages)
		give_up("pages", ENOMEM);
	write_maps(pages, played_pages(played, pages, PAGES_MAX));
	r = planner_new(fake_root, PID, seed, &planner);
	while (r == 0)
		r = planner_survey(planner, 1 << 20);
	if (r < 0)
		give_up("planner", -r);
	return planner;
}

static void watch_line(const struct played *played, const struct candidate *candidate,
        double moment, struct mtl_observation *ret)
{
	*ret = (struct mtl_observation){
	        .moment = moment,
	        .deadline = (double)candidate->deadline_ns,
	        .weight = candidate->weight,
	        .slots = (uint8_t)candidate->slots,
	};
	for (unsigned k = 0; k < candidate->slots; k++) {
		double touched = played_touch(played, candidate->address[k] / 8, moment);

		ret->touched[k] = touched <= ret->deadline ? touched : INFINITY;
	}
}

/* Moments are a Poisson process, of which those within a watch do not count, nor those in slices of
 * reuse times. */
static void observe_residual(const struct played *played, struct planner *planner,
        const struct settings *settings, struct mtl_observation *ret)
{
	const struct planner_deadlines deadlines = {1e-9 * settings->delay,
	        1e-9 * ROUNDS * played_accesses(played), 2e-9 * ROUNDS * played_accesses(played),
	        0};
	const struct visit_terms terms = {
	        .quiet = 1e-9 * settings->delay,
	        .turns = {SLICE_WATCHES * deadlines.longest, SLICE_WATCHES * deadlines.longest},
	        .deadlines = deadlines,
	};
	struct visits visits = {.random = {3, 5, 7}};
	double moment = 0;
	uint64_t random = settings->seed;

	visits_ask(&visits, &terms, 0);
	for (size_t i = 0; i < settings->observations; i++) {
		struct candidate candidate;
		int r = planner_draw(planner, &deadlines, SLOTS, false, &candidate);

		if (r < 0)
			give_up("draw", -r);
		do
			moment += floor(-log(sim_uniform(&random)) * played_accesses(played) / 10);
		while (visits_have_turn(&visits, (uint64_t)moment) ||
		        visits_deadline(&visits, (uint64_t)moment, candidate.deadline_ns) == 0);
		candidate.deadline_ns =
		        visits_deadline(&visits, (uint64_t)moment, candidate.deadline_ns);
		watch_line(played, &candidate, moment, &ret[i]);
		moment += ret[i].deadline;
	}
}

/* --- curves */

static size_t list_sizes(const struct played *played, double delay, double *ret_sizes)
{
	double size = 4 * played_footprint(played, delay);
	size_t n = 0;

	for (; n < SIZES && size < played_lines(played); size *= M_SQRT2)
		ret_sizes[n++] = MTL_LINE_BYTES * floor(size);
	return n;
}

static struct errors compare(const struct played *played, const struct settings *settings,
        const struct mtl_observation *observations, double lines, double rate)
{
	double sizes[SIZES];
	size_t n = list_sizes(played, settings->delay, sizes);
	const struct mtl_observation *last = &observations[settings->observations - 1];
	const struct mtl_estimate_options options = {
	        .sizes = sizes,
	        .n_sizes = n,
	        .now = last->moment + last->deadline,
	        .resolution_seconds = settings->delay,
	        .accesses_per_second = NAN,
	        .miss_cache_bytes = MTL_LINE_BYTES * lines,
	        .misses_per_second = rate,
	        .seed = settings->seed,
	};
	struct errors errors = {0};
	struct mtl_curve *curve;
	int r = mtl_curve_from_observations(
	        observations, settings->observations, NULL, 0, &options, &curve);

	if (r < 0)
		give_up("curve", -r);
	for (size_t i = 0; i < n; i++) {
		double truth = played_miss_ratio(played, sizes[i] / MTL_LINE_BYTES);
		double error = fabs(curve->points[i].misses_per_second - truth);

		errors.mean += error / (double)n;
		errors.greatest = fmax(errors.greatest, error);
	}
	mtl_curve_free(curve);
	return errors;
}

struct heat {
	struct planner *planner;
	uint64_t period;
};

static void warm(void *userdata, uint64_t address)
{
	const struct heat *heat = userdata;

	planner_heat(heat->planner, address, (double)heat->period);
}

/* lines: of the cache whose misses are sampled, 0: all accesses are. */
static struct errors from_samples(const struct played *played, struct planner *planner,
        const struct settings *settings, double lines, struct mtl_observation *observations)
{
	const struct played_pmu pmu = {
	        .period = 1009,
	        .skid = 3,
	        .zero = 0.05,
	        .dropped = 0.02,
	        .delay = settings->delay,
	        .lines = lines,
	        .slots = SLOTS,
	        .shortest = 2 * settings->delay,
	        .longest = ROUNDS * played_accesses(played),
	};
	struct heat heat = {planner, pmu.period};
	struct played_counts counts;
	double rate;

	played_at_samples(played, &pmu, settings->seed, observations, settings->observations, warm,
	        &heat, &rate, &counts);
	return compare(
	        played, settings, observations, played_footprint(played, settings->delay), rate);
}

static int show(const char *path, const struct settings *settings)
{
	_cleanup_free_ struct mtl_observation *observations =
	        calloc(settings->observations, sizeof(*observations));
	struct played *played = play(path);
	struct planner *planner = plan(played, settings->seed);
	double lines = played_footprint(played, settings->delay);
	struct errors reuse, unfiltered, residual;
	const char *name = strrchr(path, '/');

	if (!observations)
		give_up("observations", ENOMEM);
	reuse = from_samples(played, planner, settings, lines, observations);
	unfiltered = from_samples(played, planner, settings, 0, observations);
	observe_residual(played, planner, settings, observations);
	residual = compare(played, settings, observations, 0, 0);
	name = name ? name + 1 : path;
	printf("| %.*s | %.1f M | %.0f | %.0f | %.4f (%.4f) | %.4f (%.4f) | %.4f (%.4f) |\n",
	        (int)strcspn(name, "."), name, played_accesses(played) / 1e6, played_lines(played),
	        lines, residual.mean, residual.greatest, reuse.mean, reuse.greatest,
	        unfiltered.mean, unfiltered.greatest);
	planner_free(planner);
	played_free(played);
	return residual.mean > settings->most || reuse.mean > settings->most ||
	       unfiltered.mean < reuse.mean;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"observations", 1, NULL, 'n'},
	        {"delay", 1, NULL, 'd'}, {"most", 1, NULL, 'm'}, {"seed", 1, NULL, 's'}, {0}};
	struct settings settings = {4000, 2000, INFINITY, 1};
	int option, failed = 0;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		switch (option) {
		case 'n':
			settings.observations = strtoul(optarg, NULL, 10);
			break;
		case 'd':
			settings.delay = strtod(optarg, NULL);
			break;
		case 'm':
			settings.most = strtod(optarg, NULL);
			break;
		case 's':
			settings.seed = strtoull(optarg, NULL, 10);
			break;
		default:
			return 2;
		}
	puts("| program | accesses | lines | lines within the delay | residual | reuse | "
	     "unfiltered |\n"
	     "|---|--:|--:|--:|--:|--:|--:|");
	for (int i = optind; i < argc; i++) {
		if (fake_root_new(NULL) < 0)
			give_up("directory", errno);
		failed |= show(argv[i], &settings);
		fake_root_free(NULL);
	}
	return failed;
}
