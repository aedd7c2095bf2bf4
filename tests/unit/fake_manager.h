/* SPDX-License-Identifier: MIT */
#ifndef FAKE_MANAGER_H
#define FAKE_MANAGER_H

#include "manager.h"

#define FAKE_PROCESSES_MAX 512

/* daemon/manager.h without a kernel: tests put in what is to be answered and look at what was
 * asked. Linked instead of the real one. */
struct manager {
	struct manager_process processes[FAKE_PROCESSES_MAX];
	unsigned n_processes;
	struct manager_status status;
	int track_result, curve_result; /* not 0: what those calls return */
	uid_t track_uid;                /* owner of what manager_track() adds */
	size_t n_observations;
	unsigned n_tracked, n_untracked, n_curves, n_asked, n_cgroups;
	double idle_seconds; /* of the last manager_track() */
	struct mtl_estimate_options
	        options; /* of the last manager_curve(); pointers are not kept */
	double first_size, first_window;
};

/* A manager of the sampling rung without processes; manager_free() frees it. */
struct manager *fake_manager(void);

/* A tracked process that has been sampled. */
struct manager_process *fake_process(struct manager *manager, pid_t pid, uid_t uid);

#endif
