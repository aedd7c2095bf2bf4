// SPDX-License-Identifier: MIT
/*
 * One tracked process, from its first survey to the curve it leaves behind.
 *
 * Ten times a second (only when it has run): finished observations go to the store, the
 * sampler's queue is filled with freshly drawn lines, the survey goes on a little, births are noted.
 * Once a second: the governor sets the pace, the deadlines follow what the curve needs.
 */
#include "tracked.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "proc.h"

#define FIRST_SURVEY_REGIONS 4096
#define SURVEY_REGIONS_A_TICK 64
#define SURVEY_INTERVAL_NS 1000000000ULL /* at least; */
#define SURVEY_SHARE 500                 /* and so many times as long as one takes */
#define SURVEY_STALE 0.02 /* new pages, as a share of those surveyed, that call for a survey */
#define STALE_SHARE 50    /* but not sooner than so many times as long as one takes */
#define NEW_PHASE 1.25    /* growth of resident memory that makes older observations another program's */
#define CHECK_INTERVAL_NS 5000000000ULL
#define BEGIN_SECONDS 0.03
#define MOMENTS_PER_WINDOW 20
#define STORE_WINDOWS 4 /* observations older than so many windows weigh nothing */

DEFINE_CLEANUP(struct tracked, tracked_free)

static uint64_t cpu_ns(const struct tracked *tracked)
{
	return tracked->state == TRACKED_EXITED ?
		tracked->counts.cpu_ns :
		source_clock(tracked->instrument->source, tracked->index);
}

/* Of what the store holds; the clock may step back a little. */
static double cpu_seconds(const struct tracked *tracked)
{
	return fmax(0, (int64_t)(cpu_ns(tracked) - tracked->begin_cpu_ns) / 1e9);
}

static struct mtl_process *process_of(const struct tracked *tracked)
{
	return source_process(tracked->instrument->source, tracked->index);
}

static void set_state(struct tracked *tracked, enum tracked_state state, const char *reason)
{
	tracked->state = state;
	snprintf(tracked->reason, sizeof(tracked->reason), "%s", reason);
}

/* A watch lasts a good part of the longest window; moments that come much more often than watches can
 * end only find the process occupied. */
static void set_pace(struct tracked *tracked)
{
	double pace = fmin(tracked->governor.pace, MOMENTS_PER_WINDOW / tracked->deadlines.now.longest);

	sampler_set_pace(tracked->instrument->sampler, tracked->index, pace,
		tracked->governor.close_between);
}

static void begin_anew(struct tracked *tracked)
{
	store_clear(tracked->store);
	tracked->rates = (struct rates){0};
	tracked->begin_cpu_ns = source_clock(tracked->instrument->source, tracked->index);
	tracked->begin_wall_ns = source_now();
	births_begin(&tracked->births, process_of(tracked));
	tracked->faults_surveyed = tracked->births.faults;
	tracked->survey_due_ns = tracked->stale_due_ns = 0;
	tracked->resident_at_first = 0;
	deadlines_begin(&tracked->deadlines, tracked->config->longest_window,
		tracked->instrument->calibration.resolution_seconds);
}

/* ---- threads and debuggers ---- */

static void watch_threads(struct tracked *tracked)
{
	_cleanup_free_ pid_t *tids = NULL;
	unsigned n;

	tracked->threads_changed = false;
	if (proc_threads(tracked->root, tracked->pid, &tids, &n) < 0)
		return;
	tracked->error = sampler_threads(tracked->instrument->sampler, tracked->index, tids, n);
	if (tracked->state == TRACKED_PAUSED)
		return;
	if (tracked->error == -ENOSPC)
		set_state(tracked, TRACKED_STARTING,
			"no debug register is free: another tool (a debugger, perf) holds all four");
	else if (tracked->error == -EMFILE)
		set_state(tracked, TRACKED_STARTING,
			"mtld may not open enough files to watch all threads: raise LimitNOFILE=");
	else if (tracked->error < 0 && tracked->error != -ESRCH)
		set_state(tracked, TRACKED_STARTING, strerror(-tracked->error));
	else
		set_state(tracked, tracked->store->total ? TRACKED_SAMPLING : TRACKED_STARTING, "");
}

static void pause_for(struct tracked *tracked, pid_t tracer)
{
	char reason[96];

	if (tracked->state != TRACKED_PAUSED)
		sampler_pause(tracked->instrument->sampler, tracked->index, true);
	snprintf(reason, sizeof(reason),
		tracer > 0 ? "paused: a debugger (pid %d) is attached; its registers are left alone" :
			     "paused: a debugger is attached; its registers are left alone",
		tracer);
	set_state(tracked, TRACKED_PAUSED, reason);
}

