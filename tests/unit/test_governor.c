/* SPDX-License-Identifier: MIT */
/*
 * The governor against simulated targets: moments come at random at its pace, but not while a watch
 * lasts, which is till its deadline, and what all of it costs is added up outside the governor.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "governor.h"
#include "simulate.h"

#define SECONDS 60

/* Costs in seconds, rates a second of the target's CPU time. */
struct target {
	const char *name;
	double max_overhead;
	double arm, trap, moment;
	double switches;
	double longest; /* deadlines are log-uniform from 1/64 of it */
	double touched; /* part of the words touched before the deadline */
	bool reaches;   /* half the budget can be spent, as there is time and the pace is bounded */
};

static const struct target targets[] = {
        {"fast traps", 0.01, 5e-6, 4e-6, 2e-6, 100, 0.005, 0.8, true},
        {"usual traps", 0.01, 30e-6, 30e-6, 5e-6, 100, 0.05, 0.5, true},
        {"slow traps", 0.01, 100e-6, 500e-6, 20e-6, 100, 0.05, 0.5, true},
        {"emulated traps", 0.01, 1e-3, 5e-3, 100e-6, 100, 0.05, 0.5, true},
        {"all words touched", 0.01, 30e-6, 30e-6, 5e-6, 100, 0.05, 1, true},
        {"no word touched", 0.01, 30e-6, 30e-6, 5e-6, 100, 0.01, 0, true},
        {"long deadlines", 0.01, 30e-6, 30e-6, 5e-6, 100, 4, 0.1, false},
        {"a small budget", 0.001, 30e-6, 30e-6, 5e-6, 100, 0.05, 0.5, true},
        {"the smallest budget", 0.0001, 30e-6, 30e-6, 5e-6, 0, 0.05, 0.5, true},
        {"a large budget", 0.1, 30e-6, 150e-6, 5e-6, 100, 0.005, 0.5, true},
        {"1000 switches", 0.01, 30e-6, 30e-6, 5e-6, 1000, 0.05, 0.5, true},
        {"5000 switches", 0.01, 30e-6, 30e-6, 5e-6, 5000, 0.05, 0.5, true},
        {"50000 switches", 0.01, 30e-6, 30e-6, 5e-6, 50000, 0.05, 0.5, true},
        {"50000 switches, long", 0.01, 30e-6, 30e-6, 5e-6, 50000, 1, 0.1, false},
};

enum { TARGETS = sizeof(targets) / sizeof(targets[0]) };

static struct governor_prices prices_of(const struct target *target)
{
	const struct calibration calibration = {.arm_seconds = target->arm,
	        .trap_seconds = target->trap,
	        .moment_seconds = target->moment,
	        .switch_seconds = 2.5e-6,
	        .open_seconds = 25e-6};

	return governor_prices(&calibration);
}

struct simulation {
	uint64_t random;
	double now, busy_until;
	double starved_until; /* until then there are no candidates */
	double spent;         /* what it cost the target in the latest second */
	double occupied;      /* seconds of watches so far, to their deadlines */
};

static void watch(struct simulation *simulation, const struct target *target, bool close_between,
        struct sampler_counts *delta)
{
	double deadline = target->longest * pow(64, sim_uniform(&simulation->random) - 1), on = 0;
	double switches, hits = delta->hits;

	delta->arms++;
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++) {
		bool touched = sim_uniform(&simulation->random) < target->touched;

		delta->hits += touched;
		simulation->spent += touched ? target->trap : 0;
		on = fmax(on, touched ? deadline * sim_uniform(&simulation->random) : deadline);
	}
	switches = floor(target->switches * on);
	delta->armed_switches += switches + 1 + delta->hits - hits; /* with the armer's */
	simulation->spent += target->arm + 2.5e-6 * switches + (close_between ? 25e-6 : 0);
	simulation->busy_until = simulation->now + deadline;
	simulation->occupied += deadline;
}

