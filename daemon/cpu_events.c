// SPDX-License-Identifier: MIT
/*
 * The same event on every CPU.
 *
 * Programs are attached by a link, which carries the cookie and leaves the event off until it is
 * turned on. An event of a CPU that goes offline is dead for good, also when the CPU comes back;
 * such a one is known by its clock, which stands still.
 *
 * Samples due are events counted / period, added up between changes of the period; each beginning
 * leaves up to one sample over, and of a software event the kernel ends the old period before it
 * begins with the new one. What the kernel throttles it does not count, so throttling is read from
 * the records it writes: a ring of one page an event, in which nothing else appears, for the
 * program keeps every sample from it.
 */
#include "cpu_events.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"
#include "machine.h"
#include "perf_open.h"
#include "pmu_format.h"

struct cpu_event {
	struct perf_opened opened;
	int link;
	struct perf_event_mmap_page *notices; /* NULL: throttling cannot be seen */
	struct perf_reading latest;
};

struct cpu_events {
	struct pmu_event event;
	int program, array; /* -1: the other it is */
	uint64_t first;     /* cookie or key of CPU 0 */
	struct cpu_events_counts counts;
	double enabled_ns, running_ns; /* since the look before */
	struct cpu_event cpu[CPU_SETSIZE];
};

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static int new_events(const struct pmu_event *event, int program, int array, uint64_t first,
        struct cpu_events **ret_events)
{
	struct cpu_events *events = calloc(1, sizeof(*events));

	if (!events)
		return -ENOMEM;
	events->event = *event;
	events->program = program;
	events->array = array;
	events->first = first;
	events->counts.period = event->attr.sample_period;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
		events->cpu[cpu] = (struct cpu_event){.opened = PERF_OPENED_NONE, .link = -1};
	*ret_events = events;
	return 0;
}

int cpu_events_new(const struct pmu_event *event, int program, uint64_t first_cookie,
        struct cpu_events **ret_events)
{
	return new_events(event, program, -1, first_cookie, ret_events);
}

int cpu_events_new_counted(const struct pmu_event *event, int array, uint32_t first_key,
        struct cpu_events **ret_events)
{
	return new_events(event, -1, array, first_key, ret_events);
}

static bool is_open(const struct cpu_event *cpu)
{
	return cpu->opened.fd >= 0;
}

/* ---- reading ---- */

static uint64_t count_throttles(struct perf_event_mmap_page *notices)
{
	const char *data = (const char *)notices + page_size();
	uint64_t head = __atomic_load_n(&notices->data_head, __ATOMIC_ACQUIRE), throttles = 0;
	uint64_t tail = notices->data_tail;

	while (tail < head) {
		const struct perf_event_header *record =
		        (const struct perf_event_header *)(data + tail % page_size());

		throttles += record->type == PERF_RECORD_THROTTLE;
		tail += record->size;
	}
	__atomic_store_n(&notices->data_tail, tail, __ATOMIC_RELEASE);
	return throttles;
}

/* Whether the event is alive. */
static bool take_reading(struct cpu_events *events, struct cpu_event *cpu)
{
	struct cpu_events_counts *counts = &events->counts;
	struct perf_reading now, before = cpu->latest;

	if (cpu->notices)
		counts->throttles += count_throttles(cpu->notices);
	if (perf_read(cpu->opened.fd, &now) < 0)
		return false;
	if (counts->period)
		counts->due += (now.count - before.count) / (double)counts->period;
	events->enabled_ns += now.enabled - before.enabled;
	events->running_ns += now.running - before.running;
	cpu->latest = now;
	return now.enabled > before.enabled;
}

/* ---- opening and closing ---- */

static void close_cpu(struct cpu_events *events, struct cpu_event *cpu)
{
	uint32_t key = events->first + (cpu - events->cpu);

	if (is_open(cpu) && events->array >= 0)
		bpf_map_delete_elem(events->array, &key);
	if (cpu->notices)
		munmap(cpu->notices, 2 * page_size());
	if (cpu->link >= 0)
		close(cpu->link);
	events->counts.cpus -= is_open(cpu);
	perf_close(&cpu->opened);
	*cpu = (struct cpu_event){.opened = PERF_OPENED_NONE, .link = -1};
}

static int link_program(const struct cpu_events *events, struct cpu_event *cpu, unsigned number)
{
	DECLARE_LIBBPF_OPTS(
	        bpf_link_create_opts, options, .perf_event.bpf_cookie = events->first + number);
	void *notices =
	        mmap(NULL, 2 * page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, cpu->opened.fd, 0);

	cpu->notices = notices == MAP_FAILED ? NULL : notices;
	cpu->link = bpf_link_create(events->program, cpu->opened.fd, BPF_PERF_EVENT, &options);
	return cpu->link < 0 ? cpu->link : 0;
}

