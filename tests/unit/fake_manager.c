/* SPDX-License-Identifier: MIT */
/*
 * The manager's contract, answered from memory. The curve is that of a random workload over 8 MiB,
 * misses = rate * (1 - c / 8 MiB), at the sizes asked for.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cleanup.h"
#include "fake_manager.h"

#define WORKING_SET 8388608.0
#define RATE 1e7

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

struct manager *fake_manager(void)
{
	struct manager *manager = NULL;

	return manager_new(NULL, NULL, "", &manager) == 0 ? manager : NULL;
}

int manager_new(sd_event *event, const struct config *config, const char *root,
        struct manager **ret_manager)
{
	struct manager *manager = calloc(1, sizeof(*manager));

	(void)event, (void)config, (void)root;
	if (!manager)
		return -ENOMEM;
	manager->status = (struct manager_status){
	        .pid = 4711,
	        .uptime_seconds = 12.5,
	        .rung = "watchpoints",
	        .reason = "no PMU",
	        .method = "own-cpu",
	        .slots = 4,
	        .trap_seconds = 4e-6,
	        .arm_seconds = 9e-6,
	        .switch_seconds = 7e-7,
	        .shift_seconds = 2.5e-5,
	        .resolution_seconds = 5e-5,
	        .daemon_cpu = NAN,
	        .events = {{.name = "MEM_INST_RETIRED.ALL_LOADS",
	                .pmu = "cpu",
	                .source = "perfmon",
	                .cpus = 2,
	                .precise = 3,
	                .period = 100003,
	                .starved = 0.25,
	                .seen = 29,
	                .foreign = 1,
	                .zero = 2,
	                .kernel = 3,
	                .filtered = 4,
	                .unreadable = 8,
	                .delivered = 5,
	                .lost = 6,
	                .unseen = 7,
	                .throttled = 8}},
	        .n_events = 1,
	        .llc_ratio = 0.9,
	        .reuse_difference = NAN,
	        .scored = 1,
	};
	manager->n_observations = 100;
	*ret_manager = manager;
	return 0;
}

struct manager *manager_free(struct manager *manager)
{
	free(manager);
	return NULL;
}

struct manager_process *fake_process(struct manager *manager, pid_t pid, uid_t uid)
{
	struct manager_process *process = &manager->processes[manager->n_processes++];

	*process = (struct manager_process){
	        .pid = pid,
	        .uid = uid,
	        .comm = "fake",
	        .state = "sampling",
	        .tracked_by = "pid",
	        .threads = 1,
	        .observations = 100,
	        .resident_bytes = 1e7,
	        .cpu_seconds = 10,
	        .wall_seconds = 11,
	        .overhead_target = 0.004,
	        .observations_per_second = NAN,
	        .rates = {1.5e9, 2e7, 1e6, NAN},
	        .llc_ratio = 0.9,
	        .reuse_difference = 0.03,
	        .reuse_observations = 77,
	};
	return process;
}

static struct manager_process *find(struct manager *manager, pid_t pid)
{
	for (unsigned i = 0; i < manager->n_processes; i++)
		if (manager->processes[i].pid == pid)
			return &manager->processes[i];
	return NULL;
}

int manager_track(struct manager *manager, pid_t pid, double idle_seconds)
{
	if (manager->track_result)
		return manager->track_result;
	if (!find(manager, pid)) {
		if (manager->n_processes == FAKE_PROCESSES_MAX)
			return -EUSERS;
		fake_process(manager, pid, manager->track_uid);
	}
	manager->n_tracked++;
	manager->idle_seconds = idle_seconds;
	return 0;
}

int manager_track_cgroup(struct manager *manager, const char *cgroup)
{
	if (manager->track_result)
		return manager->track_result;
	if (strcmp(cgroup, "/a.slice") != 0)
		return -ENOENT;
	manager->n_cgroups = 1;
	return 0;
}

int manager_untrack_cgroup(struct manager *manager, const char *cgroup)
{
	if (manager->n_cgroups == 0 || strcmp(cgroup, "/a.slice") != 0)
		return -ENOENT;
	manager->n_cgroups = 0;
	return 0;
}

int manager_cgroup_at(struct manager *manager, unsigned index, struct manager_cgroup *ret_cgroup)
{
	if (index >= manager->n_cgroups)
		return -ENOENT;
	*ret_cgroup = (struct manager_cgroup){"/a.slice", 5, 3, 0, -EUSERS};
	return 0;
}

int manager_untrack(struct manager *manager, pid_t pid)
{
	struct manager_process *process = find(manager, pid);

	if (!process)
		return -ENOENT;
	if (strcmp(process->tracked_by, "pid") != 0)
		return -EBUSY;
	*process = manager->processes[--manager->n_processes];
	manager->n_untracked++;
	return 0;
}

int manager_process(struct manager *manager, pid_t pid, struct manager_process *ret_process)
{
	const struct manager_process *process = find(manager, pid);

	if (!process)
		return -ENOENT;
	*ret_process = *process;
	return 0;
}

int manager_process_at(struct manager *manager, unsigned index, struct manager_process *ret_process)
{
	if (index >= manager->n_processes)
		return -ENOENT;
	*ret_process = manager->processes[index];
	return 0;
}

void manager_status(struct manager *manager, struct manager_status *ret_status)
{
	*ret_status = manager->status;
	ret_status->processes = manager->n_processes;
}

static struct mtl_curve_point point_at(double size, double reference)
{
	double misses = RATE * fmax(0, 1 - size / WORKING_SET);

	return (struct mtl_curve_point){
	        .size_bytes = size,
	        .fill_time_seconds = size < WORKING_SET ? size / RATE : INFINITY,
	        .misses_per_second = misses,
	        .low = misses * 0.9,
	        .high = misses * 1.1,
	        .miss_ratio = NAN,
	        .relative_miss_ratio = misses / (RATE * (1 - reference / WORKING_SET)),
	        .below_resolution = size < 65536,
	};
}

static int make_curve(const struct mtl_estimate_options *options, struct mtl_curve **ret_curve)
{
	static const double sizes[] = {32768, 1048576, 16777216}, windows[] = {1e-3, 1e-2};
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = calloc(1, sizeof(*curve));
	double reference = options->reference_bytes > 0 ? options->reference_bytes : 1048576;

	if (!curve)
		return -ENOMEM;
	curve->n_points = options->sizes ? options->n_sizes : 3;
	curve->n_footprint = options->windows ? options->n_windows : 2;
	curve->points = calloc(curve->n_points, sizeof(*curve->points));
	curve->footprint = calloc(curve->n_footprint, sizeof(*curve->footprint));
	if (!curve->points || !curve->footprint)
		return -ENOMEM;
	for (size_t i = 0; i < curve->n_points; i++)
		curve->points[i] =
		        point_at((options->sizes ? options->sizes : sizes)[i], reference);
	for (size_t i = 0; i < curve->n_footprint; i++)
		curve->footprint[i] = (struct mtl_footprint_point){
		        (options->windows ? options->windows : windows)[i], 1e6, 9e5, 1.1e6};
	curve->observations = 100;
	curve->effective_observations = 80.5;
	curve->footprint_bytes = WORKING_SET;
	curve->resolution_seconds = 5e-5;
	curve->resolution_bytes = 65536;
	curve->reference_bytes = reference;
	*ret_curve = TAKE_PTR(curve);
	return 0;
}

static struct mtl_curve_origin origin_of(const struct manager_process *process)
{
	struct mtl_curve_origin origin = {
	        .pid = process->pid,
	        .method = "residual",
	        .rung = "watchpoints",
	        .clock = "cpu",
	        .window_seconds = 30,
	        .wall_seconds = 11,
	        .cpu_seconds = 10,
	        .resident_bytes = 1e7,
	        .accesses_per_second = NAN,
	        .l1_misses_per_second = NAN,
	        .l2_misses_per_second = NAN,
	        .llc_misses_per_second = NAN,
	        .overhead_target = 0.004,
	        .overhead_daemon = NAN,
	};

	memcpy(origin.comm, process->comm, sizeof(origin.comm));
	return origin;
}

void manager_serves(struct manager *manager)
{
	(void)manager;
}

void manager_asked(struct manager *manager, pid_t pid)
{
	manager->n_asked += find(manager, pid) != NULL;
}

int manager_curve(struct manager *manager, pid_t pid, const struct mtl_estimate_options *options,
        struct mtl_curve **ret_curve, struct mtl_curve_origin *ret_origin)
{
	struct manager_process *process = find(manager, pid);
	int r = process ? manager->curve_result : -ENOENT;

	if (r == 0)
		r = make_curve(options, ret_curve);
	if (r < 0)
		return r;
	manager->n_curves++;
	process->wall_seconds++; /* nobody asks twice at the same time */
	manager->options = *options;
	manager->first_size = options->sizes ? options->sizes[0] : NAN;
	manager->first_window = options->windows ? options->windows[0] : NAN;
	*ret_origin = origin_of(process);
	return 0;
}

