/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PLANNER_H
#define MTLD_PLANNER_H

/*
 * The planner decides what to watch: it draws resident cache lines of one process with known
 * probability, and for each a deadline that knows nothing of the line.
 */

#include <stdint.h>
#include <sys/types.h>
#include "sampler.h"

struct planner;

int planner_new(const char *root, pid_t pid, uint64_t seed, struct planner **ret_planner);
struct planner *planner_free(struct planner *planner);

/* Looks at up to n_regions more regions of the process's memory (2 MiB at most each); a pass over
 * all of it replaces the previous one. Returns 1 when a pass was completed, 0 when not, or -ESRCH.
 */
int planner_survey(struct planner *planner, unsigned n_regions);

/* Whether nothing has become resident since the latest survey (no page faults): draws then cost a
 * tenth. Pages given back meanwhile make them wrong by that share, until the next survey. */
void planner_set_settled(struct planner *planner, bool settled);

/* Bytes resident by the latest survey, bytes mapped where the
 * survey could not look. */
double planner_resident_bytes(const struct planner *planner);
double planner_unseen_bytes(const struct planner *planner);

/* Draws one line with `slots` of its words (whole_line: one slot for all of it). -ENODATA: nothing
 * resident was found; -ESRCH. */
int planner_draw(struct planner *planner, const struct planner_deadlines *deadlines, unsigned slots,
        bool whole_line, struct candidate *ret_candidate);

/* Somebody saw the program use `address` (a sample of its accesses): lines near it are drawn more
 * often from now on, the more the better this has worked so far. `amount`: how many such sightings
 * this one stands for, 1 as a rule; only its ratio to that of others matters. Any bias of where
 * such addresses come from is undone by weights. A page counts once, by its latest sighting, and
 * the latest 128 pages count; those where nothing is resident are left out. -EINVAL: amount is not
 * positive. */
int planner_heat(struct planner *planner, uint64_t address, double amount);

/* What came of the draw at `address`: later draws look more often near where touches were seen. */
void planner_saw(
        struct planner *planner, uint64_t address, const struct mtl_observation *observation);

/* A page was born at `address`: where that happens, pages that were resident within the last
 * seconds are drawn like those that are. Returns whether the page was one of these. */
bool planner_birth(struct planner *planner, uint64_t address);

/* What kind of page lies at `address`: its cache lines when it is fresh anonymous memory (zeroed by
 * the kernel, so all of them were touched: 64, or 32768 for a huge page); 0: file memory. -ESRCH:
 * not resident any more. */
int planner_fresh_lines(struct planner *planner, uint64_t address, unsigned *ret_lines);

#endif
