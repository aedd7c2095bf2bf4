/* SPDX-License-Identifier: MIT */
/*
 * The miss-ratio curve of access phases in closed form (docs/THEORY.md, section 18).
 *
 * Each phase has lines of its own. Within a pass through them in order, an access to the line of
 * the access before has distance 1, and the first access of a pass to a line has distance L, that
 * of all lines of the phase, if the last access was in the pass before; L + O if it was in the
 * round before, O being the lines that the other phases of a round access. So of r passes in each
 * of R rounds
 *
 *     misses(c) = L + [c < L] (r - 1) L R + [c < L + O] (R - 1) L.
 *
 * A random phase draws one of w lines, each alike. Where s of them have been drawn in this round
 * and e are known from earlier ones, the LRU stack has the s on top, then O, then e - s, each part
 * in an order that has nothing to do with what is drawn next; of the w equally likely ones
 *
 *     hits(s) = min(s, c) + min(max(c - O - s, 0), e - s)
 *
 * are in the cache. After j draws s is w (1 - q^j) on average, q = 1 - 1/w, and hits are taken at
 * that average: this is off by less than one access a kink of hits() and a round. O is right where
 * every line is drawn in a round: so a random phase that leaves one out in more than one round of a
 * thousand, w exp(-r) > 1/1000, is refused where rounds repeat it beside others.
 */

#include "stub_truth.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cleanup.h"
#include "json_fields.h"
#include "mtl.h"
#include "option_values.h"
#include "trace_curve.h"

#define ACCESSES_MAX 0x1p53
#define WORD_BYTES 8
#define FINE 2048.0  /* up to here fill times are summed line by line */
#define STEPS 512.0  /* beyond, so many a factor of e */
#define SLOPE 32     /* sizes along the slope of a random phase */
#define SETTLED 1e-9 /* part of the lines that is not known yet */
#define LEFT_OUT 1e-3

struct part {
	bool random;
	double lines, accesses, passes; /* accesses of a pass */
	double distinct;                /* in a round */
	double others;                  /* distinct in a round of all others */
};

struct stub_truth {
	double rounds;
	size_t n;
	struct part parts[];
};

struct stub_truth *stub_truth_free(struct stub_truth *truth)
{
	free(truth);
	return NULL;
}

/* Of w lines those that are among n draws. */
static double drawn(double w, double n)
{
	return w > 1 ? -w * expm1(n * log1p(-1 / w)) : n > 0;
}

static struct part part_of(const struct stub_row *row)
{
	double lines = (double)(row->working_set_bytes / STUB_LINE_BYTES);
	struct part part = {
	        row->pattern == STUB_RANDOM, lines, lines, (double)row->repeats, lines, 0};

	if (row->pattern == STUB_SCAN || row->pattern == STUB_STRIDE) {
		part.accesses = ceil((double)row->working_set_bytes / (double)row->stride_bytes);
		part.lines = part.distinct = fmin(part.accesses, lines);
	}
	if (part.random)
		part.distinct = drawn(lines, lines * part.passes);
	return part;
}

static bool leaves_out(const struct stub_truth *truth)
{
	for (size_t i = 0; i < truth->n; i++)
		if (truth->parts[i].random &&
		        truth->parts[i].lines * exp(-truth->parts[i].passes) > LEFT_OUT)
			return true;
	return false;
}

int stub_truth_new(const struct stub_file *file, uint64_t repeat, struct stub_truth **ret_truth)
{
	_cleanup_(stub_truth_freep) struct stub_truth *truth =
	        calloc(1, sizeof(*truth) + file->n * sizeof(truth->parts[0]));
	double all = 0;

	if (!truth)
		return -ENOMEM;
	truth->rounds = (double)repeat;
	for (size_t i = 0; i < file->n; i++)
		if (file->rows[i].pattern != STUB_REST) {
			truth->parts[truth->n] = part_of(&file->rows[i]);
			all += truth->parts[truth->n++].distinct;
		}
	for (size_t i = 0; i < truth->n; i++)
		truth->parts[i].others = all - truth->parts[i].distinct;
	if (truth->n == 0)
		return -ENODATA;
	if (repeat > 1 && truth->n > 1 && leaves_out(truth))
		return -EDOM;
	if (!(stub_truth_accesses(truth) < ACCESSES_MAX))
		return -ERANGE;
	*ret_truth = TAKE_PTR(truth);
	return 0;
}

