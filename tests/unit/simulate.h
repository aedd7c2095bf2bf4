/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_SIMULATE_H
#define MTL_TEST_SIMULATE_H

/*
 * Programs with closed-form footprints, seen as watched lines. A kind says when each of the 8 words
 * of one line is touched first, counted from a random moment; the rest (which words are watched,
 * the deadline, what is seen by then) is done as the instrument does it. Fixed seeds.
 */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "mtl.h"
#include "splitmix.h"

#define SIM_PERIOD 0.01 /* seconds a scan takes; mean time between touches of a random line */
#define SIM_SHORTEST 1e-4
#define SIM_LONGEST 0.08
#define SIM_RESOLUTION 5e-5
#define SIM_END 100.0

/* Repeats cost 50 times as much under valgrind, which looks at memory and not at statistics. */
static inline unsigned sim_runs(unsigned runs)
{
	return RUNNING_ON_VALGRIND ? (runs + 29) / 30 : runs;
}

static inline double sim_slack(void)
{
	return RUNNING_ON_VALGRIND ? 4 : 1;
}

static inline double sim_uniform(uint64_t *random)
{
	return splitmix_uniform(random);
}

typedef void sim_kind(uint64_t *random, double touched[MTL_WORDS_PER_LINE]);

static inline void sim_all_words(double touched[MTL_WORDS_PER_LINE], double time)
{
	for (unsigned k = 0; k < MTL_WORDS_PER_LINE; k++)
		touched[k] = time;
}

/* Every word of every line in turn: fp = M T / period, then M. */
static inline void sim_scan(uint64_t *random, double touched[MTL_WORDS_PER_LINE])
{
	sim_all_words(touched, sim_uniform(random) * SIM_PERIOD);
}

/* One word a line: the same curve. */
static inline void sim_stride(uint64_t *random, double touched[MTL_WORDS_PER_LINE])
{
	sim_all_words(touched, INFINITY);
	touched[0] = sim_uniform(random) * SIM_PERIOD;
}

/* Half the lines one word, half all words: the same curve. */
static inline void sim_mixed(uint64_t *random, double touched[MTL_WORDS_PER_LINE])
{
	(sim_uniform(random) < 0.5 ? sim_scan : sim_stride)(random, touched);
}

/* One random word of a random line: fp = M (1 - exp(-T / period)). */
static inline void sim_random(uint64_t *random, double touched[MTL_WORDS_PER_LINE])
{
	for (unsigned k = 0; k < MTL_WORDS_PER_LINE; k++)
		touched[k] = -log(sim_uniform(random)) * SIM_PERIOD * MTL_WORDS_PER_LINE;
}

/* All words of a random line: the same curve. */
static inline void sim_random_line(uint64_t *random, double touched[MTL_WORDS_PER_LINE])
{
	sim_all_words(touched, -log(sim_uniform(random)) * SIM_PERIOD);
}

static inline void sim_nothing(uint64_t *random, double touched[MTL_WORDS_PER_LINE])
{
	(void)random;
	sim_all_words(touched, INFINITY);
}

static inline double sim_log_uniform(uint64_t *random, double least, double most)
{
	return least * pow(most / least, sim_uniform(random));
}

/* Watches `slots` random words, or the whole line when slots is 0. */
static inline void sim_watch(uint64_t *random, const double touched[MTL_WORDS_PER_LINE],
        unsigned slots, struct mtl_observation *o)
{
	unsigned word[MTL_WORDS_PER_LINE];
	double first = INFINITY;

	o->whole_line = slots == 0;
	o->slots = slots ? slots : 1;
	for (unsigned k = 0; k < MTL_WORDS_PER_LINE; k++) {
		word[k] = k;
		first = fmin(first, touched[k]);
	}
	for (unsigned k = 0; k < o->slots; k++) {
		unsigned other = k + (unsigned)(sim_uniform(random) * (MTL_WORDS_PER_LINE - k));
		unsigned taken = word[other];
		double time = slots ? touched[taken] : first;

		word[other] = word[k];
		o->touched[k] = time <= o->deadline ? time : INFINITY;
	}
}

static inline void sim_observe(
        uint64_t *random, sim_kind *kind, unsigned slots, double lines, struct mtl_observation *ret)
{
	double touched[MTL_WORDS_PER_LINE];

	*ret = (struct mtl_observation){
	        .moment = sim_uniform(random) * (SIM_END - 1),
	        .deadline = sim_log_uniform(random, SIM_SHORTEST, SIM_LONGEST),
	        .weight = lines,
	};
	kind(random, touched);
	sim_watch(random, touched, slots, ret);
}

static inline void sim_observe_all(uint64_t *random, sim_kind *kind, unsigned slots, double lines,
        struct mtl_observation *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sim_observe(random, kind, slots, lines, &ret[i]);
}

static inline struct mtl_estimate_options sim_options(void)
{
	return (struct mtl_estimate_options){
	        .now = SIM_END,
	        .resolution_seconds = SIM_RESOLUTION,
	        .accesses_per_second = NAN,
	        .seed = 1,
	};
}

#endif
