/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PMU_FORMAT_H
#define MTLD_PMU_FORMAT_H

/*
 * How sysfs writes events down: ranges ("0-7,32-35"), fields of the encoding ("config1:0-15") and
 * lists of terms ("event=0xcd,umask=0x1,ldlat=3").
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-*.
 */

#include "pmu.h"

/* Calls `each` with both ends of every range of a list, "" being the empty one. -EINVAL: not a
 * list, or an end above `most`; ranges before the bad one have been delivered. */
int pmu_ranges(const char *text, unsigned most,
        void (*each)(void *userdata, unsigned first, unsigned last), void *userdata);

/* "0-3,8" to a set. -EINVAL leaves ret_cpus untouched. */
int pmu_cpu_list(const char *text, cpu_set_t *ret_cpus);

/* "config:0-7,32-35" to a field of that name. -EINVAL: not such a text, or a word there is not. */
int pmu_field_parse(const char *name, const char *text, struct pmu_field *ret_field);

/* Puts a value into its field. -ERANGE: it has more bits than the field. */
int pmu_field_set(const struct pmu_field *field, uint64_t value, struct perf_event_attr *attr);

/*
 * Encodes terms into attr's config words; a term without a value is 1, words that are themselves
 * named ("config=0x10") are set whole. -ENOENT: the PMU has no such field; -EINVAL: not a list of
 * terms; -ERANGE; -ENOMEM. attr is changed only on success.
 */
int pmu_encode(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr);

#endif
