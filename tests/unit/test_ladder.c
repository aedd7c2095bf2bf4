/* SPDX-License-Identifier: MIT */
/* What the ladder says of machines that are not here, and of what a trial finds on this one. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <string.h>

#include "cleanup.h"
#include "fake_machine.h"
#include "ladder.h"

static const char *const all[N_RUNGS]; /* are in use */
static struct ladder ladder;

/* What the trial says; how often it was asked, and of which events. */
static struct ladder_outcome trial_outcome;
static unsigned trials;
static enum pmu_event_kind tried[8];

static void fake_trial(const struct pmu_machine *machine, const struct pmu_event *event,
        struct ladder_outcome *ret_outcome)
{
	(void)machine;
	tried[trials++] = event->kind;
	*ret_outcome = trial_outcome;
}

/* Judges the machine under the fake root; `here`: as if it were this one. */
static void judge_as(bool here, const struct ladder_outcome *watchpoints, const char *const *unused,
        enum rung_index forced)
{
	_cleanup_free_ struct pmu_machine *machine = fake_discover();
	_cleanup_free_ struct pmu_event *events = NULL;
	struct ladder_facts facts = {
	        .machine = machine, .watchpoints = watchpoints, .trial = fake_trial};

	memcpy(facts.unused, unused, sizeof(facts.unused));
	machine->dump = !here;
	trials = 0;
	assert_int_equal(pmu_events(machine, &events, &facts.n_events), 0);
	facts.events = events;
	ladder_judge(&facts, forced, &ladder);
}

static void judge_dump(const char *name)
{
	fake_machine(name);
	judge_as(false, NULL, all, N_RUNGS);
	assert_int_equal(trials, 0);
}

static void check(enum rung_index index, bool works, const char *in_reason, const char *in_fix)
{
	const struct rung *rung = &ladder.rungs[index];

	assert_int_equal(rung->works, works);
	if (!strstr(rung->reason, in_reason))
		fail_msg("%s: \"%s\" is not in \"%s\"", rung->name, in_reason, rung->reason);
	if (in_fix ? !strstr(rung->fix, in_fix) : *rung->fix)
		fail_msg("%s: fix \"%s\"", rung->name, rung->fix);
}

static void dump_of_intel_server(void **state)
{
	(void)state;
	judge_dump("intel-server");
	check(RUNG_PEBS, true, "MEM_INST_RETIRED.ALL_LOADS on cpu", NULL);
	check(RUNG_PEBS, true, "by what its files say, not tried", NULL);
	check(RUNG_PEBS, true, "kernel.perf_event_paranoid is 3", NULL);
	check(RUNG_IBS, false, "Intel family 6 model 143 (Sapphire Rapids)", NULL);
	check(RUNG_COUNTERS, true, "MEM_INST_RETIRED.ALL_LOADS on cpu", NULL);
	check(RUNG_WATCHPOINTS, true, "debug registers", NULL);
	assert_int_equal(ladder.chosen, RUNG_PEBS);
	assert_int_equal(ladder.decisive, RUNG_PEBS);
	assert_string_equal(ladder.rungs[RUNG_IBS].gain, "");
	assert_string_not_equal(ladder.rungs[RUNG_PEBS].gain, "");
	assert_false(ladder.rungs[RUNG_PEBS].proven);
	assert_true(ladder.rungs[RUNG_WATCHPOINTS].proven);
}

static void dump_of_amd_server(void **state)
{
	(void)state;
	judge_dump("amd-server");
	check(RUNG_PEBS, false, "AMD family 25 model 17 (Zen 4)", NULL);
	check(RUNG_IBS, true, "ibs_op", NULL);
	check(RUNG_COUNTERS, true, "ls_dispatch", NULL);
	assert_int_equal(ladder.chosen, RUNG_IBS);
}

static void dump_of_hybrid_laptop(void **state)
{
	(void)state;
	judge_dump("hybrid-laptop");
	check(RUNG_PEBS, true, "ALL_LOADS on cpu_core, MEM_UOPS_RETIRED.ALL_LOADS on cpu_atom",
	        NULL);
	assert_null(strstr(ladder.rungs[RUNG_PEBS].reason, "paranoid"));
	assert_null(strstr(ladder.rungs[RUNG_PEBS].reason, "lockdown"));
	assert_int_equal(ladder.chosen, RUNG_PEBS);
}

static void dumps_of_virtual_machines(void **state)
{
	(void)state;
	judge_dump("vm-without-pmu");
	check(RUNG_IBS, false, "the hypervisor does not pass it through", "bare metal");
	check(RUNG_COUNTERS, false, "no PMU here: the hypervisor offers none", "virtual PMU");
	check(RUNG_WATCHPOINTS, true, "only a try tells", NULL);
	assert_int_equal(ladder.chosen, RUNG_WATCHPOINTS);
	fake_root_free(NULL);
	fake_root_new(NULL);
	judge_dump("vm-with-counters");
	check(RUNG_PEBS, false, "max_precise is 0", "KVM: -cpu host,migratable=no,pmu=on");
	check(RUNG_COUNTERS, true, "MEM_INST_RETIRED.ALL_LOADS on cpu", NULL);
	assert_int_equal(ladder.chosen, RUNG_COUNTERS);
}

