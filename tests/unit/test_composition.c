/* SPDX-License-Identifier: MIT */
/* Programs that share a cache: the sum of their footprints against the interleaved trace, within
 * the bound, and their miss ratios against its exact LRU stack. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "cleanup.h"
#include "traces.h"

#define MOST 3 /* programs */

DEFINE_CLEANUP(struct mtl_profile, mtl_profile_free)
DEFINE_CLEANUP(struct mtl_stack, mtl_stack_free)

static struct mtl_profile *profile_of(const uint64_t *data, size_t n)
{
	struct mtl_profile *profile = NULL;

	assert_int_equal(mtl_profile_new(0, &profile), 0);
	assert_int_equal(mtl_profile_access(profile, data, n, NULL), 0);
	return profile;
}

/* -- who makes each of n accesses -- */

/* Two programs: the first one has made floor(rate t + phase) accesses after t. */
static void take_two(double rate, double phase, size_t n, size_t *ret_program)
{
	for (size_t t = 1; t <= n; t++)
		ret_program[t - 1] =
		        floor(rate * (double)t + phase) == floor(rate * ((double)t - 1) + phase);
}

static void take_turns(size_t programs, size_t n, size_t *ret_program)
{
	for (size_t t = 0; t < n; t++)
		ret_program[t] = t % programs;
}

/*
 * Within one of rate t always: the k-th access may come from when rate t > k - 1 on and must by the
 * time when rate t >= k; the one that must first comes first (Baruah et al. 1996).
 */
static void take_fairly(const double *rates, size_t programs, size_t n, size_t *ret_program)
{
	double made[MOST] = {0};

	for (size_t t = 1; t <= n; t++) {
		size_t next = programs;
		double first = INFINITY;
		for (size_t p = 0; p < programs; p++) {
			double deadline = ceil((made[p] + 1) / rates[p] - 1e-9);
			if (rates[p] * (double)t > made[p] + 1e-9 && deadline < first) {
				first = deadline;
				next = p;
			}
		}
		assert_true(next < programs);
		made[next]++;
		ret_program[t - 1] = next;
	}
}

/* As evenly as the rates allow. Are windows balanced? */
static bool take(const double *rates, size_t programs, size_t n, double phase, size_t *ret_program)
{
	bool same = rates[0] == rates[programs - 1] && rates[0] == rates[programs / 2];

	if (programs == 2)
		take_two(rates[0], phase, n, ret_program);
	else if (same)
		take_turns(programs, n, ret_program);
	else
		take_fairly(rates, programs, n, ret_program);
	return programs == 2 || same;
}

/* As even as said: in any window floor or ceil of rate x length, or within one of it in the first
 * accesses. */
static void assert_even(
        const size_t *program, size_t n, const double *rates, size_t programs, bool balanced)
{
	for (size_t p = 0; p < programs; p++)
		for (size_t start = 0; start < (balanced ? n : 1); start++) {
			double made = 0;
			for (size_t t = start; t < n; t++) {
				made += program[t] == p;
				double due = rates[p] * (double)(t + 1 - start);
				assert_true(fabs(made - due) < 1 + 1e-9);
			}
		}
}

/* -- sums against interleaved traces -- */

struct gap {
	double error, bound;  /* where error / bound is greatest */
	double lines, bounds; /* added up, where the windows are neither short nor long */
};

/* Every window of the interleaved trace; some fractions too, where footprints are interpolated. */
static void assert_within_bound(struct gap *gap, const struct trace *interleaved,
        const struct mtl_sharer *sharers, size_t programs)
{
	uint64_t sums[TRACE_MOST + 1];

	trace_window_sums(interleaved, sums);
	for (double time = 0; time <= (double)interleaved->n; time += 0.75) {
		size_t a = (size_t)time, b = a + (time > (double)a), n = interleaved->n;
		double from = (double)sums[a] / (double)(n - a + 1);
		double to = (double)sums[b] / (double)(n - b + 1);
		double lines = from + (time - (double)a) * (to - from);
		double sum = mtl_shared_footprint(sharers, programs, time);
		double bound = mtl_shared_footprint_error(sharers, programs, time);
		assert_true(fabs(lines - sum) <= bound + 1e-9);
		if (time >= 10 && 2 * time <= (double)n) {
			gap->lines += lines;
			gap->bounds += bound;
		}
		if (bound > 0 && fabs(lines - sum) * gap->bound >= gap->error * bound) {
			gap->error = fabs(lines - sum);
			gap->bound = bound;
		}
	}
}

