/* SPDX-License-Identifier: MIT */
#include "programs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "fake_root.h"
#include "planner.h"
#include "simulate.h"

DEFINE_CLEANUP(struct planner, planner_free)

#define LINES_OF(mebibytes) ((mebibytes)*16384.0)
#define PAGE 4096
#define PAGE_LINES 64
#define FIRST_PAGE 0x10000ULL
#define PID 5

/* ---- cyclic and random: a line comes once in PERIOD ---- */

#define PERIOD 0.01
#define CYCLIC LINES_OF(16)

static void touch_scan(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE])
{
	(void)line;
	sim_scan(random, touched);
}

static void touch_stride(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE])
{
	(void)line;
	sim_stride(random, touched);
}

static void touch_mixed(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE])
{
	(line % 2 ? sim_scan : sim_stride)(random, touched);
}

static void touch_words(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE])
{
	(void)line;
	sim_random(random, touched);
}

static void touch_lines(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE])
{
	(void)line;
	sim_random_line(random, touched);
}

static double cyclic_footprint(double window)
{
	return CYCLIC * fmin(window / PERIOD, 1);
}

static double cyclic_slope(double window)
{
	return window < PERIOD ? CYCLIC / PERIOD : 0;
}

static double random_footprint(double window)
{
	return CYCLIC * -expm1(-window / PERIOD);
}

static double random_slope(double window)
{
	return CYCLIC / PERIOD * exp(-window / PERIOD);
}

/* ---- 8 MiB of random words, 50 million a second, in 4 GiB ---- */

#define HOT LINES_OF(8)
#define HOT_PERIOD (HOT / 50e6)

static void touch_hot(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE])
{
	(void)line;
	for (unsigned k = 0; k < MTL_WORDS_PER_LINE; k++)
		touched[k] = -log(sim_uniform(random)) * HOT_PERIOD * MTL_WORDS_PER_LINE;
}

static double hot_footprint(double window)
{
	return HOT * -expm1(-window / HOT_PERIOD);
}

static double hot_slope(double window)
{
	return HOT / HOT_PERIOD * exp(-window / HOT_PERIOD);
}

/* ---- zipf(0.9) over 64 MiB: a random word, 50 million a second ---- */

#define ZIPF LINES_OF(64)
#define ZIPF_SKEW 0.9
#define ZIPF_RATE 50e6
#define ZIPF_BINS 400

/* Ranks in bins of ever more of them; rate: accesses a second of one line in the bin. */
static struct {
	double first[ZIPF_BINS + 1], rate[ZIPF_BINS], sum;
	size_t n;
} zipf;

static void zipf_begin(void)
{
	double next = 0;

	zipf.n = 0;
	zipf.sum = 0;
	while (next < ZIPF && zipf.n < ZIPF_BINS) {
		double width = fmin(fmax(1, floor(next / 16)), ZIPF - next);

		zipf.first[zipf.n] = next;
		zipf.rate[zipf.n] = pow(next + (width + 1) / 2, -ZIPF_SKEW);
		zipf.sum += width * zipf.rate[zipf.n++];
		next += width;
	}
	zipf.first[zipf.n] = next;
	for (size_t i = 0; i < zipf.n; i++)
		zipf.rate[i] *= ZIPF_RATE / zipf.sum;
}

/* Which line has which rank: multiplied by an odd number, with its bits mixed. */
static double zipf_rank(uint64_t line)
{
	uint64_t x = line * 0x9e3779b97f4a7c15 % (uint64_t)ZIPF;

	x ^= x >> 10;
	return (double)(x * 0xbf58476d1ce4e5b9 % (uint64_t)ZIPF);
}

static void touch_zipf(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE])
{
	double mean = pow(zipf_rank(line) + 1, ZIPF_SKEW) * zipf.sum / ZIPF_RATE;

	for (unsigned k = 0; k < MTL_WORDS_PER_LINE; k++)
		touched[k] = -log(sim_uniform(random)) * mean * MTL_WORDS_PER_LINE;
}

static double zipf_footprint(double window)
{
	double sum = 0;

	for (size_t i = 0; i < zipf.n; i++)
		sum -= (zipf.first[i + 1] - zipf.first[i]) * expm1(-zipf.rate[i] * window);
	return sum;
}

static double zipf_slope(double window)
{
	double sum = 0;

	for (size_t i = 0; i < zipf.n; i++)
		sum += (zipf.first[i + 1] - zipf.first[i]) * zipf.rate[i] *
		       exp(-zipf.rate[i] * window);
	return sum;
}

/* ---- two levels: 1 MiB scanned 50 times for every scan of 16 MiB, 100 million lines a second ----
 */

#define INNER LINES_OF(1)
#define OUTER LINES_OF(16)
#define TIMES 50
#define LINE_SECONDS 1e-8
#define INNER_SECONDS (INNER * LINE_SECONDS)
#define CYCLE_SECONDS (TIMES * INNER_SECONDS + OUTER * LINE_SECONDS)
#define INNER_GAP (CYCLE_SECONDS - (TIMES - 1) * INNER_SECONDS) /* the longest */

