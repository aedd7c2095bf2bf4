// SPDX-License-Identifier: MIT
/*
 * The use of address samples.
 *
 * `address_samples = auto` takes what the PMU has: retired loads and stores, and loads that missed
 * L1 apart (they begin visits, visit.h), or IBS; `page-faults` the software event instead, which says
 * where a process grows and not where it works: good for
 * trying the whole way out on a machine without a PMU. Where `auto` finds no PMU, and with
 * `task-clock`, the clock is sampled instead and the code there decoded (code_heat.c). Every event
 * is opened once at the start, on one CPU, to learn whether the kernel grants it.
 *
 * Cost. Samples may take PART of max_overhead; what they do take the governor takes off what is
 * left for watching. Two rates are held to it: that of the busiest CPU, since samples are taken of
 * everybody on it, tracked or not, and that of the process most sampled in its own CPU time, since
 * it need not fill a CPU. Both are of all events together; each event gets an equal part.
 */
#include "address_use.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "code_heat.h"
#include "ladder.h"
#include "perf_open.h"
#include "sample_period.h"

#define PART 0.25

/* What a sample takes from the process. Page faults: what a fault's CPU time grows by when the
 * event is on, 1.0 to 1.1 us on a virtual machine with 6.18 (median over 60 turns of 8192 faults
 * with and without; 0.65 us of it in the program). PMUs: interrupt, record and program; from the
 * literature, not measured here. */
static const double sample_seconds[] = {
        [PMU_LOADS] = 2e-6,
        [PMU_STORES] = 2e-6,
        [PMU_LOAD_MISSES] = 2e-6,
        [PMU_IBS_OP] = 2.5e-6,
        [PMU_PAGE_FAULTS] = 1e-6,
        [PMU_TASK_CLOCK] = 5e-6, /* where calibration could not measure it */
};

/* Of the clock a few tens a second of CPU time are enough to see where a program works; each is
 * decoded, which costs mtld more than the sample the program. */
#define CODE_RATE 50.0
#define HURRIED_RATE 500.0
#define HURRY_NS 1000000000ULL

struct address_use {
	const struct config *config;
	struct address_source *addresses; /* NULL: none */
	struct perf_situation situation;
	double sample_seconds;
	uint64_t hurried_until; /* CLOCK_MONOTONIC */
	char refused[320]; /* at the start; "": all that was wanted is there */
	char problem[320]; /* of late */
};

/* ---- which ---- */

static bool wanted(enum address_samples choice, const struct pmu_event *event)
{
	static const bool by_choice[][PMU_TASK_CLOCK + 1] = {
	        [ADDRESS_SAMPLES_OFF] = {false},
	        [ADDRESS_SAMPLES_AUTO] = {[PMU_LOADS] = true,
	                [PMU_STORES] = true,
	                [PMU_LOAD_MISSES] = true,
	                [PMU_IBS_OP] = true},
	        [ADDRESS_SAMPLES_PAGE_FAULTS] = {[PMU_PAGE_FAULTS] = true},
	        [ADDRESS_SAMPLES_TASK_CLOCK] = {[PMU_TASK_CLOCK] = true},
	};

	return pmu_event_is_sampled(event->kind) && by_choice[choice][event->kind];
}

static void note_problem(const struct address_use *use, const struct pmu_event *event, int error,
        char *ret_problem, size_t size)
{
	char reason[192], fix[120];

	perf_explain(error, event, &use->situation, reason, sizeof(reason), fix, sizeof(fix));
	snprintf(ret_problem, size, "%s%s%s", reason, *fix ? "; " : "", fix);
}

/* A rung that was forced leaves out what the rungs above it would add. */
static enum address_samples choice_of(const struct config *config)
{
	enum rung_index forced = ladder_rung_named(config->rung);
	bool below = forced == RUNG_COUNTERS || forced == RUNG_WATCHPOINTS;

	return config->address_samples == ADDRESS_SAMPLES_AUTO && below ? ADDRESS_SAMPLES_OFF
	                                                                : config->address_samples;
}

/* Whether the kernel grants it, on the first of its CPUs. */
static int try_event(const struct pmu_event *event)
{
	struct perf_opened opened = PERF_OPENED_NONE;
	int cpu = 0, r;

	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &event->cpus))
		cpu++;
	r = perf_open(event, cpu, &opened);
	perf_close(&opened);
	return r;
}

