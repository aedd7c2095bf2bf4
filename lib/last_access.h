/* SPDX-License-Identifier: MIT */
#ifndef MTL_LAST_ACCESS_H
#define MTL_LAST_ACCESS_H

/*
 * Datum -> when it was accessed last: the one table that every pass over a trace needs.
 *
 * Open addressing with linear probing, 16 bytes a slot, time 0 meaning empty. The table is cut by
 * hash into 64 segments that grow one at a time, by a quarter, before they are three quarters full:
 * a datum costs at most 16 / (3/4 / 5/4) = 26.7 bytes, also while a segment is copied. What a
 * caller stores is up to it, as long as it is not 0.
 *
 * Everything on the way of an access is inline: callers prefetch a block of data, then look them
 * up.
 */

#include <stddef.h>
#include <stdint.h>

#define LAST_SEGMENT_BITS 6
#define LAST_SEGMENTS (1u << LAST_SEGMENT_BITS)
#define LAST_SLOTS_A_LINE 4 /* of a cache */

struct mtl_last_slot {
	uint64_t datum;
	uint64_t time; /* 0: empty */
};

struct mtl_last_segment {
	struct mtl_last_slot *slots;
	uint64_t capacity, used;
};

struct mtl_last_access {
	struct mtl_last_segment segments[LAST_SEGMENTS];
	uint64_t used;  /* data in it */
	uint64_t bytes; /* allocated now */
	uint64_t most;  /* limit of bytes; UINT64_MAX: none */
	uint64_t peak;  /* allocated at most so far */
};

/* -ENOMEM: no memory, or more than most_bytes (0: no limit). */
int mtl_last_access_init(struct mtl_last_access *ret_table, uint64_t most_bytes);
void mtl_last_access_done(struct mtl_last_access *table);

/*
 * n accesses at the times now, now + 1, ...: ret_times are those of the previous ones, 0 where
 * there is none. Returns how many were done: fewer than n when there is no memory for a new datum.
 */
size_t mtl_last_access_renew(struct mtl_last_access *table, const uint64_t *data, size_t n,
        uint64_t now, uint64_t *ret_times);

/* The datum's slot; NULL: it is new and there is no memory for it. A new one has time 0 and must be
 * given another before the next call. */
struct mtl_last_slot *mtl_last_access_slot(struct mtl_last_access *table, uint64_t datum);

/* Takes a datum out of the table, if it is there. */
void mtl_last_access_remove(struct mtl_last_access *table, uint64_t datum);

/* The finaliser of splitmix64 (Steele et al. 2014): every bit of the datum reaches every bit. */
static inline uint64_t mtl_hash(uint64_t datum)
{
	datum = (datum ^ (datum >> 30)) * 0xbf58476d1ce4e5b9;
	datum = (datum ^ (datum >> 27)) * 0x94d049bb133111eb;
	return datum ^ (datum >> 31);
}

static inline uint64_t mtl_last_segment_index(uint64_t hash)
{
	return hash >> (64 - LAST_SEGMENT_BITS);
}

/* First slot of a cache line. */
static inline uint64_t mtl_last_home(const struct mtl_last_segment *segment, uint64_t hash)
{
	uint64_t lines = segment->capacity / LAST_SLOTS_A_LINE;

	return ((hash << LAST_SEGMENT_BITS >> 32) * lines >> 32) * LAST_SLOTS_A_LINE;
}

/* Bit i: slot i of the line has the datum, or is empty and the datum is 0. */
static inline unsigned mtl_last_match(const struct mtl_last_slot *line, uint64_t datum)
{
	return (unsigned)(line[0].datum == datum) | (unsigned)(line[1].datum == datum) << 1 |
	       (unsigned)(line[2].datum == datum) << 2 | (unsigned)(line[3].datum == datum) << 3;
}

/*
 * The datum's slot, or the empty one (time 0) where it would go. Nearly all are in the line where
 * they are at home, which is searched without branches that nobody could predict.
 */
static inline struct mtl_last_slot *mtl_last_probe(
        const struct mtl_last_segment *segment, uint64_t hash, uint64_t datum)
{
	uint64_t i = mtl_last_home(segment, hash);
	struct mtl_last_slot *home = &segment->slots[i];
	unsigned match = mtl_last_match(home, datum);

	if (__builtin_expect(match != 0, 1))
		return &home[__builtin_ctz(match)];
	while (segment->slots[i].time && segment->slots[i].datum != datum)
		i = i + 1 < segment->capacity ? i + 1 : 0;
	return &segment->slots[i];
}

/* Where a walk through the table is; starts as {0}. */
struct mtl_last_cursor {
	unsigned segment;
	uint64_t slot;
};
/* The next datum of the table; NULL: no more. Its time may be changed, not to 0. */
struct mtl_last_slot *mtl_last_access_next(
        const struct mtl_last_access *table, struct mtl_last_cursor *cursor);

#endif