static void touch_two_levels(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE])
{
	double moment = sim_uniform(random) * CYCLE_SECONDS, next = (double)line * LINE_SECONDS;

	if (line >= INNER)
		next += (TIMES - 1) * INNER_SECONDS;
	else if (moment > next && moment < next + (TIMES - 1) * INNER_SECONDS)
		next += ceil((moment - next) / INNER_SECONDS) * INNER_SECONDS;
	sim_all_words(touched, next >= moment ? next - moment : next + CYCLE_SECONDS - moment);
}

static double two_levels_footprint(double window)
{
	double inner = (TIMES - 1) * fmin(window, INNER_SECONDS) + fmin(window, INNER_GAP);

	return (INNER * inner + OUTER * fmin(window, CYCLE_SECONDS)) / CYCLE_SECONDS;
}

static double two_levels_slope(double window)
{
	double inner = (TIMES - 1) * (window < INNER_SECONDS) + (window < INNER_GAP);

	return (INNER * inner + OUTER * (window < CYCLE_SECONDS)) / CYCLE_SECONDS;
}

static double two_levels_lru(double lines)
{
	if (lines < INNER)
		return 1 / LINE_SECONDS;
	return lines < INNER + OUTER ? (INNER + OUTER) / CYCLE_SECONDS : 0;
}

/* ---- all of them ---- */

#define CYCLIC_QUESTIONS                                                                           \
	.lines = CYCLIC, .resident = CYCLIC, .longest = 0.05, .resolution = 5e-5,                  \
	.part = {1 / 64.0, 1 / 16.0, 1 / 8.0, 1 / 4.0, 1 / 2.0, 3 / 4.0, 0.9},                     \
	.window = {1e-4, 1e-3, 1e-2, 0.04}

#define HOT_QUESTIONS                                                                              \
	.lines = HOT, .resident = LINES_OF(4096), .longest = 0.05, .resolution = 5e-5,             \
	.touch = touch_hot, .footprint = hot_footprint, .slope = hot_slope,                        \
	.part = {1 / 16.0, 1 / 8.0, 1 / 4.0, 1 / 2.0, 3 / 4.0, 0.9},                               \
	.window = {1e-4, 1e-3, 1e-2, 0.04}

const struct program programs[] = {
        {.name = "scan",
                CYCLIC_QUESTIONS,
                .touch = touch_scan,
                .footprint = cyclic_footprint,
                .slope = cyclic_slope},
        {.name = "stride-64",
                CYCLIC_QUESTIONS,
                .touch = touch_stride,
                .footprint = cyclic_footprint,
                .slope = cyclic_slope},
        {.name = "half of each",
                CYCLIC_QUESTIONS,
                .touch = touch_mixed,
                .footprint = cyclic_footprint,
                .slope = cyclic_slope},
        {.name = "random lines",
                CYCLIC_QUESTIONS,
                .touch = touch_lines,
                .footprint = random_footprint,
                .slope = random_slope},
        {.name = "random words",
                CYCLIC_QUESTIONS,
                .touch = touch_words,
                .footprint = random_footprint,
                .slope = random_slope},
        {.name = "zipf",
                .lines = ZIPF,
                .resident = ZIPF,
                .longest = 0.3,
                .resolution = 5e-5,
                .touch = touch_zipf,
                .footprint = zipf_footprint,
                .slope = zipf_slope,
                .part = {1 / 128.0, 1 / 64.0, 1 / 32.0, 1 / 16.0, 1 / 8.0, 1 / 4.0, 1 / 2.0,
                        3 / 4.0},
                .window = {1e-4, 1e-3, 1e-2, 1e-1}},
        {.name = "two levels",
                .lines = INNER + OUTER,
                .resident = INNER + OUTER,
                .longest = 0.05,
                .resolution = 5e-5,
                .reference = 1 << 19,
                .touch = touch_two_levels,
                .footprint = two_levels_footprint,
                .slope = two_levels_slope,
                .lru = two_levels_lru,
                .part = {0.5 / 17, 0.75 / 17, 1.5 / 17, 2 / 17.0, 4 / 17.0, 8 / 17.0, 12 / 17.0,
                        16 / 17.0},
                .window = {1e-4, 1e-3, 1e-2, 0.04}},
        {.name = "hot in cold", HOT_QUESTIONS},
        {.name = "hot in cold, told", .told = true, HOT_QUESTIONS},
};
const size_t n_programs = sizeof(programs) / sizeof(*programs);

static const uint64_t present = 1ULL << 63;