/* Those to be used; returns how many. */
static unsigned select_events(struct address_use *use, const struct instrument *instrument,
        struct pmu_event ret_events[MTL_EVENTS])
{
	unsigned selected = 0;

	for (unsigned i = 0; i < instrument->n_events && selected < MTL_EVENTS; i++) {
		const struct pmu_event *event = &instrument->events[i];
		int r = wanted(choice_of(use->config), event) ? try_event(event) : -EAGAIN;

		if (r < 0 && r != -EAGAIN)
			note_problem(use, event, r, use->refused, sizeof(use->refused));
		if (r < 0)
			continue;
		use->sample_seconds = fmax(use->sample_seconds, sample_seconds[event->kind]);
		ret_events[selected++] = *event;
	}
	return selected;
}

/* Where nothing else tells: what the code at samples of the clock names. */
static bool wants_code(const struct config *config)
{
	return config->address_samples == ADDRESS_SAMPLES_AUTO ||
	       config->address_samples == ADDRESS_SAMPLES_TASK_CLOCK;
}

static unsigned select_code(struct address_use *use, const struct instrument *instrument,
        struct pmu_event ret_events[MTL_EVENTS])
{
	const struct pmu_event event = pmu_task_clock(CODE_RATE);
	int r = code_heat_possible() ? try_event(&event) : -ENOSYS;

	if (r == -ENOSYS)
		snprintf(use->refused, sizeof(use->refused),
		        "code is not decoded: libZydis is not installed; install libzydis4.0");
	else if (r < 0)
		note_problem(use, &event, r, use->refused, sizeof(use->refused));
	if (r < 0)
		return 0;
	use->sample_seconds =
	        instrument->calibration.code_sample_seconds ?: sample_seconds[event.kind];
	ret_events[0] = event;
	return 1;
}

DEFINE_CLEANUP(struct address_use, address_use_free)

int address_use_new(const struct instrument *instrument, const struct config *config,
        address_fn callback, code_fn code, void *userdata, struct address_use **ret_use)
{
	_cleanup_(address_use_freep) struct address_use *use = calloc(1, sizeof(*use));
	struct pmu_event events[MTL_EVENTS];
	unsigned n = 0;
	int r = 0;

	if (!use)
		return -ENOMEM;
	use->config = config;
	if (instrument->source && instrument->machine) {
		perf_situation(instrument->machine, &use->situation);
		n = select_events(use, instrument, events);
		if (n == 0 && wants_code(config))
			n = select_code(use, instrument, events);
	}
	if (n > 0)
		r = address_source_new(instrument->source, events, n, config->ring_bytes, callback,
		        userdata, &use->addresses);
	if (r == -ENOMEM)
		return r;
	if (use->addresses)
		address_source_on_code(use->addresses, code);
	*ret_use = TAKE_PTR(use);
	return 0;
}

struct address_use *address_use_free(struct address_use *use)
{
	if (!use)
		return NULL;
	address_source_free(use->addresses);
	free(use);
	return NULL;
}

/* ---- running ---- */

/* What became of every event; notes what is wrong. */
static void look(struct address_use *use, struct address_counts ret_counts[MTL_EVENTS])
{
	use->problem[0] = 0;
	for (unsigned i = 0; i < address_source_events(use->addresses); i++) {
		address_source_counts(use->addresses, i, &ret_counts[i]);
		if (ret_counts[i].error < 0)
			note_problem(use, ret_counts[i].event, ret_counts[i].error, use->problem,
			        sizeof(use->problem));
	}
}

void address_use_begin(struct address_use *use)
{
	struct address_counts counts[MTL_EVENTS];

	if (!use->addresses || address_source_runs(use->addresses))
		return;
	address_source_start(use->addresses);
	look(use, counts);
}

void address_use_rest(struct address_use *use)
{
	if (use->addresses)
		address_source_stop(use->addresses);
}

int address_use_fd(const struct address_use *use)
{
	return use->addresses ? address_source_fd(use->addresses) : -EAGAIN;
}

void address_use_consume(struct address_use *use)
{
	if (use->addresses)
		address_source_consume(use->addresses);
}

/* ---- how often ---- */

