/* SPDX-License-Identifier: MIT */
/*
 * How many ways: lines that share a set, against as many that do not.
 *
 * Level 1 is indexed by bits of the offset in a page. Line i is in the i-th block of sets x line
 * bytes, at its beginning (aliased), or i lines further on (spread): the same blocks, hence the
 * same pages, count and span.
 *
 * A level further out sees only what misses in the one before, so both layouts keep all lines in
 * one set of that one: they differ in bits above its aliasing stride only, one line in each of n
 * pages, all of one colour or of different ones. More lines than that set has ways, and everything
 * goes to the level in question. Each level's spread layout thus is "one more of the stride
 * before", which for level 1 is a line. Its step cannot be seen where it has fewer ways than the
 * level before.
 *
 * Repeats go round all counts, and each aliased run stands between a reference and a spread one.
 */

#include "probe.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "probe_chase.h"
#include "probe_memory.h"
#include "size.h"
#include "trace_memory.h"

#define REPEATS 81
#define ACCESSES 16384
#define ROUNDS_BEFORE 4
#define REFERENCE_LINES 4
#define MEMORY_MOST (192.0 * 1024 * 1024)
#define BEYOND 8 /* rows past twice the ways */

struct ways {
	struct probe_level *level;
	const struct probe_level *before; /* NULL: it is the first */
	size_t stride, step;              /* of aliased lines; of spread pages, in pages */
	unsigned first, last;             /* counts */
	bool broken_control;
	struct probe_memory *memory;
	struct probe_chain chain;
};

static int layout(const struct ways *ways, bool same, char **ret_lines, unsigned n)
{
	unsigned line = ways->level->said.line_bytes;

	if (ways->before)
		return probe_memory_pick(
		        ways->memory, ways->stride, same, ways->step, ret_lines, n);
	for (unsigned i = 0; i < n; i++)
		ret_lines[i] = ways->memory->start + i * ways->stride +
		               (same ? 0 : i * line % ways->stride);
	return 0;
}

static double run(struct ways *ways, char **lines, unsigned n)
{
	uint32_t order[PROBE_ROWS_MAX];

	probe_chase_link(&ways->chain, lines, order, n);
	probe_chase_run(&ways->chain, ROUNDS_BEFORE * n);
	return probe_chase_run(&ways->chain, ACCESSES);
}

static int measure(struct ways *ways, struct probe_row *ret_rows)
{
	static double times[3][PROBE_ROWS_MAX][REPEATS];
	char *aliased[PROBE_ROWS_MAX], *spread[PROBE_ROWS_MAX];
	unsigned reference = ways->before ? ways->first : REFERENCE_LINES;
	int r = layout(ways, true, aliased, ways->last);

	r = r < 0 ? r : layout(ways, ways->broken_control, spread, ways->last);
	if (r < 0)
		return r;
	for (unsigned k = 0; k < REPEATS; k++)
		for (unsigned n = ways->first; n <= ways->last; n++) {
			unsigned i = n - ways->first;
			char **base = ways->before ? spread : aliased;

			times[2][i][k] = run(ways, base, reference);
			times[0][i][k] = run(ways, aliased, n);
			times[1][i][k] = run(ways, spread, n);
		}
	for (unsigned i = 0; i <= ways->last - ways->first; i++)
		ret_rows[i] = probe_row_of(
		        ways->first + i, times[0][i], times[1][i], times[2][i], NULL, REPEATS);
	return 0;
}

static int cannot(struct probe_level *level, const char *reason)
{
	level->step.verdict = PROBE_NOT_MEASURABLE;
	snprintf(level->step.reason, sizeof(level->step.reason), "%s", reason);
	return 0;
}

static double memory_most(void)
{
	double available = (double)trace_memory_default(NULL);

	return available > 0 ? fmin(MEMORY_MOST, available / 2) : MEMORY_MOST;
}

/* NULL: this can be tried. */
static const char *why_not(const struct ways *ways)
{
	const struct cache_level *said = &ways->level->said;

	if (!said->ways || !said->sets || !said->line_bytes)
		return "nothing says how many ways it has";
	if (ways->last >= ways->first + PROBE_ROWS_MAX)
		return "it has too many ways to be tried one by one";
	if (ways->before && (!ways->before->said.ways || ways->stride % PROBE_PAGE))
		return "how the level before it is made is not known";
	if ((double)ways->stride * ways->last * 1.5 > memory_most())
		return "so many lines of one set take more memory than there is for it";
	return NULL;
}

/* What can be said where lines are where a level further out wants them, and there is no step. */
static void explain(const struct probe *probe, const struct ways *ways, struct probe_level *level)
{
	const char *more = "";

	if (level->step.verdict != PROBE_NOT_MEASURABLE || !ways->before)
		return;
	if (level->n_rows && level->rows[0].aliased > 1.5)
		more = ": the step, if it is one, is hidden by the level before";
	else if (probe->cpu.hypervisor)
		more = ": physical addresses of a virtual machine are not those of the memory, so "
		       "that lines need not share a set";
	else
		more = ": the index may be a hash of many bits, as in large shared caches, so that "
		       "lines need not share a set";
	text_append(
	        level->step.reason, sizeof(level->step.reason), "%s. A limit, not a result", more);
}

static void prepare(struct probe *probe, size_t at, struct ways *ways)
{
	const struct cache_level *said = &ways->level->said;

	ways->before = said->level > 1 && at > 0 ? &probe->levels[at - 1] : NULL;
	ways->stride = (size_t)cache_aliasing_stride(said);
	ways->first = ways->before ? ways->before->said.ways + 2 : 2;
	ways->last = 2 * said->ways + BEYOND;
	if (ways->last < ways->first + 2 * BEYOND)
		ways->last = ways->first + 2 * BEYOND;
	if (ways->before)
		ways->step = (size_t)cache_aliasing_stride(&ways->before->said) / PROBE_PAGE;
}

static int measure_once(void *userdata, struct probe_step *step)
{
	struct ways *ways = userdata;
	int r = measure(ways, ways->level->rows);

	if (r == 0)
		probe_judge(ways->level->rows, ways->level->n_rows, 0, false, step);
	return r;
}

int probe_ways(struct probe *probe, size_t at, bool broken_control)
{
	struct probe_level *level = &probe->levels[at];
	struct ways ways = {.level = level, .broken_control = broken_control};
	_cleanup_(probe_memory_freep) struct probe_memory *memory = NULL;
	const char *reason;
	int r;

	prepare(probe, at, &ways);
	reason = why_not(&ways);
	if (reason)
		return cannot(level, reason);
	r = probe_memory_new(
	        (size_t)ways.stride * ways.last * (ways.before ? 3 : 2) / 2, true, &memory);
	if (r < 0)
		return r;
	ways.memory = memory;
	if (ways.before && !probe_memory_has_colours(memory, ways.stride))
		return cannot(level,
		        "physical addresses decide its sets, and there are neither huge pages nor "
		        "the right to read /proc/self/pagemap");
	level->n_rows = ways.last - ways.first + 1;
	r = probe_repeat(measure_once, &ways, &level->step, 0);
	if (r == -ENOENT)
		return cannot(level, "not enough memory of one colour was given");
	if (r == 0)
		explain(probe, &ways, level);
	return r;
}
