/* SPDX-License-Identifier: MIT */
#include "programs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
#define FIRST_PID 5

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

static uint64_t told_of_hot(uint64_t *random)
{
	return (uint64_t)(sim_uniform(random) * HOT);
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
        {.name = "hot in cold, told", .told = told_of_hot, HOT_QUESTIONS},
};
const size_t n_programs = sizeof(programs) / sizeof(*programs);

static const uint64_t present = 1ULL << 63;

/* Programs with as much memory resident are one process. */
static unsigned pid_of(const struct program *program)
{
	return FIRST_PID + (unsigned)(program->resident / LINES_OF(1));
}

/* A process with one heap, all resident. */
static int fake_heap(unsigned pid, double lines)
{
	uint64_t pages = (uint64_t)(lines / PAGE_LINES), entries[PAGE / 8];
	char maps[80], path[40];

	snprintf(path, sizeof(path), "proc/%u/pagemap", pid);
	_cleanup_close_ int pagemap = fake_open(path);

	if (pagemap < 0)
		return -errno;
	for (unsigned i = 0; i < PAGE / 8; i++)
		entries[i] = present;
	for (uint64_t page = 0; page < pages; page += PAGE / 8)
		if (pwrite(pagemap, entries, sizeof(entries), (off_t)(FIRST_PAGE + page) * 8) < 0)
			return -errno;
	snprintf(maps, sizeof(maps), "%llx-%llx rw-p 00000000 00:00 0 [heap]\n", FIRST_PAGE * PAGE,
	        (unsigned long long)(FIRST_PAGE + pages) * PAGE);
	snprintf(path, sizeof(path), "proc/%u/maps", pid);
	return fake_file(path, maps) < 0 ? -EIO : 0;
}

int program_begin(const struct program *program)
{
	return fake_heap(pid_of(program), program->resident);
}

int programs_begin(void)
{
	int r = fake_root_new(NULL) < 0 ? -errno : 0;

	zipf_begin();
	for (size_t i = 0; r >= 0 && i < n_programs; i++)
		if (i == 0 || pid_of(&programs[i]) != pid_of(&programs[i - 1]))
			r = program_begin(&programs[i]);
	return r;
}

void programs_end(void)
{
	fake_root_free(NULL);
}

int programs_setup(void **state)
{
	(void)state;
	return programs_begin();
}

