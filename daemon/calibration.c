// SPDX-License-Identifier: MIT
/*
 * Calibration: measure the instrument, subtract what it costs.
 *
 * A child process spins on one CPU, touching the eight words of one line again and again, and knows
 * what time is taken from it (spinner.c). Phases, all through the real sampler:
 *
 *     quiet nothing                            -> what the machine takes from it anyway
 *     idle  moments that find no candidate     -> what a moment costs the target
 *     cold  quads on a line never touched      -> what arming and disarming cost it
 *     clock moments again, while the kernel times the program that keeps the clock
 *     hot   quads on the spinning line         -> exactly one trap a slot; what a trap costs it
 *
 * What a quad costs is all that was taken from the child, but for what is taken anyway and for
 * moments that armed nothing, by the quads there were: an interrupt or a trap of a virtual
 * machine may be one gap or several. Of hot quads what cold ones cost is taken off, and the rest is
 * that of the traps: at least the time from one to the next on the child's own clock, where the
 * armer's work between is missing.
 *
 * The child touches every word within nanoseconds, so in the hot phase all times are truly zero.
 * What the process clock shows instead is the instrument: the first touch of a quad comes
 * switch_on late (debug registers are loaded after the switch-in is seen), each further one a trap
 * and a switch_on later. These are taken off in BPF from then on. A last hot phase shows what is
 * left: its median is the shift, its spread decides the resolution. Medians throughout, of costs over
 * slices of a phase: another guest stealing the CPU for a millisecond must not enter; but what is taken
 * anyway is the least of several looks, for what is taken off too much would be paid by the target.
 */
#include "calibration.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "cpu_events.h"
#include "program_cost.h"
#include "spinner.h"
#include "string_cost.h"

/* The sampler's last slot is the calibration child's. */
#define INDEX (MTL_PROCESSES_MAX - 1)
#define QUADS 60 /* a phase */
#define LEAST_QUADS (QUADS / 8)
#define SLICE (QUADS / 12)
#define QUIET_LOOKS 8
#define QUIET_NS 5000000
#define PATIENCE 10 /* times as long, until there are so many */
#define DEADLINE 5e-4     /* of quads that are not touched */
#define HOT_DEADLINE 2e-3 /* of quads that are: long, so that a busy machine does not end them */
#define MOMENTS 1000 /* a second */
#define CODE_SAMPLES 5000 /* a second */
#define CODE_COOKIE ((MTL_EVENTS - 1) * MTL_CPUS_MAX) /* slots that nobody looks at */
#define TIMES 4096
#define CLOCK_MOMENTS 20000
#define CLOCK_LOOKS 8
#define CLOCK_UNMEASURED 0.3e-6

struct phase {
	struct sampler_counts counts; /* of this phase alone */
	double taken_ns; /* from the child for each quad; for each moment where there were none */
	double first_ns, further_ns;  /* hot: median of a quad's first time, of steps to the next */
	double low_ns, median_ns, high_ns; /* quartiles of all times */
};

struct series {
	double *values;
	unsigned n;
};

enum { TIMES_ALL, FIRSTS, STEPS, TAKEN, N_SERIES };

struct bench {
	struct source *source;
	struct sampler *sampler;
	struct spinner spinner;
	uint32_t tgid;
	double quiet;     /* the part of its time that is taken from the child anyway */
	double moment_ns;
	struct series series[N_SERIES]; /* of the phase under way, ns */
};

static void end(struct bench *bench)
{
	sampler_remove(bench->sampler, INDEX);
	if (bench->tgid)
		source_untrack(bench->source, bench->tgid);
	spinner_stop(&bench->spinner);
	for (unsigned i = 0; i < N_SERIES; i++)
		free(bench->series[i].values);
}

