// SPDX-License-Identifier: MIT
/*
 * From a machine to its events. For each core PMU the first of these that knows the processor:
 *
 *   the table of microarchitectures      events by their documented codes
 *   libpfm4 (this machine only)          the same events by their names
 *   sysfs                                mem-loads and mem-stores as the kernel spells them
 *
 * and, where the table does not know it, counts by the kernel's own generic cache events. IBS needs
 * no table: its PMU is one event, whose format sysfs gives. Periods are primes near those of
 * Intel's lists.
 */
#include "pmu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "pmu_format.h"
#include "pmu_libpfm.h"
#include "pmu_table.h"
#include "sample_period.h"

#define EVENTS_MAX 40
#define PRECISE_USUAL 2

/* IBS: the kernel's least period is 0x90 since Linux 6.15, 0x10 before (arch/x86/events/amd/ibs.c).
 */
#define IBS_STEP 16
#define IBS_LEAST 0x90

struct list {
	const struct pmu_machine *machine;
	struct pmu_event events[EVENTS_MAX];
	unsigned n;
};

static const uint64_t periods[] = {
        [PMU_LOADS] = 200003,
        [PMU_STORES] = 100003,
        [PMU_LOAD_MISSES] = 20011,
        [PMU_IBS_OP] = IBS_STEP * 16411,
        [PMU_PAGE_FAULTS] = 1,
};

static struct pmu_event *add(
        struct list *list, enum pmu_event_kind kind, const char *name, const char *source)
{
	struct pmu_event *event = &list->events[list->n];
	bool sampled = pmu_event_is_sampled(kind);

	if (list->n == EVENTS_MAX)
		return NULL;
	list->n++;
	*event = (struct pmu_event){
	        .name = name,
	        .kind = kind,
	        .cpus = list->machine->online,
	        .period_step = 1,
	        .least_period = 1,
	        .source = source,
	        .attr = {.size = sizeof(event->attr), .disabled = 1},
	};
	if (sampled) {
		event->attr.sample_type = PERF_SAMPLE_ADDR;
		event->attr.sample_period = periods[kind];
		event->attr.wakeup_events = 1;
	}
	return event;
}

/* --- core PMUs */

static struct pmu_event *add_core(struct list *list, const struct pmu *pmu,
        enum pmu_event_kind kind, const char *name, const char *source)
{
	bool sampled = pmu_event_is_sampled(kind);
	struct pmu_event *event;

	if (sampled && pmu->max_precise == 0)
		return NULL;
	event = add(list, kind, name, source);
	if (!event)
		return NULL;
	strcpy(event->pmu, pmu->name);
	event->cpus = pmu->cpus;
	event->attr.type = pmu->type;
	event->attr.exclude_kernel = 1;
	event->attr.exclude_hv = 1;
	if (sampled)
		event->attr.precise_ip = pmu->max_precise > 0 && pmu->max_precise < PRECISE_USUAL
		                                 ? pmu->max_precise
		                                 : PRECISE_USUAL;
	event->data_src_tells_misses = kind == PMU_STORES;
	return event;
}

static void add_from_table(struct list *list, const struct pmu *pmu, const struct pmu_codes *codes)
{
	for (const struct pmu_code *code = codes->codes; code->name; code++) {
		struct pmu_event *event =
		        add_core(list, pmu, code->kind, code->name, codes->source);

		if (event)
			event->attr.config = code->config;
	}
}

/* The same event has had two names: micro-operations before Skylake and on E cores, then
 * instructions. */
static const struct {
	enum pmu_event_kind kind;
	const char *name;
} libpfm_names[] = {
        {PMU_LOADS, "MEM_INST_RETIRED:ALL_LOADS"},
        {PMU_LOADS, "MEM_UOPS_RETIRED:ALL_LOADS"},
        {PMU_STORES, "MEM_INST_RETIRED:ALL_STORES"},
        {PMU_STORES, "MEM_UOPS_RETIRED:ALL_STORES"},
        {PMU_LOAD_MISSES, "MEM_LOAD_RETIRED:L1_MISS"},
        {PMU_LOAD_MISSES, "MEM_LOAD_UOPS_RETIRED:L1_MISS"},
};

