// SPDX-License-Identifier: MIT
/*
 * Opening events on a kernel of our own (perf_syscall() is defined here), and what every errno is
 * said to mean in every situation that matters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "perf_open.h"
#include "perf_syscall.h"

#define LOADS_AUX 0x8203
#define LOAD_LATENCY 0x1cd

/* What the kernel of this test grants, and what it was asked last. */
static struct {
	int most_precise; /* 0: no PEBS */
	bool wants_leader;
	int error; /* of every call */
	unsigned calls;
	struct perf_event_attr member, leader;
	int leader_fd, group;
} kernel;

static int refusal(const struct perf_event_attr *attr, int group)
{
	if (kernel.error)
		return kernel.error;
	if ((int)attr->precise_ip > kernel.most_precise)
		return -EOPNOTSUPP;
	return kernel.wants_leader && attr->config == LOAD_LATENCY && group < 0 ? -ENODATA : 0;
}

int perf_syscall(const struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	int r = refusal(attr, group);

	kernel.calls++;
	assert_int_equal(pid, -1);
	assert_int_equal(cpu, 3);
	assert_int_equal(attr->size, sizeof(*attr));
	if (attr->config == LOADS_AUX)
		kernel.leader = *attr;
	else
		kernel.member = *attr, kernel.group = group;
	if (r < 0)
		return r;
	r = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (attr->config == LOADS_AUX)
		kernel.leader_fd = r;
	return r;
}

static struct pmu_event load_event(unsigned precise)
{
	return (struct pmu_event){
	        .name = "loads",
	        .kind = PMU_LOADS,
	        .attr = {.type = PERF_TYPE_RAW,
	                .config = LOAD_LATENCY,
	                .precise_ip = precise,
	                .sample_period = 100003,
	                .sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC},
	        .leader = {.type = PERF_TYPE_RAW, .config = LOADS_AUX},
	};
}

