/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_DEMANDS_H
#define MTL_CLI_DEMANDS_H

/* Operands of `mtl share` and `mtl partition`: processes and saved curves, as demands. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "mtl.h"
#include "options.h"

/* Files are called by their name without .json, processes by their number. */
struct demand_operand {
	char *name;
	char comm[64]; /* of a live curve's process; else "" */
	int pid;       /* 0: a file, or a group of processes */
	int *pids;     /* all its processes, ascending: what --apply moves; none of a file */
	size_t n_pids;
	bool is_data;    /* a trace that names data: sizes are numbers of them */
	double accesses; /* of a trace; 0: a live curve */
	struct mtl_demand *demand;
};

struct demand_list {
	struct demand_operand *operands;
	const struct mtl_demand **demands; /* the same, as lib takes them */
	size_t n;
};

/* The cache they are asked about; ways 1 where it is not divided. */
struct demand_cache {
	double bytes;
	unsigned ways;
};

/* Are there two or more, of different names? Returns an exit code, having said what was wrong. */
int demands_check(const char *command, int n, char **operands);

/*
 * Reads the files and asks mtld for the processes, with sizes that suit the cache. Returns an exit
 * code, having said what was wrong: unreadable, not curves, clocks or sizes that differ.
 */
int demands_load(const struct options *options, int n, char **operands,
        const struct demand_cache *cache, struct demand_list *ret_list);
void demands_done(struct demand_list *list);

/* Operands that are numbers are processes. */
bool demands_is_pid(const char *operand);

/* What its curve does not know where it has so many bytes of a cache; false: nothing to say. */
bool demand_note(const struct demand_operand *operand, double bytes, char *ret_text, size_t size);

/* What misses of the list are per: "misses/s", or "misses" of a run. */
const char *demands_unit(const struct demand_list *list);

/* Its name between quotes: a file may be called anything. */
void demand_csv_name(FILE *file, const struct demand_operand *operand);

#endif
