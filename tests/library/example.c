/* SPDX-License-Identifier: MIT */
/*
 * A program of its own that uses libmtl: numbers from standard input are a trace, and for a few
 * cache sizes it prints the exact miss ratio beside the one that follows from reuse times.
 *
 *     cc example.c $(pkg-config --cflags --libs libmtl)
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <mtl.h>

static int fail(const char *what, int r)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-r));
	return 1;
}

static int read_trace(struct mtl_stack *stack, struct mtl_profile *profile)
{
	uint64_t datum;
	int r = 0;

	while (r == 0 && scanf("%" SCNu64, &datum) == 1) {
		r = mtl_stack_access(stack, &datum, 1, NULL);
		if (r == 0)
			r = mtl_profile_access(profile, &datum, 1, NULL);
	}
	return r;
}

int main(void)
{
	double lines[] = {1, 2, 3, 4}, exact[4];
	struct mtl_profile *profile;
	struct mtl_stack *stack;
	int r = mtl_stack_new(0, &stack);

	if (r < 0)
		return fail("a stack", r);
	r = mtl_profile_new(0, &profile);
	if (r < 0)
		return fail("a profile", r);
	r = read_trace(stack, profile);
	if (r < 0)
		return fail("the trace", r);
	r = mtl_stack_miss_ratios(stack, lines, 4, exact);
	if (r < 0)
		return fail("miss ratios", r);
	for (int i = 0; i < 4; i++)
		printf("%g lines: %.4f exact, %.4f by eviction time\n", lines[i], exact[i],
		        mtl_miss_ratio_by_eviction_time(profile, lines[i]));
	mtl_profile_free(profile);
	mtl_stack_free(stack);
	return 0;
}