/* Interleaves traces as said, if that takes all accesses of each, and compares. */
static void compare(struct gap *gap, const struct trace *const *traces,
        struct mtl_profile *const *profiles, const double *rates, size_t programs,
        const size_t *program, size_t n)
{
	struct mtl_sharer sharers[MOST];
	uint64_t data[TRACE_MOST];
	struct trace interleaved;
	size_t made[MOST] = {0};

	for (size_t t = 0; t < n; t++) {
		size_t p = program[t], i = made[p]++;
		if (i >= traces[p]->n)
			return;
		data[t] = traces[p]->ai[i] * MOST + p;
	}
	for (size_t p = 0; p < programs; p++) {
		sharers[p] = (struct mtl_sharer){profiles[p], rates[p]};
		assert_int_equal(made[p], traces[p]->n);
	}
	trace_from_data(&interleaved, data, n);
	assert_within_bound(gap, &interleaved, sharers, programs);
}

#define SMALL 75 /* traces of up to 5 accesses */
static struct trace small[SMALL];
static struct mtl_profile *small_profiles[SMALL];

static int make_small(void **state)
{
	struct trace t = {0};
	(void)state;

	for (size_t i = 0; trace_next(&t, 5); i++) {
		small[i] = t;
		small_profiles[i] = profile_of(t.ai, t.n);
	}
	return 0;
}

static int free_small(void **state)
{
	(void)state;
	for (size_t i = 0; i < SMALL; i++)
		small_profiles[i] = mtl_profile_free(small_profiles[i]);
	return 0;
}

/* All pairs, at rates that use up both, from several phases. */
static void all_small_pairs(void **state)
{
	size_t program[TRACE_MOST], step = RUNNING_ON_VALGRIND ? 7 : 1;
	struct gap gap = {0};
	(void)state;

	for (size_t a = 0; a < SMALL; a += step)
		for (size_t b = 0; b < SMALL; b += step)
			for (double off = -0.8; off <= 0.8; off += 0.4) {
				const struct trace *traces[] = {&small[a], &small[b]};
				struct mtl_profile *profiles[] = {
				        small_profiles[a], small_profiles[b]};
				size_t n = traces[0]->n + traces[1]->n;
				double rate = ((double)traces[0]->n + off) / (double)n;
				const double rates[] = {rate, 1 - rate};
				for (double phase = 0.05; phase < 1; phase += 0.5) {
					take_two(rate, phase, n, program);
					assert_even(program, n, rates, 2, true);
					compare(&gap, traces, profiles, rates, 2, program, n);
				}
			}
	assert_true(gap.error > 0.7 * gap.bound); /* as small traces need it */
}

/* All triples of traces of up to 3 accesses. */
static void all_small_triples(void **state)
{
	const size_t some = 8;
	size_t program[TRACE_MOST], step = RUNNING_ON_VALGRIND ? 2 : 1;
	struct gap gap = {0};
	(void)state;

	for (size_t a = 0; a < some; a += step)
		for (size_t b = 0; b < some; b += step)
			for (size_t c = 0; c < some; c += step) {
				const struct trace *traces[] = {&small[a], &small[b], &small[c]};
				struct mtl_profile *profiles[] = {
				        small_profiles[a], small_profiles[b], small_profiles[c]};
				size_t n = traces[0]->n + traces[1]->n + traces[2]->n;
				double rates[3];
				for (size_t p = 0; p < 3; p++)
					rates[p] = (double)traces[p]->n / (double)n;
				bool balanced = take(rates, 3, n, 0, program);
				assert_even(program, n, rates, 3, balanced);
				compare(&gap, traces, profiles, rates, 3, program, n);
			}
	assert_true(gap.error > 0.05 * gap.bound);
}

