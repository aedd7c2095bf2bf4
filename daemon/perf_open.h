/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PERF_OPEN_H
#define MTLD_PERF_OPEN_H

/* What an operator can do. With a CPU that can migrate QEMU leaves PEBS out
 * (IA32_PERF_CAPABILITIES); KVM has it for processors that write its records through the guest's
 * own tables (pebs_ept). */
#define PMU_PEBS_IN_GUESTS                                                                         \
	"let the hypervisor pass PEBS through (KVM: -cpu host,migratable=no,pmu=on, on Ice Lake "  \
	"servers and later with Linux 6.1 or later), or use bare metal"
/* kernel.perf_event_paranoid at 3 or more */
#define PERF_FIX_ADMIN                                                                             \
	"run mtld as root (systemctl start mtld), or with CAP_SYS_ADMIN and CAP_SYS_PTRACE: with " \
	"kernel.perf_event_paranoid at 3 or more, CAP_PERFMON is not enough"
#define PERF_FIX_PERFMON                                                                           \
	"run mtld as root (systemctl start mtld), or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE"

/* Opening one event on one CPU, and saying why the kernel refused it. */

#include <stddef.h>
#include "pmu.h"

struct perf_opened {
	int fd;           /* -1: none */
	int leader;       /* of its group, -1: it is alone */
	unsigned precise; /* precise_ip that was granted */
};

#define PERF_OPENED_NONE ((struct perf_opened){-1, -1, 0})

/*
 * Opens the event for all processes on `cpu`, turned off; reads of it give struct perf_reading. The
 * precise level is the highest that the kernel grants, at least 1 where attr asks for one at all.
 * Negative errno as perf_event_open(2) gave it for the last level tried.
 */
int perf_open(const struct pmu_event *event, int cpu, struct perf_opened *ret_opened);
void perf_close(struct perf_opened *opened);

/* What read(2) of an event gives: events counted; ns since it was turned on, and in which it
 * counted. */
struct perf_reading {
	uint64_t count, enabled, running;
};

int perf_read(int fd, struct perf_reading *ret_reading);

/* What is known of the machine and of this process when an event is refused. */
struct perf_situation {
	int paranoid;      /* kernel.perf_event_paranoid; INT32_MAX: unknown */
	bool confidential; /* lockdown=confidentiality */
	bool virtual_machine;
	bool admin;   /* this process has CAP_SYS_ADMIN */
	bool perfmon; /* or CAP_PERFMON */
};

void perf_situation(const struct pmu_machine *machine, struct perf_situation *ret_situation);

/* The true cause of `error` (negative errno of perf_open or of attaching) and what would mend it,
 * "" when nothing would. */
void perf_explain(int error, const struct pmu_event *event, const struct perf_situation *situation,
        char *ret_reason, size_t reason_size, char *ret_fix, size_t fix_size);

#endif