static void resume(struct tracked *tracked)
{
	if (tracked->state != TRACKED_PAUSED)
		return;
	sampler_pause(tracked->instrument->sampler, tracked->index, false);
	set_state(tracked, tracked->store->total ? TRACKED_SAMPLING : TRACKED_STARTING, "");
	watch_threads(tracked);
}

static void heed_debugger(struct tracked *tracked)
{
	struct proc_status status;

	if (proc_status(tracked->root, tracked->pid, &status) < 0)
		return;
	snprintf(tracked->comm, sizeof(tracked->comm), "%s", status.comm);
	if (status.tracer)
		pause_for(tracked, status.tracer);
	else
		resume(tracked);
}

/* ---- begin and end ---- */

static int admit(struct tracked *tracked)
{
	struct proc_status status;
	int r = proc_status(tracked->root, tracked->pid, &status);

	if (r < 0)
		return r;
	if (status.zombie)
		return -ESRCH;
	if (status.kernel_thread)
		return -ENOTSUP;
	tracked->uid = status.uid;
	snprintf(tracked->comm, sizeof(tracked->comm), "%s", status.comm);
	return source_resolve(tracked->instrument->source, tracked->pid, &tracked->tgid);
}

/* A planner looks at one address space: after exec there is another. */
static int plan_anew(struct tracked *tracked)
{
	tracked->planner = planner_free(tracked->planner);
	return planner_new(tracked->root, tracked->pid, source_now() ^ tracked->pid, &tracked->planner);
}

static int start_sampling(struct tracked *tracked)
{
	struct instrument *instrument = tracked->instrument;
	int r = plan_anew(tracked);

	if (r < 0)
		return r;
	r = source_track(instrument->source, tracked->tgid, tracked->index);
	if (r < 0)
		return r;
	r = sampler_add(instrument->sampler, tracked->index, instrument->calibration.slots,
		instrument->calibration.length);
	if (r < 0) {
		source_untrack(instrument->source, tracked->tgid);
		return r;
	}
	begin_anew(tracked);
	planner_survey(tracked->planner, FIRST_SURVEY_REGIONS);
	heed_debugger(tracked);
	if (tracked->state != TRACKED_PAUSED)
		watch_threads(tracked); /* are there registers? */
	set_pace(tracked);
	tracked_tick(tracked);
	return 0;
}

int tracked_new(struct instrument *instrument, const struct config *config, const char *root,
	pid_t pid, uint32_t index, struct tracked **ret_tracked)
{
	_cleanup_(tracked_freep) struct tracked *tracked = calloc(1, sizeof(*tracked));
	int r;

	if (!tracked)
		return -ENOMEM;
	*tracked = (struct tracked){
		.instrument = instrument,
		.config = config,
		.root = root,
		.pid = pid,
		.index = index,
		.state = TRACKED_EXITED, /* nothing to undo yet */
		.governor = {.overhead = NAN, .close_between = true},
		.observations_per_second = NAN,
	};
	tracked->store = calloc(1, sizeof(*tracked->store));
	if (!tracked->store)
		return -ENOMEM;
	r = admit(tracked);
	if (r < 0)
		return r;
	tracked->state = TRACKED_STARTING;
	r = start_sampling(tracked);
	if (r < 0) {
		tracked->state = TRACKED_EXITED;
		return r;
	}
	*ret_tracked = TAKE_PTR(tracked);
	return 0;
}

static void fetch(struct tracked *tracked)
{
	struct mtl_observation seen[64];
	uint64_t addresses[64];
	struct sampler *sampler = tracked->instrument->sampler;
	unsigned n;

	while ((n = sampler_take(sampler, tracked->index, seen, addresses, 64)) > 0) {
		store_add(tracked->store, seen, n);
		for (unsigned i = 0; tracked->planner && i < n; i++)
			planner_saw(tracked->planner, addresses[i], &seen[i]);
		if (tracked->state == TRACKED_STARTING)
			set_state(tracked, TRACKED_SAMPLING, "");
	}
	sampler_counts(sampler, tracked->index, &tracked->counts);
}

