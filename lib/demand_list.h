/* SPDX-License-Identifier: MIT */
#ifndef MTL_DEMAND_LIST_H
#define MTL_DEMAND_LIST_H

/* Those who are asked about together in one cache: demands with names. */

#include <stdbool.h>
#include <stddef.h>
#include "mtl.h"

#define DEMAND_WAYS_MAX 64
#define DEMAND_SIZES_MAX 160

enum demand_kind { DEMAND_FILE, DEMAND_PROCESS, DEMAND_CGROUP, DEMAND_RESCTRL };

/* Of a group of processes: how much of it its demand covers. */
struct demand_members {
	size_t processes; /* all but kernel threads; 0: it is no group */
	size_t without;   /* have no curve, idle ones not counted */
	size_t idle;      /* hardly run: no demand */
	/* of CPU time used so far and of resident bytes, 0 ... 1, idle ones included; NAN: unknown
	 */
	double cpu_covered, resident_covered;
};

struct demand_operand {
	char *name;
	enum demand_kind kind;
	char comm[64]; /* of a live curve's process; else "" */
	int pid;       /* 0: a saved curve, or a group of processes */
	int *pids;     /* all its processes, ascending: what --apply moves; none of a saved curve */
	size_t n_pids;
	bool is_data;    /* a trace that names data: sizes are numbers of them */
	double accesses; /* of a trace; 0: a live curve */
	struct mtl_demand *demand;
	struct demand_members members;
	char *notes; /* what there is to know of it, one sentence a line; NULL: nothing */
};

struct demand_list {
	struct demand_operand *operands;
	const struct mtl_demand **demands; /* the same, as mtl.h takes them */
	size_t n;
};

/* The cache they are asked about; ways 1 where it is not divided, at most DEMAND_WAYS_MAX. */
struct demand_cache {
	double bytes;
	unsigned ways;
};

/* Sizes at which a live curve of one of them is to be asked for; returns how many there are. */
size_t mtl_demand_sizes(const struct demand_cache *cache, double *ret_sizes);

/* Room for n operands, all empty. -ENOMEM. */
int mtl_demand_list_new(size_t n, struct demand_list *ret_list);
void mtl_demand_list_done(struct demand_list *list);

/*
 * Takes a curve object into an operand that has a name. miss_cost as mtl_demand_from_json() has it;
 * NAN: 1e-7 seconds or 100 accesses. Errors are those of mtl_demand_from_json().
 */
int mtl_demand_operand_read(struct json_object *curve, double miss_cost,
        struct demand_operand *operand, char *ret_error, size_t error_size);

/* Can all be in one cache? -EINVAL with a sentence: clocks that differ, or bytes and data. */
int mtl_demand_list_check(const struct demand_list *list, char *ret_error, size_t error_size);

/* What its curve does not know where it has so many bytes of a cache; false: nothing to say. */
bool mtl_demand_note(
        const struct demand_operand *operand, double bytes, char *ret_text, size_t size);

/* One more sentence for its notes. -ENOMEM. */
int mtl_demand_operand_note(struct demand_operand *operand, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* The next line of its notes, cut to size; *at: NULL at the first call. false: no more. */
bool mtl_demand_next_note(
        const struct demand_operand *operand, const char **at, char *ret_text, size_t size);

/* What it is: name, pid, kind, and of a group its members (docs/PROTOCOL.md). -ENOMEM. */
int mtl_demand_operand_put(struct json_object *object, const struct demand_operand *operand);

/* Its notes as elements of an array. -ENOMEM. */
int mtl_demand_operand_put_notes(struct json_object *array, const struct demand_operand *operand);

/* What misses of the list are per: "misses/s", or "misses" of a run. */
const char *mtl_demands_unit(const struct demand_list *list);

#endif
