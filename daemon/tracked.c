// SPDX-License-Identifier: MIT
/*
 * One tracked process, from its first survey to the curve it leaves behind.
 *
 * Ten times a second (only when it has run): finished observations go to the store, the
 * sampler's queue is filled with freshly drawn lines, the survey goes on a little, births are
 * noted. Once a second: the governor sets the pace, the deadlines follow what the curve needs.
 */
#include "tracked_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cleanup.h"
#include "proc.h"

#define MANY 8 /* processes */
#define FIRST_SURVEY_REGIONS 4096
#define STILL_TICKS                                                                                \
	10 /* by then the armers have landed what was under way when it went to sleep              \
	    */

DEFINE_CLEANUP(struct tracked, tracked_free)

struct mtl_process *tracked_process(const struct tracked *tracked)
{
	return source_process(tracked->instrument->source, tracked->index);
}

double tracked_among_many(const struct tracked *tracked)
{
	return fmax(1, tracked->instrument->running / (double)MANY);
}

void tracked_set_state(struct tracked *tracked, enum tracked_state state, const char *reason)
{
	tracked->state = state;
	snprintf(tracked->reason, sizeof(tracked->reason), "%s", reason);
}

static void begin_anew(struct tracked *tracked)
{
	store_clear(tracked->store);
	tracked->rates = (struct rates){0};
	tracked->begun = tracked->settled_once = false;
	tracked->settled = tracked->counts;
	tracked->settled_wall_ns = source_now();
	tracked_reuse_begin(tracked);
	tracked->begin_cpu_ns = source_clock(tracked->instrument->source, tracked->index);
	tracked->begin_wall_ns = source_now();
	phases_begin(&tracked->phases, tracked->begin_cpu_ns / 1e9);
	births_begin(&tracked->births, tracked_process(tracked));
	tracked->faults_surveyed = tracked->births.faults;
	tracked->survey_due_ns = tracked->stale_due_ns = tracked->survey_took_ns = 0;
	tracked->resident_at_first = 0;
	deadlines_begin(&tracked->deadlines, tracked->config->longest_window,
	        tracked->instrument->calibration.resolution_seconds);
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
	r = proc_start_ticks(tracked->root, tracked->pid, &tracked->start_ticks);
	if (r < 0)
		return r;
	tracked->uid = status.uid;
	snprintf(tracked->comm, sizeof(tracked->comm), "%s", status.comm);
	return source_resolve(tracked->instrument->source, tracked->pid, &tracked->tgid);
}

/* A planner looks at one address space: after exec there is another. */
int tracked_plan_anew(struct tracked *tracked)
{
	pid_t tid;
	int r = proc_living_thread(tracked->root, tracked->pid, &tid);

	tracked->planner = planner_free(tracked->planner);
	if (r < 0)
		return r;
	return planner_new(tracked->root, tid, source_now() ^ tracked->pid, &tracked->planner);
}

static void look_first(struct tracked *tracked)
{
	if (planner_survey(tracked->planner, FIRST_SURVEY_REGIONS) > 0)
		tracked_heed_growth(tracked);
}

static void drop_planner(struct tracked *tracked)
{
	if (tracked->planner) {
		tracked->resident_at_end = planner_resident_bytes(tracked->planner);
		tracked->unseen_at_end = planner_unseen_bytes(tracked->planner);
	}
	tracked->planner = planner_free(tracked->planner);
}

void tracked_lose_memory(struct tracked *tracked)
{
	drop_planner(tracked);
	tracked->check_due_ns = 0;
}

static int start_sampling(struct tracked *tracked)
{
	struct instrument *instrument = tracked->instrument;
	int r = tracked_plan_anew(tracked);

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
	tracked_begin_history(tracked);
	begin_anew(tracked);
	look_first(tracked);
	tracked_heed_debugger(tracked);
	if (tracked->state != TRACKED_PAUSED)
		tracked_watch_threads(tracked); /* are there registers? */
	tracked_set_pace(tracked);
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
	        .share = 1,
	        .error = NAN,
	        .reuse = {.scores = {NAN, NAN}},
	};
	tracked->store = calloc(1, sizeof(*tracked->store));
	if (!tracked->store)
		return -ENOMEM;
	r = admit(tracked);
	if (r < 0)
		return r;
	tracked->state = TRACKED_STARTING;
	tracked_govern_begin(tracked);
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
			tracked_set_state(tracked, TRACKED_SAMPLING, "");
	}
	tracked_reuse_fetch(tracked);
	sampler_counts(sampler, tracked->index, &tracked->counts);
	tracked->counts.rested_ns = tracked->rest.rested_ns;
}

