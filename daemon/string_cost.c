// SPDX-License-Identifier: MIT
/*
 * Processors move and store strings a line at a time, unless a data breakpoint is on: then each
 * byte or word of them could be the one, and goes by itself. Measured on an AMD Zen 4 in a virtual
 * machine, wherever the breakpoint lies: rep stosb 25 times as long, rep movsb 14, rep stosq 3;
 * loads, stores, vector copies and arithmetic 1.00. The C library copies and fills large blocks so,
 * the kernel copies for read(2) and write(2) and clears new pages so. A program that clears 17 MB
 * for every 40 KB it compresses lost 10 % of its speed while one of its lines after the other was
 * watched; no trap and no switch shows that.
 *
 * Samples of the clock show it: the part s of those while watched that are at such an instruction
 * is the part of the watched time that these take, and all but the time they would take unwatched
 * is lost,
 *
 *     lost a second watched = s (1 - unwatched / watched)
 *
 * where the quotient is measured at the start. Only the latest MEMORY samples count, so that phases
 * are followed, and PRIOR more were elsewhere, so that the first few do not decide. What is asked
 * of a process that has just begun to be watched begins with a part of EXPECTED, until FEW samples
 * say more. Samples while it is not watched say something too, and come before the first watch: of
 * these the strings have (watched / unwatched) times less than they would have, so each one
 * elsewhere counts as (unwatched / watched) of one while watched. Short strings lose less than the
 * long one that is measured, so that is for the beginning only.
 */
#include "string_cost.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "cleanup.h"
#include "source.h"
#include "watch.h"

#define MEMORY 500
#define PRIOR 4
#define FEW 10
#define EXPECTED 0.2
#define STRING_BYTES (64 << 10)
#define TURNS 15

void string_cost_note(struct string_cost *cost, double watched, double strings)
{
	double keep;

	cost->watched += watched;
	cost->strings += strings;
	keep = fmin(1, MEMORY / fmax(cost->watched, 1));
	cost->watched *= keep;
	cost->strings *= keep;
}

void string_cost_note_unwatched(
        struct string_cost *cost, double samples, double strings, double loss)
{
	string_cost_note(cost, strings + (1 - loss) * (samples - strings), strings);
}

double string_cost_share(const struct string_cost *cost)
{
	return cost->strings / (cost->watched + PRIOR);
}

double string_cost_expected(const struct string_cost *cost)
{
	double missing = fmax(0, FEW - cost->watched);

	return (cost->strings + EXPECTED * missing) / (cost->watched + missing);
}

/* ---- measured ---- */

static void store_string(unsigned char *string)
{
#if defined(__x86_64__)
	size_t n = STRING_BYTES;

	__asm__ volatile("rep stosb" : "+D"(string), "+c"(n) : "a"(0) : "memory");
#else
	(void)string;
#endif
}

static double seconds_of(unsigned char *string)
{
	uint64_t begin = source_now();

	store_string(string);
	return (source_now() - begin) / 1e9;
}

/* The best of the string's times with the watch on, or off; INFINITY: it cannot be set. */
static double best_time(struct watch *watch, bool on, unsigned char *string)
{
	static uint64_t elsewhere;
	const uint64_t address = (uintptr_t)&elsewhere;
	double best = INFINITY;

	if (on && watch_arm(watch, &address, 1) < 0)
		return INFINITY;
	for (unsigned i = 0; i < TURNS; i++)
		best = fmin(best, seconds_of(string));
	if (on)
		watch_disarm(watch);
	return best;
}

double string_cost_loss(void)
{
	_cleanup_free_ unsigned char *string = malloc(STRING_BYTES);
	struct watch watch;
	double off, on;

	watch_init(&watch, -1, WATCH_OWN_CPU, 1, sizeof(uint64_t));
	if (!string || watch_add_thread(&watch, gettid()) < 0)
		return 0;
	off = best_time(&watch, false, string);
	on = best_time(&watch, true, string);
	watch_close(&watch);
	return isfinite(on) ? fmax(0, 1 - off / on) : 0;
}
