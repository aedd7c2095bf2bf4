// SPDX-License-Identifier: MIT
/*
 * Why perf_event_open(2) refused an event. One errno has several causes, so a row of the table also
 * says in which situation it holds: the first row that fits is the answer. Sources: the manual
 * page, Debian's paranoid level 3 (kernel/events/core.c: capable(CAP_SYS_ADMIN)), arch/x86/events.
 */
#include "perf_open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>

#include "proc.h"

/* When a row holds; all bits that it names. */
enum {
	ALWAYS = 0,
	PARANOID_3 = 1,
	NOT_ADMIN = 2,
	CONFIDENTIAL = 4,
	VIRTUAL = 8,
	PRECISE = 16,
	IBS = 32,
	NOT_PERFMON = 64,
};

struct row {
	int error;
	unsigned when;
	const char *reason, *fix;
};

static const struct row rows[] = {
        {EACCES, PARANOID_3 | NOT_ADMIN,
                "kernel.perf_event_paranoid at 3 or more asks for CAP_SYS_ADMIN", PERF_FIX_ADMIN},
        {EACCES, NOT_PERFMON, "events of other processes need CAP_PERFMON, which mtld has not",
                PERF_FIX_PERFMON},
        {EACCES, ALWAYS, "a security module refuses performance events",
                "allow mtld perf_event open in the policy of the security module (see the kernel's "
                "log)"},
        {EPERM, CONFIDENTIAL,
                "the kernel is locked down (confidentiality), which forbids this event",
                "boot without lockdown=confidentiality, or use watchpoints without it"},
        {EPERM, NOT_PERFMON, "events of other processes need CAP_PERFMON, which mtld has not",
                PERF_FIX_PERFMON},
        {EPERM, ALWAYS, "perf_event_open() is forbidden, as by the seccomp filter of a container",
                "allow the system calls perf_event_open and bpf in the container's seccomp "
                "profile"},
        {ENOENT, VIRTUAL, "the hypervisor offers no PMU that has this event",
                "let the hypervisor pass a virtual PMU through (KVM: -cpu host,pmu=on), or use "
                "bare metal"},
        {ENOENT, ALWAYS,
                "the PMU of this CPU has no such event, or the kernel has no driver for it", ""},
        {ENODEV, ALWAYS, "the CPU is offline, or its PMU is gone", ""},
        {EOPNOTSUPP, PRECISE | VIRTUAL,
                "this virtual machine has no precise events (PEBS), so samples have no data "
                "address",
                PMU_PEBS_IN_GUESTS},
        {EOPNOTSUPP, PRECISE,
                "this CPU has no precise events (PEBS), so samples have no data address",
                "see whether the firmware or a microcode erratum has switched PEBS off (the "
                "kernel's log)"},
        {EOPNOTSUPP, ALWAYS, "this PMU cannot sample: it gives no interrupts",
                "boot with the local APIC on (without nolapic)"},
        {ENODATA, ALWAYS, "the load event works only in a group led by mem-loads-aux",
                "report this CPU: mtld's table of events does not know it"},
        {EINVAL, IBS,
                "IBS refuses the encoding: an exclude bit, or a period that is no multiple of 16",
                "report this CPU: mtld's table of events does not know it"},
        {EINVAL, PRECISE, "the kernel refuses the encoding of this precise event",
                "use a kernel that is newer than the CPU; else report this CPU"},
        {EINVAL, ALWAYS, "the kernel refuses the encoding of this event", ""},
        {E2BIG, ALWAYS, "the kernel is older than a field of this event", "use a newer kernel"},
        {EBUSY, ALWAYS,
                "another user holds the counter this event needs (the NMI watchdog, or perf)",
                "sysctl kernel.nmi_watchdog=0, or end the other profiler"},
        {ENOSPC, ALWAYS, "no counter that this event could use is left",
                "end the other profiler (perf, or another mtld)"},
        {EMFILE, ALWAYS, "mtld may not open enough files for an event on every CPU",
                "raise LimitNOFILE= of mtld.service (or ulimit -n)"},
        {ENFILE, ALWAYS, "the system may not open more files", "raise fs.file-max"},
        {ENOMEM, ALWAYS, "the kernel has no memory for another event", ""},
        {ENOSYS, ALWAYS, "this kernel has no performance events",
                "use a kernel with CONFIG_PERF_EVENTS=y (Debian's have it)"},
        {ESRCH, ALWAYS, "the process has ended", ""},
        {EEXIST, ALWAYS, "the event has a BPF program already", ""},
        {EPROTO, ALWAYS, "the kernel cannot run a BPF program on this precise event", ""},
};

static bool has_capability(unsigned capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[capability / 32].effective & (1U << capability % 32);
}

void perf_situation(const struct pmu_machine *machine, struct perf_situation *ret_situation)
{
	*ret_situation = (struct perf_situation){
	        .paranoid = machine->paranoid,
	        .confidential = !strcmp(machine->lockdown, "confidentiality"),
	        .virtual_machine = machine->hypervisor,
	        .admin = has_capability(CAP_SYS_ADMIN),
	        .perfmon = has_capability(CAP_SYS_ADMIN) || has_capability(CAP_PERFMON),
	};
}

static unsigned conditions(const struct pmu_event *event, const struct perf_situation *situation)
{
	return (proc_paranoid_wants_admin(situation->paranoid) ? PARANOID_3 : 0) |
	       (situation->admin ? 0 : NOT_ADMIN) | (situation->perfmon ? 0 : NOT_PERFMON) |
	       (situation->confidential ? CONFIDENTIAL : 0) |
	       (situation->virtual_machine ? VIRTUAL : 0) | (event->attr.precise_ip ? PRECISE : 0) |
	       (event->kind == PMU_IBS_OP ? IBS : 0);
}

void perf_explain(int error, const struct pmu_event *event, const struct perf_situation *situation,
        char *ret_reason, size_t reason_size, char *ret_fix, size_t fix_size)
{
	unsigned holds = conditions(event, situation);
	const struct row *row = rows, *end = rows + sizeof(rows) / sizeof(rows[0]);

	while (row < end && (row->error != -error || (row->when & ~holds)))
		row++;
	snprintf(ret_reason, reason_size, "%s: %s", event->name,
	        row < end ? row->reason : strerror(-error));
	snprintf(ret_fix, fix_size, "%s", row < end ? row->fix : "");
}
