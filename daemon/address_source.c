// SPDX-License-Identifier: MIT
/*
 * Events of address samples, the rings they end up in, and what became of every sample.
 *
 * A ring belongs to a CPU, not to an event, and is made before the first event is opened there; it
 * stays when the CPU goes, for what it holds is still good. All rings hang on one descriptor.
 * Every event counts in slots of its own, one a CPU; sums over them are what is told. Samples that
 * never reached the program (throttled, or skipped because another program was interrupted) show
 * as those that were due by the events counted and not seen.
 */
#include "address_source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "cpu_events.h"

#define TURN 4096 /* samples delivered by one call at most */

struct address_event {
	struct pmu_event event;
	struct cpu_events *cpus;
	bool misses_only;
	int error;
	uint64_t outcomes[CODE_OUTCOMES];
	uint64_t looked_ns, seen[MTL_CPUS_MAX]; /* at the latest look */
	double rate;
};

struct address_source {
	struct source *source;
	unsigned ring_bytes;
	address_fn callback;
	code_fn code;
	void *userdata;
	struct ring_buffer *rings;
	int ring[MTL_CPUS_MAX]; /* -1: none yet */
	unsigned delivered;
	bool runs;
	struct address_event events[MTL_EVENTS];
	unsigned n_events;
};

static struct mtl_event_slot *slots_of(const struct address_source *addresses, unsigned event)
{
	return source_event_slots(addresses->source) + event * MTL_CPUS_MAX;
}

/* ---- rings ---- */

static void take_code(struct address_source *addresses, const struct mtl_instruction *sample)
{
	enum code_outcome outcome = addresses->code ? addresses->code(addresses->userdata, sample)
	                                            : CODE_WITHOUT_ADDRESS;

	if (sample->event < addresses->n_events)
		addresses->events[sample->event].outcomes[outcome]++;
}

static int on_sample(void *context, void *data, size_t size)
{
	struct address_source *addresses = context;

	if (size >= sizeof(struct mtl_instruction)) /* the two differ in size */
		take_code(addresses, data);
	else if (size >= sizeof(struct mtl_address))
		addresses->callback(addresses->userdata, data);
	/* A flood must not keep the caller for ever. */
	return ++addresses->delivered % TURN ? 0 : -EAGAIN;
}

static int join(struct address_source *addresses, int fd)
{
	if (addresses->rings)
		return ring_buffer__add(addresses->rings, fd, on_sample, addresses);
	addresses->rings = ring_buffer__new(fd, on_sample, addresses, NULL);
	return addresses->rings ? 0 : -errno;
}

static int add_ring(struct address_source *addresses, uint32_t cpu)
{
	_cleanup_close_ int fd = bpf_map_create(
	        BPF_MAP_TYPE_RINGBUF, "addresses", 0, 0, addresses->ring_bytes, NULL);
	int r = fd < 0 ? fd : join(addresses, fd);

	if (r < 0)
		return r;
	r = bpf_map_update_elem(source_address_rings(addresses->source), &cpu, &fd, BPF_ANY);
	addresses->ring[cpu] = TAKE_FD(fd);
	return r;
}

static int add_rings(struct address_source *addresses, const cpu_set_t *online)
{
	int r = 0;

	for (unsigned cpu = 0; cpu < MTL_CPUS_MAX && r >= 0; cpu++)
		if (CPU_ISSET(cpu, online) && addresses->ring[cpu] < 0)
			r = add_ring(addresses, cpu);
	return r;
}

/* ---- begin and end ---- */

DEFINE_CLEANUP(struct address_source, address_source_free)

enum mtl_accesses address_source_accesses(enum pmu_event_kind kind)
{
	static const enum mtl_accesses by_kind[PMU_TASK_CLOCK + 1] = {
	        [PMU_LOADS] = MTL_ACCESSES_ALL,
	        [PMU_STORES] = MTL_ACCESSES_ALL,
	        [PMU_IBS_OP] = MTL_ACCESSES_ADDRESSED,
	};

