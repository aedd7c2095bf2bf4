/* SPDX-License-Identifier: MIT */
/*
 * Per-datum sequences: for each datum the time of its first access, then its reuse times (PD RT) or
 * reuse distances (PD RD).
 *
 * Reuse times put every access at its time, so PD RT is a trace if the accesses fill 1 ... n. From
 * distances, whose order among the data is lost, Algorithm 1 of the theory makes the trace:
 *
 *     next[e], when e is expected: f_e, later its last access plus the distance that follows, and
 *     one more for each repeat, an access to another datum that was also accessed since e was;
 *     at time i access the e with next[e] = i, of several the most recently used one.
 *
 * Everybody who is accessed is accessed when expected, so the distances of what comes out are those
 * given. A next that lies in the past stays there, since it grows by at most one a time: so whoever
 * was missed is missed for good, as is who has no access left or an impossible distance, and what
 * is not of any trace leaves a time at which nobody is expected.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cleanup.h"
#include "mtl.h"

DEFINE_CLEANUP(struct mtl_per_datum, mtl_per_datum_free)

struct mtl_per_datum *mtl_per_datum_free(struct mtl_per_datum *per_datum)
{
	if (per_datum) {
		free(per_datum->start);
		free(per_datum->values);
		free(per_datum);
	}
	return NULL;
}

static int per_datum_new(size_t accesses, size_t data, struct mtl_per_datum **ret_per_datum)
{
	_cleanup_(mtl_per_datum_freep) struct mtl_per_datum *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->accesses = accesses;
	new->data = data;
	new->start = calloc(data + 1, sizeof(*new->start));
	new->values = calloc(accesses + 1, sizeof(*new->values));
	if (!new->start || !new->values)
		return -ENOMEM;
	*ret_per_datum = TAKE_PTR(new);
	return 0;
}

static size_t count_data(const uint64_t *reuses, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		m += reuses[i] == MTL_NEVER;
	return m;
}

/* Sorts by counting; start[] walks through each datum's values and is then shifted back. */
static int group(
        const uint64_t *ai, const uint64_t *reuses, size_t n, struct mtl_per_datum **ret_per_datum)
{
	struct mtl_per_datum *new = NULL;
	size_t m = count_data(reuses, n);
	int r = per_datum_new(n, m, &new);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		new->start[ai[i]]++;
	for (size_t e = 0; e < m; e++)
		new->start[e + 1] += new->start[e];
	for (size_t i = n; i-- > 0;)
		new->values[--new->start[ai[i]]] = reuses[i] == MTL_NEVER ? i + 1 : reuses[i];
	memmove(&new->start[0], &new->start[1], m * sizeof(*new->start));
	new->start[m] = n;
	*ret_per_datum = new;
	return 0;
}

typedef int ai_from_reuses(const uint64_t *reuses, size_t n, uint64_t *ret_ai);

static int per_datum_from(ai_from_reuses *ai_from, const uint64_t *reuses, size_t n,
        struct mtl_per_datum **ret_per_datum)
{
	_cleanup_free_ uint64_t *ai = calloc(n + 1, sizeof(*ai));

	if (!ai)
		return -ENOMEM;
	int r = ai_from(reuses, n, ai);
	return r < 0 ? r : group(ai, reuses, n, ret_per_datum);
}

int mtl_per_datum_from_rt(const uint64_t *rt, size_t n, struct mtl_per_datum **ret_per_datum)
{
	return per_datum_from(mtl_ai_from_rt, rt, n, ret_per_datum);
}

int mtl_per_datum_from_rd(const uint64_t *rd, size_t n, struct mtl_per_datum **ret_per_datum)
{
	return per_datum_from(mtl_ai_from_rd, rd, n, ret_per_datum);
}

/* Everybody has accesses, they add up, and who appears first comes first. */
static bool shape_valid(const struct mtl_per_datum *p)
{
	uint64_t before = 0;

	if (!p || !p->start || (p->accesses > 0 && !p->values))
		return false;
	if (p->start[0] != 0 || p->start[p->data] != p->accesses)
		return false;
	for (size_t e = 0; e < p->data; e++) {
		if (p->start[e] >= p->start[e + 1] || p->start[e + 1] > p->accesses)
			return false;
		if (p->values[p->start[e]] <= before)
			return false;
		before = p->values[p->start[e]];
	}
	return true;
}

/* Puts one datum's accesses at their times, which have to be free. */
static bool place(const uint64_t *values, size_t n_values, size_t n, uint64_t *rt)
{
	size_t time = 0;

	for (size_t i = 0; i < n_values; i++) {
		if (values[i] > n - time)
			return false;
		time += values[i];
		if (rt[time - 1] != 0)
			return false;
		rt[time - 1] = i == 0 ? MTL_NEVER : values[i];
	}
	return true;
}

int mtl_rt_from_per_datum(const struct mtl_per_datum *per_datum, uint64_t *ret_rt)
{
	const struct mtl_per_datum *p = per_datum;

	if (!shape_valid(p))
		return -EINVAL;
	_cleanup_free_ uint64_t *rt = calloc(p->accesses + 1, sizeof(*rt));
	if (!rt)
		return -ENOMEM;
	for (size_t e = 0; e < p->data; e++) {
		size_t start = p->start[e], n_values = p->start[e + 1] - start;
		if (!place(&p->values[start], n_values, p->accesses, rt))
			return -EINVAL;
	}
	if (p->accesses > 0)
		memcpy(ret_rt, rt, p->accesses * sizeof(*rt));
	return 0;
}

struct expected {
	uint64_t last; /* access, 0: not yet */
	uint64_t next; /* access, by what is known so far; 0: none is left */
	size_t cursor; /* of the value that follows */
};

/* Who is accessed at this time: the most recently used one of those expected; m: nobody. */
static size_t choose(const struct expected *data, size_t m, uint64_t time)
{
	size_t chosen = m;

	for (size_t e = 0; e < m; e++)
		if (data[e].next == time && (chosen == m || data[e].last > data[chosen].last))
			chosen = e;
	return chosen;
}

static void access_datum(
        const struct mtl_per_datum *p, struct expected *data, size_t e, uint64_t time)
{
	struct expected *chosen = &data[e];

	for (size_t other = 0; other < p->data; other++)
		data[other].next += data[other].last > 0 && data[other].last < chosen->last;
	chosen->last = time;
	chosen->cursor++;
	chosen->next = chosen->cursor < p->start[e + 1] ? time + p->values[chosen->cursor] : 0;
}

int mtl_ai_from_per_datum_rd(const struct mtl_per_datum *per_datum, uint64_t *ret_ai)
{
	const struct mtl_per_datum *p = per_datum;

	if (!shape_valid(p))
		return -EINVAL;
	_cleanup_free_ struct expected *data = calloc(p->data + 1, sizeof(*data));
	_cleanup_free_ uint64_t *ai = calloc(p->accesses + 1, sizeof(*ai));
	if (!data || !ai)
		return -ENOMEM;
	for (size_t e = 0; e < p->data; e++)
		data[e] = (struct expected){0, p->values[p->start[e]], p->start[e]};
	for (size_t i = 0; i < p->accesses; i++) {
		size_t e = choose(data, p->data, i + 1);
		if (e == p->data)
			return -EINVAL;
		ai[i] = e + 1;
		access_datum(p, data, e, i + 1);
	}
	if (p->accesses > 0)
		memcpy(ret_ai, ai, p->accesses * sizeof(*ai));
	return 0;
}
