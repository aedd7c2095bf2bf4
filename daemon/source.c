// SPDX-License-Identifier: MIT
/*
 * BPF objects, maps and rings.
 *
 * Every object declares the same maps; the first one loaded creates them and the others are given
 * their descriptors, so that all programs and mtld share one set. State is in memory-mapped arrays:
 * reading a process's clock is a load, not a system call. Everything hangs on descriptors: when
 * mtld dies, however, the kernel detaches and frees it all.
 */
#include "source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "cpu_events.h"
#include "task_times.h"
#include "address_sample.skel.h"
#include "instruction_sample.skel.h"
#include "page_birth.skel.h"
#include "process_clock.skel.h"
#include "process_count.skel.h"
#include "process_life.skel.h"
#include "watch_hit.skel.h"

#define SLOTS_BYTES (sizeof(struct mtl_event_slot) * MTL_EVENTS * MTL_CPUS_MAX)
#define COUNTS_BYTES (sizeof(struct mtl_counts) * MTL_PROCESSES_MAX)
#define LIFE_TURN 8192 /* records delivered by one call at most: a full ring */

struct source {
	struct process_clock_bpf *clock;
	struct watch_hit_bpf *hit;
	struct process_life_bpf *life;
	struct page_birth_bpf *birth;
	struct address_sample_bpf *address; /* NULL: no samples are taken */
	struct instruction_sample_bpf *instruction; /* likewise */
	struct process_count_bpf *count; /* NULL: nothing is counted */
	struct bpf_link *count_link;
	bool sees_levels;
	struct mtl_process *processes;
	struct mtl_cpu *cpus;
	struct mtl_costs *costs;
	uint64_t *directory;
	struct mtl_event_slot *slots;
	struct mtl_counts *counts;
	struct ring_buffer *life_ring;
	source_life_fn life_callback;
	void *life_userdata;
	unsigned life_delivered;
	struct bpf_link *links[4];
	struct cpu_events *faults;
	unsigned ring_bytes;
	uint64_t latest[MTL_PROCESSES_MAX]; /* readings of the clocks, 64 bits */
};

static int quiet(enum libbpf_print_level level, const char *format, va_list arguments)
{
	if (level == LIBBPF_WARN && getenv("MTLD_DEBUG_BPF"))
		return vfprintf(stderr, format, arguments);
	return 0;
}

static int explain(char *ret_error, size_t size, int r, const char *what)
{
	static const struct {
		int error;
		const char *hint;
	} hints[] = {
		{EPERM, "not permitted"},
		{EACCES, "refused by the kernel's verifier or a security module"},
		{ENOENT, "the kernel lacks type information or a tracepoint (needs "
			 "/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)"},
		{ESRCH, "the kernel lacks type information (needs /sys/kernel/btf/vmlinux, "
			"CONFIG_DEBUG_INFO_BTF)"},
		{ENOSYS, "this kernel has no bpf() system call"},
		{EINVAL, "refused by the kernel, as in a container on one that is locked down "
			 "(confidentiality)"},
		{ENOMEM, "out of memory, or RLIMIT_MEMLOCK too low"},
	};

	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (hints[i].error == -r) {
			snprintf(ret_error, size, "%s: %s", what, hints[i].hint);
			return r;
		}
	snprintf(ret_error, size, "%s: %s", what, strerror(-r));
	return r;
}

/* Gives every map of `object` the descriptor of the first object's map of the same name. */
static int share_maps(struct source *source, struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) {
		struct bpf_map *shared = bpf_object__find_map_by_name(
			source->clock->obj, bpf_map__name(map));
		int r;

		if (!shared || bpf_map__is_internal(map))
			continue;
		r = bpf_map__reuse_fd(map, bpf_map__fd(shared));
		if (r < 0)
			return r;
	}
	return 0;
}

static int map_memory(struct bpf_map *map, size_t size, void **ret_memory)
{
	long page = sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, (size + page - 1) / page * page, PROT_READ | PROT_WRITE, MAP_SHARED,
		bpf_map__fd(map), 0);

	if (memory == MAP_FAILED)
		return -errno;
	*ret_memory = memory;
	return 0;
}

/* With the look at what lies behind the context, or where that is forbidden, without. */
static int load_address_program(struct source *source)
{
	int r = 0;

	for (int look = 1; look >= 0; look--) {
		source->address = address_sample_bpf__open();
		if (!source->address)
			return -errno;
		source->sees_levels = source->address->rodata->can_look = look;
		r = share_maps(source, source->address->obj);
		if (r >= 0)
			r = address_sample_bpf__load(source->address);
		if (r >= 0)
			return 0;
		address_sample_bpf__destroy(source->address);
		source->address = NULL;
	}
	return r;
}