/* How often is known without counting. */
static void settle_code(struct address_use *use, const struct address_counts *counts, double most)
{
	double wanted = source_now() < use->hurried_until ? HURRIED_RATE : CODE_RATE;
	uint64_t period = sample_period_near(counts->event, 1e9 / fmin(wanted, fmax(most, 0.1)));

	if (period > counts->period * 1.1 || period < counts->period * 0.9)
		address_source_set_period(use->addresses, 0, period);
}

static double affordable(const struct address_use *use, double share)
{
	return sample_rate_affordable(
	        PART * use->config->max_overhead * share, use->sample_seconds);
}

void address_use_hurry(struct address_use *use)
{
	struct address_counts counts;

	if (!use->addresses || !address_source_runs(use->addresses))
		return;
	address_source_counts(use->addresses, 0, &counts);
	if (counts.event->kind != PMU_TASK_CLOCK)
		return;
	use->hurried_until = source_now() + HURRY_NS;
	settle_code(use, &counts, affordable(use, 1));
}

void address_use_settle(struct address_use *use, double per_cpu_second, double share)
{
	unsigned n = address_use_events(use);
	double most, all = 0;
	struct address_counts counts[MTL_EVENTS];

	if (n == 0 || !address_source_runs(use->addresses))
		return;
	address_source_follow(use->addresses);
	look(use, counts);
	most = affordable(use, share) / n;
	for (unsigned i = 0; i < n; i++)
		all += counts[i].rate;
	if (counts[0].event->kind == PMU_TASK_CLOCK) {
		settle_code(use, &counts[0], most);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		double came = counts[i].rate;
		double rate = fmax(came, all > 0 ? per_cpu_second * came / all : 0);
		uint64_t period = sample_period_next(counts[i].event, counts[i].period, rate, most);

		if (period != counts[i].period)
			address_source_set_period(use->addresses, i, period);
	}
}

/* Of all events together: where one fares worse than another, what they stand for is a mixture. */
void address_use_sampling(const struct address_use *use, struct rates_sampling *ret_sampling)
{
	struct rates_sampling sampling = {.accesses = false};
	double seen = 0, unseen = 0;
	struct address_counts counts;

	for (unsigned i = 0; i < address_use_events(use); i++) {
		address_source_counts(use->addresses, i, &counts);
		if (address_source_accesses(counts.event->kind) == MTL_ACCESSES_NONE)
			continue;
		sampling.accesses = true;
		sampling.starved = fmax(sampling.starved, counts.starved);
		seen += counts.seen;
		unseen += counts.unseen;
	}
	sampling.unseen = seen > 0 ? unseen / seen : 0;
	*ret_sampling = sampling;
}

enum reuse_means address_use_misses(const struct address_use *use)
{
	enum reuse_means means = REUSE_NONE;
	struct address_counts counts;

	for (unsigned i = 0; i < address_use_events(use); i++) {
		address_source_counts(use->addresses, i, &counts);
		if (counts.misses == MTL_MISSES_NONE)
			continue;
		if (counts.event->kind != PMU_PAGE_FAULTS)
			return REUSE_COUNTED;
		means = REUSE_FAULTS;
	}
	return means;
}

double address_use_sample_seconds(const struct address_use *use)
{
	return use->sample_seconds;
}

/* ---- telling ---- */

unsigned address_use_events(const struct address_use *use)
{
	return use->addresses ? address_source_events(use->addresses) : 0;
}

void address_use_describe(
        const struct address_use *use, unsigned event, struct manager_event *ret_event)
{
	struct address_counts counts;

	address_source_counts(use->addresses, event, &counts);
	*ret_event = (struct manager_event){
	        .source = counts.event->source,
	        .cpus = counts.cpus,
	        .precise = counts.precise,
	        .misses_only = counts.misses_only,
	        .period = counts.period,
	        .starved = counts.starved,
	        .seen = counts.seen,
	        .foreign = counts.foreign,
	        .zero = counts.zero,
	        .kernel = counts.kernel,
	        .filtered = counts.filtered,
	        .unreadable = counts.unreadable,
	        .delivered = counts.delivered,
	        .lost = counts.lost,
	        .unseen = counts.unseen,
	        .throttled = counts.throttles,
	};
	snprintf(ret_event->name, sizeof(ret_event->name), "%s", counts.event->name);
	snprintf(ret_event->pmu, sizeof(ret_event->pmu), "%s", counts.event->pmu);
}

const char *address_use_problem(const struct address_use *use)
{
	return *use->problem ? use->problem : use->refused;
}