static int begin(struct bench *bench, unsigned slots, unsigned length)
{
	int r = spinner_start(&bench->spinner);

	if (r >= 0)
		r = source_attach(bench->source);
	if (r >= 0)
		r = source_resolve(bench->source, bench->spinner.pid, &bench->tgid);
	if (r >= 0)
		r = source_track(bench->source, bench->tgid, INDEX);
	if (r >= 0)
		r = sampler_add(bench->sampler, INDEX, slots, length);
	if (r >= 0)
		r = sampler_threads(bench->sampler, INDEX, &bench->spinner.pid, 1);
	for (unsigned i = 0; i < N_SERIES && r >= 0; i++) {
		bench->series[i].values = calloc(TIMES, sizeof(double));
		r = bench->series[i].values ? 0 : -ENOMEM;
	}
	return r;
}

static struct candidate candidate_at(volatile uint64_t *line, unsigned slots, double deadline)
{
	struct candidate candidate = {
		.slots = slots,
		.weight = 1,
		.deadline_ns = deadline * 1e9,
	};

	for (unsigned slot = 0; slot < slots; slot++)
		candidate.address[slot] = (uint64_t)(uintptr_t)&line[slot * 2];
	return candidate;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double quantile(struct series *series, double q)
{
	if (!series->n)
		return 0;
	qsort(series->values, series->n, sizeof(double), by_value);
	return series->values[(size_t)(q * (series->n - 1))];
}

static void append(struct series *series, double value)
{
	if (series->n < TIMES)
		series->values[series->n++] = value;
}

/* The times of one quad in their order: the first, and the steps from each to the next. */
static void keep_quad(struct bench *bench, const struct mtl_observation *seen)
{
	double times[MTL_SLOTS];
	unsigned n = 0;

	for (unsigned slot = 0; slot < seen->slots; slot++)
		if (isfinite(seen->touched[slot]))
			times[n++] = seen->touched[slot] * 1e9;
	qsort(times, n, sizeof(double), by_value);
	for (unsigned i = 0; i < n; i++) {
		append(&bench->series[TIMES_ALL], times[i]);
		append(&bench->series[i ? STEPS : FIRSTS], i ? times[i] - times[i - 1] : times[0]);
	}
}

static void keep_times(struct bench *bench)
{
	struct mtl_observation seen[SAMPLER_QUEUE];
	unsigned n;

	while ((n = sampler_take(bench->sampler, INDEX, seen, NULL, SAMPLER_QUEUE)) > 0)
		for (unsigned i = 0; i < n; i++)
			keep_quad(bench, &seen[i]);
}

static struct sampler_counts difference(const struct sampler_counts *after,
	const struct sampler_counts *before)
{
	struct sampler_counts counts = *after;

	counts.arms -= before->arms;
	counts.hits -= before->hits;
	counts.traps -= before->traps;
	counts.stray_traps -= before->stray_traps;
	counts.switches -= before->switches;
	counts.busy -= before->busy;
	counts.starved -= before->starved;
	return counts;
}

/* A part of a phase. */
struct slice {
	struct sampler_counts begin;
	uint64_t gaps, ns;
};

static struct slice slice_begin(const struct bench *bench, const struct sampler_counts *now)
{
	return (struct slice){.begin = *now, .gaps = spinner_gaps(&bench->spinner), .ns = source_now()};
}

static void measure_quiet(struct bench *bench)
{
	struct timespec nap = {.tv_nsec = QUIET_NS};

	bench->series[TAKEN].n = 0;
	for (unsigned i = 0; i < QUIET_LOOKS; i++) {
		uint64_t gaps = spinner_gaps(&bench->spinner), begin = source_now();

		nanosleep(&nap, NULL);
		append(&bench->series[TAKEN], spinner_taken(&bench->spinner, gaps) / (source_now() - begin));
	}
	bench->quiet = quantile(&bench->series[TAKEN], 0);
}

/* The slice is long enough, or the last one and there has been none: what it took is kept. */
static void keep_slice(struct bench *bench, struct slice *slice, const struct sampler_counts *now,
	bool moments, bool last)
{
	struct sampler_counts counts = difference(now, &slice->begin);
	uint64_t empty = counts.busy + counts.starved, n = moments ? empty : counts.arms;
	double taken = spinner_taken(&bench->spinner, slice->gaps) - bench->quiet * (source_now() - slice->ns);

	if (n < SLICE && (!last || n == 0 || bench->series[TAKEN].n > 0))
		return;
	if (!moments)
		taken -= empty * bench->moment_ns;
	append(&bench->series[TAKEN], fmax(0, taken) / n);
	*slice = slice_begin(bench, now);
}

static bool wants_more(volatile uint64_t *line, uint64_t arms, uint64_t passed, uint64_t span)
{
	return (arms < QUADS && passed < span) || (line && arms < LEAST_QUADS && passed < PATIENCE * span);
}

static void pace(struct bench *bench, double moments_per_second)
{
	sampler_set_pace(bench->sampler, INDEX, moments_per_second, false);
	sampler_pace_cpus(bench->sampler);
}

/* QUADS quads (or `seconds`, whichever is first) on `line`; NULL: moments without candidates. On a machine
 * so busy that the child or its armer hardly run, as long as LEAST_QUADS take, within reason. */
static void run_phase(struct bench *bench, volatile uint64_t *line, unsigned slots, double seconds,
	struct phase *ret_phase)
{
	struct timespec nap = {.tv_nsec = 1000000};
	bool hot = line == bench->spinner.shared->hot;
	struct candidate candidate =
		candidate_at(line ? line : bench->spinner.shared->cold, slots, hot ? HOT_DEADLINE : DEADLINE);
	struct sampler_counts before, now;
	struct slice slice;
	uint64_t begin = source_now(), span = seconds * 1e9;