/* The kernel's own pid namespace has this number (PROC_PID_INIT_INO) everywhere. */
static bool pid_namespace_is_nested(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) < 0 || st.st_ino != 0xEFFFFFFCU;
}

static int load_objects(struct source *source, char *ret_error, size_t error_size)
{
	int r;

	source->clock = process_clock_bpf__open();
	source->hit = watch_hit_bpf__open();
	source->life = process_life_bpf__open();
	source->birth = page_birth_bpf__open();
	if (!source->clock || !source->hit || !source->life || !source->birth)
		return explain(ret_error, error_size, -errno, "cannot open the BPF objects");
	source->life->rodata->nested = pid_namespace_is_nested();
	r = process_clock_bpf__load(source->clock);
	if (r < 0)
		return explain(ret_error, error_size, r, "cannot load the BPF process clock");
	if ((r = share_maps(source, source->hit->obj)) < 0 ||
		(r = share_maps(source, source->life->obj)) < 0 ||
		(r = share_maps(source, source->birth->obj)) < 0)
		return explain(ret_error, error_size, r, "cannot share BPF maps");
	if ((r = watch_hit_bpf__load(source->hit)) < 0 ||
		(r = process_life_bpf__load(source->life)) < 0 ||
		(r = page_birth_bpf__load(source->birth)) < 0)
		return explain(ret_error, error_size, r, "cannot load the BPF programs");
	return 0;
}

static int map_objects(struct source *source, char *ret_error, size_t error_size)
{
	struct process_clock_bpf *clock = source->clock;
	int r;

	if ((r = map_memory(clock->maps.processes, sizeof(struct mtl_process) * MTL_PROCESSES_MAX,
		     (void **)&source->processes)) < 0 ||
		(r = map_memory(clock->maps.cpus, sizeof(struct mtl_cpu) * MTL_CPUS_MAX,
			 (void **)&source->cpus)) < 0 ||
		(r = map_memory(clock->maps.directory, sizeof(uint64_t) * MTL_DIRECTORY,
			 (void **)&source->directory)) < 0 ||
		(r = map_memory(clock->maps.event_slots, SLOTS_BYTES, (void **)&source->slots)) < 0 ||
		(r = map_memory(clock->maps.counts, COUNTS_BYTES, (void **)&source->counts)) < 0 ||
		(r = map_memory(clock->maps.costs, sizeof(struct mtl_costs),
			 (void **)&source->costs)) < 0)
		return explain(ret_error, error_size, r, "cannot map BPF memory");
	return 0;
}

DEFINE_CLEANUP(struct source, source_free)

int source_new(unsigned ring_bytes, struct source **ret_source, char *ret_error, size_t error_size)
{
	_cleanup_(source_freep) struct source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return -ENOMEM;
	source->ring_bytes = ring_bytes;
	libbpf_set_print(quiet);
	r = load_objects(source, ret_error, error_size);
	if (r >= 0)
		r = map_objects(source, ret_error, error_size);
	if (r < 0)
		return r;
	*ret_source = TAKE_PTR(source);
	return 0;
}

struct source *source_free(struct source *source)
{
	if (!source)
		return NULL;
	source_detach(source);
	ring_buffer__free(source->life_ring);
	if (source->processes)
		munmap(source->processes, sizeof(struct mtl_process) * MTL_PROCESSES_MAX);
	if (source->cpus)
		munmap(source->cpus, sizeof(struct mtl_cpu) * MTL_CPUS_MAX);
	if (source->costs)
		munmap(source->costs, sizeof(struct mtl_costs));
	if (source->directory)
		munmap(source->directory, sizeof(uint64_t) * MTL_DIRECTORY);
	if (source->slots)
		munmap(source->slots, SLOTS_BYTES);
	if (source->counts)
		munmap(source->counts, COUNTS_BYTES);
	process_clock_bpf__destroy(source->clock);
	watch_hit_bpf__destroy(source->hit);
	process_life_bpf__destroy(source->life);
	page_birth_bpf__destroy(source->birth);
	address_sample_bpf__destroy(source->address);
	instruction_sample_bpf__destroy(source->instruction);
	process_count_bpf__destroy(source->count);
	free(source);
	return NULL;
}

/* Every page fault; on any CPU, so that the first refusal of one counts. */
static int open_fault_events(struct source *source)
{
	struct pmu_event event = {
		.name = "page-faults",
		.kind = PMU_PAGE_FAULTS,
		.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_PAGE_FAULTS,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_ADDR,
		},
	};
	cpu_set_t online;
	int r;

	memset(&event.cpus, 0xff, sizeof(event.cpus));
	r = cpu_events_new(&event, bpf_program__fd(source->birth->progs.page_birth), 0, &source->faults);
	if (r < 0)
		return r;
	cpu_events_online(&online);
	return cpu_events_follow(source->faults, &online);
}