double stub_truth_accesses(const struct stub_truth *truth)
{
	double sum = 0;

	for (size_t i = 0; i < truth->n; i++)
		sum += truth->parts[i].accesses * truth->parts[i].passes * truth->rounds;
	return sum;
}

static double distinct_of(const struct part *part, double rounds)
{
	return part->random ? drawn(part->lines, part->lines * part->passes * rounds) : part->lines;
}

double stub_truth_distinct(const struct stub_truth *truth)
{
	double sum = 0;

	for (size_t i = 0; i < truth->n; i++)
		sum += distinct_of(&truth->parts[i], truth->rounds);
	return sum;
}

static double cyclic_misses(const struct part *part, double rounds, double c)
{
	double misses = part->lines;

	if (c < part->lines)
		misses += (part->passes - 1) * part->lines * rounds;
	if (c < part->lines + part->others)
		misses += (rounds - 1) * part->lines;
	return misses;
}

/* Sum of max(x - s, 0) over the states before n draws. */
static double sum_below(double w, double n, double x)
{
	double reached = x < w && w > 1 ? ceil(log1p(-x / w) / log1p(-1 / w)) : n;
	double before = fmin(reached, n);

	return x <= 0 ? 0 : before * (x - w) + w * drawn(w, before);
}

/* Of a round of which `known` lines are known from before: the sums of min(s, c), then of min(a,
 * b), a = max(c - O - s, 0), which is a - max(a - b, 0); and a - b = k (S - s). */
static double random_hits(const struct part *part, double known, double c)
{
	double n = part->lines * part->passes, w = part->lines, k = 1 - known / w;
	double room = c - part->others;
	double hits = n * c - sum_below(w, n, c);

	hits += sum_below(w, n, room);
	if (room > known)
		hits -= k > 0 ? k * sum_below(w, n, (room - known) / k) : n * (room - known);
	return hits / w;
}

static double random_misses(const struct part *part, double rounds, double c)
{
	double n = part->lines * part->passes, hits = 0, known = 0, round = 0;

	for (; round < rounds && part->lines - known > SETTLED * part->lines; round++) {
		hits += random_hits(part, known, c);
		known = drawn(part->lines, n * (round + 1));
	}
	hits += (rounds - round) * random_hits(part, part->lines, c);
	return fmax(n * rounds - hits, distinct_of(part, rounds));
}

double stub_truth_misses(const struct stub_truth *truth, double lines)
{
	double sum = 0, all = 0;

	for (size_t i = 0; i < truth->n; i++) {
		const struct part *part = &truth->parts[i];

		all += part->lines;
		sum += (part->random ? random_misses : cyclic_misses)(part, truth->rounds, lines);
	}
	return lines < all ? sum : stub_truth_distinct(truth);
}

/* A draw is a hit or not, whatever it is likelier to be: 1/2 at most. */
double stub_truth_deviation(const struct stub_truth *truth)
{
	double draws = 0;

	for (size_t i = 0; i < truth->n; i++)
		if (truth->parts[i].random)
			draws += (truth->parts[i].passes * truth->rounds + 1) *
			         truth->parts[i].lines;
	return sqrt(draws) / 2 / stub_truth_accesses(truth);
}

/* --- the curve as an object */

struct sizes {
	double *lines;
	size_t n;
	double most;
};

static void add_size(struct sizes *sizes, double lines)
{
	if (lines >= 1 && lines <= sizes->most)
		sizes->lines[sizes->n++] = lines;
}

/* Both sides of a cliff. */
static void add_cliff(struct sizes *sizes, double lines)
{
	add_size(sizes, ceil(lines) - 1);
	add_size(sizes, ceil(lines));
}

static void add_slope(struct sizes *sizes, double from, double lines)
{
	for (int k = 1; k <= SLOPE; k++)
		add_size(sizes, ceil(from + lines * k / SLOPE));
}

static void add_all(const struct stub_truth *truth, struct sizes *sizes)
{
	add_size(sizes, sizes->most);
	for (int i = 0; exp2(i / 2.0) < sizes->most; i++)
		add_size(sizes, floor(exp2(i / 2.0)));
	for (size_t i = 0; i < truth->n; i++) {
		const struct part *part = &truth->parts[i];

		add_cliff(sizes, part->lines);
		add_cliff(sizes, part->lines + part->others);
		if (part->random) {
			add_slope(sizes, 0, part->lines);
			add_slope(sizes, part->others, part->lines);
		}
	}
}