/* Random traces, rates 1:1, 2:1, 3:2:1, irrational ones. */
static void random_programs(void **state)
{
	static const struct {
		size_t programs;
		double rates[MOST];
	} mixes[] = {
	        {2, {0.5, 0.5}},
	        {2, {2 / 3.0, 1 / 3.0}},
	        {2, {M_SQRT1_2, 1 - M_SQRT1_2}},
	        {2, {0.9, 0.1}},
	        {3, {1 / 3.0, 1 / 3.0, 1 / 3.0}},
	        {3, {1 / 2.0, 1 / 3.0, 1 / 6.0}},
	        {3, {M_SQRT1_2, (1 - M_SQRT1_2) * M_LN2, (1 - M_SQRT1_2) * (1 - M_LN2)}},
	        {1, {1}},
	};
	size_t program[TRACE_MOST];
	uint64_t random = 11;
	struct gap gap = {0};
	(void)state;

	for (unsigned run = 0; run < (RUNNING_ON_VALGRIND ? 16 : 96); run++) {
		size_t programs = mixes[run % 8].programs, n = RUNNING_ON_VALGRIND ? 90 : 400;
		const double *rates = mixes[run % 8].rates;
		struct trace made[MOST];
		const struct trace *traces[MOST];
		struct mtl_profile *profiles[MOST];
		bool balanced = take(rates, programs, n, sim_uniform(&random), program);

		assert_even(program, n, rates, programs, balanced);
		for (size_t p = 0; p < programs; p++) {
			size_t accesses = 0;
			for (size_t t = 0; t < n; t++)
				accesses += program[t] == p;
			do
				trace_random(&made[p], &random, n);
			while (made[p].n < accesses);
			made[p].n = accesses;
			trace_fill(&made[p]);
			traces[p] = &made[p];
			profiles[p] = profile_of(made[p].ai, accesses);
		}
		compare(&gap, traces, profiles, rates, programs, program, n);
		for (size_t p = 0; p < programs; p++)
			mtl_profile_free(profiles[p]);
	}
	assert_true(gap.bounds < 0.1 * sim_slack() * gap.lines);
}

/* -- traces that need their bound -- */

struct worst {
	size_t n, made[MOST];
	size_t program[TRACE_MOST];
	struct trace traces[MOST];
	struct mtl_profile *profiles[MOST];
	double rates[MOST];
};

/* Program 0 has data of its own making, every other one a single datum. */
static void worst_init(struct worst *w, size_t programs, bool balanced)
{
	assert_even(w->program, w->n, w->rates, programs, balanced);
	for (size_t t = 0; t < w->n; t++)
		w->made[w->program[t]]++;
	for (size_t p = 0; p < programs; p++) {
		uint64_t data[TRACE_MOST] = {0};
		for (size_t i = 0; i < w->made[p]; i++)
			data[i] = p ? 1 : w->traces[0].ai[i];
		trace_from_data(&w->traces[p], data, w->made[p]);
		w->profiles[p] = profile_of(w->traces[p].ai, w->made[p]);
	}
}

/* Greatest error / bound of these windows. */
static double worst_ratio(struct worst *w, size_t programs, bool balanced)
{
	const struct trace *traces[] = {&w->traces[0], &w->traces[1], &w->traces[2]};
	struct gap gap = {0};

	worst_init(w, programs, balanced);
	compare(&gap, traces, w->profiles, w->rates, programs, w->program, w->n);
	for (size_t p = 0; p < programs; p++)
		mtl_profile_free(w->profiles[p]);
	return gap.error / gap.bound;
}

/* Accesses in blocks of q: the datum of the last round first, that of the next one last. Long gaps
 * all go from a block's first to a block's last, short ones from there to the next access. */
static void blocks(struct trace *t, size_t q, size_t rounds)
{
	for (size_t i = 0; i < TRACE_MOST; i++)
		t->ai[i] = i % q == 0       ? 2 + i / q % rounds
		           : i % q == q - 1 ? 2 + (i / q + 1) % rounds
		                            : 1;
}