static int enter_array(const struct cpu_events *events, struct cpu_event *cpu, unsigned number)
{
	uint32_t key = events->first + number;

	return bpf_map_update_elem(events->array, &key, &cpu->opened.fd, BPF_ANY);
}

static int attach(const struct cpu_events *events, struct cpu_event *cpu, unsigned number)
{
	int leader = cpu->opened.leader;
	int r = events->array >= 0 ? enter_array(events, cpu, number)
	                           : link_program(events, cpu, number);

	if (r < 0)
		return r;
	return ioctl(leader >= 0 ? leader : cpu->opened.fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno
	                                                                                  : 0;
}

static int open_cpu(struct cpu_events *events, unsigned number)
{
	struct cpu_event *cpu = &events->cpu[number];
	struct pmu_event event = events->event;
	int r;

	event.attr.sample_period = events->counts.period;
	r = perf_open(&event, number, &cpu->opened);
	if (r < 0)
		return r;
	events->counts.cpus++;
	events->counts.precise = cpu->opened.precise;
	events->counts.slack++;
	r = attach(events, cpu, number);
	if (r < 0)
		close_cpu(events, cpu);
	return r;
}

/* A CPU that is just gone, or was never said to have this event, may refuse it. */
static bool matters(const struct cpu_events *events, unsigned cpu, int error)
{
	return error < 0 && error != -ENODEV && CPU_ISSET(cpu, &events->event.cpus);
}

int cpu_events_follow(struct cpu_events *events, const cpu_set_t *online)
{
	int result = 0;

	events->enabled_ns = events->running_ns = 0;
	for (unsigned number = 0; number < CPU_SETSIZE; number++) {
		struct cpu_event *cpu = &events->cpu[number];
		bool wanted = CPU_ISSET(number, online);
		int r = 0;

		if (is_open(cpu) && (!take_reading(events, cpu) || !wanted))
			close_cpu(events, cpu);
		if (wanted && !is_open(cpu))
			r = open_cpu(events, number);
		if (result == 0 && matters(events, number, r))
			result = r;
	}
	events->counts.starved =
	        events->enabled_ns > 0 ? 1 - events->running_ns / events->enabled_ns : 0;
	return result;
}

void cpu_events_close(struct cpu_events *events)
{
	for (unsigned number = 0; number < CPU_SETSIZE; number++) {
		struct cpu_event *cpu = &events->cpu[number];

		if (is_open(cpu))
			take_reading(events, cpu);
		close_cpu(events, cpu);
	}
}

struct cpu_events *cpu_events_free(struct cpu_events *events)
{
	if (!events)
		return NULL;
	cpu_events_close(events);
	free(events);
	return NULL;
}

/* ---- period ---- */

/* What came between the two readings may have been sampled with either period: fewer samples count
 * as due, so that none is missed that never was. */
static int change_period(struct cpu_events *events, struct cpu_event *cpu, uint64_t period)
{
	uint64_t old = events->counts.period;
	int r;

	take_reading(events, cpu);
	r = ioctl(cpu->opened.fd, PERF_EVENT_IOC_PERIOD, &period) < 0 ? -errno : 0;
	events->counts.period = old > period ? old : period;
	take_reading(events, cpu);
	events->counts.period = old;
	events->counts.slack += 1 + old / period;
	return r;
}

static int change_periods(struct cpu_events *events, uint64_t period)
{
	int r = 0;

	for (unsigned number = 0; number < CPU_SETSIZE && r >= 0; number++)
		if (is_open(&events->cpu[number]))
			r = change_period(events, &events->cpu[number], period);
	return r;
}

int cpu_events_set_period(struct cpu_events *events, uint64_t period)
{
	int r = change_periods(events, period);

	if (r < 0)
		change_periods(events, events->counts.period);
	else
		events->counts.period = period;
	return r;
}

void cpu_events_online(cpu_set_t *ret_cpus)
{
	char text[1024];

	if (machine_line("/sys/devices/system/cpu/online", text, sizeof(text)) &&
	        pmu_cpu_list(text, ret_cpus) == 0)
		return;
	CPU_ZERO(ret_cpus);
	for (long cpu = sysconf(_SC_NPROCESSORS_CONF); cpu-- > 0;)
		CPU_SET(cpu, ret_cpus);
}

void cpu_events_counts(const struct cpu_events *events, struct cpu_events_counts *ret_counts)
{
	*ret_counts = events->counts;
}