/* A process with one heap, all resident, of as much memory as any program has. */
static int fake_heap(double lines)
{
	uint64_t pages = (uint64_t)(lines / PAGE_LINES), entries[PAGE / 8];
	_cleanup_close_ int pagemap = fake_open("proc/5/pagemap");
	char maps[80];

	if (pagemap < 0)
		return -errno;
	for (unsigned i = 0; i < PAGE / 8; i++)
		entries[i] = present;
	for (uint64_t page = 0; page < pages; page += PAGE / 8)
		if (pwrite(pagemap, entries, sizeof(entries), (off_t)(FIRST_PAGE + page) * 8) < 0)
			return -errno;
	snprintf(maps, sizeof(maps), "%llx-%llx rw-p 00000000 00:00 0 [heap]\n", FIRST_PAGE * PAGE,
	        (unsigned long long)(FIRST_PAGE + pages) * PAGE);
	return fake_file("proc/5/maps", maps) < 0 ? -EIO : 0;
}

int programs_begin(void)
{
	zipf_begin();
	return fake_root_new(NULL) < 0 ? -errno : fake_heap(LINES_OF(4096));
}

void programs_end(void)
{
	fake_root_free(NULL);
}

double program_fill_time(const struct program *program, double lines)
{
	double low = 0, high = 1e-9;

	while (program->footprint(high) < lines && high < 1e6)
		high *= 2;
	for (unsigned i = 0; i < 80; i++) {
		double middle = (low + high) / 2;

		*(program->footprint(middle) < lines ? &low : &high) = middle;
	}
	return low;
}

double program_misses(const struct program *program, double lines)
{
	return program->slope(program_fill_time(program, lines));
}

/* ---- observing ---- */

static struct planner_deadlines deadlines_of(const struct program *program)
{
	double longest = program->longest;

	return (struct planner_deadlines){longest / 64, longest, 16 * longest};
}

static double draw_deadline(const struct program *program, uint64_t *random)
{
	struct planner_deadlines d = deadlines_of(program);

	if (sim_uniform(random) < PLANNER_TAIL)
		return sim_log_uniform(random, d.longest, d.limit);
	return sim_log_uniform(random, d.shortest, d.longest);
}

static void observe_uniform(
        const struct program *program, uint64_t *random, struct mtl_observation *o)
{
	double touched[MTL_WORDS_PER_LINE];

	o->deadline = draw_deadline(program, random);
	o->weight = program->resident;
	program->touch(random, (uint64_t)(sim_uniform(random) * program->lines), touched);
	sim_watch(random, touched, 4, o);
}

/* The planner chooses the line and its words; the lines in use are in the middle of the heap. */
static uint64_t first_line(const struct program *program)
{
	return FIRST_PAGE * PAGE_LINES + (uint64_t)(program->resident / 3);
}

static int observe_drawn(const struct program *program, struct planner *planner, uint64_t *random,
        struct mtl_observation *o)
{
	const struct planner_deadlines deadlines = deadlines_of(program);
	double touched[MTL_WORDS_PER_LINE];
	struct candidate drawn;
	int r = 0;

	if (program->told)
		r = planner_heat(planner,
		        (first_line(program) + (uint64_t)(sim_uniform(random) * program->lines)) *
		                MTL_LINE_BYTES,
		        1);
	if (r == 0)
		r = planner_draw(planner, &deadlines, MTL_SLOTS_MAX, false, &drawn);

	if (r < 0)
		return r;
	double line = (double)(drawn.address[0] / MTL_LINE_BYTES) - (double)first_line(program);
	o->deadline = drawn.deadline_ns / 1e9;
	o->weight = drawn.weight;
	o->slots = MTL_SLOTS_MAX;
	sim_all_words(touched, INFINITY);
	if (line >= 0 && line < program->lines)
		program->touch(random, (uint64_t)line, touched);
	for (unsigned k = 0; k < MTL_SLOTS_MAX; k++) {
		double time = touched[drawn.address[k] / 8 % MTL_WORDS_PER_LINE];

		o->touched[k] = time <= o->deadline ? (float)time : INFINITY;
	}
	planner_saw(planner, drawn.address[0], o);
	return 0;
}

static int planner_of(const struct program *program, uint64_t seed, struct planner **ret_planner)
{
	_cleanup_(planner_freep) struct planner *planner = NULL;
	int r = 0;

	if (program->resident > program->lines)
		r = planner_new(fake_root, PID, seed, &planner);
	if (planner)
		r = planner_survey(planner, UINT32_MAX);
	if (r < 0)
		return r;
	if (planner)
		planner_set_settled(planner, true);
	*ret_planner = TAKE_PTR(planner);
	return 0;
}

int program_observe(const struct program *program, uint64_t seed, double seconds,
        struct mtl_observation *ret_observations, size_t n)
{
	_cleanup_(planner_freep) struct planner *planner = NULL;
	uint64_t random = seed * 0x2545f4914f6cdd1d + 1;
	int r = planner_of(program, seed, &planner);

	for (size_t i = 0; r >= 0 && i < n; i++) {
		struct mtl_observation *o = &ret_observations[i];

		*o = (struct mtl_observation){.moment = seconds * (i + sim_uniform(&random)) / n};
		if (planner)
			r = observe_drawn(program, planner, &random, o);
		else
			observe_uniform(program, &random, o);
	}
	return r;
}