/* True when it knew the loads: without them the rest is of no use. */
static bool add_from_libpfm(struct list *list, const struct pmu *pmu)
{
	bool known[PMU_PAGE_FAULTS] = {false};

	if (list->machine->vendor != PMU_INTEL || strcmp(pmu->name, "cpu") != 0 ||
	        (list->machine->dump && !getenv("LIBPFM_FORCE_PMU")))
		return false;
	for (size_t i = 0; i < sizeof(libpfm_names) / sizeof(libpfm_names[0]); i++) {
		enum pmu_event_kind kind = libpfm_names[i].kind;
		uint64_t config, config1;
		struct pmu_event *event;

		if (known[kind] || pmu_libpfm_encode(libpfm_names[i].name, &config, &config1) < 0)
			continue;
		known[kind] = true;
		event = add_core(list, pmu, kind, libpfm_names[i].name, "libpfm4");
		if (event) {
			event->attr.config = config;
			event->attr.config1 = config1;
		}
	}
	return known[PMU_LOADS];
}

static const char *alias(const struct pmu *pmu, const char *name)
{
	for (unsigned i = 0; i < pmu->n_aliases; i++)
		if (!strcmp(pmu->aliases[i].name, name))
			return pmu->aliases[i].terms;
	return NULL;
}

static struct pmu_event *add_alias(
        struct list *list, const struct pmu *pmu, enum pmu_event_kind kind, const char *name)
{
	const char *terms = alias(pmu, name);
	struct perf_event_attr encoded = {0};
	struct pmu_event *event;

	if (!terms || pmu_encode(pmu, terms, &encoded) < 0)
		return NULL;
	event = add_core(list, pmu, kind, name, "sysfs: events/ and format/ of the PMU");
	if (!event)
		return NULL;
	event->attr.config = encoded.config;
	event->attr.config1 = encoded.config1;
	event->attr.config2 = encoded.config2;
	event->data_src_tells_misses = true;
	return event;
}

static void add_from_sysfs(struct list *list, const struct pmu *pmu)
{
	struct pmu_event *loads = add_alias(list, pmu, PMU_LOADS, "mem-loads");
	const char *leader = alias(pmu, "mem-loads-aux");

	if (loads && leader) {
		loads->leader = (struct perf_event_attr){.size = sizeof(loads->leader),
		        .type = pmu->type,
		        .disabled = 1,
		        .exclude_kernel = 1,
		        .exclude_hv = 1};
		loads->needs_aux_leader = pmu_encode(pmu, leader, &loads->leader) == 0;
	}
	add_alias(list, pmu, PMU_STORES, "mem-stores");
}

