// SPDX-License-Identifier: MIT
/*
 * A tracked process while the programs at context switches are stopped (duty.h): nothing of it is
 * watched, and its clock is what the kernel says of its CPU time since then. That includes what
 * traps took, of which there are none meanwhile, and of each switch the part before the tracepoint,
 * which makes a fifth of slices of 5 us.
 */
#include "tracked_parts.h"

#include "proc_progress.h"

void tracked_lie_down(struct tracked *tracked)
{
	sampler_rest(tracked->instrument->sampler, tracked->index, true);
}

void tracked_rest(struct tracked *tracked)
{
	struct tracked_rest *rest = &tracked->rest;

	rest->kernel_ns = proc_cpu_ns(tracked->pid);
	rest->clock_ns = source_clock(tracked->instrument->source, tracked->index);
	source_clock_set(tracked->instrument->source, tracked->index, rest->clock_ns);
}

void tracked_rest_on(struct tracked *tracked)
{
	struct tracked_rest *rest = &tracked->rest;
	uint64_t now = proc_cpu_ns(tracked->pid);

	if (rest->kernel_ns && now > rest->kernel_ns) {
		rest->clock_ns += now - rest->kernel_ns;
		rest->rested_ns += now - rest->kernel_ns;
		rest->kernel_ns = now;
	}
	source_clock_set(tracked->instrument->source, tracked->index, rest->clock_ns);
}

void tracked_wake(struct tracked *tracked)
{
	sampler_rest(tracked->instrument->sampler, tracked->index, false);
	tracked->threads_changed = true; /* its events have to be opened again */
}