/* From one line to the first size that holds all: steps of the square root of 2, and wherever it
 * falls. */
static int list_sizes(const struct stub_truth *truth, struct sizes *ret_sizes)
{
	struct sizes sizes = {.most = ceil(stub_truth_distinct(truth))};

	sizes.lines = calloc(128 + truth->n * (4 + 2 * SLOPE), sizeof(double));
	if (!sizes.lines)
		return -ENOMEM;
	add_all(truth, &sizes);
	sizes.n = numbers_sort_unique(sizes.lines, sizes.n);
	*ret_sizes = sizes;
	return 0;
}

/* Those, and so many between them that the sums of fill times are right. */
static int list_finely(const struct sizes *sizes, struct sizes *ret_fine)
{
	size_t room = (size_t)(FINE + 3 + STEPS * 1.01 * log(fmax(sizes->most / FINE, 1)));
	struct sizes fine = {.most = sizes->most};

	fine.lines = calloc(room + sizes->n, sizeof(double));
	if (!fine.lines)
		return -ENOMEM;
	for (double c = 1; c < sizes->most; c = floor(c < FINE ? c : c * (1 + 1 / STEPS)) + 1)
		add_size(&fine, c);
	for (size_t i = 0; i < sizes->n; i++)
		add_size(&fine, sizes->lines[i]);
	fine.n = numbers_sort_unique(fine.lines, fine.n);
	*ret_fine = fine;
	return 0;
}

static int add_point(struct json_object *array, double lines, double time, double ratio)
{
	struct json_object *point = json_object_new_object();
	int r = mtl_json_append(array, point);

	r = r ?: trace_put_number(point, "size_bytes", lines * STUB_LINE_BYTES);
	r = r ?: trace_put_number(point, "fill_time_accesses", time);
	return r ?: trace_put_number(point, "miss_ratio", ratio);
}

static int add_points(const struct stub_truth *truth, const struct sizes *sizes,
        const struct sizes *fine, struct json_object *array)
{
	_cleanup_free_ double *ratios = calloc(fine->n, 2 * sizeof(double));
	double accesses = stub_truth_accesses(truth), *times = ratios + fine->n;
	int r = ratios ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < fine->n; i++)
		ratios[i] = stub_truth_misses(truth, fine->lines[i]) / accesses;
	r = r ?: mtl_fill_times_from_miss_ratios(fine->lines, ratios, fine->n, times);
	for (size_t i = 0, k = 0; r == 0 && i < fine->n; i++) {
		if (fine->lines[i] != sizes->lines[k])
			continue;
		r = add_point(array, fine->lines[i],
		        fine->lines[i] < sizes->most ? times[i] : INFINITY, ratios[i]);
		k++;
	}
	return r;
}

static int put_points(const struct stub_truth *truth, struct json_object *object)
{
	struct sizes sizes = {0}, fine = {0};
	struct json_object *array = json_object_new_array();
	int r = mtl_json_put(object, "points", array);

	r = r ?: list_sizes(truth, &sizes);
	r = r ?: list_finely(&sizes, &fine);
	r = r ?: add_points(truth, &sizes, &fine, array);
	free(sizes.lines);
	free(fine.lines);
	return r;
}

int stub_truth_to_json(const struct stub_truth *truth, struct json_object **ret_object)
{
	const struct trace_facts facts = {.accesses = (uint64_t)stub_truth_accesses(truth),
	        .distinct = stub_truth_distinct(truth),
	        .line_bytes = STUB_LINE_BYTES};
	_cleanup_json_ struct json_object *object = NULL;
	int r = trace_facts_to_json(&facts, &object);

	r = r ?: mtl_json_put(object, "method", json_object_new_string("closed-form"));
	r = r ?: put_points(truth, object);
	r = r ?: mtl_json_put(object, "format", json_object_new_string("stub"));
	r = r ?: trace_put_count(object, "skipped", 0);
	r = r ?: trace_put_number(object, "deviation", stub_truth_deviation(truth));
	if (r < 0)
		return r;
	*ret_object = TAKE_PTR(object);
	return 0;
}