void tracked_exited(struct tracked *tracked)
{
	if (tracked->state == TRACKED_EXITED)
		return;
	fetch(tracked);
	births_note(&tracked->births, process_of(tracked), tracked->counts.cpu_ns / 1e9, tracked->store);
	sampler_remove(tracked->instrument->sampler, tracked->index);
	source_untrack(tracked->instrument->source, tracked->tgid);
	tracked->end_wall_ns = source_now();
	set_state(tracked, TRACKED_EXITED, "the process has ended");
}

struct tracked *tracked_free(struct tracked *tracked)
{
	if (!tracked)
		return NULL;
	tracked_exited(tracked);
	planner_free(tracked->planner);
	free(tracked->store);
	free(tracked);
	return NULL;
}

/* ---- ten times a second ---- */

static void refill(struct tracked *tracked)
{
	const struct calibration *calibration = &tracked->instrument->calibration;
	struct sampler *sampler = tracked->instrument->sampler;
	struct candidate candidate;
	/* Lines drawn long ago may be gone: hold what two ticks need, no more. */
	unsigned held = SAMPLER_QUEUE - sampler_room(sampler, tracked->index);
	unsigned wanted = fmin(SAMPLER_QUEUE, 2 + 0.2 * tracked->governor.pace);

	planner_set_settled(tracked->planner, tracked->births.faults == tracked->faults_surveyed);
	for (; held < wanted; held++)
		if (planner_draw(tracked->planner, &tracked->deadlines.now, calibration->slots,
			    calibration->length == MTL_LINE_BYTES, &candidate) < 0 ||
			sampler_offer(sampler, tracked->index, &candidate) < 0)
			return;
}

/* So many pages have come since the latest survey that draws by it would weigh very unevenly. */
static bool is_stale(const struct tracked *tracked)
{
	double pages = planner_resident_bytes(tracked->planner) / 4096;

	return tracked->births.faults - tracked->faults_surveyed > SURVEY_STALE * pages;
}

/* Observations of a process that was much smaller say nothing about it now. */
static void heed_growth(struct tracked *tracked)
{
	double pages = planner_resident_bytes(tracked->planner) / 4096;

	if (pages <= NEW_PHASE * tracked->resident_at_first)
		return;
	tracked->resident_at_first = pages;
	store_forget(tracked->store); /* and the births that made it grow, with them */
	sampler_drop_candidates(tracked->instrument->sampler, tracked->index);
}

static void survey(struct tracked *tracked)
{
	uint64_t begin = source_now();
	bool stale = is_stale(tracked) && begin >= tracked->stale_due_ns;
	int r;

	if (begin < tracked->survey_due_ns && !stale)
		return;
	r = planner_survey(tracked->planner, SURVEY_REGIONS_A_TICK);
	if (r == 0)
		return;
	if (r > 0)
		tracked->faults_surveyed = tracked->births.faults;
	tracked->survey_due_ns = begin +
		(uint64_t)fmax(SURVEY_INTERVAL_NS, SURVEY_SHARE * (double)(source_now() - begin));
	tracked->stale_due_ns = begin + STALE_SHARE * (source_now() - begin);
	if (r > 0)
		heed_growth(tracked);
}

/* Some milliseconds of its time tell how often a process switches, and with that what a watch costs. */
static void begin(struct tracked *tracked)
{
	struct governor_prices prices = governor_prices(&tracked->instrument->calibration);
	double seconds = (tracked->counts.cpu_ns - tracked->begin_cpu_ns) / 1e9;

	if (tracked->begun || seconds < BEGIN_SECONDS)
		return;
	tracked->begun = true;
	governor_begin(&tracked->governor, &prices, tracked->config->max_overhead,
		tracked->counts.switches / seconds, deadlines_mean(&tracked->deadlines));
	tracked->settled = tracked->counts;
	tracked->settled_wall_ns = source_now();
	set_pace(tracked);
}

void tracked_tick(struct tracked *tracked)
{
	uint64_t ran = tracked->counts.cpu_ns;

	if (tracked->state == TRACKED_EXITED)
		return;
	if (tracked->threads_changed)
		watch_threads(tracked);
	fetch(tracked);
	if (tracked->counts.cpu_ns == ran && ran != 0)
		return;
	begin(tracked);
	births_note(&tracked->births, process_of(tracked), tracked->counts.cpu_ns / 1e9, tracked->store);
	if (!tracked->planner)
		return;
	survey(tracked);
	if (tracked->state != TRACKED_PAUSED)
		refill(tracked);
}

/* ---- once a second ---- */