/* One second of the target's CPU time. */
static void run(struct simulation *simulation, const struct target *target,
        const struct governor *governor, struct sampler_counts *ret_delta)
{
	double mean = target->longest * (1 - 1.0 / 64) / log(64);
	double end = floor(simulation->now) + 1, pace = governor_moments(governor->pace, mean);

	*ret_delta = (struct sampler_counts){.switches = target->switches, .cpu_ns = 1000000000};
	simulation->spent = governor->close_between ? 0 : 1e-6 * target->switches;
	for (;;) {
		simulation->now = fmax(simulation->now, simulation->busy_until);
		simulation->now -= log(sim_uniform(&simulation->random)) / pace;
		if (simulation->now >= end)
			break;
		if (simulation->now >= simulation->starved_until) {
			watch(simulation, target, governor->close_between, ret_delta);
			continue;
		}
		simulation->spent += target->moment;
		ret_delta->starved++;
	}
	simulation->now = end;
}

static void assert_sane(const struct governor *governor)
{
	assert_true(isfinite(governor->overhead) && governor->overhead >= 0);
	assert_true(isfinite(governor->cost) && governor->cost >= 0);
	assert_true(governor->pace > 0 && governor->pace <= 1000);
}

/* Seconds [0, n) of a target; adds what they cost and what the governor thinks, in budgets. */
static void govern(struct governor *governor, struct simulation *simulation,
        const struct target *target, unsigned n, double *spent, double *estimate)
{
	struct governor_prices prices = prices_of(target);

	for (unsigned second = 0; second < n; second++) {
		struct sampler_counts delta;

		run(simulation, target, governor, &delta);
		governor_update(governor, &prices, &delta, 1, target->max_overhead, 1);
		assert_sane(governor);
		*spent += simulation->spent / target->max_overhead;
		*estimate += governor->overhead / target->max_overhead;
	}
}

static struct governor begun(const struct target *target)
{
	struct governor_prices prices = prices_of(target);
	struct governor governor;

	governor_begin(&governor, &prices, target->max_overhead, 0, 0);
	assert_true(isnan(governor.overhead));
	return governor;
}

/* The second half of a minute, mean of all seeds; 8 of them make the rare watches enough. */
static void assert_budget(const struct target *target)
{
	const unsigned seeds = 8, half = SECONDS / 2;
	double spent = 0, estimate = 0, ignored = 0, occupied = 0;

	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct simulation simulation = {.random = seed};
		struct governor governor = begun(target);

		govern(&governor, &simulation, target, half, &ignored, &ignored);
		govern(&governor, &simulation, target, half, &spent, &estimate);
		occupied += simulation.occupied / (seeds * SECONDS);
	}
	spent /= seeds * half;
	estimate /= seeds * half;
	/* what is not spent elsewhere lacks the time to be, watches filling it */
	if (spent > 1 || (target->reaches ? spent < 0.5 : spent < 0.2 && occupied < 0.85))
		fail_msg("%s: %.2f of the budget was spent", target->name, spent);
	if (fabs(estimate / spent - 1) > 0.1)
		fail_msg("%s: %.2f of the budget was spent, %.2f estimated", target->name, spent,
		        estimate);
}

static void the_budget_is_kept(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TARGETS; i++)
		assert_budget(&targets[i]);
}

/* Nothing is known of a target at first but that it may touch every word. */
static void the_first_second_is_within_it(void **state)
{
	const unsigned seeds = 50;

	(void)state;
	for (unsigned i = 0; i < TARGETS && targets[i].switches <= 100; i++) {
		double spent = 0, ignored = 0;

		for (unsigned seed = 1; seed <= seeds; seed++) {
			struct simulation simulation = {.random = seed};
			struct governor governor = begun(&targets[i]);

			govern(&governor, &simulation, &targets[i], 1, &spent, &ignored);
		}
		assert_true(spent / seeds < 1);
	}
}

static const struct target *usual = &targets[1];

/* Words touched by nobody, then all: watches cost five times as much from one second to the next.
 */
static void a_change_is_followed(void **state)
{
	struct target lazy = *usual, busy = *usual;
	struct simulation simulation = {.random = 1};
	struct governor governor;
	double spent = 0, later = 0, ignored = 0;

	(void)state;
	lazy.touched = 0;
	busy.touched = 1;
	governor = begun(&lazy);
	govern(&governor, &simulation, &lazy, 30, &spent, &ignored);
	govern(&governor, &simulation, &busy, 5, &spent, &ignored);
	govern(&governor, &simulation, &busy, 25, &later, &ignored);
	assert_true(spent / 35 < 1);
	assert_true(later / 25 < 0.85 && later / 25 > 0.65);
}