static bool is_closed(int fd)
{
	return fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

static void test_precise_level_goes_down(void **state)
{
	struct pmu_event event = load_event(3);
	struct perf_opened opened;

	(void)state;
	for (int most = 3; most >= 1; most--) {
		memset(&kernel, 0, sizeof(kernel));
		kernel.most_precise = most;
		assert_int_equal(perf_open(&event, 3, &opened), 0);
		assert_int_equal(opened.precise, most);
		assert_int_equal(kernel.member.precise_ip, most);
		assert_int_equal(kernel.calls, 4 - most);
		assert_int_equal(opened.leader, -1);
		assert_true(kernel.member.disabled);
		assert_int_equal(kernel.member.read_format,
		        PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
		perf_close(&opened);
		assert_int_equal(opened.fd, -1);
	}
}

static void test_without_precise_there_is_no_address(void **state)
{
	struct pmu_event event = load_event(3);
	struct perf_opened opened = PERF_OPENED_NONE;

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	assert_int_equal(perf_open(&event, 3, &opened), -EOPNOTSUPP);
	assert_int_equal(kernel.calls, 3);
	assert_int_equal(kernel.member.precise_ip, 1); /* 0 was not tried */
	assert_int_equal(opened.fd, -1);
	event = load_event(0); /* IBS and software events are not precise in that sense */
	assert_int_equal(perf_open(&event, 3, &opened), 0);
	perf_close(&opened);
}

static void test_auxiliary_leader(void **state)
{
	struct pmu_event event = load_event(2);
	struct perf_opened opened = PERF_OPENED_NONE;

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	kernel.most_precise = 3;
	kernel.wants_leader = true;
	assert_int_equal(perf_open(&event, 3, &opened), -ENODATA);
	event.needs_aux_leader = true;
	assert_int_equal(perf_open(&event, 3, &opened), 0);
	assert_int_equal(opened.leader, kernel.leader_fd);
	assert_int_equal(kernel.group, kernel.leader_fd);
	assert_true(kernel.leader.disabled); /* the leader is the switch */
	assert_false(kernel.member.disabled);
	assert_int_equal(kernel.leader.sample_period, 0); /* it only counts */
	perf_close(&opened);
	assert_true(is_closed(kernel.leader_fd));
}

static void test_refused_member_closes_its_leader(void **state)
{
	struct pmu_event event = load_event(1);
	struct perf_opened opened = PERF_OPENED_NONE;

	(void)state;
	memset(&kernel, 0, sizeof(kernel)); /* grants the leader, which is not precise */
	event.needs_aux_leader = true;
	assert_int_equal(perf_open(&event, 3, &opened), -EOPNOTSUPP);
	assert_true(is_closed(kernel.leader_fd));
	assert_int_equal(opened.fd, -1);
}

/* ---- what is said ---- */

static const struct perf_situation root = {.paranoid = 2, .admin = true, .perfmon = true};
static const struct perf_situation guest = {
        .paranoid = 2, .virtual_machine = true, .admin = true, .perfmon = true};
static const struct perf_situation locked = {
        .paranoid = 2, .confidential = true, .admin = true, .perfmon = true};
static const struct perf_situation perfmon_at_3 = {.paranoid = 3, .perfmon = true};
static const struct perf_situation perfmon_at_2 = {.paranoid = 2, .perfmon = true};
static const struct perf_situation nobody_at_3 = {.paranoid = 3};
static const struct perf_situation nobody = {.paranoid = 2};
static const struct perf_situation nobody_unknown = {.paranoid = INT32_MAX};

static void test_every_errno_has_its_cause(void **state)
{
	static const struct {
		int error;
		const struct perf_situation *situation;
		enum pmu_event_kind kind;
		unsigned precise;
		const char *reason, *fix; /* words of them; NULL: there is no fix */
	} cases[] = {
	        {EACCES, &perfmon_at_3, PMU_LOADS, 2, "paranoid at 3",
	                "CAP_SYS_ADMIN and CAP_SYS_PTRACE"},
	        {EACCES, &nobody_at_3, PMU_LOADS, 2, "paranoid at 3",
	                "CAP_SYS_ADMIN and CAP_SYS_PTRACE"},
	        {EACCES, &nobody, PMU_LOADS, 2, "CAP_PERFMON", "as root"},
	        {EACCES, &nobody_unknown, PMU_LOADS, 2, "CAP_PERFMON", "as root"},
	        {EACCES, &perfmon_at_2, PMU_LOADS, 2, "security module", "policy"},
	        {EACCES, &root, PMU_LOADS, 2, "security module", "policy"},
	        {EPERM, &locked, PMU_LOADS, 2, "locked down", "lockdown"},
	        {EPERM, &root, PMU_LOADS, 2, "seccomp", "seccomp profile"},
	        {EPERM, &nobody, PMU_LOADS, 2, "CAP_PERFMON", "as root"},
	        {ENOENT, &guest, PMU_LOADS, 2, "hypervisor offers no PMU", "virtual PMU"},
	        {ENOENT, &root, PMU_LOADS, 2, "no such event", NULL},
	        {ENODEV, &root, PMU_LOADS, 2, "offline", NULL},
	        {EOPNOTSUPP, &guest, PMU_LOADS, 2, "virtual machine has no precise", "pass PEBS"},
	        {EOPNOTSUPP, &root, PMU_LOADS, 2, "CPU has no precise", "microcode"},
	        {EOPNOTSUPP, &root, PMU_IBS_OP, 0, "no interrupts", "APIC"},
	        {ENODATA, &root, PMU_LOADS, 2, "mem-loads-aux", "report"},
	        {EINVAL, &root, PMU_IBS_OP, 0, "multiple of 16", "report"},
	        {EINVAL, &root, PMU_LOADS, 2, "encoding of this precise event", "newer"},
	        {EINVAL, &root, PMU_PAGE_FAULTS, 0, "encoding of this event", NULL},
	        {E2BIG, &root, PMU_LOADS, 2, "older", "newer kernel"},
	        {EBUSY, &root, PMU_LOADS, 2, "watchdog", "nmi_watchdog=0"},
	        {ENOSPC, &root, PMU_LOADS, 2, "no counter", "profiler"},
	        {EMFILE, &root, PMU_LOADS, 2, "enough files", "LimitNOFILE"},
	        {ENFILE, &root, PMU_LOADS, 2, "files", "file-max"},
	        {ENOMEM, &root, PMU_LOADS, 2, "memory", NULL},
	        {ENOSYS, &root, PMU_LOADS, 2, "no performance events", "CONFIG_PERF_EVENTS"},
	        {ESRCH, &root, PMU_LOADS, 2, "ended", NULL},
	        {EEXIST, &root, PMU_LOADS, 2, "BPF program already", NULL},
	        {EPROTO, &root, PMU_LOADS, 2, "BPF program", NULL},
	        {EXDEV, &root, PMU_LOADS, 2, "Invalid cross-device link",
	                NULL}, /* not in the table */
	};
	char reason[256], fix[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pmu_event event = load_event(cases[i].precise);

		event.kind = cases[i].kind;
		perf_explain(-cases[i].error, &event, cases[i].situation, reason, sizeof(reason),
		        fix, sizeof(fix));
		if (strncmp(reason, "loads: ", 7) != 0 || !strstr(reason, cases[i].reason) ||
		        (cases[i].fix ? !strstr(fix, cases[i].fix) : *fix))
			fail_msg("%s (case %zu): \"%s\", fix \"%s\"", strerror(cases[i].error), i,
			        reason, fix);
	}
}

static void test_situation_of_this_process(void **state)
{
	struct pmu_machine machine = {
	        .paranoid = 4, .lockdown = "confidentiality", .hypervisor = true};
	struct perf_situation situation;

	(void)state;
	perf_situation(&machine, &situation);
	assert_int_equal(situation.paranoid, 4);
	assert_true(situation.confidential && situation.virtual_machine);
	assert_true(situation.perfmon || !situation.admin);
	if (geteuid() == 0)
		assert_true(situation.admin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_precise_level_goes_down),
	        cmocka_unit_test(test_without_precise_there_is_no_address),
	        cmocka_unit_test(test_auxiliary_leader),
	        cmocka_unit_test(test_refused_member_closes_its_leader),
	        cmocka_unit_test(test_every_errno_has_its_cause),
	        cmocka_unit_test(test_situation_of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
