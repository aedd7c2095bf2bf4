/* SPDX-License-Identifier: MIT */
/*
 * How many pages the first level of the TLB reaches.
 *
 * n lines, one a page, at an offset of i lines in page i: line i is in set i modulo sets of the
 * level 1 cache. The control is the same n lines packed, one after the other: line i is in that
 * very set too, so that no cache can tell the layouts apart, as long as all lines fit into half of
 * level 1; they differ in the number of pages and nothing else. (A line at the beginning of each
 * page would be a conflict of sets with pages for an alibi: a page is the aliasing stride of most
 * level 1 caches.)
 *
 * The third layout is the first in huge pages, hundreds of small ones in each. Where these are huge
 * for the processor too there is no step in it. Hypervisors may map them in small pieces.
 */

#include "probe.h"

#include <math.h>

#include "option_values.h"
#include "probe_chase.h"
#include "probe_memory.h"

#define REPEATS 41
#define ACCESSES 16384
#define ROUNDS_BEFORE 3
#define REFERENCE_LINES 16
#define FEWEST 16
#define FINE 4
#define FINE_UNTIL 160
#define COARSE 16
#define MOST 512
#define SLACK 0.15 /* of its entries; some hold code, stack and this program's own data */
#define USUAL_LINE 64
#define USUAL_LINES 512

struct tlb {
	unsigned line, most;
	bool broken_control;
	struct probe_memory *small, *huge;
	struct probe_tlb *result;
	struct probe_chain chain;
	uint32_t order[MOST];
};

enum { PAGED, PACKED, HUGE, REFERENCE, LAYOUTS };

static double run(struct tlb *tlb, int layout, unsigned n)
{
	bool paged = layout == PAGED || layout == HUGE || (layout == PACKED && tlb->broken_control);
	struct probe_spacing spacing = {
	        .start = (layout == HUGE ? tlb->huge : tlb->small)->start,
	        .stride = paged ? PROBE_PAGE : tlb->line,
	        .shift = paged ? tlb->line : 0,
	        .turns = PROBE_PAGE / tlb->line,
	};

	n = layout == REFERENCE ? REFERENCE_LINES : n;
	probe_chase_link_spaced(&tlb->chain, &spacing, tlb->order, n);
	probe_chase_run(&tlb->chain, ROUNDS_BEFORE * n);
	return probe_chase_run(&tlb->chain, ACCESSES);
}

static size_t choose_counts(unsigned most, unsigned *ret_counts)
{
	size_t n = 0;

	for (unsigned count = FEWEST; count <= most && n < PROBE_ROWS_MAX;
	        count += count < FINE_UNTIL ? FINE : COARSE)
		ret_counts[n++] = count;
	return n;
}

static void measure(struct tlb *tlb, struct probe_tlb *result)
{
	static double times[LAYOUTS][PROBE_ROWS_MAX][REPEATS];
	unsigned counts[PROBE_ROWS_MAX];

	result->n_rows = choose_counts(tlb->most, counts);
	for (unsigned k = 0; k < REPEATS; k++)
		for (size_t i = 0; i < result->n_rows; i++)
			for (int layout = LAYOUTS - 1; layout >= 0; layout--)
				times[layout][i][k] = run(tlb, layout, counts[i]);
	for (size_t i = 0; i < result->n_rows; i++)
		result->rows[i] = probe_row_of(counts[i], times[PAGED][i], times[PACKED][i],
		        times[REFERENCE][i], times[HUGE][i], REPEATS);
}

/* The lesser half of the rows from the step on, so that no single one decides. */
static double huge_ratio(const struct probe_tlb *result)
{
	double ratios[PROBE_ROWS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < result->n_rows; i++)
		if (result->step.measured && result->rows[i].count >= result->step.measured)
			ratios[n++] = result->rows[i].third;
	return n ? numbers_quantile(ratios, n, 0.5) : NAN;
}

static void explain(struct probe_tlb *result, bool is_huge)
{
	const char *text = !is_huge ? "there are no huge pages to compare with"
	                   : result->huge_ratio < 1.15
	                           ? "in huge pages it is not there"
	                           : "in huge pages it is there too, so that these are small "
	                             "ones for the processor";

	if (result->step.measured)
		text_append(result->step.reason, sizeof(result->step.reason), "; %s", text);
	if (!is_huge)
		result->huge_ratio = NAN;
}

static int measure_once(void *userdata, struct probe_step *step)
{
	struct tlb *tlb = userdata;

	measure(tlb, tlb->result);
	probe_judge(tlb->result->rows, tlb->result->n_rows, SLACK, true, step);
	return 0;
}

int probe_tlb(struct probe *probe, bool broken_control)
{
	const struct cache_level *l1 =
	        probe->n_levels && probe->levels[0].said.level == 1 ? &probe->levels[0].said : NULL;
	_cleanup_(probe_memory_freep) struct probe_memory *small = NULL, *huge = NULL;
	struct tlb tlb = {
	        .line = l1 && l1->line_bytes ? l1->line_bytes : USUAL_LINE,
	        .broken_control = broken_control,
	};
	double lines = l1 ? l1->size_bytes / tlb.line : USUAL_LINES;
	int r;

	tlb.most = (unsigned)fmin(fmax(lines / 2, 2 * FEWEST), MOST);
	r = probe_memory_new(MOST * PROBE_PAGE + PROBE_HUGE, false, &small);
	r = r < 0 ? r : probe_memory_new(MOST * PROBE_PAGE + PROBE_HUGE, true, &huge);
	if (r < 0)
		return r;
	tlb.small = small;
	tlb.huge = huge;
	tlb.result = &probe->tlb;
	probe_repeat(measure_once, &tlb, &probe->tlb.step, SLACK);
	probe->tlb.huge_ratio = huge_ratio(&probe->tlb);
	explain(&probe->tlb, huge->is_huge);
	probe->has_tlb = true;
	return 0;
}