int programs_teardown(void **state)
{
	(void)state;
	programs_end();
	return 0;
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

/* ---- judging ---- */

double program_reference(const struct program *program)
{
	return program->reference > 0 ? program->reference : 1 << 20;
}

static double lru_misses(const struct program *program, double lines)
{
	return program->lru ? program->lru(lines) : program_misses(program, lines);
}

double program_relative_error(const struct program *program, const struct mtl_curve *curve)
{
	double error = 0,
	       reference = lru_misses(program, program_reference(program) / MTL_LINE_BYTES);

	for (size_t i = 0; i < curve->n_points; i++) {
		const struct mtl_curve_point *p = &curve->points[i];
		double truth = lru_misses(program, p->size_bytes / MTL_LINE_BYTES) / reference;

		error += fabs(p->relative_miss_ratio - truth) / (double)curve->n_points;
	}
	return error;
}

double program_error_from(
        const struct program *program, const struct mtl_curve *curve, double bytes)
{
	double error = 0, first = 0, truth = 0;
	unsigned n = 0;

	for (size_t i = 0; i < curve->n_points; i++) {
		const struct mtl_curve_point *p = &curve->points[i];
		double misses = lru_misses(program, p->size_bytes / MTL_LINE_BYTES);

		if (p->below_resolution || p->size_bytes < bytes)
			continue;
		if (n++ == 0)
			first = p->misses_per_second, truth = misses;
		error += fabs(p->misses_per_second / first - misses / truth);
	}
	return error / n;
}

const struct program *program_named(const char *name)
{
	for (size_t i = 0; i < n_programs; i++)
		if (strcmp(programs[i].name, name) == 0)
			return &programs[i];
	return NULL;
}

/* ---- observing ---- */

struct observer {
	const struct program *program;
	struct planner *planner; /* NULL: lines are drawn uniformly */
	uint64_t random;
	unsigned short deadlines[3];
};

struct observer *observer_free(struct observer *observer)
{
	if (!observer)
		return NULL;
	planner_free(observer->planner);
	free(observer);
	return NULL;
}

DEFINE_CLEANUP(struct observer, observer_free)

int observer_new(
        const struct program *program, uint64_t seed, bool planned, struct observer **ret_observer)
{
	_cleanup_(observer_freep) struct observer *observer = calloc(1, sizeof(*observer));
	int r = observer ? 0 : -ENOMEM;

	if (r < 0)
		return r;
	observer->program = program;
	observer->random = seed * 0x2545f4914f6cdd1d + 1;
	memcpy(observer->deadlines, &observer->random, sizeof(observer->deadlines));
	if (planned)
		r = planner_new(fake_root, pid_of(program), seed, &observer->planner);
	if (observer->planner)
		r = planner_survey(observer->planner, UINT32_MAX);
	if (r < 0)
		return r;
	if (observer->planner)
		planner_set_settled(observer->planner, true);
	*ret_observer = TAKE_PTR(observer);
	return 0;
}

static void watch_uniform(struct observer *observer, struct mtl_observation *o)
{
	const struct program *program = observer->program;
	double touched[MTL_WORDS_PER_LINE];
	uint64_t line = (uint64_t)(sim_uniform(&observer->random) * program->lines);

	o->weight = program->resident;
	program->touch(&observer->random, line, touched);
	sim_watch(&observer->random, touched, MTL_SLOTS_MAX, o);
}

/* The lines in use are in the middle of the heap. */
static uint64_t first_line(const struct program *program)
{
	double before = fmin(program->resident / 3, program->resident - program->lines);

	return FIRST_PAGE * PAGE_LINES + (uint64_t)before;
}

static int tell(struct observer *observer)
{
	const struct program *program = observer->program;

	if (!program->told)
		return 0;
	return planner_heat(observer->planner,
	        (first_line(program) + program->told(&observer->random)) * MTL_LINE_BYTES, 1);
}

/* The planner chooses the line and its words. */
static int watch_planned(struct observer *observer, struct mtl_observation *o)
{
	const struct planner_deadlines unused = {1, 1, 1, 0};
	const struct program *program = observer->program;
	double touched[MTL_WORDS_PER_LINE];
	struct candidate drawn;
	int r = tell(observer);

	if (r == 0)
		r = planner_draw(observer->planner, &unused, MTL_SLOTS_MAX, false, &drawn);
	if (r < 0)
		return r;
	double line = (double)(drawn.address[0] / MTL_LINE_BYTES) - (double)first_line(program);
	o->weight = drawn.weight;
	o->slots = MTL_SLOTS_MAX;
	sim_all_words(touched, INFINITY);
	if (line >= 0 && line < program->lines)
		program->touch(&observer->random, (uint64_t)line, touched);
	for (unsigned k = 0; k < MTL_SLOTS_MAX; k++) {
		double time = touched[drawn.address[k] / 8 % MTL_WORDS_PER_LINE];

		o->touched[k] = time <= o->deadline ? (float)time : INFINITY;
	}
	planner_saw(observer->planner, drawn.address[0], o);
	return 0;
}

int observer_watch(struct observer *observer, double moment,
        const struct planner_deadlines *deadlines, struct mtl_observation *ret_observation)
{
	*ret_observation = (struct mtl_observation){
	        .moment = moment,
	        .deadline = candidate_deadline(deadlines, observer->deadlines),
	};
	if (observer->planner)
		return watch_planned(observer, ret_observation);
	watch_uniform(observer, ret_observation);
	return 0;
}

double observer_uniform(struct observer *observer)
{
	return sim_uniform(&observer->random);
}

int program_observe(const struct program *program, uint64_t seed, double seconds,
        struct mtl_observation *ret_observations, size_t n)
{
	const struct planner_deadlines deadlines = {
	        program->longest / 64, program->longest, 16 * program->longest, 0};
	_cleanup_(observer_freep) struct observer *observer = NULL;
	int r = observer_new(program, seed, program->resident > program->lines, &observer);

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = observer_watch(observer, seconds * (i + observer_uniform(observer)) / n,
		        &deadlines, &ret_observations[i]);
	return r;
}