void tracked_exited(struct tracked *tracked)
{
	if (tracked->state == TRACKED_EXITED)
		return;
	fetch(tracked);
	births_note(&tracked->births, tracked_process(tracked), tracked->counts.cpu_ns / 1e9,
	        tracked->share, tracked->store);
	sampler_remove(tracked->instrument->sampler, tracked->index);
	source_untrack(tracked->instrument->source, tracked->tgid);
	tracked->end_wall_ns = source_now();
	drop_planner(tracked);
	tracked_set_state(tracked, TRACKED_EXITED, "the process has ended");
}

struct tracked *tracked_free(struct tracked *tracked)
{
	if (!tracked)
		return NULL;
	tracked_exited(tracked);
	planner_free(tracked->planner);
	history_done(&tracked->history);
	if (tracked->store)
		store_done(tracked->store);
	free(tracked->store);
	tracked_reuse_free(tracked);
	free(tracked);
	return NULL;
}

/* The ring that tells it may have been full: the count is what counts. */
static void heed_exec(struct tracked *tracked)
{
	uint32_t execs = __atomic_load_n(&tracked_process(tracked)->execs, __ATOMIC_ACQUIRE);

	if (execs == tracked->execs)
		return;
	tracked->execs = execs;
	sampler_forget(tracked->instrument->sampler, tracked->index);
	begin_anew(tracked);
	tracked->threads_changed = true;
	tracked->check_due_ns = 0;
	if (tracked_plan_anew(tracked) < 0)
		return; /* it has ended meanwhile: its pidfd will tell */
	look_first(tracked);
	if (tracked->state != TRACKED_PAUSED)
		tracked_set_state(
		        tracked, TRACKED_STARTING, "it executed a new program: observing that one");
}

bool tracked_is_still(const struct tracked *tracked)
{
	return tracked->still > STILL_TICKS;
}

/* Running, exec, threads and a debugger who attaches all take a context switch. */
static void look_at_clock(struct tracked *tracked)
{
	uint64_t word = __atomic_load_n(&tracked_process(tracked)->clock, __ATOMIC_ACQUIRE);

	if (word != tracked->clock_word || (word & MTL_CLOCK_RUNNING))
		tracked->still = 0;
	else if (!tracked_is_still(tracked))
		tracked->still++;
	tracked->clock_word = word;
}

void tracked_refresh(struct tracked *tracked)
{
	tracked->still = 0;
	tracked_tick(tracked);
}

void tracked_tick(struct tracked *tracked)
{
	uint64_t ran = tracked->counts.cpu_ns;

	if (tracked->state == TRACKED_EXITED)
		return;
	look_at_clock(tracked);
	arrivals_note(&tracked->arrivals, tracked->store->total, tracked_cpu_seconds(tracked),
	        source_now() / 1e9);
	if (tracked_is_still(tracked))
		return;
	heed_exec(tracked);
	if (tracked->threads_changed)
		tracked_watch_threads(tracked);
	fetch(tracked);
	tracked_self_check(tracked);
	if (tracked->counts.cpu_ns == ran && ran != 0)
		return;
	tracked_begin(tracked);
	births_note(&tracked->births, tracked_process(tracked), tracked->counts.cpu_ns / 1e9,
	        tracked->share, tracked->store);
	if (!tracked->planner)
		return;
	tracked_survey(tracked);
	if (tracked->planner && tracked->state != TRACKED_PAUSED)
		tracked_refill(tracked);
}

/* ---- events ---- */

void tracked_life(struct tracked *tracked, const struct mtl_life *life)
{
	switch ((enum mtl_life_kind)life->kind) {
	case MTL_LIFE_EXIT:
		if (life->tid == life->tgid && tracked->counts.threads > 1)
			tracked_lose_memory(tracked);
		/* fall through */
	case MTL_LIFE_THREAD:
		tracked->threads_changed = true;
		break;
	case MTL_LIFE_EXEC:
		heed_exec(tracked);
		break;
	case MTL_LIFE_TRACED:
		tracked_pause(tracked, 0);
		break;
	case MTL_LIFE_UNTRACED:
		tracked_resume(tracked);
		break;
	case MTL_LIFE_FAULT:
		if (tracked->planner)
			births_learn(&tracked->births, tracked->planner, life->address);
		break;
	}
}
