/* SPDX-License-Identifier: MIT */
/*
 * The top N by CPU time.
 *
 *     share = share + SMOOTHING (CPU time since the last look / seconds - share)
 *     score = share x (chosen ? FAVOUR : 1)
 *
 * The N of the highest scores, LEAST at least, are wanted. Who is chosen and no longer wanted stays
 * while nobody waits for the place, for STAY looks when somebody does, and a minute when it does
 * nothing at all; who is wanted gets a place when one is free. So two processes of about the same
 * use do not take turns, and never more than N are chosen.
 */
#include "busiest.h"

#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"

#define SMOOTHING 0.3
#define FAVOUR 1.5
#define LEAST 0.01
#define STAY 5
#define STAY_IDLE 30

static int by_pid(const void *a, const void *b)
{
	const struct busiest_sample *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

/* The samples of one process become one. */
static size_t merge(struct busiest_sample *samples, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(samples, n, sizeof(*samples), by_pid);
	for (size_t i = 0; i < n; i++)
		if (kept > 0 && samples[kept - 1].pid == samples[i].pid)
			samples[kept - 1].cpu_ns += samples[i].cpu_ns;
		else
			samples[kept++] = samples[i];
	return kept;
}

static double score(const struct busiest_process *process)
{
	return process->refused ? 0 : process->share * (process->chosen ? FAVOUR : 1);
}

static int by_score(const void *a, const void *b)
{
	double left = score(*(struct busiest_process *const *)a);
	double right = score(*(struct busiest_process *const *)b);

	return (left < right) - (left > right);
}

/* What is known of the process of that sample; both lists are sorted. */
static const struct busiest_process *known(
        const struct busiest *top, size_t *at, const struct busiest_sample *sample)
{
	while (*at < top->n && top->processes[*at].pid < sample->pid)
		++*at;
	if (*at == top->n || top->processes[*at].pid != sample->pid ||
	        top->processes[*at].start != sample->start)
		return NULL;
	return &top->processes[*at];
}

static struct busiest_process follow(
        const struct busiest_process *before, const struct busiest_sample *sample, double seconds)
{
	struct busiest_process now = before ? *before : (struct busiest_process){0};
	uint64_t used = sample->cpu_ns > now.cpu_ns ? sample->cpu_ns - now.cpu_ns : 0;

	now.pid = sample->pid;
	now.start = sample->start;
	now.cpu_ns = sample->cpu_ns;
	if (before && seconds > 0)
		now.share += SMOOTHING * (used / 1e9 / seconds - now.share);
	return now;
}

static bool leaves(struct busiest_process *process, bool waited_for)
{
	process->out++;
	return (waited_for && process->out > STAY) ||
	       (process->share < LEAST && process->out > STAY_IDLE);
}

static void choose(struct busiest_process **ranked, size_t n, unsigned wanted)
{
	size_t n_wanted = 0, n_chosen = 0, waiting = 0;

	while (n_wanted < n && n_wanted < wanted && score(ranked[n_wanted]) >= LEAST) {
		waiting += !ranked[n_wanted]->chosen;
		ranked[n_wanted++]->out = 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (i >= n_wanted && ranked[i]->chosen)
			ranked[i]->chosen = !ranked[i]->refused && !leaves(ranked[i], waiting > 0);
		n_chosen += ranked[i]->chosen;
	}
	for (size_t i = n; i-- > 0 && n_chosen > wanted;) /* fewer are wanted than before */
		if (ranked[i]->chosen) {
			ranked[i]->chosen = false;
			n_chosen--;
		}
	for (size_t i = 0; i < n_wanted && n_chosen < wanted; i++)
		if (!ranked[i]->chosen) {
			ranked[i]->chosen = true;
			n_chosen++;
		}
}

int busiest_update(struct busiest *top, struct busiest_sample *samples, size_t n, double seconds,
        unsigned wanted)
{
	size_t n_now = merge(samples, n), at = 0;
	_cleanup_free_ struct busiest_process *now = calloc(n_now + 1, sizeof(*now));
	_cleanup_free_ struct busiest_process **ranked =
	        calloc(n_now + 1, sizeof(struct busiest_process *));

	if (!now || !ranked)
		return -ENOMEM;
	for (size_t i = 0; i < n_now; i++) {
		now[i] = follow(known(top, &at, &samples[i]), &samples[i], seconds);
		ranked[i] = &now[i];
	}
	qsort(ranked, n_now, sizeof(struct busiest_process *), by_score);
	choose(ranked, n_now, wanted);
	free(top->processes);
	top->processes = TAKE_PTR(now);
	top->n = n_now;
	return 0;
}

void busiest_done(struct busiest *top)
{
	free(top->processes);
	*top = (struct busiest){0};
}
