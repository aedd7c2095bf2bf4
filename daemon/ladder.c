// SPDX-License-Identifier: MIT
/*
 * Judging the ladder, in two steps: what the files of the machine promise, and, on this machine,
 * whether a trial keeps the promise. A reason names what was found (a file, an event, a count), a
 * fix what an operator can do about it.
 */
#include "ladder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "perf_open.h"
#include "proc.h"

#define NOT_TRIED "by what its files say, not tried"

#define GAIN_ADDRESSES                                                                             \
	"addresses of sampled accesses, by which small hot sets of big processes are found at "    \
	"once, true miss ratios, and reuse times at misses to check curves by (never yet run on "  \
	"hardware)"

static const struct {
	const char *name, *gain;
	bool proven;
} descriptions[N_RUNGS] = {
        [RUNG_PEBS] = {"pebs", GAIN_ADDRESSES, false},
        [RUNG_IBS] = {"ibs", GAIN_ADDRESSES, false},
        [RUNG_COUNTERS] = {"counters",
                "true miss ratios: misses per memory access (never yet run on hardware)", false},
        [RUNG_WATCHPOINTS] = {"watchpoints", "miss curves, in misses per second", true},
        [RUNG_NONE] = {"none", "", true},
};

enum rung_index ladder_rung_named(const char *name)
{
	for (int i = 0; i < RUNG_NONE; i++)
		if (!strcmp(descriptions[i].name, name))
			return i;
	return N_RUNGS;
}

__attribute__((format(printf, 4, 5))) static void judge(
        struct rung *rung, bool works, const char *fix, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(rung->reason, sizeof(rung->reason), format, arguments);
	va_end(arguments);
	snprintf(rung->fix, sizeof(rung->fix), "%s", fix);
	rung->works = works;
}

__attribute__((format(printf, 2, 3))) static void add_reason(
        struct rung *rung, const char *format, ...)
{
	size_t length = strlen(rung->reason);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(rung->reason + length, sizeof(rung->reason) - length, format, arguments);
	va_end(arguments);
}

static const char *where(const struct pmu_machine *machine)
{
	return machine->dump ? "there" : "here";
}

/* --- what the files promise */

/* "Intel family 6 model 143 (Sapphire Rapids)" */
static const char *processor(const struct pmu_machine *machine, char *ret_text, size_t size)
{
	static const char *const vendors[] = {"another vendor's", "Intel", "AMD"};
	const char *name = pmu_microarchitecture(machine);
	int n = snprintf(ret_text, size, "%s family %u model %u", vendors[machine->vendor],
	        machine->family, machine->model);

	if (name)
		snprintf(ret_text + n, size - n, " (%s)", name);
	return ret_text;
}

/* The most precise level that any core PMU offers, -1: unknown; -2: there is no core PMU. */
static int core_precise(const struct pmu_machine *machine)
{
	int most = -2;

	for (unsigned i = 0; i < machine->n_pmus; i++)
		if (pmu_is_core(&machine->pmus[i]) && machine->pmus[i].max_precise > most)
			most = machine->pmus[i].max_precise;
	return most;
}

static bool no_pmu(const struct pmu_machine *machine, struct rung *rung)
{
	if (core_precise(machine) > -2)
		return false;
	if (machine->hypervisor)
		judge(rung, false,
		        "let the hypervisor pass a virtual PMU through (KVM: -cpu host,pmu=on; "
		        "clouds: a "
		        "bare-metal or large instance), or use bare metal",
		        "no PMU here: the hypervisor offers none (no cpu in "
		        "/sys/bus/event_source/devices)");
	else
		judge(rung, false, "look for \"Performance Events\" in the kernel's log",
		        "no PMU here: the kernel shows none (no cpu in "
		        "/sys/bus/event_source/devices)");
	return true;
}

/* "MEM_INST_RETIRED.ALL_LOADS on cpu", for every PMU that has an event of that kind; false: none.
 */
static bool list_events(
        const struct ladder_facts *facts, enum pmu_event_kind kind, struct rung *rung)
{
	bool any = false;

	for (unsigned i = 0; i < facts->n_events; i++) {
		const struct pmu_event *event = &facts->events[i];

		if (event->kind != kind)
			continue;
		add_reason(rung, "%s%s on %s", any ? ", " : "", event->name, event->pmu);
		any = true;
	}
	return any;
}