static void observe(struct mtl_observation *observations, size_t n)
{
	for (size_t i = 0; i < n; i++)
		observations[i] = (struct mtl_observation){
		        .moment = 0.1 * (double)i,
		        .deadline = 0.5,
		        .weight = 1234.5678,
		        .touched = {0.25f, 0.1f + (float)i, INFINITY, INFINITY},
		        .wall = 0.11 * (double)i,
		        .slots = 4,
		        .sequence = i,
		};
}

int manager_observations(struct manager *manager, pid_t pid,
        struct mtl_observation **ret_observations, size_t *ret_n, struct mtl_birth **ret_births,
        size_t *ret_n_births, struct mtl_curve_origin *ret_origin,
        struct mtl_estimate_options *ret_options)
{
	const struct manager_process *process = find(manager, pid);
	size_t n = manager->n_observations;
	_cleanup_free_ struct mtl_observation *observations = calloc(n + 1, sizeof(*observations));
	_cleanup_free_ struct mtl_birth *births = calloc(1, sizeof(*births));

	if (!process)
		return -ENOENT;
	if (!observations || !births)
		return -ENOMEM;
	observe(observations, n);
	*ret_observations = TAKE_PTR(observations);
	*ret_n = n;
	*ret_births = TAKE_PTR(births);
	*ret_n_births = 1;
	*ret_origin = origin_of(process);
	*ret_options = (struct mtl_estimate_options){.now = 10, .window_seconds = 30};
	return 0;
}

/* Two entries, of the later of which nothing is known. */
int manager_history(struct manager *manager, pid_t pid, const double *sizes, size_t n,
        struct mtl_history **ret_history)
{
	const struct manager_process *process = find(manager, pid);
	struct mtl_history *history;

	if (!process)
		return -ENOENT;
	if (mtl_history_new(n ?: 1, 2, &history) < 0)
		return -ENOMEM;
	history->pid = pid;
	history->window_seconds = 30;
	snprintf(history->comm, sizeof(history->comm), "%s", process->comm);
	for (size_t i = 0; i < history->n_sizes; i++) {
		history->sizes[i] = n ? sizes[i] : 1 << 20;
		history->entries[0].misses[i] = (struct mtl_history_value){3, 2, 4};
	}
	history->entries[0].footprint = (struct mtl_history_value){3e6, 2e6, 4e6};
	history->entries[0].seconds_ago = 20;
	history->entries[1].seconds_ago = 10;
	strcpy(history->entries[1].reason, "it did not run");
	*ret_history = history;
	return 0;
}