static struct sampler_counts since_settled(const struct tracked *tracked)
{
	struct sampler_counts delta = tracked->counts;
	const struct sampler_counts *settled = &tracked->settled;

	delta.arms -= settled->arms;
	delta.hits -= settled->hits;
	delta.switches -= settled->switches;
	delta.busy -= settled->busy;
	delta.starved -= settled->starved;
	delta.armed_switches -= settled->armed_switches;
	delta.samples -= settled->samples;
	delta.cpu_ns -= settled->cpu_ns;
	return delta;
}

static int look_at_deadlines(struct tracked *tracked, struct mtl_curve **ret_curve)
{
	double windows[2], size;
	_cleanup_free_ struct mtl_observation *copy =
		malloc(STORE_OBSERVATIONS * sizeof(struct mtl_observation));
	struct mtl_estimate_options options = {
		.sizes = &size,
		.n_sizes = 1,
		.windows = windows,
		.n_windows = 2,
		.resamples = 1,
	};

	if (!copy)
		return -ENOMEM;
	deadlines_questions(&tracked->deadlines, tracked->instrument->last_cache_bytes, windows, &size);
	tracked_options(tracked, &options);
	return mtl_curve_from_observations(copy, store_observations(tracked->store, copy), NULL, 0,
		&options, ret_curve);
}

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

static void adapt_deadlines(struct tracked *tracked)
{
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;

	if (deadlines_due(&tracked->deadlines) && look_at_deadlines(tracked, &curve) == 0)
		deadlines_adapt(&tracked->deadlines, curve);
}

/* Events tell of threads and debuggers at once; this catches what an event that was lost would have
 * told. */
static void check(struct tracked *tracked)
{
	uint64_t now = source_now();

	if (now < tracked->check_due_ns)
		return;
	tracked->check_due_ns = now + CHECK_INTERVAL_NS;
	heed_debugger(tracked);
	watch_threads(tracked);
	if (!tracked->planner)
		plan_anew(tracked);
}

/* Arming and turning off reach every thread: one that runs pays for it itself; for one that sleeps the
 * target waits, about half as long as its events take to open and close. */
static struct governor_prices prices_now(const struct tracked *tracked, double seconds)
{
	struct governor_prices prices = governor_prices(&tracked->instrument->calibration);
	double wall = (source_now() - tracked->settled_wall_ns) / 1e9;
	double running = tracked->settled_wall_ns ? fmax(1, seconds / wall) : 1;
	double threads = fmax(running, tracked->counts.threads);

	prices.arm = prices.arm * running + (threads - running) * prices.open / 2;
	prices.trap *= running;
	prices.open *= threads;
	return prices;
}

void tracked_settle(struct tracked *tracked, double share)
{
	struct governor_prices prices;
	struct sampler_counts delta;

	if (tracked->state == TRACKED_EXITED)
		return;
	delta = since_settled(tracked);
	check(tracked);
	if (!tracked->begun || (int64_t)delta.cpu_ns < 100000000)
		return;
	prices = prices_now(tracked, delta.cpu_ns / 1e9);
	governor_update(&tracked->governor, &prices, &delta, delta.cpu_ns / 1e9,
		tracked->config->max_overhead, share);
	tracked->observations_per_second = delta.arms / (delta.cpu_ns / 1e9);
	tracked->settled = tracked->counts;
	tracked->settled_wall_ns = source_now();
	set_pace(tracked);
	adapt_deadlines(tracked);
	store_expire(tracked->store,
		tracked->counts.cpu_ns / 1e9 - STORE_WINDOWS * tracked->config->window_seconds);
}

/* ---- events ---- */

static void exec(struct tracked *tracked)
{
	sampler_forget(tracked->instrument->sampler, tracked->index);
	begin_anew(tracked);
	tracked->threads_changed = true;
	tracked->check_due_ns = 0;
	if (plan_anew(tracked) < 0)
		return; /* it has ended meanwhile: its pidfd will tell */
	planner_survey(tracked->planner, FIRST_SURVEY_REGIONS);
	if (tracked->state != TRACKED_PAUSED)
		set_state(tracked, TRACKED_STARTING, "it executed a new program: observing that one");
}

void tracked_life(struct tracked *tracked, const struct mtl_life *life)
{
	switch ((enum mtl_life_kind)life->kind) {
	case MTL_LIFE_THREAD:
	case MTL_LIFE_EXIT:
		tracked->threads_changed = true;
		break;
	case MTL_LIFE_EXEC:
		exec(tracked);
		break;
	case MTL_LIFE_TRACED:
		pause_for(tracked, 0);
		break;
	case MTL_LIFE_UNTRACED:
		resume(tracked);
		break;
	case MTL_LIFE_FAULT:
		if (tracked->planner)
			births_learn(&tracked->births, tracked->planner, life->address);
		break;
	}
}

