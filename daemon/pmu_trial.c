// SPDX-License-Identifier: MIT
/*
 * The trial of an event: this thread pins itself to one of the event's CPUs, opens it there for
 * whoever runs (IBS knows no other way on Linux 6.1) and walks over private memory, line by line;
 * for page faults the pages are given back after each round. Samples are read from the kernel's own
 * ring, without BPF: that part has a self-test of its own.
 */
#include "pmu_trial.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"
#include "perf_open.h"

#define LINE 64
#define MEMORY (1u << 20)
#define ROUNDS 8
#define ACCESSES (ROUNDS * MEMORY / LINE) /* loads, and as many stores */
#define RING_PAGES 16
#define ENOUGH 3 /* samples that are of that memory */

/* Periods that give a hundred samples or so in all. */
static const uint64_t periods[] = {
        [PMU_LOADS] = 997,
        [PMU_STORES] = 997,
        [PMU_LOAD_MISSES] = 97,
        [PMU_IBS_OP] = 16 * 499,
        [PMU_PAGE_FAULTS] = 1,
};

struct trial {
	const struct pmu_event *event;
	struct perf_opened opened;
	unsigned char *memory, *ring;
	size_t page;
	unsigned samples, good;
	struct perf_reading reading;
};

static void trial_done(struct trial *trial)
{
	if (trial->ring)
		munmap(trial->ring, (1 + RING_PAGES) * trial->page);
	if (trial->memory)
		munmap(trial->memory, MEMORY);
	perf_close(&trial->opened);
}

__attribute__((format(printf, 3, 4))) static void conclude(
        struct ladder_outcome *outcome, bool works, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(outcome->reason, sizeof(outcome->reason), format, arguments);
	va_end(arguments);
	outcome->works = works;
}

static void walk(unsigned char *memory, bool faults)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (size_t at = 0; at < MEMORY; at += LINE)
			(*(volatile unsigned char *)(memory + at))++;
		if (faults)
			madvise(memory, MEMORY, MADV_DONTNEED);
	}
}

/* Samples are a header and the address; the ring is long enough not to wrap. */
static void count_samples(struct trial *trial)
{
	const struct perf_event_mmap_page *page = (const void *)trial->ring;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = 0;

	while (at + sizeof(struct perf_event_header) <= head && head <= RING_PAGES * trial->page) {
		const struct perf_event_header *header =
		        (const void *)(trial->ring + trial->page + at);
		uint64_t address;

		if (header->type == PERF_RECORD_SAMPLE) {
			memcpy(&address, header + 1, sizeof(address));
			trial->samples++;
			trial->good += address - (uintptr_t)trial->memory < MEMORY;
		}
		at += header->size;
	}
}

static int map(struct trial *trial)
{
	trial->page = (size_t)sysconf(_SC_PAGESIZE);
	trial->memory =
	        mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (trial->memory == MAP_FAILED)
		return trial->memory = NULL, -errno;
	madvise(trial->memory, MEMORY, MADV_NOHUGEPAGE);
	if (!pmu_event_is_sampled(trial->event->kind))
		return 0;
	trial->ring = mmap(NULL, (1 + RING_PAGES) * trial->page, PROT_READ | PROT_WRITE, MAP_SHARED,
	        trial->opened.fd, 0);
	return trial->ring == MAP_FAILED ? (trial->ring = NULL, -errno) : 0;
}