/* Whether candidates lack for seconds or for most of each second: no flood follows. */
static void starving_does_not_raise_the_pace(void **state)
{
	struct simulation simulation = {.random = 1};
	struct governor governor = begun(usual);
	double ignored = 0;

	(void)state;
	govern(&governor, &simulation, usual, 10, &ignored, &ignored);
	for (unsigned second = 0; second < 60; second++) {
		double spent = 0;

		if (second % 20 < 15)
			simulation.starved_until = simulation.now + (second % 20 < 10 ? 0.95 : 1);
		govern(&governor, &simulation, usual, 1, &spent, &ignored);
		assert_true(spent < 1.2);
	}
}

/* Moments cost too, when nothing at all can be armed. */
static void fruitless_moments_are_paid_for(void **state)
{
	const struct target *dear = &targets[3];
	struct governor_prices prices = prices_of(dear);
	struct governor governor = {.overhead = NAN, .pace = 1000};
	struct sampler_counts delta = {.starved = 1000};

	(void)state;
	governor_update(&governor, &prices, &delta, 1, 0.01, 1);
	assert_sane(&governor);
	assert_true(governor.pace * dear->moment <= 0.01);
	assert_true(governor.pace * dear->moment > 0.005);
}

/* ---- events between watches ---- */

static bool closes(struct governor *governor, double switches)
{
	struct governor_prices prices = prices_of(usual);
	struct sampler_counts delta = {.arms = 20, .hits = 40, .switches = switches};

	governor_update(governor, &prices, &delta, 1, 0.01, 1);
	return governor->close_between;
}

/* 1500 switches a second cost 15 % of 1 %. */
static void events_are_closed_where_switches_cost_much(void **state)
{
	struct governor governor = begun(usual);

	(void)state;
	assert_false(governor.close_between);
	assert_false(closes(&governor, 1400));
	assert_true(closes(&governor, 1600));
	assert_true(closes(&governor, 1400)); /* they do not come and go around the limit */
	assert_true(closes(&governor, 800));
	assert_false(closes(&governor, 700));
	assert_false(closes(&governor, 1400));
}

static void closed_events_cost_no_switches(void **state)
{
	struct governor_prices prices = prices_of(usual);
	struct governor open = begun(usual), closed = open;
	struct sampler_counts delta = {.arms = 10, .switches = 50000};

	(void)state;
	closed.close_between = true;
	governor_update(&open, &prices, &delta, 1, 0.01, 1);
	governor_update(&closed, &prices, &delta, 1, 0.01, 1);
	assert_true(fabs(open.overhead - (10 * 30e-6 + 0.05)) < 1e-9);
	assert_true(fabs(closed.overhead - 10 * (30e-6 + 25e-6)) < 1e-9);
}

/* ---- shares and bounds ---- */

static void the_share_scales_the_pace(void **state)
{
	struct governor_prices prices = prices_of(usual);
	struct sampler_counts delta = {.arms = 40, .hits = 80, .busy = 20};
	double whole = 0;

	(void)state;
	for (double share = 1; share > 0.01; share /= 2) {
		struct governor governor = begun(usual);

		governor_update(&governor, &prices, &delta, 1, 0.01, share);
		whole = share == 1 ? governor.pace : whole;
		assert_true(fabs(governor.pace / (whole * share) - 1) < 1e-9);
	}
	/* 0.75 of 1 % is 7500 us; a watch cost 90.0 + 2.5 us */
	assert_true(fabs(whole - 7500 / 92.5) < 1e-6);
}

static uint64_t random_count(uint64_t *random)
{
	static const double most[] = {1, 2, 100, 1e6, 1e12};

	return most[(size_t)(5 * sim_uniform(random))] * sim_uniform(random);
}

static void nonsense_stays_in_bounds(void **state)
{
	struct target target = *usual;
	uint64_t random = 1;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		static struct governor governor;
		struct sampler_counts delta = {.arms = random_count(&random),
		        .hits = random_count(&random),
		        .busy = random_count(&random),
		        .starved = random_count(&random),
		        .switches = random_count(&random),
		        .armed_switches = random_count(&random)};
		struct governor_prices prices;

		if (i % 100 == 0) {
			target.trap = i % 300 ? 1e-9 * random_count(&random) : 0;
			target.arm = i % 500 ? 1e-9 * random_count(&random) : 0;
			target.moment = i % 400 ? 1e-9 * random_count(&random) : 0;
			governor = begun(&target);
			assert_true(governor.pace > 0 && governor.pace <= 1000);
		}
		prices = prices_of(&target);
		governor_update(&governor, &prices, &delta, 0.05 + 10 * sim_uniform(&random),
		        sim_uniform(&random) / 10, 0.02 + 0.98 * sim_uniform(&random));
		assert_sane(&governor);
	}
}