/* ---- telling ---- */

static double wall_seconds(const struct tracked *tracked)
{
	uint64_t end = tracked->end_wall_ns ? tracked->end_wall_ns : source_now();

	return (end - tracked->begin_wall_ns) / 1e9;
}

static double resident_bytes(const struct tracked *tracked)
{
	double bytes;

	if (tracked->state != TRACKED_EXITED &&
		proc_resident(tracked->root, tracked->pid, &bytes) == 0 && bytes > 0)
		return bytes;
	return tracked->planner ? planner_resident_bytes(tracked->planner) : 0;
}

void tracked_describe(const struct tracked *tracked, struct manager_process *ret_process)
{
	static const char *const states[] = {
		[TRACKED_STARTING] = "starting",
		[TRACKED_SAMPLING] = "sampling",
		[TRACKED_PAUSED] = "paused",
		[TRACKED_EXITED] = "exited",
	};

	*ret_process = (struct manager_process){
		.pid = tracked->pid,
		.uid = tracked->uid,
		.state = states[tracked->state],
		.threads = tracked->state == TRACKED_EXITED ? 0 : tracked->counts.threads,
		.observations = tracked->store->n_observations,
		.births = tracked->births.faults,
		.lost = tracked->counts.lost,
		.resident_bytes = resident_bytes(tracked),
		.cpu_seconds = cpu_seconds(tracked),
		.wall_seconds = wall_seconds(tracked),
		.overhead_target = tracked->governor.overhead,
		.observations_per_second = tracked->observations_per_second,
		.rates = rates_tell(&tracked->rates),
	};
	snprintf(ret_process->comm, sizeof(ret_process->comm), "%s", tracked->comm);
	snprintf(ret_process->reason, sizeof(ret_process->reason), "%s", tracked->reason);
}

static void write_note(const struct tracked *tracked, char *ret_note, size_t size)
{
	double unseen = tracked->planner ? planner_unseen_bytes(tracked->planner) : 0;
	unsigned slots = tracked->instrument->calibration.slots;

	if (unseen > 0)
		snprintf(ret_note, size, "%.0f MiB of mapped memory were too many to look at",
			unseen / 1048576);
	else if (tracked->counts.slots && tracked->counts.slots < slots)
		snprintf(ret_note, size, "only %u of %u debug registers were free",
			tracked->counts.slots, slots);
	else if (tracked->state == TRACKED_PAUSED)
		snprintf(ret_note, size, "%s", tracked->reason);
	else
		*ret_note = 0;
}

void tracked_origin(const struct tracked *tracked, double overhead_daemon,
	struct mtl_curve_origin *ret_origin)
{
	*ret_origin = (struct mtl_curve_origin){
		.pid = tracked->pid,
		.method = "residual",
		.clock = "cpu",
		.window_seconds = tracked->config->window_seconds,
		.wall_seconds = wall_seconds(tracked),
		.cpu_seconds = cpu_seconds(tracked),
		.lost = tracked->counts.lost,
		.resident_bytes = resident_bytes(tracked),
		.overhead_target = tracked->governor.overhead,
		.overhead_daemon = overhead_daemon,
	};
	snprintf(ret_origin->comm, sizeof(ret_origin->comm), "%s", tracked->comm);
	snprintf(ret_origin->rung, sizeof(ret_origin->rung), "%s", instrument_rung(tracked->instrument));
	rates_tell_origin(&tracked->rates, ret_origin);
	write_note(tracked, ret_origin->note, sizeof(ret_origin->note));
}

void tracked_options(const struct tracked *tracked, struct mtl_estimate_options *options)
{
	double l2 = tracked->instrument->l2_bytes;

	options->now = cpu_ns(tracked) / 1e9;
	options->window_seconds = tracked->config->window_seconds;
	options->resolution_seconds = tracked->instrument->calibration.resolution_seconds;
	options->cache_bytes = tracked->instrument->last_cache_bytes;
	options->accesses_per_second = rates_of_accesses(&tracked->rates);
	options->seed = tracked->store->total + 1;
	if (!(options->reference_bytes > 0))
		options->reference_bytes = l2 > 0 ? l2 : 1 << 20;
}