static int run(struct trial *trial)
{
	int switched = trial->opened.leader >= 0 ? trial->opened.leader : trial->opened.fd;
	int r = map(trial);

	if (r < 0)
		return r;
	if (ioctl(switched, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -errno;
	walk(trial->memory, trial->event->kind == PMU_PAGE_FAULTS);
	if (ioctl(switched, PERF_EVENT_IOC_DISABLE, 0) < 0)
		return -errno;
	if (trial->ring)
		count_samples(trial);
	return perf_read(trial->opened.fd, &trial->reading);
}

/* --- what it means */

static void judge_samples(const struct trial *trial, struct ladder_outcome *outcome)
{
	const struct pmu_event *event = trial->event;

	conclude(outcome, trial->good >= ENOUGH,
	        trial->good >= ENOUGH
	                ? "%s on %s tells addresses: %u of %u samples were of memory just touched"
	                : "%s on %s opens, but tells no addresses: %u of %u samples were of memory "
	                  "just touched",
	        event->name, event->pmu, trial->good, trial->samples);
}

static void judge_count(const struct trial *trial, struct ladder_outcome *outcome)
{
	const struct pmu_event *event = trial->event;
	bool misses = event->kind >= PMU_COUNT_L1_MISSES;
	unsigned long long count = trial->reading.count;
	bool enough = count >= (misses ? 1 : ACCESSES / 2);

	if (!trial->reading.running)
		conclude(outcome, false, "%s on %s opens, but never got a counter", event->name,
		        event->pmu);
	else
		conclude(outcome, enough, "%s on %s counted %llu where %u were made%s", event->name,
		        event->pmu, count, ACCESSES, enough ? "" : ": too few");
}

static void judge_trial(const struct pmu_machine *machine, const struct trial *trial,
        struct ladder_outcome *outcome)
{
	if (pmu_event_is_sampled(trial->event->kind))
		judge_samples(trial, outcome);
	else
		judge_count(trial, outcome);
	if (!outcome->works)
		snprintf(outcome->fix, sizeof(outcome->fix), "%s",
		        machine->hypervisor ? "use bare metal: the hypervisor's PMU is not whole"
		                            : "end other profilers (perf, the NMI watchdog: sysctl "
		                              "kernel.nmi_watchdog=0); else use a newer kernel");
}

/* --- where */

static int pin(const struct pmu_event *event, cpu_set_t *ret_before)
{
	cpu_set_t possible;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(*ret_before), ret_before) < 0)
		return -errno;
	CPU_AND(&possible, ret_before, &event->cpus);
	if (CPU_COUNT(&possible) == 0)
		return -ENODEV;
	while (!CPU_ISSET(cpu, &possible))
		cpu++;
	CPU_ZERO(&possible);
	CPU_SET(cpu, &possible);
	return sched_setaffinity(0, sizeof(possible), &possible) < 0 ? -errno : cpu;
}

static void explain(const struct pmu_machine *machine, const struct pmu_event *event, int error,
        struct ladder_outcome *outcome)
{
	struct perf_situation situation;

	perf_situation(machine, &situation);
	perf_explain(error, event, &situation, outcome->reason, sizeof(outcome->reason),
	        outcome->fix, sizeof(outcome->fix));
	outcome->works = false;
}

static void try_on(const struct pmu_machine *machine, const struct pmu_event *event, int cpu,
        struct ladder_outcome *outcome)
{
	struct pmu_event quick = *event;
	_cleanup_(trial_done) struct trial trial = {.event = event, .opened = PERF_OPENED_NONE};
	int r;

	if (pmu_event_is_sampled(event->kind))
		quick.attr.sample_period = periods[event->kind];
	r = perf_open(&quick, cpu, &trial.opened);
	r = r < 0 ? r : run(&trial);
	if (r < 0)
		explain(machine, event, r, outcome);
	else
		judge_trial(machine, &trial, outcome);
}

void pmu_trial(const struct pmu_machine *machine, const struct pmu_event *event,
        struct ladder_outcome *ret_outcome)
{
	struct ladder_outcome outcome = {0};
	cpu_set_t before;
	int cpu = pin(event, &before);

	if (cpu >= 0) {
		try_on(machine, event, cpu, &outcome);
		sched_setaffinity(0, sizeof(before), &before);
	} else {
		conclude(&outcome, false, "mtld may not run on any CPU of %s", event->pmu);
		snprintf(outcome.fix, sizeof(outcome.fix), "%s",
		        "widen its CPU affinity (CPUAffinity=, AllowedCPUs=, taskset)");
	}
	*ret_outcome = outcome;
}
