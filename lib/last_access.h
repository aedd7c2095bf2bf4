/* SPDX-License-Identifier: MIT */
#ifndef MTL_LAST_ACCESS_H
#define MTL_LAST_ACCESS_H

/*
 * Datum -> when it was accessed last: the one table that every pass over a trace needs.
 *
 * Open addressing in cache lines of four places each; time 0 means empty. A datum is at home in a
 * line, and beyond it only when that is full. The table is cut by hash into 64 segments that grow
 * one at a time, by 3/8, before they are three quarters full: a datum costs at most
 * 16 / (3/4 / 11/8) = 29.3 bytes, also while a segment is copied. What a caller stores as time is
 * up to it, as long as it is not 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAST_SEGMENT_BITS 6
#define LAST_SEGMENTS (1u << LAST_SEGMENT_BITS)
#define LAST_PLACES 4 /* in a line */

struct mtl_last_line {
	uint64_t datum[LAST_PLACES]; /* 0 where empty */
	uint64_t time[LAST_PLACES];  /* 0: empty */
};

struct mtl_last_segment {
	struct mtl_last_line *lines;
	uint64_t n_lines;
};

struct mtl_last_access {
	struct mtl_last_segment segments[LAST_SEGMENTS];
	uint64_t in_segment[LAST_SEGMENTS]; /* data in each */
	uint64_t used;                      /* data in all */
	uint64_t bytes;                     /* allocated now */
	uint64_t most;                      /* limit of bytes; UINT64_MAX: none */
	uint64_t peak;                      /* allocated at most so far */
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

/* Where a datum's time is; NULL: it is new and there is no memory for it. That of a new one is 0
 * and must be given another value before the next call. */
uint64_t *mtl_last_access_time(struct mtl_last_access *table, uint64_t datum);

/* Takes a datum out of the table, if it is there. */
void mtl_last_access_remove(struct mtl_last_access *table, uint64_t datum);

/* Where a walk through the table is; starts as {0}. */
struct mtl_last_cursor {
	unsigned segment;
	uint64_t place;
};

/* The next datum of the table and its time, which may be changed, not to 0; false: no more. */
bool mtl_last_access_next(const struct mtl_last_access *table, struct mtl_last_cursor *cursor,
        uint64_t *ret_datum, uint64_t **ret_time);

/* How many places a datum is beyond its home, on the mean over all. */
double mtl_last_access_displacement(const struct mtl_last_access *table);

#endif