/* h = 1: the other program's turn comes between two blocks, never inside a long gap's ends. */
static void gaps_need_their_bound(void **state)
{
	struct worst w = {.n = RUNNING_ON_VALGRIND ? 300 : 900, .rates = {0.8, 0.2}};
	(void)state;

	blocks(&w.traces[0], 4, 10);
	for (size_t t = 0; t < w.n; t++)
		w.program[t] = t % 5 == 4;
	assert_true(worst_ratio(&w, 2, true) > 0.6);
}

/* h = 1 + 1 / r: as early as may be, then as late as may be. */
static void uneven_gaps_need_their_bound(void **state)
{
	struct worst w = {.n = RUNNING_ON_VALGRIND ? 240 : 960, .rates = {0.25, 0.5, 0.25}};
	(void)state;

	blocks(&w.traces[0], 2, 10);
	for (size_t t = 0; t < w.n; t++)
		w.program[t] = (size_t)("01211210"[t % 8] - '0');
	assert_true(worst_ratio(&w, 3, false) > 0.5);
}

/* Data that come late, all of them, and each soon after the other. */
static void beginnings_need_their_bound(void **state)
{
	struct worst w = {.n = 800, .rates = {0.25, 0.75}};
	(void)state;

	for (size_t i = 0; i < w.n; i++)
		w.traces[0].ai[i] = i < 100 ? 1 : 2 + i % 10;
	for (size_t t = 0; t < w.n; t++)
		w.program[t] = t % 4 != 0;
	assert_true(worst_ratio(&w, 2, true) > 0.6);
}

/* Or that leave early, as late as they may; the program's last access is as early as it may. */
static void uneven_ends_need_their_bound(void **state)
{
	struct worst w = {.n = 961, .rates = {0.25, 0.5, 0.25}};
	(void)state;

	for (size_t i = 0; i < w.n; i++)
		w.traces[0].ai[i] = i % 2 == 0 || i > 140 ? 1 : 2 + i / 2 % 10;
	for (size_t t = 0; t < w.n; t++)
		w.program[t] = (size_t)("01211210"[t % 8] - '0');
	assert_true(worst_ratio(&w, 3, false) > 0.5);
}

/* One long gap for each datum, and almost one access more than the rate says. */
static void windows_need_their_bound(void **state)
{
	struct worst w = {.n = 901, .rates = {(226 - 0.95) / 901, 1 - (226 - 0.95) / 901}};
	(void)state;

	for (size_t i = 0; i < w.n; i++)
		w.traces[0].ai[i] = i < 10 ? 2 + i : i < 216 ? 1 : 2 + i - 216;
	take_two(w.rates[0], 0.97, w.n, w.program);
	assert_true(worst_ratio(&w, 2, true) > 0.6);
}

/* -- sharing a cache -- */

#define LINES 4000

struct mix {
	size_t programs;
	double rates[MOST];
	double exponents[MOST]; /* of a zipf law over LINES lines */
};

static const struct mix mixes[] = {
        {2, {0.5, 0.5}, {0.8, 0.8}},
        {2, {0.5, 0.5}, {0, 1}},
        {2, {0.8, 0.2}, {1.1, 0.3}},
        {3, {1 / 3.0, 1 / 3.0, 1 / 3.0}, {0.4, 0.8, 1.2}},
        {3, {1 / 2.0, 1 / 3.0, 1 / 6.0}, {1, 0.6, 0}},
        {3, {0.7, 0.2, 0.1}, {0.5, 0.9, 0.1}},
};
#define MIXES (sizeof(mixes) / sizeof(*mixes))

static uint64_t zipf(double exponent, uint64_t *random)
{
	/* by inverting the continuous law, which is close enough */
	double u = sim_uniform(random), power = 1 - exponent;
	double v = fabs(power) < 1e-9 ? pow(LINES, u)
	                              : pow(1 + u * (pow(LINES, power) - 1), 1 / power);

	return (uint64_t)v;
}

