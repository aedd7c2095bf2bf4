/* SPDX-License-Identifier: MIT */
#ifndef MTLD_TRACKED_PARTS_H
#define MTLD_TRACKED_PARTS_H

/*
 * What the files of a tracked process (tracked*.c) are to each other. Everybody else uses
 * tracked.h.
 */

#include "tracked.h"

struct mtl_process *tracked_process(const struct tracked *tracked);

/* CPU time of all threads; of an ended one, until its end. */
uint64_t tracked_cpu_ns(const struct tracked *tracked);

/* Of what the store holds; the clock may step back a little. */
double tracked_cpu_seconds(const struct tracked *tracked);

/* As many times rarer is looked what events do not tell of, where many processes run; 1 or more. */
double tracked_among_many(const struct tracked *tracked);

void tracked_set_state(struct tracked *tracked, enum tracked_state state, const char *reason);

/* A planner looks at one address space: after exec there is another. Negative errno. */
int tracked_plan_anew(struct tracked *tracked);

/* The thread through which memory was looked at has ended: another one is looked for within a second. */
void tracked_lose_memory(struct tracked *tracked);

/* tracked_threads.c. tracer: its pid, 0: not known. */
void tracked_watch_threads(struct tracked *tracked);
void tracked_pause(struct tracked *tracked, pid_t tracer);
void tracked_resume(struct tracked *tracked);
void tracked_heed_debugger(struct tracked *tracked);

/* Events tell of threads and debuggers at once; this catches what an event that was lost would have
 * told. */
void tracked_check(struct tracked *tracked);

/* tracked_govern.c */
void tracked_govern_begin(struct tracked *tracked);
void tracked_tell_governing(const struct tracked *tracked, struct manager_governing *ret_governing);

/* tracked_survey.c: goes on with the survey, or begins one that is due; fills the sampler's queue.
 */
void tracked_survey(struct tracked *tracked);
void tracked_refill(struct tracked *tracked);

/* tracked_phase.c: after a survey; and once a second, has it become another program? */
void tracked_heed_growth(struct tracked *tracked);
void tracked_look_for_change(struct tracked *tracked);

/* tracked_history.c: an entry where one is due. */
void tracked_begin_history(struct tracked *tracked);
void tracked_note_history(struct tracked *tracked);

/* tracked_reuse.c: with a new program; ten times a second; once a second, when so many misses were
 * told in one of its CPU time, and what is older than `oldest` goes. */
void tracked_reuse_begin(struct tracked *tracked);
void tracked_reuse_fetch(struct tracked *tracked);
void tracked_reuse_settle(struct tracked *tracked, double misses_told, double oldest);
void tracked_reuse_free(struct tracked *tracked);

/* tracked_pace.c: tells the sampler; and the first pace, once the target has run for some
 * milliseconds. */
void tracked_set_pace(struct tracked *tracked);
/* Moments a CPU second. */
double tracked_moments(const struct tracked *tracked);
void tracked_begin(struct tracked *tracked);

/* What strings lose of a second in which it is watched (string_cost.h). */
double tracked_string_price(const struct tracked *tracked);

#endif