static void promise_pebs(const struct ladder_facts *facts, struct rung *rung)
{
	const struct pmu_machine *machine = facts->machine;
	char text[128];

	if (machine->vendor != PMU_INTEL) {
		judge(rung, false, "", "PEBS is Intel's; this processor is %s",
		        processor(machine, text, sizeof(text)));
		*rung->gain = 0;
	} else if (no_pmu(machine, rung)) {
		return;
	} else if (core_precise(machine) == 0) {
		judge(rung, false,
		        machine->hypervisor
		                ? PMU_PEBS_IN_GUESTS
		                : "update microcode and kernel; the kernel's log says why PEBS is "
		                  "off",
		        "the PMU counts, but takes no precise samples (caps/max_precise is 0)%s",
		        machine->hypervisor ? ", as in most virtual machines" : "");
	} else {
		judge(rung, true, "", "samples loads with their addresses: ");
		if (!list_events(facts, PMU_LOADS, rung))
			judge(rung, false, "use a newer mtld, libpfm4 or kernel",
			        "no load event is known for %s: not in mtld's table, libpfm4 or "
			        "sysfs "
			        "(mem-loads)",
			        processor(machine, text, sizeof(text)));
	}
}

static void promise_ibs(const struct ladder_facts *facts, struct rung *rung)
{
	const struct pmu_machine *machine = facts->machine;
	char text[128];

	if (machine->vendor != PMU_AMD) {
		judge(rung, false, "", "IBS is AMD's; this processor is %s",
		        processor(machine, text, sizeof(text)));
		*rung->gain = 0;
	} else if (pmu_named(machine, "ibs_op")) {
		judge(rung, true, "", "samples operations with their addresses: ibs_op");
	} else if (machine->hypervisor) {
		judge(rung, false, "use bare metal: few hypervisors pass IBS through",
		        "no IBS here: the hypervisor does not pass it through (no ibs_op in "
		        "/sys/bus/event_source/devices)");
	} else {
		judge(rung, false,
		        "switch IBS on in the firmware; use a kernel with CONFIG_PERF_EVENTS=y",
		        "no IBS here: the kernel shows no ibs_op in /sys/bus/event_source/devices");
	}
}

static void promise_counters(const struct ladder_facts *facts, struct rung *rung)
{
	char text[128];

	if (no_pmu(facts->machine, rung))
		return;
	judge(rung, true, "", "counts accesses: ");
	if (!list_events(facts, PMU_COUNT_LOADS, rung) &&
	        !list_events(facts, PMU_COUNT_ACCESSES, rung))
		judge(rung, false, "use a newer mtld", "no counter of accesses is known for %s",
		        processor(facts->machine, text, sizeof(text)));
}

/* What keeps mtld from the machine of a dump altogether, by its files. */
static bool unfit(const struct pmu_machine *machine, struct rung *rung)
{
	const unsigned *kernel = machine->kernel;

	if (machine->foreign)
		judge(rung, false, "",
		        "not x86-64, and mtl supports nothing else: /proc/cpuinfo names neither "
		        "vendor "
		        "nor family");
	else if (kernel[0] && (kernel[0] < 6 || (kernel[0] == 6 && kernel[1] < 1)))
		judge(rung, false, "use Linux 6.1 or later",
		        "its kernel is Linux %u.%u, and mtld is made for 6.1 and later", kernel[0],
		        kernel[1]);
	else if (machine->no_types)
		judge(rung, false,
		        "use a kernel with CONFIG_DEBUG_INFO_BTF=y (Debian's kernels have it)",
		        "the kernel offers no type information (/sys/kernel/btf/vmlinux is "
		        "missing)");
	else
		return false;
	return true;
}

static void promise_watchpoints(const struct ladder_facts *facts, struct rung *rung)
{
	const struct ladder_outcome *outcome = facts->watchpoints;

	if (outcome)
		judge(rung, outcome->works, outcome->fix, "%s", outcome->reason);
	else if (unfit(facts->machine, rung))
		return;
	else if (facts->machine->hypervisor)
		judge(rung, true, "",
		        "the processor has debug registers; whether they fire under this "
		        "hypervisor only a "
		        "try tells");
	else
		judge(rung, true, "", "the processor has debug registers");
}

/* What a dump can not show: that it works, and who will run mtld there. */
static void qualify(const struct pmu_machine *machine, struct rung *rung)
{
	char reason[sizeof(rung->reason)];

	strcpy(reason, rung->reason);
	snprintf(rung->reason, sizeof(rung->reason), NOT_TRIED ": %.*s",
	        (int)(sizeof(reason) - sizeof(NOT_TRIED) - 2), reason);
	if (!rung->works)
		return;
	if (proc_paranoid_wants_admin(machine->paranoid))
		add_reason(rung,
		        "; for root or CAP_SYS_ADMIN only (kernel.perf_event_paranoid is %d)",
		        machine->paranoid);
	if (!strcmp(machine->lockdown, "confidentiality"))
		add_reason(rung, "; lockdown (confidentiality) leaves mtld what it needs outside a "
		                 "container");
}