	for (unsigned i = 0; i < N_SERIES; i++)
		bench->series[i].n = 0;
	sampler_counts(bench->sampler, INDEX, &before);
	now = before;
	slice = slice_begin(bench, &now);
	pace(bench, MOMENTS);
	while (wants_more(line, now.arms - before.arms, source_now() - begin, span)) {
		while (line && sampler_offer(bench->sampler, INDEX, &candidate) == 0)
			;
		nanosleep(&nap, NULL);
		keep_times(bench);
		sampler_counts(bench->sampler, INDEX, &now);
		keep_slice(bench, &slice, &now, !line, false);
	}
	pace(bench, 0);
	sampler_drop_candidates(bench->sampler, INDEX);
	nanosleep(&(struct timespec){.tv_nsec = 2 * HOT_DEADLINE * 1e9}, NULL);
	keep_times(bench);
	sampler_counts(bench->sampler, INDEX, &now);
	keep_slice(bench, &slice, &now, !line, true);
	*ret_phase = (struct phase){
		.counts = difference(&now, &before),
		.taken_ns = quantile(&bench->series[TAKEN], 0.5),
		.first_ns = quantile(&bench->series[FIRSTS], 0.5),
		.further_ns = quantile(&bench->series[STEPS], 0.5),
		.low_ns = quantile(&bench->series[TIMES_ALL], 0.25),
		.median_ns = quantile(&bench->series[TIMES_ALL], 0.5),
		.high_ns = quantile(&bench->series[TIMES_ALL], 0.75),
	};
}

/* Corrections applied in BPF, and the prices the governor reckons with. */
static void set_costs(struct bench *bench, const struct phase *idle,
	const struct phase *cold, const struct phase *hot, struct calibration *calibration)
{
	struct mtl_costs *costs = source_costs(bench->source);

	for (unsigned n = 1; n <= MTL_SLOTS; n++)
		costs->switch_on_ns[n] = hot->first_ns;
	costs->trap_ns = fmax(0, hot->further_ns - hot->first_ns);
	calibration->moment_seconds = idle->taken_ns / 1e9;
	calibration->switch_seconds = hot->first_ns / 1e9;
	calibration->arm_seconds = cold->taken_ns / 1e9;
}

/* By the dearer of both times that it was measured: a virtual machine is not always as fast. */
static double trap_seconds(const struct phase *cold, const struct phase *hot, const struct phase *check,
	unsigned slots)
{
	double taken = fmax(hot->taken_ns, check->taken_ns) - cold->taken_ns;

	return fmax(hot->further_ns, taken / slots) / 1e9;
}

static int judge(const struct phase *hot, unsigned slots, char *ret_error, size_t error_size)
{
	const struct sampler_counts *counts = &hot->counts;

	/* A quad may run into its deadline when another guest has the CPU; a second trap of one
	 * slot may not happen but for the instruction that was under way. */
	if (counts->arms >= LEAST_QUADS && counts->hits >= counts->arms * slots * 0.5 &&
		counts->stray_traps <= counts->traps / 10)
		return 0;
	snprintf(ret_error, error_size,
		"self-test: %lu times %u watchpoints on a line that is written all the time gave %lu traps, and "
		"%lu beyond one each%s%s",
		counts->arms, slots, counts->hits, counts->stray_traps,
		counts->error ? ": " : "", counts->error ? strerror(-counts->error) : "");
	if (counts->error)
		return counts->error;
	return counts->arms >= LEAST_QUADS && counts->hits == 0 ? -EIO : -EAGAIN;
}

static void explain_phase(const char *name, const struct phase *phase)
{
	if (getenv("MTLD_DEBUG_CALIBRATION"))
		fprintf(stderr,
			"%s: arms %lu hits %lu traps %lu stray %lu switches %lu busy %lu starved %lu taken %.0f "
			"first %.0f further %.0f times %.0f %.0f %.0f ns\n",
			name, phase->counts.arms, phase->counts.hits, phase->counts.traps,
			phase->counts.stray_traps, phase->counts.switches, phase->counts.busy,
			phase->counts.starved, phase->taken_ns, phase->first_ns, phase->further_ns, phase->low_ns,
			phase->median_ns, phase->high_ns);
}

/* What it takes to open and close the events of one thread, here of the idle caller. */
static double measure_open(struct bench *bench, unsigned slots, unsigned length)
{
	double best = INFINITY;

	for (int i = 0; i < 5; i++) {
		struct watch watch;
		uint64_t begin = source_now();

		watch_init(&watch, source_watch_program(bench->source), WATCH_OWN_CPU, slots, length);
		watch_add_thread(&watch, getpid());
		watch_close(&watch);
		best = fmin(best, (source_now() - begin) / 1e9);
	}
	return best;
}

/* What a sample of the clock takes from the child. 0: it cannot be had. */
static double measure_code_sample(struct bench *bench)
{
	const struct pmu_event event = pmu_task_clock(CODE_SAMPLES);
	int program = source_instruction_program(bench->source);
	uint64_t gaps = spinner_gaps(&bench->spinner);
	struct cpu_events *events;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(bench->spinner.cpu, &cpu);
	if (program < 0 || cpu_events_new(&event, program, CODE_COOKIE, &events) < 0)
		return 0;
	cpu_events_follow(events, &cpu);
	nanosleep(&(struct timespec){.tv_nsec = 5e7}, NULL);
	cpu_events_free(events);
	return spinner_median_gap(&bench->spinner, gaps) / 1e9;
}

/* Switches of the child, to the armer and back, cost what any do: the median of short looks at it, so that
 * a CPU that was stolen meanwhile does not enter. A switch in and one out are two runs. */
static double measure_clock(struct bench *bench)
{
	struct timespec nap = {.tv_nsec = 10000000};
	double looks[CLOCK_LOOKS];
	struct series series = {.values = looks};
	struct program_cost cost;
	int programs[2];

	source_switch_programs(bench->source, programs);
	if (program_cost_begin(programs[0], &cost) < 0)
		return CLOCK_UNMEASURED;
	pace(bench, CLOCK_MOMENTS);
	for (int i = 0; i < CLOCK_LOOKS; i++) {
		double run;

		nanosleep(&nap, NULL);
		run = program_cost_lap(&cost);
		if (isfinite(run))
			append(&series, run);
	}
	pace(bench, 0);
	program_cost_end(&cost);
	return series.n ? 2 * quantile(&series, 0.5) : CLOCK_UNMEASURED;
}

static int calibrate(struct bench *bench, unsigned slots, struct calibration *calibration,
	char *ret_error, size_t error_size)
{
	struct phase idle, cold, hot, check;
	int r;

	memset(source_costs(bench->source), 0, sizeof(struct mtl_costs));
	sampler_set_shift(bench->sampler, 0);
	measure_quiet(bench);
	run_phase(bench, NULL, slots, 0.05, &idle);
	bench->moment_ns = idle.taken_ns;
	run_phase(bench, bench->spinner.shared->cold, slots, 0.5, &cold);
	run_phase(bench, bench->spinner.shared->hot, slots, 0.5, &hot);
	explain_phase("idle", &idle);
	explain_phase("cold", &cold);
	explain_phase("hot", &hot);
	r = judge(&hot, slots, ret_error, error_size);
	if (r < 0)
		return r;
	set_costs(bench, &idle, &cold, &hot, calibration);
	calibration->clock_seconds = measure_clock(bench);
	calibration->open_seconds = measure_open(bench, slots, slots == 1 ? 64 : 8);
	calibration->code_sample_seconds = measure_code_sample(bench);
	calibration->string_loss = string_cost_loss();
	if (getenv("MTLD_DEBUG_CALIBRATION"))
		fprintf(stderr, "clock: %.0f ns a switch; quiet: %.4f\n",
			calibration->clock_seconds * 1e9, bench->quiet);
	run_phase(bench, bench->spinner.shared->hot, slots, 0.5, &check);
	explain_phase("check", &check);
	calibration->trap_seconds = trap_seconds(&cold, &hot, &check, slots);
	calibration->arms = check.counts.arms;
	calibration->traps = check.counts.traps;
	calibration->stray = check.counts.stray_traps;
	calibration->shift_seconds = check.median_ns / 1e9;
	calibration->resolution_seconds = fmax(20e-6, 4 * (check.high_ns - check.low_ns) / 1e9);
	sampler_set_shift(bench->sampler, check.median_ns);
	return 0;
}

static int try_method(struct source *source, struct sampler *sampler, enum watch_method method,
	struct calibration *calibration, char *ret_error, size_t error_size)
{
	struct bench bench = {.source = source, .sampler = sampler};
	unsigned length = watch_length_works(64) ? 64 : 8;
	unsigned slots = length == 64 ? 1 : MTL_SLOTS;
	int r;

	memset(calibration, 0, sizeof(*calibration));
	sampler_set_method(sampler, method);
	r = begin(&bench, slots, length);
	if (r < 0)
		snprintf(ret_error, error_size, "self-test cannot start: %s", strerror(-r));
	else
		r = calibrate(&bench, slots, calibration, ret_error, error_size);
	end(&bench);
	calibration->method = method;
	calibration->length = length;
	calibration->slots = slots;
	return r;
}

int calibration_run(struct source *source, struct sampler *sampler, struct calibration *ret_calibration,
	char *ret_error, size_t error_size)
{
	enum watch_method first = sampler_method(sampler);
	struct calibration calibration = {0};
	int r = try_method(source, sampler, first, &calibration, ret_error, error_size);

	if (r < 0 && first != WATCH_ONE_SHOT)
		r = try_method(source, sampler, WATCH_ONE_SHOT, &calibration, ret_error, error_size);
	source_detach(source);
	if (r < 0)
		return r;
	*ret_calibration = calibration;
	return 0;
}