static void nothing_happened_changes_nothing(void **state)
{
	struct governor_prices prices = prices_of(usual);
	const struct sampler_counts none = {0}, some = {.arms = 3, .hits = 5, .busy = 1};
	struct governor governor = begun(usual), before = governor;

	(void)state;
	governor_update(&governor, &prices, &some, 0, 0.01, 1); /* no time: no rates */
	assert_memory_equal(&governor, &before, sizeof(before));
	governor_update(&governor, &prices, &none, 1, 0.01, 1);
	assert_sane(&governor);
	assert_true(governor.overhead == 0);
	assert_true(governor.pace == before.pace);
}

/* A daemon that uses `idle` of a core at rest and `busy` more at full pace. */
static double settled_daemon(double idle, double busy, double max, double *share)
{
	double before = NAN;

	for (unsigned i = 0; i < 60; i++) {
		double latest = idle + busy * *share;

		*share = governor_share(*share, latest, before, max);
		before = isnan(before) ? latest : before + 0.4 * (latest - before);
		assert_true(*share > 0 && *share <= 1);
	}
	return idle + busy * *share;
}

static void the_daemon_comes_under_its_maximum(void **state)
{
	double share = 1;

	(void)state;
	for (double busy = 0.005; busy < 0.3; busy *= 1.5) {
		double cpu = settled_daemon(0.001, busy, 0.01, &share);

		assert_true(cpu < 0.01);
		assert_true(cpu > 0.0075 || share == 1); /* and no more than needed */
	}
	settled_daemon(0.02, 0.01, 0.01, &share); /* it cannot: little is left, but not nothing */
	assert_true(share < 0.02);
	settled_daemon(0.001, 0.004, 0.01, &share); /* and recovers */
	assert_true(share == 1);
}

static void unknown_or_unlimited_use_keeps_the_share(void **state)
{
	(void)state;
	assert_true(governor_share(0.5, 0.9, NAN, 0.01) == 0.5);
	assert_true(governor_share(0.5, 0.9, 0.9, 0) == 0.5);
	assert_true(governor_share(1, 0, 0, 0.01) == 1);
	assert_true(governor_share(0.5, 0, 0, 0.01) > 0.5);
}

/* The first survey of a big process takes some hundredths of a second, once. */
static void a_single_expensive_second_costs_no_share(void **state)
{
	(void)state;
	assert_true(governor_share(0.5, 0.04, 0.002, 0.01) == 0.5);
	assert_true(
	        governor_share(0.5, 0.005, 0.017, 0.01) == 0.5); /* what is averaged lags behind */
	assert_true(governor_share(0.5, 0.04, 0.017, 0.01) < 0.5);
}

/* Strings are slow while a watch is on, without a trap or a switch. */
static void what_strings_lose_while_watched_is_paid_for(void **state)
{
	struct governor_prices prices = {.arm = 100e-6, .watched = 0.3};
	struct sampler_counts delta = {.arms = 20, .armed_ns = 200000000};
	struct governor governor = {.overhead = NAN, .close_between = true};

	(void)state;
	governor_update(&governor, &prices, &delta, 1, 0.01, 1);
	assert_true(fabs(governor.overhead - (20 * 100e-6 + 0.2 * 0.3)) < 1e-12);
	assert_true(fabs(governor.watches - 0.0075 / (100e-6 + 0.01 * 0.3)) < 1e-6);
	assert_true(fabs(governor.fixed - 100e-6) < 1e-12);
	assert_true(fabs(governor.timed - 0.3) < 1e-12);
}

