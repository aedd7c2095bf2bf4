// SPDX-License-Identifier: MIT
/*
 * The threads of a tracked process and who else holds its debug registers.
 *
 * Every thread is to have its watches; where that fails the state says why and what would help.
 * While a debugger is attached the process is paused: the registers are the debugger's.
 */
#include "tracked_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "proc.h"

#define CHECK_INTERVAL_NS 5000000000ULL

void tracked_watch_threads(struct tracked *tracked)
{
	_cleanup_free_ pid_t *tids = NULL;
	unsigned n;

	tracked->threads_changed = false;
	if (proc_threads(tracked->root, tracked->pid, &tids, &n) < 0)
		return;
	tracked->watch_error =
	        sampler_threads(tracked->instrument->sampler, tracked->index, tids, n);
	if (tracked->state == TRACKED_PAUSED)
		return;
	if (tracked->watch_error == -ENOSPC)
		tracked_set_state(tracked, TRACKED_STARTING,
		        "no debug register is free: another tool (a debugger, perf) holds all "
		        "four");
	else if (tracked->watch_error == -EMFILE)
		tracked_set_state(tracked, TRACKED_STARTING,
		        "mtld may not open enough files to watch all threads: raise LimitNOFILE=");
	else if (tracked->watch_error < 0 && tracked->watch_error != -ESRCH)
		tracked_set_state(tracked, TRACKED_STARTING, strerror(-tracked->watch_error));
	else
		tracked_set_state(
		        tracked, tracked->store->total ? TRACKED_SAMPLING : TRACKED_STARTING, "");
}

void tracked_pause(struct tracked *tracked, pid_t tracer)
{
	char reason[96];

	if (tracked->state != TRACKED_PAUSED)
		sampler_pause(tracked->instrument->sampler, tracked->index, true);
	snprintf(reason, sizeof(reason),
	        tracer > 0 ? "paused: a debugger (pid %d) is attached; its registers are left alone"
	                   : "paused: a debugger is attached; its registers are left alone",
	        tracer);
	tracked_set_state(tracked, TRACKED_PAUSED, reason);
}

void tracked_resume(struct tracked *tracked)
{
	if (tracked->state != TRACKED_PAUSED)
		return;
	sampler_pause(tracked->instrument->sampler, tracked->index, false);
	tracked_set_state(tracked, tracked->store->total ? TRACKED_SAMPLING : TRACKED_STARTING, "");
	tracked_watch_threads(tracked);
}

void tracked_heed_debugger(struct tracked *tracked)
{
	struct proc_status status;

	if (proc_status(tracked->root, tracked->pid, &status) < 0)
		return;
	snprintf(tracked->comm, sizeof(tracked->comm), "%s", status.comm);
	if (status.tracer)
		tracked_pause(tracked, status.tracer);
	else
		tracked_resume(tracked);
}

/* Events tell of threads and debuggers at once; this catches what an event that was lost would have
 * told. */
void tracked_check(struct tracked *tracked)
{
	uint64_t now = source_now();

	if (now < tracked->check_due_ns)
		return;
	tracked->check_due_ns = now + (uint64_t)(CHECK_INTERVAL_NS * tracked_among_many(tracked));
	tracked_heed_debugger(tracked);
	tracked_watch_threads(tracked);
	if (!tracked->planner)
		tracked_plan_anew(tracked);
}