	return pmu_event_is_sampled(kind) ? by_kind[kind] : MTL_ACCESSES_NONE;
}

enum mtl_misses address_source_misses(const struct pmu_event *event, bool sees_levels)
{
	if (event->kind == PMU_LOAD_MISSES || event->kind == PMU_PAGE_FAULTS)
		return MTL_MISSES_ALL;
	return event->data_src_tells_misses && sees_levels ? MTL_MISSES_TOLD : MTL_MISSES_NONE;
}

static int add_event(struct address_source *addresses, const struct pmu_event *event)
{
	unsigned number = addresses->n_events;
	struct address_event *added = &addresses->events[number];
	int program = event->kind == PMU_TASK_CLOCK ? source_instruction_program(addresses->source)
	                                            : source_address_program(addresses->source);
	int r = program;

	if (r >= 0)
		r = cpu_events_new(event, program, number * MTL_CPUS_MAX, &added->cpus);
	if (r < 0)
		return r;
	added->event = *event;
	added->misses_only = event->data_src_tells_misses && source_sees_levels(addresses->source);
	memset(slots_of(addresses, number), 0, MTL_CPUS_MAX * sizeof(struct mtl_event_slot));
	for (unsigned cpu = 0; cpu < MTL_CPUS_MAX; cpu++) {
		slots_of(addresses, number)[cpu].misses_only = added->misses_only;
		slots_of(addresses, number)[cpu].accesses = address_source_accesses(event->kind);
		slots_of(addresses, number)[cpu].misses =
		        address_source_misses(event, source_sees_levels(addresses->source));
	}
	addresses->n_events++;
	return 0;
}

int address_source_new(struct source *source, const struct pmu_event *events, unsigned n,
        unsigned ring_bytes, address_fn callback, void *userdata,
        struct address_source **ret_addresses)
{
	_cleanup_(address_source_freep) struct address_source *addresses =
	        calloc(1, sizeof(*addresses));
	cpu_set_t online;
	int r;

	if (!addresses)
		return -ENOMEM;
	addresses->source = source;
	addresses->ring_bytes = ring_bytes;
	addresses->callback = callback;
	addresses->userdata = userdata;
	memset(addresses->ring, 0xff, sizeof(addresses->ring));
	for (unsigned i = 0; i < n && addresses->n_events < MTL_EVENTS; i++) {
		r = pmu_event_is_sampled(events[i].kind) ? add_event(addresses, &events[i]) : 0;

		if (r < 0)
			return r;
	}
	if (addresses->n_events == 0)
		return -EINVAL;
	cpu_events_online(&online);
	r = add_rings(addresses, &online);
	if (r < 0)
		return r;
	*ret_addresses = TAKE_PTR(addresses);
	return 0;
}

void address_source_on_code(struct address_source *addresses, code_fn callback)
{
	addresses->code = callback;
}

struct address_source *address_source_free(struct address_source *addresses)
{
	if (!addresses)
		return NULL;
	for (unsigned i = 0; i < addresses->n_events; i++)
		cpu_events_free(addresses->events[i].cpus);
	ring_buffer__free(addresses->rings);
	for (uint32_t cpu = 0; cpu < MTL_CPUS_MAX; cpu++)
		if (addresses->ring[cpu] >= 0) {
			bpf_map_delete_elem(source_address_rings(addresses->source), &cpu);
			close(addresses->ring[cpu]);
		}
	free(addresses);
	return NULL;
}

/* ---- samples ---- */

int address_source_fd(const struct address_source *addresses)
{
	return ring_buffer__epoll_fd(addresses->rings);
}

void address_source_consume(struct address_source *addresses)
{
	ring_buffer__consume(addresses->rings);
}

/* ---- events ---- */

