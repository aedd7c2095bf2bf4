/* SPDX-License-Identifier: MIT */
#ifndef MTLD_ARMER_H
#define MTLD_ARMER_H

/*
 * The armer threads and the state they share with the main thread; only sampler.c and armer.c know
 * it.
 */

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>
#include "flight.h"

struct armer {
	struct sampler *sampler;
	unsigned cpu;
	pthread_t thread;
	bool running;
	struct hit_ring *ring;
	int wake_fd;
	double pace;     /* moments a second */
	uint32_t only;   /* 1 + index of the one target they are for; 0: none or several */
	uint64_t moment; /* CLOCK_MONOTONIC */
	unsigned short random[3];
};

struct sampler {
	struct source *source;
	pthread_mutex_t lock; /* guards all below, and every target */
	bool stop, realtime;
	enum watch_method method;
	double shift_ns;
	struct armer *armers; /* of CPU number i the i'th */
	cpu_set_t online;     /* of those mtld may use */
	unsigned n_armers;
	struct target *targets[MTL_PROCESSES_MAX];
	struct flying flying;
	unsigned n_targets; /* no target at or above this index */
};

static inline void sampler_lock(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->lock);
}

static inline void sampler_unlock(struct sampler *sampler)
{
	pthread_mutex_unlock(&sampler->lock);
}

int armer_start(struct sampler *sampler, unsigned cpu);
/* After its CPU was offline the kernel has it run anywhere. */
void armer_return(struct armer *armer);
/* sampler->stop is set; waits for the thread to end. */
void armer_stop(struct armer *armer);
/* Has it look at everything now. */
void armer_poke(struct armer *armer);
/* A new pace from this instant on (exponential gaps have no memory); only: 1 + the index of the one
 * target that moments of this CPU are for, 0: there are several, or none. Called with the lock
 * held. */
void armer_set_pace(struct armer *armer, double pace, uint32_t only);

#endif
