/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PMU_LIBPFM_H
#define MTLD_PMU_LIBPFM_H

/*
 * libpfm4, loaded when a processor is in no table of ours: its own table may be newer. It speaks of
 * the processor it runs on (or of the one LIBPFM_FORCE_PMU names), never of a dump.
 */

#include <stdint.h>

/*
 * config and config1 of an event by its name there, "MEM_INST_RETIRED:ALL_LOADS". -ENOENT: it knows
 * no such event on this processor; -ENOSYS: libpfm4 is not installed, or knows no such processor.
 */
int pmu_libpfm_encode(const char *name, uint64_t *ret_config, uint64_t *ret_config1);

#endif