struct shared {
	size_t n;
	bool balanced;
	uint64_t *data, *distances;
	size_t *program;
	struct mtl_profile *whole;
	struct mtl_sharer sharers[MOST];
};

static void share_done(struct shared *s)
{
	free(s->data);
	free(s->distances);
	free(s->program);
	s->whole = mtl_profile_free(s->whole);
	for (size_t p = 0; p < MOST; p++)
		s->sharers[p].profile = mtl_profile_free(s->sharers[p].profile);
}

static void share_init(struct shared *s, const struct mix *mix)
{
	_cleanup_(mtl_stack_freep) struct mtl_stack *stack = NULL;
	uint64_t random = 77;

	*s = (struct shared){.n = RUNNING_ON_VALGRIND ? 30000 : 150000};
	s->data = calloc(s->n, sizeof(*s->data));
	s->distances = calloc(s->n, sizeof(*s->distances));
	s->program = calloc(s->n, sizeof(*s->program));
	s->balanced = take(mix->rates, mix->programs, s->n, 0.5, s->program);
	for (size_t p = 0; p < mix->programs; p++)
		s->sharers[p] = (struct mtl_sharer){profile_of(NULL, 0), mix->rates[p]};
	for (size_t i = 0; i < s->n; i++) {
		size_t p = s->program[i];
		s->data[i] = zipf(mix->exponents[p], &random) * MOST + p;
		assert_int_equal(
		        mtl_profile_access(s->sharers[p].profile, &s->data[i], 1, NULL), 0);
	}
	s->whole = profile_of(s->data, s->n);
	assert_int_equal(mtl_stack_new(0, &stack), 0);
	assert_int_equal(mtl_stack_access(stack, s->data, s->n, s->distances), 0);
}

/* In long traces the bound is a small part of the footprint. */
static void long_traces_within_bound(void **state)
{
	(void)state;

	for (size_t i = 0; i < MIXES; i++) {
		size_t programs = mixes[i].programs;
		struct shared s;
		share_init(&s, &mixes[i]);
		for (double time = 1; time < (double)s.n / 10; time = ceil(time * 1.3)) {
			double lines = mtl_profile_footprint(s.whole, MTL_XIANG, time);
			double known = mtl_profile_footprint_error(s.whole, MTL_XIANG, time);
			double sum = mtl_shared_footprint(s.sharers, programs, time);
			double bound = mtl_shared_footprint_error(s.sharers, programs, time);
			assert_true(fabs(lines - sum) <= bound + known + 1e-9);
			/* about the miss ratio when windows are balanced, three times that or more
			 * when they cannot be, but always some lines only */
			assert_true(bound < (s.balanced ? 2 : 2 * (double)programs) * sim_slack());
		}
		share_done(&s);
	}
}

/* Of program p's accesses, those that a cache of so many lines misses. */
static double exact_miss_ratio(const struct shared *s, size_t p, double lines)
{
	double misses = 0, accesses = 0;

	for (size_t i = 0; i < s->n; i++) {
		accesses += s->program[i] == p;
		misses += s->program[i] == p && (double)s->distances[i] > lines;
	}
	return misses / accesses;
}

static void miss_ratios_are_those_of_lru(void **state)
{
	(void)state;

	for (size_t i = 0; i < MIXES; i++) {
		size_t programs = mixes[i].programs;
		double error = 0, sizes = 0;
		struct shared s;
		share_init(&s, &mixes[i]);
		for (double lines = 16; lines < 1.5 * (double)programs * LINES; lines *= 1.5) {
			double occupancy[MOST], ratio[MOST], sum = 0;
			double most = (double)mtl_profile_distinct(s.whole);
			assert_int_equal(
			        mtl_share(s.sharers, programs, lines, occupancy, ratio), 0);
			for (size_t p = 0; p < programs; p++, sizes++) {
				sum += occupancy[p];
				error += fabs(ratio[p] - exact_miss_ratio(&s, p, lines));
			}
			assert_true(fabs(sum - fmin(lines, most)) < 1e-6 * lines);
		}
		assert_true(error / sizes < 0.02 * sim_slack());
		share_done(&s);
	}
}

