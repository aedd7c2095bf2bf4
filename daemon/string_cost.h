/* SPDX-License-Identifier: MIT */
#ifndef MTLD_STRING_COST_H
#define MTLD_STRING_COST_H

/* What a data breakpoint that is on takes from a process that moves or stores strings (rep movs,
 * rep stos). */

/* Samples of the clock while it was watched, the latest ones; of them, at such an instruction. */
struct string_cost {
	double watched, strings;
};

void string_cost_note(struct string_cost *cost, double watched, double strings);

/* The same while it was not watched; `loss` is string_cost_loss(). */
void string_cost_note_unwatched(
        struct string_cost *cost, double samples, double strings, double loss);

/* The part of the time in which it is watched that it spends at such instructions. */
double string_cost_share(const struct string_cost *cost);

/* The same as long as little is known: of the samples that are missing some are taken to be there.
 */
double string_cost_expected(const struct string_cost *cost);

/* The part of their time by which they are slower while a breakpoint is on: 1 - time without / time
 * with it. Measured on the calling thread. 0 where they are not, or no breakpoint can be had. */
double string_cost_loss(void);

#endif