static void look_at_rate(struct address_source *addresses, unsigned number)
{
	const struct mtl_event_slot *slots = slots_of(addresses, number);
	struct address_event *event = &addresses->events[number];
	uint64_t now = source_now(), most = 0;

	for (unsigned cpu = 0; cpu < MTL_CPUS_MAX; cpu++) {
		uint64_t came = slots[cpu].seen - event->seen[cpu];

		most = came > most ? came : most;
		event->seen[cpu] += came;
	}
	event->rate = event->looked_ns ? most / fmax((now - event->looked_ns) / 1e9, 1e-3) : 0;
	event->looked_ns = now;
}

static int follow(struct address_source *addresses)
{
	cpu_set_t online;
	int r, result;

	cpu_events_online(&online);
	result = add_rings(addresses, &online);
	for (unsigned i = 0; i < addresses->n_events; i++) {
		r = cpu_events_follow(addresses->events[i].cpus, &online);
		addresses->events[i].error = r;
		look_at_rate(addresses, i);
		result = result < 0 ? result : r;
	}
	return result;
}

int address_source_start(struct address_source *addresses)
{
	int r;

	if (addresses->runs)
		return 0;
	r = follow(addresses);
	addresses->runs = true;
	if (r < 0)
		address_source_stop(addresses);
	return r;
}

void address_source_stop(struct address_source *addresses)
{
	for (unsigned i = 0; i < addresses->n_events; i++) {
		cpu_events_close(addresses->events[i].cpus);
		addresses->events[i].looked_ns = 0;
	}
	addresses->runs = false;
}

bool address_source_runs(const struct address_source *addresses)
{
	return addresses->runs;
}

void address_source_follow(struct address_source *addresses)
{
	if (addresses->runs)
		follow(addresses);
}

int address_source_set_period(struct address_source *addresses, unsigned event, uint64_t period)
{
	return cpu_events_set_period(addresses->events[event].cpus, period);
}

/* ---- telling ---- */

unsigned address_source_events(const struct address_source *addresses)
{
	return addresses->n_events;
}

static void add_slots(const struct mtl_event_slot *slots, struct address_counts *counts)
{
	for (unsigned cpu = 0; cpu < MTL_CPUS_MAX; cpu++) {
		counts->seen += slots[cpu].seen;
		counts->foreign += slots[cpu].foreign;
		counts->zero += slots[cpu].zero;
		counts->kernel += slots[cpu].kernel;
		counts->filtered += slots[cpu].filtered;
		counts->delivered += slots[cpu].delivered;
		counts->lost += slots[cpu].lost;
	}
}

/* What the program delivered has turned out to be. */
static void add_outcomes(const struct address_event *event, struct address_counts *counts)
{
	counts->zero += event->outcomes[CODE_WITHOUT_ADDRESS];
	counts->unreadable = event->outcomes[CODE_UNREADABLE];
	counts->filtered += event->outcomes[CODE_LEFT_OUT];
	counts->delivered -= event->outcomes[CODE_WITHOUT_ADDRESS] + counts->unreadable +
	                     event->outcomes[CODE_LEFT_OUT];
}

void address_source_counts(
        const struct address_source *addresses, unsigned event, struct address_counts *ret_counts)
{
	const struct address_event *asked = &addresses->events[event];
	struct cpu_events_counts events;
	struct address_counts counts;

	cpu_events_counts(asked->cpus, &events);
	counts = (struct address_counts){
	        .event = &asked->event,
	        .cpus = events.cpus,
	        .precise = events.precise,
	        .period = events.period,
	        .misses_only = asked->misses_only,
	        .misses =
	                address_source_misses(&asked->event, source_sees_levels(addresses->source)),
	        .rate = asked->rate,
	        .due = events.due,
	        .throttles = events.throttles,
	        .starved = events.starved,
	        .error = asked->error,
	};
	add_slots(slots_of(addresses, event), &counts);
	add_outcomes(asked, &counts);
	if (asked->event.kind != PMU_TASK_CLOCK)
		counts.unseen = fmax(0, events.due - events.slack - counts.seen);
	*ret_counts = counts;
}
