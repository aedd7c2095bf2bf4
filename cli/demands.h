/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_DEMANDS_H
#define MTL_CLI_DEMANDS_H

/* Operands of `mtl share` and `mtl partition`: processes, groups of
 * them and saved curves, as demands. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "demand_list.h"
#include "options.h"

#define DEMAND_CELL 80

/*
 * Are there two or more, of different names (operand.h), with --apply such as can be moved, and
 * where the cache of resctrl is divided such as can have ways of it? Returns an exit code, having
 * said what was wrong.
 */
int demands_check(
        const char *command, const struct options *options, int n, char **operands, bool divided);

/*
 * Reads the files and asks mtld for the processes, with sizes that suit the cache. Returns an exit
 * code, having said what was wrong: unreadable, not curves, clocks or sizes that differ, processes
 * in two of them, groups of which nothing is known. What is known of a part only is in the notes of
 * operands.
 */
int demands_load(const struct options *options, int n, char **operands,
        const struct demand_cache *cache, struct demand_list *ret_list);

/* What an operand is called in a table, with the comm of one that runs. */
void demand_cell(const struct demand_operand *operand, char ret_text[DEMAND_CELL]);

/* Of a cache of the list: bytes, or a number of data, into NUMBER_TEXT bytes, which it returns. */
char *demand_size_format(const struct demand_list *list, double size, char *ret_text);

/* Its name between quotes: a file may be called anything. */
void demand_csv_name(FILE *file, const struct demand_operand *operand);

#endif