#define CACHE(level, op, result)                                                                   \
	(PERF_COUNT_HW_CACHE_##level | PERF_COUNT_HW_CACHE_OP_##op << 8 |                          \
	        PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct pmu_code generic[] = {
        {PMU_COUNT_LOADS, "L1-dcache-loads", CACHE(L1D, READ, ACCESS)},
        {PMU_COUNT_STORES, "L1-dcache-stores", CACHE(L1D, WRITE, ACCESS)},
        {PMU_COUNT_L1_MISSES, "L1-dcache-load-misses", CACHE(L1D, READ, MISS)},
        {PMU_COUNT_LLC_MISSES, "LLC-load-misses", CACHE(LL, READ, MISS)},
        {0},
};

/* AMD's kernel driver has one event for both (amd_hw_cache_event_ids_f17h), and none for the LLC.
 */
static const struct pmu_code generic_amd[] = {
        {PMU_COUNT_ACCESSES, "L1-dcache-loads", CACHE(L1D, READ, ACCESS)},
        {PMU_COUNT_L1_MISSES, "L1-dcache-load-misses", CACHE(L1D, READ, MISS)},
        {0},
};

static void add_generic(struct list *list, const struct pmu *pmu)
{
	bool hybrid = strcmp(pmu->name, "cpu") != 0;
	const struct pmu_code *code = list->machine->vendor == PMU_AMD ? generic_amd : generic;

	for (; code->name; code++) {
		struct pmu_event *event = add_core(list, pmu, code->kind, code->name,
		        "the kernel's generic cache events (perf_event_open(2))");

		if (!event)
			return;
		event->attr.type = PERF_TYPE_HW_CACHE;
		event->attr.config = code->config | (hybrid ? (uint64_t)pmu->type << 32 : 0);
	}
}

static void add_core_pmu(struct list *list, const struct pmu *pmu)
{
	const struct pmu_codes *codes = pmu_codes_of(list->machine, pmu->name);

	if (codes) {
		add_from_table(list, pmu, codes);
		return;
	}
	if (!add_from_libpfm(list, pmu))
		add_from_sysfs(list, pmu);
	add_generic(list, pmu);
}

/* --- the others */

/* Counts dispatched micro-operations where the processor can (cnt_ctl); cycles are biased to what
 * waits. No exclude bits: the PMU refuses them. */
static void add_ibs(struct list *list, const struct pmu *pmu)
{
	struct pmu_event *event = add(list, PMU_IBS_OP, "ibs_op",
	        "Linux arch/x86/events/amd/ibs.c; sysfs: format/cnt_ctl");

	if (!event)
		return;
	strcpy(event->pmu, pmu->name);
	event->cpus = pmu->cpus;
	event->attr.type = pmu->type;
	pmu_encode(pmu, "cnt_ctl=1", &event->attr);
	event->period_step = IBS_STEP;
	event->least_period = IBS_LEAST;
	event->data_src_tells_misses = true;
}

static void add_page_faults(struct list *list)
{
	struct pmu_event *event = add(list, PMU_PAGE_FAULTS, "page-faults", "perf_event_open(2)");

	if (!event)
		return;
	strcpy(event->pmu, "software");
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	event->attr.exclude_kernel = 1;
}

/* Kernel mode left out, the event interrupts the program itself, and its registers are whole. */
struct pmu_event pmu_task_clock(double rate)
{
	struct pmu_event event = {
	        .name = "task-clock",
	        .kind = PMU_TASK_CLOCK,
	        .pmu = "software",
	        .attr =
	                {
	                        .type = PERF_TYPE_SOFTWARE,
	                        .size = sizeof(event.attr),
	                        .config = PERF_COUNT_SW_TASK_CLOCK,
	                        .exclude_idle = 1,
	                        .disabled = 1,
	                        .wakeup_events = 1,
	                },
	        .period_step = 1,
	        .least_period = 100000,
	        .source = "perf_event_open(2)",
	};

	memset(&event.cpus, 0xff, sizeof(event.cpus));
	event.attr.sample_period = sample_period_near(&event, 1e9 / rate);
	return event;
}

/* By kind; PMUs keep their order. */
static void copy_in_order(const struct list *list, struct pmu_event *ret_events)
{
	for (int kind = PMU_LOADS; kind <= PMU_COUNT_LLC_MISSES; kind++)
		for (unsigned i = 0; i < list->n; i++)
			if ((int)list->events[i].kind == kind)
				*ret_events++ = list->events[i];
}

int pmu_events(const struct pmu_machine *machine, struct pmu_event **ret_events, unsigned *ret_n)
{
	_cleanup_free_ struct list *list = calloc(1, sizeof(*list));
	struct pmu_event *events;

	if (!list)
		return -ENOMEM;
	list->machine = machine;
	for (unsigned i = 0; i < machine->n_pmus; i++) {
		const struct pmu *pmu = &machine->pmus[i];

		if (pmu_is_core(pmu))
			add_core_pmu(list, pmu);
		else if (!strcmp(pmu->name, "ibs_op"))
			add_ibs(list, pmu);
	}
	add_page_faults(list);
	events = malloc(list->n * sizeof(*events));
	if (!events)
		return -ENOMEM;
	copy_in_order(list, events);
	*ret_events = events;
	*ret_n = list->n;
	return 0;
}
