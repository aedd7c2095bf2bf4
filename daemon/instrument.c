// SPDX-License-Identifier: MIT
/*
 * What works here, and when nothing does, the true reason and the fix. The order of the questions is
 * the order in which an operator would have to mend things.
 */
#include "instrument.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cleanup.h"
#include "code_heat.h"
#include "perf_open.h"
#include "pmu.h"
#include "pmu_trial.h"
#include "proc.h"
#include "words.h"

static void refuse(struct ladder_outcome *outcome, const char *reason, const char *fix)
{
	snprintf(outcome->reason, sizeof(outcome->reason), "%s", reason);
	snprintf(outcome->fix, sizeof(outcome->fix), "%s", fix);
}

static const char *fix_for_refusal(const char *root)
{
	return proc_paranoid_wants_admin(proc_paranoid(root)) ? PERF_FIX_ADMIN : PERF_FIX_PERFMON;
}

static void no_source(struct ladder_outcome *outcome, const char *root, int r, const char *error)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		refuse(outcome,
			"the kernel offers no type information (/sys/kernel/btf/vmlinux is missing)",
			"use a kernel with CONFIG_DEBUG_INFO_BTF=y (Debian's kernels have it); in a "
			"container, bind-mount /sys/kernel/btf");
	else
		refuse(outcome, error, r == -EPERM || r == -EACCES ? fix_for_refusal(root) : "");
}

static const char *fix_for_calibration(const char *root, int r)
{
	if (r == -ENOSPC)
		return "free the debug registers: another tool holds all of them (perf, a debugger, or "
		       "a CPU-wide breakpoint)";
	if (r == -EACCES || r == -EPERM)
		return fix_for_refusal(root);
	if (r == -EIO)
		return "use another type of host, or bare metal; what works here: `mtl trace`, and all of mtl "
		       "in an emulated machine (tests/machine/run.sh of a checkout, `make demo`)";
	if (r == -EAGAIN)
		return "start mtld again when the machine is less busy; if this stays so, use another type of host";
	return "";
}

static void say_why(int r, const char *error, char *ret_reason, size_t size)
{
	if (r == -EIO)
		snprintf(ret_reason, size,
		        "hardware watchpoints are accepted but do not fire, as under some hypervisors (%s)",
		        error);
	else if (r == -EAGAIN)
		snprintf(ret_reason, size,
		        "hardware watchpoints do not fire as they should, or too few in time (%s)", error);
	else
		snprintf(ret_reason, size, "%s", error);
}

static void give_up(struct instrument *instrument)
{
	instrument->sampler = sampler_free(instrument->sampler);
	instrument->source = source_free(instrument->source);
}

/* "4 debug registers, armed own-cpu, fire once an arm; a trap costs 9.8 us" */
static void describe(const struct instrument *instrument, struct ladder_outcome *outcome)
{
	const struct calibration *calibration = &instrument->calibration;
	char cost[NUMBER_TEXT];

	outcome->works = true;
	snprintf(outcome->reason, sizeof(outcome->reason),
		"%u debug registers (method %s) fire once for each arm; a trap costs a target %s%s",
		calibration->slots, instrument_method(instrument),
		mtl_seconds_format(calibration->trap_seconds, cost),
		code_heat_possible() ? "; without a PMU, decoded samples of the clock say where to look" :
				       "; without a PMU, only what was touched says where to look: "
				       "libZydis is missing (install libzydis4.0)");
}

/* For tests of everything but what is seen, where nothing fires: as if this were a usual machine. */
static bool assume(struct instrument *instrument, struct ladder_outcome *outcome)
{
	const char *debug = getenv("MTLD_DEBUG_CALIBRATION");

	if (!debug || strcmp(debug, "assumed") != 0)
		return false;
	instrument->calibration = (struct calibration){
		.method = WATCH_OWN_CPU,
		.length = 8,
		.slots = MTL_SLOTS,
		.trap_seconds = 10e-6,
		.arm_seconds = 15e-6,
		.moment_seconds = 5e-6,
		.switch_seconds = 1e-6,
		.open_seconds = 40e-6,
		.resolution_seconds = 50e-6,
	};
	sampler_set_method(instrument->sampler, WATCH_OWN_CPU);
	outcome->works = true;
	snprintf(outcome->reason, sizeof(outcome->reason),
		"assumed for a test (MTLD_DEBUG_CALIBRATION): nothing fires, no curve is right");
	return true;
}

