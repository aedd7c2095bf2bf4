// SPDX-License-Identifier: MIT
/*
 * Armers: one thread a CPU, pinned, at real-time priority.
 *
 * An armer sleeps until a moment of its own Poisson schedule in wall time. When it wakes it has
 * preempted whatever ran on its CPU; if that was a tracked process in the middle of its work, the
 * moment counts for that process. Poisson moments that are kept only while the process runs are
 * Poisson moments in its CPU time (thinning), so every instant of its running time is equally
 * likely, and nothing it does (traps, ends of watches, going to sleep) can choose one.
 *
 * At such a moment the process is off its CPU: the slots are set without any interrupt and go live
 * together when the armer sleeps again. A hit is written to the ring of the CPU it happened on; the
 * armer waiting there preempts the thread and turns the slot off before it can trap again.
 *
 * A watch occupies its process until its deadline, whether it was hit early or not: the next moment
 * that may count is thereby independent of what was seen. The deadline was drawn with the line.
 *
 * In slices of time that are drawn in advance the process belongs to reuse times instead: moments then
 * pass it by, and a miss that BPF tells of wakes the armer, which comes again when the visit is over
 * and arms for the gap that ends it (visit.h).
 *
 * One lock (priority-inheriting) guards the targets; it is never held across anything slow.
 */
#include "armer.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES (128 * 1024)

/* Until when the only target of this CPU is occupied at least: the clock of a process runs no faster
 * than so many threads at once make it. */
static uint64_t occupied_until(const struct armer *armer)
{
	const struct sampler *sampler = armer->sampler;
	const struct target *target = armer->only ? sampler->targets[armer->only - 1] : NULL;
	uint64_t now = source_now();
	int64_t left;

	if (!target)
		return now;
	left = (int64_t)(target->flight.busy_until - source_clock(sampler->source, target->index));
	return left > 0 ? now + left / fmax(1, fmin(target->n_tids, CPU_COUNT(&sampler->online))) : now;
}

/* Moments that would find the process occupied are left out: the gap to the first one after that is
 * drawn like any other, having no memory, and nobody is interrupted for nothing. */
static void draw_moment(struct armer *armer)
{
	double gap = -log1p(-erand48(armer->random)) / armer->pace;

	armer->moment = armer->pace > 0 ? occupied_until(armer) + (uint64_t)(gap * 1e9) : NEVER;
}

/* The target this armer has preempted, or NULL: whoever ran on its CPU until it was switched in, and
 * did not go to sleep by itself. */
static struct target *preempted(struct armer *armer)
{
	const struct mtl_cpu *cpu = source_cpu(armer->sampler->source, armer->cpu);

	if (!cpu->previous || !cpu->previous_runnable)
		return NULL;
	return armer->sampler->targets[cpu->previous - 1];
}

static void moment_has_come(struct armer *armer)
{
	struct target *target = preempted(armer);

	if (!target || target->paused || target->resting || erand48(armer->random) * armer->pace >= target->pace)
		return;
	if (target_yields(target))
		return;
	if (target->flight.armed || target->visits.waiting ||
		source_clock(armer->sampler->source, target->index) < target->flight.busy_until)
		target->counts.busy++;
	else if (!target->queued)
		target->counts.starved++;
	else
		target_launch(target, armer->cpu);
}

/* Sees to all deadlines of this armer, and to visits that are over; returns when to look again. */
static uint64_t see_to_deadlines(struct armer *armer)
{
	uint64_t next = NEVER;

	for (unsigned word = 0; word < MTL_PROCESSES_MAX / 64; word++)
		for (uint64_t left = armer->sampler->flying.bits[word]; left; left &= left - 1) {
			struct target *target =
				armer->sampler->targets[word * 64 + __builtin_ctzll(left)];
			uint64_t due = NEVER;

			if (!target->flight.armed)
				due = target_see_to_visit(target, armer->cpu);
			else if (target->flight.cpu == armer->cpu)
				due = target_see_to_deadline(target);
			next = due < next ? due : next;
		}
	return next;
}

static void doze(struct armer *armer, uint64_t until)
{
	struct pollfd fds[] = {
		{.fd = hit_ring_fd(armer->ring), .events = POLLIN},
		{.fd = armer->wake_fd, .events = POLLIN},
	};
	uint64_t now = source_now(), wait = until > now ? until - now : 0, drained;
	struct timespec timeout = {.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};

	ppoll(fds, 2, until == NEVER ? NULL : &timeout, NULL);
	if (fds[1].revents & POLLIN)
		(void)!read(armer->wake_fd, &drained, sizeof(drained));
}

static void take_place(struct armer *armer)
{
	struct sched_param parameter = {.sched_priority = 1};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(armer->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (!armer->sampler->realtime || sched_setscheduler(0, SCHED_FIFO, &parameter) < 0)
		setpriority(PRIO_PROCESS, syscall(SYS_gettid), -20);
}

static void *armer_run(void *argument)
{
	struct armer *armer = argument;
	struct sampler *sampler = armer->sampler;

	take_place(armer);
	sampler_lock(sampler);
	draw_moment(armer);
	while (!sampler->stop) {
		uint64_t due;

		hit_ring_consume(armer->ring);
		due = see_to_deadlines(armer);
		sampler_unlock(sampler);
		doze(armer, due < armer->moment ? due : armer->moment);
		sampler_lock(sampler);
		if (source_now() >= armer->moment) {
			moment_has_come(armer);
			draw_moment(armer);
		}
	}
	sampler_unlock(sampler);
	return NULL;
}

static void on_hit(void *userdata, const struct mtl_hit *hit)
{
	const struct armer *armer = userdata;
	struct target *target = armer->sampler->targets[hit->process];

	if (target && hit->slot == MTL_SLOT_MISS)
		target_miss(target, hit, armer->cpu);
	else if (target)
		target_hit(target, hit);
}

int armer_start(struct sampler *sampler, unsigned cpu)
{
	struct armer *armer = &sampler->armers[cpu];
	pthread_attr_t attr;
	int r;

	*armer = (struct armer){.sampler = sampler, .cpu = cpu, .moment = NEVER};
	armer->random[0] = source_now();
	armer->random[1] = source_now() >> 16;
	armer->random[2] = cpu * 7919;
	armer->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (armer->wake_fd < 0)
		return -errno;
	r = source_hit_ring_new(sampler->source, cpu, on_hit, armer, &armer->ring);
	if (r < 0)
		return r;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = -pthread_create(&armer->thread, &attr, armer_run, armer);
	pthread_attr_destroy(&attr);
	if (r < 0)
		return r;
	armer->running = true;
	return 0;
}

void armer_return(struct armer *armer)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(armer->cpu, &set);
	pthread_setaffinity_np(armer->thread, sizeof(set), &set);
}

void armer_poke(struct armer *armer)
{
	uint64_t one = 1;

	if (!armer->running)
		return;
	(void)!write(armer->wake_fd, &one, sizeof(one));
}

void armer_stop(struct armer *armer)
{
	if (armer->running) {
		armer_poke(armer);
		pthread_join(armer->thread, NULL);
	}
	if (armer->sampler)
		close(armer->wake_fd);
	hit_ring_free(armer->ring);
}

void armer_set_pace(struct armer *armer, double pace, uint32_t only)
{
	if (!armer->running || (pace == armer->pace && only == armer->only))
		return;
	armer->pace = pace;
	armer->only = only;
	draw_moment(armer);
	armer_poke(armer);
}
