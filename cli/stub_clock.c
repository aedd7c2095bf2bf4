/* SPDX-License-Identifier: MIT */
/*
 * A clock of CPU time for delays.
 *
 * Wall-clock time would count what other programs are given meanwhile; the kernel's clock of CPU
 * time costs a system call, some microseconds in a virtual machine, which is too coarse for a delay
 * of 100 us to be within a thousandth. So wall-clock time is read (from shared memory, tens of ns),
 * and wherever two readings are further apart than a program that does nothing but read it can be,
 * the clock of CPU time is read too, and what lies between is taken off. A loss shorter than GAP
 * goes unnoticed; interrupts count, as they do for the kernel.
 *
 * The tick of the kernel takes 35 us in a virtual machine, and the scheduler takes its decisions in
 * it. A run begins just after one, so that a short one is over before the next.
 */

#include "stub_clock.h"

#include <time.h>

#define GAP 5000
#define TRIES 5
#define TICK 3000
#define TICKS_APART 10000000

static int64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t wall_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* Wall-clock less CPU time, as of the quickest of some pairs of readings, or the first that is
 * quick. */
static int64_t difference(int64_t quick, int64_t *ret_taken)
{
	int64_t result = 0;

	*ret_taken = INT64_MAX;
	for (int i = 0; i<TRIES && * ret_taken> quick; i++) {
		int64_t before = wall_now(), cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
		int64_t taken = wall_now() - before;

		if (taken < *ret_taken) {
			*ret_taken = taken;
			result = before + taken / 2 - cpu;
		}
	}
	return result;
}

/* The moment after an interrupt, if there is one. */
static void await_tick(void)
{
	int64_t start = wall_now(), last = start, now = start;

	while (now - last < TICK && now - start < TICKS_APART) {
		last = now;
		now = wall_now();
	}
}

void stub_clock_start(struct stub_clock *ret_clock)
{
	struct stub_clock clock = {0};

	await_tick();
	clock.offset = difference(0, &clock.quick);
	clock.origin = clock.last = wall_now();
	*ret_clock = clock;
}

/* What is stolen so far, and the wall-clock time that this was found at: had others been given the
 * processor between the two, they would not be of the same moment. */
static int64_t look_again(struct stub_clock *clock)
{
	int64_t before, wall, taken;
	int tries = 0;

	do {
		before = wall_now();
		clock->stolen = difference(2 * clock->quick, &taken) - clock->offset;
		wall = wall_now();
	} while (wall - before > GAP + 2 * clock->quick && ++tries < TRIES);
	return wall;
}

int64_t stub_clock_now(struct stub_clock *clock)
{
	int64_t wall = wall_now();

	if (wall - clock->last > GAP)
		wall = look_again(clock);
	clock->last = wall;
	wall -= clock->origin + clock->stolen;
	clock->latest = wall > clock->latest ? wall : clock->latest;
	return clock->latest;
}

int64_t stub_clock_wall(const struct stub_clock *clock)
{
	return wall_now() - clock->origin;
}