/* Bare metal where something is off. */
static void dumps_of_crippled_machines(void **state)
{
	(void)state;
	fake_machine("intel-server");
	fake_file("sys/bus/event_source/devices/cpu/caps/max_precise", "0\n");
	fake_file("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	fake_file("proc/sys/kernel/perf_event_paranoid", "-1\n");
	judge_as(false, NULL, all, N_RUNGS);
	check(RUNG_PEBS, false, "max_precise is 0", "microcode");
	check(RUNG_COUNTERS, true, "lockdown (confidentiality)", NULL);
	assert_null(strstr(ladder.rungs[RUNG_COUNTERS].reason, "paranoid"));
	fake_processor("AuthenticAMD", 0x19, 0x11, 1);
	judge_as(false, NULL, all, N_RUNGS);
	check(RUNG_IBS, false, "no ibs_op", "firmware");
	fake_root_free(NULL);
	fake_root_new(NULL);
	fake_processor("GenuineIntel", 6, 0x8f, 1);
	judge_as(false, NULL, all, N_RUNGS);
	check(RUNG_PEBS, false, "no PMU here: the kernel shows none", "kernel's log");
	assert_int_equal(ladder.chosen, RUNG_WATCHPOINTS);
}

/* An Intel processor nobody knows falls to the counters, one of another make too. */
static void unknown_processors(void **state)
{
	(void)state;
	fake_machine("intel-server");
	fake_processor("GenuineIntel", 6, 0xf0, 1);
	judge_as(false, NULL, all, N_RUNGS);
	check(RUNG_PEBS, true, "mem-loads on cpu", NULL);
	assert_int_equal(remove(fake_path("sys/bus/event_source/devices/cpu/events/mem-loads")), 0);
	judge_as(false, NULL, all, N_RUNGS);
	check(RUNG_PEBS, false, "no load event is known for Intel family 6 model 240", "newer");
	check(RUNG_COUNTERS, true, "L1-dcache-loads on cpu", NULL);
	assert_int_equal(ladder.chosen, RUNG_COUNTERS);
	fake_processor("CentaurHauls", 7, 1, 1);
	judge_as(false, NULL, all, N_RUNGS);
	check(RUNG_PEBS, false, "another vendor's family 7 model 1", NULL);
	check(RUNG_IBS, false, "IBS is AMD's", NULL);
	assert_int_equal(ladder.chosen, RUNG_COUNTERS);
}

/* What no rung can mend. */
static void unfit_machines(void **state)
{
	(void)state;
	judge_dump("arm-server");
	check(RUNG_WATCHPOINTS, false, "not x86-64", NULL);
	check(RUNG_PEBS, false, "not x86-64", NULL);
	assert_int_equal(ladder.chosen, RUNG_NONE);
	fake_root_free(NULL);
	fake_root_new(NULL);
	fake_machine("intel-server");
	fake_file("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	judge_as(false, NULL, all, N_RUNGS);
	assert_int_equal(ladder.chosen, RUNG_PEBS);
	fake_file("proc/sys/kernel/osrelease", "6.0.12\n");
	judge_as(false, NULL, all, N_RUNGS);
	check(RUNG_WATCHPOINTS, false, "Linux 6.0", "6.1 or later");
	assert_int_equal(ladder.chosen, RUNG_NONE);
	fake_file("proc/sys/kernel/osrelease", "?\n");
	judge_as(false, NULL, all, N_RUNGS);
	assert_int_equal(ladder.chosen, RUNG_PEBS);
	fake_file("sys/kernel/btf/some_module", "");
	judge_as(false, NULL, all, N_RUNGS);
	check(RUNG_WATCHPOINTS, false, "btf/vmlinux is missing", "DEBUG_INFO_BTF");
	fake_file("sys/kernel/btf/vmlinux", "");
	judge_as(false, NULL, all, N_RUNGS);
	assert_int_equal(ladder.chosen, RUNG_PEBS);
}

static const struct ladder_outcome fire = {true, "they fire", ""};
static const struct ladder_outcome silent = {false, "they do not fire", "use bare metal"};

static void trials_decide(void **state)
{
	(void)state;
	fake_machine("hybrid-laptop");
	trial_outcome = (struct ladder_outcome){true, "seen", ""};
	judge_as(true, &fire, all, N_RUNGS);
	assert_int_equal(ladder.chosen, RUNG_PEBS);
	assert_int_equal(trials, 4); /* loads and counts of both halves */
	assert_int_equal(tried[0], PMU_LOADS);
	assert_int_equal(tried[1], PMU_LOADS);
	assert_int_equal(tried[2], PMU_COUNT_LOADS);
	assert_string_equal(ladder.rungs[RUNG_PEBS].reason, "seen; seen");

	trial_outcome = (struct ladder_outcome){false, "refused", "do this"};
	judge_as(true, &fire, all, N_RUNGS);
	assert_int_equal(trials, 2); /* the first that fails is enough */
	check(RUNG_PEBS, false, "refused", "do this");
	check(RUNG_COUNTERS, false, "refused", "do this");
	assert_int_equal(ladder.chosen, RUNG_WATCHPOINTS);
	assert_string_equal(ladder.rungs[RUNG_WATCHPOINTS].reason, "they fire");
}

/* Nothing is tried that the files do not promise. */
static void nothing_to_try(void **state)
{
	(void)state;
	fake_machine("vm-without-pmu");
	judge_as(true, &silent, all, N_RUNGS);
	assert_int_equal(trials, 0);
	assert_int_equal(ladder.chosen, RUNG_NONE);
	assert_int_equal(ladder.decisive, RUNG_WATCHPOINTS);
	check(RUNG_NONE, true, "nothing else works here", NULL);
}

/* A PMU alone does not make a curve. */
static void all_need_watchpoints(void **state)
{
	(void)state;
	fake_machine("amd-server");
	trial_outcome = (struct ladder_outcome){true, "seen", ""};
	judge_as(true, &silent, all, N_RUNGS);
	check(RUNG_IBS, false, "it needs watchpoints too", "use bare metal");
	assert_int_equal(ladder.chosen, RUNG_NONE);
}

static void what_is_not_in_use(void **state)
{
	static const char *const only_watchpoints[N_RUNGS] = {
	        [RUNG_PEBS] = "so it is", [RUNG_IBS] = "so it is", [RUNG_COUNTERS] = "so it is"};

	(void)state;
	fake_machine("amd-server");
	trial_outcome = (struct ladder_outcome){true, "seen", ""};
	judge_as(true, &fire, only_watchpoints, N_RUNGS);
	check(RUNG_IBS, true, "; not used: so it is", NULL);
	assert_int_equal(ladder.chosen, RUNG_WATCHPOINTS);
	assert_non_null(strstr(ladder.rungs[RUNG_IBS].gain, "(but so it is)"));
	judge_as(true, &fire, only_watchpoints, RUNG_IBS);
	assert_int_equal(ladder.chosen, RUNG_NONE);
	assert_int_equal(ladder.decisive, RUNG_IBS);
}

static void forced(void **state)
{
	(void)state;
	fake_machine("intel-server");
	trial_outcome = (struct ladder_outcome){true, "seen", ""};
	judge_as(true, &fire, all, RUNG_COUNTERS);
	assert_int_equal(ladder.chosen, RUNG_COUNTERS);
	judge_as(true, &fire, all, RUNG_IBS);
	assert_int_equal(ladder.chosen, RUNG_NONE);
	assert_int_equal(ladder.decisive, RUNG_IBS);
	judge_as(true, &fire, all, RUNG_WATCHPOINTS);
	assert_int_equal(ladder.chosen, RUNG_WATCHPOINTS);
}

/* mtld --root, measuring: other machines' files say nothing of this one's PMU. */
static void files_of_another_machine(void **state)
{
	(void)state;
	fake_machine("intel-server");
	judge_as(false, &fire, all, N_RUNGS);
	assert_int_equal(trials, 0);
	check(RUNG_PEBS, false, "may be another machine's", "--root");
	assert_int_equal(ladder.chosen, RUNG_WATCHPOINTS);
	assert_string_equal(ladder.rungs[RUNG_WATCHPOINTS].reason, "they fire");
}

static void names(void **state)
{
	(void)state;
	assert_int_equal(ladder_rung_named("pebs"), RUNG_PEBS);
	assert_int_equal(ladder_rung_named("watchpoints"), RUNG_WATCHPOINTS);
	assert_int_equal(ladder_rung_named("none"), N_RUNGS);
	assert_int_equal(ladder_rung_named("auto"), N_RUNGS);
	assert_int_equal(ladder_rung_named(""), N_RUNGS);
}

#define rooted(test) cmocka_unit_test_setup_teardown(test, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        rooted(dump_of_intel_server),
	        rooted(dump_of_amd_server),
	        rooted(dump_of_hybrid_laptop),
	        rooted(dumps_of_virtual_machines),
	        rooted(dumps_of_crippled_machines),
	        rooted(unknown_processors),
	        rooted(trials_decide),
	        rooted(nothing_to_try),
	        rooted(all_need_watchpoints),
	        rooted(unfit_machines),
	        rooted(what_is_not_in_use),
	        rooted(forced),
	        rooted(files_of_another_machine),
	        cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
