/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PROBE_H
#define MTL_CLI_PROBE_H

/* What `mtl probe` predicts, measures and concludes. The parts: probe_judge.c (decisions, pure),
 * probe_memory.c and probe_chase.c (the instrument), probe_ways.c, probe_capacity.c, probe_tlb.c
 * (experiments), probe_predict.c and probe_plateaus.c (before and after them), probe_json.c and
 * probe_report.c (answers). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <json-c/json.h>

#include "cache_geometry.h"
#include "terminal.h"

#define PROBE_ROWS_MAX 64
#define PROBE_SIZES_MAX 96
#define PROBE_REASON 320

enum probe_verdict { PROBE_NOT_MEASURABLE, PROBE_CONFIRMED, PROBE_DIFFERS, PROBE_CONTROL_BROKEN };

/* One number of lines (of pages, for the TLB) in both layouts: medians over repeats of the time of
 * an access divided by that of a reference measured beside it. */
struct probe_row {
	unsigned count;
	double aliased, spread;
	double noise; /* half of the interquartile range of the noisier one, as a share of it */
	double third; /* another layout; NAN: none */
	double nanoseconds[2]; /* medians of aliased and spread as they are */
};

/* What rows say of a step that is predicted at some count. */
struct probe_step {
	unsigned predicted, measured; /* 0: none */
	double step_ratio;            /* across the step, or where it was predicted; NAN */
	double control_ratio;         /* worst of the spread layout against its reference; NAN */
	enum probe_verdict verdict;
	char reason[PROBE_REASON];
};

struct probe_level {
	struct cache_level said;
	struct probe_step step;
	double capacity_bytes; /* NAN: not found */
	struct probe_row rows[PROBE_ROWS_MAX];
	size_t n_rows;
};

struct probe_tlb {
	unsigned page_bytes;
	struct probe_step step; /* counts are pages; the step is at entries + 1 */
	double huge_ratio; /* at the step: huge pages against the reference; NAN: there are none */
	struct probe_row rows[PROBE_ROWS_MAX];
	size_t n_rows;
};

/* Latency by footprint: medians over sweeps, the quartiles, and the first decile, which is what it
 * is when others leave the caches alone for a while. */
struct probe_curve {
	double bytes[PROBE_SIZES_MAX], nanoseconds[PROBE_SIZES_MAX];
	double low[PROBE_SIZES_MAX], high[PROBE_SIZES_MAX], quiet[PROBE_SIZES_MAX];
	size_t n;
};

struct probe {
	enum cache_source source;
	struct cpu_identity cpu;
	struct probe_level levels[CACHE_LEVELS_MAX];
	size_t n_levels;
	bool has_tlb;
	struct probe_tlb tlb;
	struct probe_curve curve;
	double seconds; /* that all of it took */
};

/* --- decisions, on plain numbers (probe_judge.c) */

const char *probe_verdict_name(enum probe_verdict verdict);

/* n repeats of each; third may be NULL. */
struct probe_row probe_row_of(unsigned count, const double *aliased, const double *spread,
        const double *reference, const double *third, size_t n);

/*
 * The step in rows of ascending count, ret_step->predicted being set (0: nothing is predicted).
 * slack: how far off, as a share, a measured count may be that confirms it. ramp: rows between may
 * rise.
 */
void probe_judge(
        const struct probe_row *rows, size_t n, double slack, bool ramp, struct probe_step *step);

/* Measures and judges; sets step->measured, verdict and so on. Negative errno. */
typedef int (*probe_experiment)(void *userdata, struct probe_step *step);

/* Until it is believed: at once what was predicted, else what came out twice in a row, counts
 * within slack of each other. Otherwise not measurable. The errno of an experiment that failed. */
int probe_repeat(
        probe_experiment experiment, void *userdata, struct probe_step *step, double slack);

/* --- capacities (probe_plateaus.c) */

struct probe_plateau {
	double from_bytes, to_bytes, nanoseconds;
};

/* Flat parts of a curve, fastest first; at most `most`. ret_logs: the logarithms of its latencies,
 * made such that they never fall. */
size_t probe_plateaus(const struct probe_curve *curve, double ret_logs[PROBE_SIZES_MAX],
        struct probe_plateau *ret_plateaus, size_t most);

/* The footprint at which half of the accesses miss in the cache of each plateau but the last; NAN
 * where that cannot be said. Returns how many there are. */
size_t probe_capacities(const struct probe_curve *curve, double *ret_bytes, size_t most);

/* Of levels whose ways are judged: sets capacities and lets them count in the verdicts. */
void probe_judge_capacities(struct probe *probe, const double *capacities, size_t n);

/* --- experiments; negative errno where the machine refuses (no memory, no CPU to pin to) */

/* What is said, and what follows from it: step.predicted of each level and of the TLB. */
void probe_predict(const struct cache_geometry *said, struct probe *probe);

int probe_ways(struct probe *probe, size_t level, bool broken_control);
int probe_capacity(struct probe *probe, double bytes_most);
int probe_tlb(struct probe *probe, bool broken_control);

/* --- answers */

int probe_to_json(const struct probe *probe, struct json_object **ret_object);
/* `level`: 0 or the one that is measured. */
int probe_print_prediction(
        FILE *file, const struct probe *probe, unsigned level, const struct terminal *terminal);
int probe_report(FILE *file, const struct probe *probe, const struct terminal *terminal);
/* An exit code, having said what was wrong. */
int probe_plot(const char *path, const struct probe *probe);

#endif