void source_follow_cpus(struct source *source)
{
	cpu_set_t online;

	if (!source->faults)
		return;
	cpu_events_online(&online);
	cpu_events_follow(source->faults, &online);
}

int source_attach(struct source *source)
{
	struct bpf_program *programs[] = {
		source->clock->progs.process_clock,
		source->life->progs.process_fork,
		source->life->progs.process_exec,
		source->life->progs.process_exit,
	};

	if (source->links[1])
		return 0;
	/* What ran when the programs were detached was never switched out. */
	memset(source->cpus, 0, sizeof(struct mtl_cpu) * MTL_CPUS_MAX);
	memset(source->directory, 0, sizeof(uint64_t) * MTL_DIRECTORY);
	memset(source->processes, 0, sizeof(struct mtl_process) * MTL_PROCESSES_MAX);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		source->links[i] = bpf_program__attach(programs[i]);
		if (!source->links[i]) {
			int r = -errno;

			source_detach(source);
			return r;
		}
	}
	return open_fault_events(source);
}

void source_detach(struct source *source)
{
	for (size_t i = 0; i < sizeof(source->links) / sizeof(source->links[0]); i++) {
		bpf_link__destroy(source->links[i]);
		source->links[i] = NULL;
	}
	bpf_link__destroy(source->count_link);
	source->count_link = NULL;
	source->faults = cpu_events_free(source->faults);
}

void source_clock_stop(struct source *source)
{
	bpf_link__destroy(source->links[0]);
	source->links[0] = NULL;
	bpf_link__destroy(source->count_link);
	source->count_link = NULL;
	memset(source->cpus, 0, sizeof(struct mtl_cpu) * MTL_CPUS_MAX);
}

int source_clock_start(struct source *source)
{
	if (source->links[0])
		return 0;
	memset(source->cpus, 0, sizeof(struct mtl_cpu) * MTL_CPUS_MAX);
	source->links[0] = bpf_program__attach(source->clock->progs.process_clock);
	return source->links[0] ? 0 : -errno;
}

void source_clock_set(struct source *source, uint32_t index, uint64_t ns)
{
	__atomic_store_n(&source->processes[index].clock, ns << MTL_CLOCK_SHIFT, __ATOMIC_RELEASE);
}

int source_switch_programs(const struct source *source, int ret_fds[2])
{
	ret_fds[0] = bpf_program__fd(source->clock->progs.process_clock);
	ret_fds[1] = source->count ? bpf_program__fd(source->count->progs.process_count) : -1;
	return source->count ? 2 : 1;
}

int source_count(struct source *source, unsigned kinds)
{
	int r;

	source->count = process_count_bpf__open();
	if (!source->count)
		return -errno;
	source->count->rodata->kinds = kinds;
	r = share_maps(source, source->count->obj);
	if (r >= 0)
		r = process_count_bpf__load(source->count);
	if (r < 0) {
		process_count_bpf__destroy(source->count);
		source->count = NULL;
	}
	return r;
}

/* What ran when the program was detached was never switched out. */
static int forget_slices(struct source *source)
{
	struct bpf_map *slices = source->count->maps.slices;
	_cleanup_free_ void *none =
		calloc(libbpf_num_possible_cpus(), (bpf_map__value_size(slices) + 7) / 8 * 8);
	uint32_t zero = 0;

	if (!none)
		return -ENOMEM;
	return bpf_map_update_elem(bpf_map__fd(slices), &zero, none, BPF_ANY);
}

int source_count_attach(struct source *source)
{
	int r;

	if (!source->count || source->count_link)
		return 0;
	r = forget_slices(source);
	if (r < 0)
		return r;
	source->count_link = bpf_program__attach(source->count->progs.process_count);
	return source->count_link ? 0 : -errno;
}

int source_counters(const struct source *source)
{
	return bpf_map__fd(source->clock->maps.counters);
}

const struct mtl_counts *source_counts(const struct source *source, uint32_t index)
{
	return &source->counts[index];
}

void source_set_visit_part(struct source *source, uint32_t index, uint32_t part)
{
	source->counts[index].visit_part = part;
}

int source_resolve(struct source *source, pid_t pid, uint32_t *ret_tgid)
{
	union bpf_iter_link_info info = {.task.pid = pid};
	DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info,
		.link_info_len = sizeof(info));
	struct bpf_link *link =
		bpf_program__attach_iter(source->life->progs.resolve_task, &options);
	_cleanup_close_ int fd = -1;
	struct mtl_task task;
	ssize_t n;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	n = fd < 0 ? -errno : read(fd, &task, sizeof(task));
	if (n < 0)
		n = -errno;
	bpf_link__destroy(link);
	if (n < 0)
		return n;
	if (n < (ssize_t)sizeof(task))
		return -ESRCH;
	*ret_tgid = task.tgid;
	return 0;
}

