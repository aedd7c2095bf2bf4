/* SPDX-License-Identifier: MIT */
#ifndef MTLD_CODE_HEAT_H
#define MTLD_CODE_HEAT_H

/* Heat from samples of where a process is in its code. */

#include "address_source.h"
#include "code_walk.h"
#include "planner.h"

/* What process pid was about to touch at the sample. root as for planner_new(). *ret_walk is empty
 * when its memory cannot be read at all. */
enum code_outcome code_addresses(const char *root, pid_t pid, const struct mtl_instruction *sample,
        struct code_walk *ret_walk);

/* The same, and tells its planner of it. */
enum code_outcome code_heat(
        struct planner *planner, const char *root, pid_t pid, const struct mtl_instruction *sample);

/* Whether that can be done here: whether libZydis is installed. */
bool code_heat_possible(void);

#endif