/* Alone, a program has what its own footprint says. */
static void one_program_shares_with_nobody(void **state)
{
	uint64_t random = 13;
	struct trace t;
	(void)state;

	for (unsigned run = 0; run < sim_runs(200); run++) {
		trace_random(&t, &random, 500);
		_cleanup_(mtl_profile_freep) struct mtl_profile *profile = profile_of(t.ai, t.n);
		double rate = sim_log_uniform(&random, 0.01, 100), occupancy, ratio;
		struct mtl_sharer alone = {profile, rate};
		for (double lines = 0.5; lines < (double)t.m + 2; lines *= 1.3) {
			double time = mtl_profile_fill_time(profile, MTL_XIANG, lines) / rate;
			double shared = mtl_shared_fill_time(&alone, 1, lines);
			assert_true(isinf(time) ? isinf(shared) : fabs(shared / time - 1) < 1e-9);
			assert_int_equal(mtl_share(&alone, 1, lines, &occupancy, &ratio), 0);
			assert_true(fabs(occupancy - fmin(lines, (double)t.m)) < 1e-9 * lines);
			if (isinf(time))
				assert_true(fabs(ratio - (double)t.m / (double)t.n) < 1e-12);
		}
	}
}

static void bad_sharers(void **state)
{
	const uint64_t data[] = {1, 2, 3, 1};
	_cleanup_(mtl_profile_freep) struct mtl_profile *profile = profile_of(data, 4);
	_cleanup_(mtl_profile_freep) struct mtl_profile *empty = profile_of(NULL, 0);
	const struct mtl_sharer good = {profile, 1}, still = {profile, 0}, never = {profile, NAN},
	                        endless = {profile, INFINITY}, idle = {empty, 1};
	double occupancy = 7, ratio = 7;
	(void)state;

	assert_int_equal(mtl_share(&good, 0, 1, &occupancy, &ratio), -EINVAL);
	assert_int_equal(mtl_share(&good, 1, 0, &occupancy, &ratio), -EINVAL);
	assert_int_equal(mtl_share(&good, 1, NAN, &occupancy, &ratio), -EINVAL);
	assert_int_equal(mtl_share(&still, 1, 1, &occupancy, &ratio), -EINVAL);
	assert_int_equal(mtl_share(&never, 1, 1, &occupancy, &ratio), -EINVAL);
	assert_int_equal(mtl_share(&endless, 1, 1, &occupancy, &ratio), -EINVAL);
	assert_int_equal(mtl_share(&idle, 1, 1, &occupancy, &ratio), -EINVAL);
	assert_true(occupancy == 7 && ratio == 7);
	assert_true(mtl_shared_footprint(&good, 0, 5) == 0);
	assert_true(mtl_shared_footprint(&idle, 1, 5) == 0);
	assert_true(mtl_shared_footprint(&good, 1, INFINITY) == 3);
	assert_true(mtl_shared_footprint(&good, 1, 0) == 0);
	assert_true(mtl_shared_footprint_error(&good, 1, 0) == 0);
	assert_true(mtl_shared_fill_time(&good, 1, 0) == 0);
	assert_true(isinf(mtl_shared_fill_time(&good, 1, 3)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_small_pairs),
	        cmocka_unit_test(all_small_triples),
	        cmocka_unit_test(random_programs),
	        cmocka_unit_test(gaps_need_their_bound),
	        cmocka_unit_test(uneven_gaps_need_their_bound),
	        cmocka_unit_test(beginnings_need_their_bound),
	        cmocka_unit_test(uneven_ends_need_their_bound),
	        cmocka_unit_test(windows_need_their_bound),
	        cmocka_unit_test(long_traces_within_bound),
	        cmocka_unit_test(miss_ratios_are_those_of_lru),
	        cmocka_unit_test(one_program_shares_with_nobody),
	        cmocka_unit_test(bad_sharers),
	};

	return cmocka_run_group_tests(tests, make_small, free_small);
}
