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
#include "proc.h"

static int refuse(struct instrument *instrument, const char *reason, const char *fix)
{
	snprintf(instrument->reason, sizeof(instrument->reason), "%s", reason);
	snprintf(instrument->fix, sizeof(instrument->fix), "%s", fix);
	return 0;
}

static const char *fix_for_refusal(const char *root)
{
	int paranoid = proc_paranoid(root);

	if (paranoid >= 3 && paranoid != INT32_MAX)
		return "run mtld as root, or give it CAP_SYS_ADMIN: with kernel.perf_event_paranoid at 3 "
		       "or more, CAP_PERFMON is not enough (or lower it to 2)";
	return "run mtld as root (systemctl start mtld), or with CAP_BPF, CAP_PERFMON and "
	       "CAP_SYS_PTRACE";
}

static int no_source(struct instrument *instrument, const char *root, int r, const char *error)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return refuse(instrument,
			"the kernel offers no type information (/sys/kernel/btf/vmlinux is missing)",
			"use a kernel with CONFIG_DEBUG_INFO_BTF=y (Debian's kernels have it); in a "
			"container, bind-mount /sys/kernel/btf");
	return refuse(instrument, error, r == -EPERM || r == -EACCES ? fix_for_refusal(root) : "");
}

static const char *fix_for_calibration(const char *root, int r)
{
	if (r == -ENOSPC)
		return "free the debug registers: another tool holds all of them (perf, a debugger, or "
		       "a CPU-wide breakpoint)";
	if (r == -EACCES || r == -EPERM)
		return fix_for_refusal(root);
	if (r == -EIO)
		return "use another type of host, or bare metal; gdb's `watch` would show the same";
	return "";
}

static int try_instrument(struct instrument *instrument, const struct config *config,
	const char *root)
{
	char error[168] = "", reason[256];
	int r = source_new(config->ring_bytes, &instrument->source, error, sizeof(error));

	if (r < 0)
		return no_source(instrument, root, r, error[0] ? error : strerror(-r));
	r = sampler_new(instrument->source, config->realtime, &instrument->sampler);
	if (r < 0)
		snprintf(error, sizeof(error), "cannot start the armers: %s", strerror(-r));
	else
		r = calibration_run(instrument->source, instrument->sampler, &instrument->calibration,
			error, sizeof(error));
	if (r == 0)
		return refuse(instrument,
			"hardware watchpoints work; no PMU address samples are used by this version", "");
	instrument->sampler = sampler_free(instrument->sampler);
	instrument->source = source_free(instrument->source);
	if (r == -EIO)
		snprintf(reason, sizeof(reason),
			"hardware watchpoints are accepted but do not fire, as under some hypervisors (%s)",
			error);
	return refuse(instrument, r == -EIO ? reason : error, fix_for_calibration(root, r));
}

DEFINE_CLEANUP(struct instrument, instrument_free)

int instrument_new(const struct config *config, const char *root, struct instrument **ret_instrument)
{
	_cleanup_(instrument_freep) struct instrument *instrument = calloc(1, sizeof(*instrument));
	struct rlimit files;

	if (!instrument)
		return -ENOMEM;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	instrument->l2_bytes = proc_cache_bytes(root, 2, NULL);
	instrument->last_cache_bytes = proc_cache_bytes(root, 0, NULL);
	try_instrument(instrument, config, root);
	*ret_instrument = TAKE_PTR(instrument);
	return 0;
}

struct instrument *instrument_free(struct instrument *instrument)
{
	if (!instrument)
		return NULL;
	sampler_free(instrument->sampler);
	source_free(instrument->source);
	free(instrument);
	return NULL;
}

const char *instrument_method(const struct instrument *instrument)
{
	static const char *const names[] = {[WATCH_OWN_CPU] = "own-cpu", [WATCH_ONE_SHOT] = "one-shot"};

	return instrument->source ? names[instrument->calibration.method] : "";
}