static void try_watchpoints(struct instrument *instrument, const struct config *config,
	const char *root, struct ladder_outcome *outcome)
{
	char error[168] = "", reason[256];
	int r = source_new(config->ring_bytes, &instrument->source, error, sizeof(error));

	if (r < 0) {
		no_source(outcome, root, r, error[0] ? error : strerror(-r));
		return;
	}
	r = sampler_new(instrument->source, config->realtime, &instrument->sampler);
	if (r < 0)
		snprintf(error, sizeof(error), "cannot start the armers: %s", strerror(-r));
	else
		r = calibration_run(instrument->source, instrument->sampler, &instrument->calibration,
			error, sizeof(error));
	if (r == 0) {
		describe(instrument, outcome);
		return;
	}
	if ((r == -EIO || r == -EAGAIN) && assume(instrument, outcome))
		return;
	give_up(instrument);
	say_why(r, error, reason, sizeof(reason));
	refuse(outcome, reason, fix_for_calibration(root, r));
}

/* A machine whose /proc/cpuinfo is hidden has no PMU that could be known. */
static int climb(struct instrument *instrument, const struct config *config, const char *root,
	const struct ladder_outcome *watchpoints)
{
	static const struct pmu_machine unknown = {.paranoid = INT32_MAX};
	struct ladder_facts facts = {.watchpoints = watchpoints, .trial = pmu_trial};
	int r = pmu_discover(root, &instrument->machine);

	if (r >= 0)
		r = pmu_events(instrument->machine, &instrument->events, &instrument->n_events);
	if (r == -ENOMEM)
		return r;
	if (config->address_samples != ADDRESS_SAMPLES_AUTO)
		facts.unused[RUNG_PEBS] = facts.unused[RUNG_IBS] =
			"address_samples in mtld.conf is not auto";
	facts.machine = instrument->machine ?: &unknown;
	facts.events = instrument->events;
	facts.n_events = instrument->n_events;
	ladder_judge(&facts, ladder_rung_named(config->rung), &instrument->ladder);
	if (instrument->ladder.chosen == RUNG_NONE)
		give_up(instrument);
	return 0;
}

DEFINE_CLEANUP(struct instrument, instrument_free)

int instrument_new(const struct config *config, const char *root, struct instrument **ret_instrument)
{
	_cleanup_(instrument_freep) struct instrument *instrument = calloc(1, sizeof(*instrument));
	struct ladder_outcome watchpoints = {0};
	struct rlimit files;
	int r;

	if (!instrument)
		return -ENOMEM;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	instrument->awake = 1;
	instrument->l2_bytes = proc_cache_bytes(root, 2, NULL);
	instrument->last_cache_bytes = proc_cache_bytes(root, 0, NULL);
	try_watchpoints(instrument, config, root, &watchpoints);
	r = climb(instrument, config, root, &watchpoints);
	if (r < 0)
		return r;
	*ret_instrument = TAKE_PTR(instrument);
	return 0;
}

struct instrument *instrument_free(struct instrument *instrument)
{
	if (!instrument)
		return NULL;
	sampler_free(instrument->sampler);
	source_free(instrument->source);
	free(instrument->events);
	free(instrument->machine);
	free(instrument);
	return NULL;
}

const char *instrument_method(const struct instrument *instrument)
{
	static const char *const names[] = {[WATCH_OWN_CPU] = "own-cpu", [WATCH_ONE_SHOT] = "one-shot"};

	return instrument->source ? names[instrument->calibration.method] : "";
}

const char *instrument_rung(const struct instrument *instrument)
{
	return instrument->ladder.rungs[instrument->ladder.chosen].name;
}

const struct rung *instrument_decisive(const struct instrument *instrument)
{
	return &instrument->ladder.rungs[instrument->ladder.decisive];
}