/* So are switches while a watch is on, each of which loads the debug registers anew. */
static void switches_while_watched_are_a_cost_of_time(void **state)
{
	struct governor_prices prices = {.arm = 100e-6, .switch_on = 30e-6};
	struct sampler_counts delta = {
	        .arms = 20, .hits = 10, .armed_ns = 20000000, .armed_switches = 430};
	struct governor governor = {.overhead = NAN, .close_between = true};

	(void)state;
	assert_true(fabs(governor_timed(&prices, 20000) - 0.6) < 1e-12);
	governor_update(&governor, &prices, &delta, 1, 0.01, 1);
	assert_true(fabs(governor.timed - 0.6) < 1e-12);
	assert_true(fabs(governor.fixed - 100e-6) < 1e-12);
	assert_true(fabs(governor.cost - (100e-6 + 20 * 30e-6)) < 1e-12);
	delta.armed_ns = delta.armed_switches = 0; /* nothing learnt: what was known stays known */
	governor_update(&governor, &prices, &delta, 1, 0.01, 1);
	assert_true(fabs(governor.timed - 0.6) < 1e-12);
}

static void the_clock_is_paid_for(void **state)
{
	const struct calibration calibration = {
	        .arm_seconds = 100e-6, .clock_seconds = 0.3e-6, .count_seconds = 0.2e-6};
	struct governor_prices prices = governor_prices(&calibration);
	struct sampler_counts delta = {.arms = 20, .switches = 5000};
	struct governor governor = {.overhead = NAN, .close_between = true};

	(void)state;
	governor_update(&governor, &prices, &delta, 1, 0.01, 1);
	assert_true(fabs(governor.overhead - (20 * 100e-6 + 5000 * 0.5e-6)) < 1e-12);
	assert_true(fabs(governor.switching - 5000 * 0.5e-6) < 1e-12);
	assert_true(fabs(governor.pace - (0.0075 - 0.0025) / 100e-6) < 1e-6);
	delta.rested_ns = 500000000; /* they were counted half of the time */
	governor_update(&governor, &prices, &delta, 1, 0.01, 1);
	assert_true(fabs(governor.switching - 10000 * 0.5e-6) < 1e-12);
	delta.rested_ns = 1000000000; /* not at all: what was known stays known */
	delta.switches = 0;
	governor_update(&governor, &prices, &delta, 1, 0.01, 1);
	assert_true(fabs(governor.switching - 10000 * 0.5e-6) < 1e-12);
}

/* What address samples take is told, and left over from what watching may take; but never all of
 * it. */
static void samples_are_paid_for(void **state)
{
	struct governor_prices prices = {
	        .arm = 100e-6, .trap = 10e-6, .moment = 5e-6, .sample = 2e-6};
	struct sampler_counts delta = {.arms = 20, .hits = 20};
	struct governor without = {.overhead = NAN}, with = without, drowned = without;

	(void)state;
	governor_update(&without, &prices, &delta, 1, 0.01, 1);
	delta.samples = 1250; /* 0.25 % */
	governor_update(&with, &prices, &delta, 1, 0.01, 1);
	assert_true(fabs(with.overhead - without.overhead - 0.0025) < 1e-12);
	assert_true(fabs(with.pace / without.pace - 2.0 / 3) < 1e-9); /* of 0.75 % */
	assert_true(with.sample_rate == 1250);
	delta.samples = 1000000;
	governor_update(&drowned, &prices, &delta, 1, 0.01, 1);
	assert_true(fabs(drowned.pace / without.pace - 0.25) < 1e-9);
	assert_true(drowned.overhead > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_budget_is_kept),
	        cmocka_unit_test(the_first_second_is_within_it),
	        cmocka_unit_test(a_change_is_followed),
	        cmocka_unit_test(starving_does_not_raise_the_pace),
	        cmocka_unit_test(fruitless_moments_are_paid_for),
	        cmocka_unit_test(events_are_closed_where_switches_cost_much),
	        cmocka_unit_test(closed_events_cost_no_switches),
	        cmocka_unit_test(the_share_scales_the_pace),
	        cmocka_unit_test(nonsense_stays_in_bounds),
	        cmocka_unit_test(nothing_happened_changes_nothing),
	        cmocka_unit_test(the_daemon_comes_under_its_maximum),
	        cmocka_unit_test(what_strings_lose_while_watched_is_paid_for),
	        cmocka_unit_test(switches_while_watched_are_a_cost_of_time),
	        cmocka_unit_test(the_clock_is_paid_for),
	        cmocka_unit_test(samples_are_paid_for),
	        cmocka_unit_test(unknown_or_unlimited_use_keeps_the_share),
	        cmocka_unit_test(a_single_expensive_second_costs_no_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