/* --- trials */

/* The kinds of event a rung stands on: the first that a PMU has. */
static const enum pmu_event_kind foundations[][2] = {
        [RUNG_PEBS] = {PMU_LOADS, PMU_LOADS},
        [RUNG_IBS] = {PMU_IBS_OP, PMU_IBS_OP},
        [RUNG_COUNTERS] = {PMU_COUNT_LOADS, PMU_COUNT_ACCESSES},
};

/* On every PMU that has one: a hybrid machine is only as good as its worse half. */
static void try_rung(const struct ladder_facts *facts, enum rung_index index, struct rung *rung)
{
	bool first = true;

	for (unsigned i = 0; rung->works && i < facts->n_events; i++) {
		const struct pmu_event *event = &facts->events[i];
		struct ladder_outcome outcome = {0};

		if (event->kind != foundations[index][0] && event->kind != foundations[index][1])
			continue;
		facts->trial(facts->machine, event, &outcome);
		if (first || !outcome.works)
			judge(rung, outcome.works, outcome.fix, "%s", outcome.reason);
		else
			add_reason(rung, "; %s", outcome.reason);
		first = false;
	}
}

/* --- the ladder as a whole */

static void judge_pmu_rung(
        const struct ladder_facts *facts, enum rung_index index, struct ladder *ladder)
{
	struct rung *rung = &ladder->rungs[index];
	const struct rung *watchpoints = &ladder->rungs[RUNG_WATCHPOINTS];

	if (!rung->works)
		return;
	if (facts->watchpoints && facts->machine->dump)
		judge(rung, false, "leave --root out",
		        "the files under --root may be another machine's");
	else if (facts->trial && !facts->machine->dump)
		try_rung(facts, index, rung);
	if (rung->works && !watchpoints->works)
		judge(rung, false, watchpoints->fix,
		        "it needs watchpoints too, which do not work %s", where(facts->machine));
	if (rung->works && facts->unused[index])
		add_reason(rung, "; not used: %s", facts->unused[index]);
}

static void choose(const struct ladder_facts *facts, enum rung_index forced, struct ladder *ladder)
{
	enum rung_index index = forced < N_RUNGS ? forced : RUNG_PEBS;
	enum rung_index last = forced < N_RUNGS ? forced : RUNG_WATCHPOINTS;

	while (index <= last && !(ladder->rungs[index].works && !facts->unused[index]))
		index++;
	ladder->chosen = index <= last ? index : RUNG_NONE;
	ladder->decisive = index <= last ? index : last;
}

void ladder_judge(
        const struct ladder_facts *facts, enum rung_index forced, struct ladder *ret_ladder)
{
	struct ladder ladder = {0};
	struct rung *rungs = ladder.rungs;

	for (int i = 0; i < N_RUNGS; i++) {
		rungs[i].name = descriptions[i].name;
		rungs[i].proven = descriptions[i].proven;
		snprintf(rungs[i].gain, sizeof(rungs[i].gain), "%s", descriptions[i].gain);
		if (facts->unused[i])
			snprintf(rungs[i].gain, sizeof(rungs[i].gain), "%s (but %s)",
			        descriptions[i].gain, facts->unused[i]);
	}
	promise_pebs(facts, &rungs[RUNG_PEBS]);
	promise_ibs(facts, &rungs[RUNG_IBS]);
	promise_counters(facts, &rungs[RUNG_COUNTERS]);
	promise_watchpoints(facts, &rungs[RUNG_WATCHPOINTS]);
	for (int i = 0; i < RUNG_WATCHPOINTS; i++)
		judge_pmu_rung(facts, i, &ladder);
	for (int i = 0; i < RUNG_NONE && !facts->watchpoints; i++)
		qualify(facts->machine, &rungs[i]);
	for (int i = 0; i < RUNG_NONE && facts->machine->foreign; i++)
		if (unfit(facts->machine, &rungs[i]))
			*rungs[i].gain = 0;
	choose(facts, forced, &ladder);
	judge(&rungs[RUNG_NONE], true, "", "not needed");
	if (ladder.chosen == RUNG_NONE)
		judge(&rungs[RUNG_NONE], true, "", "nothing else works %s", where(facts->machine));
	*ret_ladder = ladder;
}