int source_task_times(struct source *source, struct mtl_task_time **ret_times, size_t *ret_n)
{
	return task_times_read(source->life->progs.time_tasks, ret_times, ret_n);
}

static void enter_directory(struct source *source, uint32_t tgid, uint32_t index)
{
	uint64_t *entry = &source->directory[tgid % MTL_DIRECTORY];

	*entry = *entry ? MTL_DIRECTORY_SHARED : (index + 1ULL) << 32 | tgid;
}

int source_track(struct source *source, uint32_t tgid, uint32_t index)
{
	memset(&source->processes[index], 0, sizeof(struct mtl_process));
	source->processes[index].cpu = MTL_CPU_UNKNOWN;
	memset(&source->counts[index], 0, sizeof(struct mtl_counts));
	source->latest[index] = 0;
	if (bpf_map_update_elem(bpf_map__fd(source->clock->maps.tracked), &tgid, &index, BPF_ANY) < 0)
		return -errno;
	enter_directory(source, tgid, index);
	return 0;
}

int source_untrack(struct source *source, uint32_t tgid)
{
	uint64_t *entry = &source->directory[tgid % MTL_DIRECTORY];

	if (*entry != MTL_DIRECTORY_SHARED) /* a shared entry stays so: the map knows better */
		*entry = 0;
	if (bpf_map_delete_elem(bpf_map__fd(source->clock->maps.tracked), &tgid) < 0)
		return -errno;
	return 0;
}

struct mtl_process *source_process(struct source *source, uint32_t index)
{
	return &source->processes[index];
}

struct mtl_cpu *source_cpu(struct source *source, unsigned cpu)
{
	return &source->cpus[cpu];
}

struct mtl_costs *source_costs(struct source *source)
{
	return source->costs;
}

int source_watch_program(const struct source *source)
{
	return bpf_program__fd(source->hit->progs.watch_hit);
}

int source_address_program(struct source *source)
{
	int r = source->address ? 0 : load_address_program(source);

	return r < 0 ? r : bpf_program__fd(source->address->progs.address_sample);
}

/* Likewise with a look at the kernel's code. */
static int load_instruction_program(struct source *source)
{
	int r = 0;

	for (int look = 1; look >= 0; look--) {
		source->instruction = instruction_sample_bpf__open();
		if (!source->instruction)
			return -errno;
		source->instruction->rodata->can_look = look;
		r = share_maps(source, source->instruction->obj);
		if (r >= 0)
			r = instruction_sample_bpf__load(source->instruction);
		if (r >= 0)
			return 0;
		instruction_sample_bpf__destroy(source->instruction);
		source->instruction = NULL;
	}
	return r;
}

int source_instruction_program(struct source *source)
{
	int r = source->instruction ? 0 : load_instruction_program(source);

	return r < 0 ? r : bpf_program__fd(source->instruction->progs.instruction_sample);
}

struct mtl_event_slot *source_event_slots(struct source *source)
{
	return source->slots;
}

int source_hit_rings(const struct source *source, unsigned *ret_bytes)
{
	*ret_bytes = source->ring_bytes;
	return bpf_map__fd(source->clock->maps.hit_rings);
}

int source_address_rings(const struct source *source)
{
	return bpf_map__fd(source->clock->maps.address_rings);
}

bool source_sees_levels(const struct source *source)
{
	return source->sees_levels;
}

uint64_t source_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

uint64_t source_clock(struct source *source, uint32_t index)
{
	uint64_t word = __atomic_load_n(&source->processes[index].clock, __ATOMIC_ACQUIRE);
	uint64_t latest = __atomic_load_n(&source->latest[index], __ATOMIC_RELAXED);

	latest += mtl_clock_between(latest, mtl_clock_at(word, source_now()));
	__atomic_store_n(&source->latest[index], latest, __ATOMIC_RELAXED);
	return (int64_t)latest > 0 ? latest : 0; /* costs taken off it may exceed its first moments */
}

static int on_life(void *context, void *data, size_t size)
{
	struct source *source = context;

	if (size >= sizeof(struct mtl_life))
		source->life_callback(source->life_userdata, data);
	/* A flood must not keep the caller for ever. */
	return ++source->life_delivered % LIFE_TURN ? 0 : -EAGAIN;
}

int source_life_open(struct source *source, source_life_fn callback, void *userdata)
{
	source->life_callback = callback;
	source->life_userdata = userdata;
	source->life_ring = ring_buffer__new(bpf_map__fd(source->clock->maps.life_ring), on_life,
		source, NULL);
	return source->life_ring ? 0 : -errno;
}

int source_life_fd(const struct source *source)
{
	return ring_buffer__epoll_fd(source->life_ring);
}

int source_life_consume(struct source *source)
{
	return ring_buffer__consume(source->life_ring);
}
