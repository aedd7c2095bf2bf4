// SPDX-License-Identifier: MIT
/*
 * Armers: one thread a CPU, pinned, at real-time priority.
 *
 * An armer sleeps until a moment of its own Poisson schedule in wall time. When it wakes it has
 * preempted whatever ran on its CPU; if that was a tracked process in the middle of its work, the
 * moment counts for that process. Poisson moments that are kept only while the process runs are
 * Poisson moments in its CPU time (thinning), so every instant of its running time is equally
 * likely, and nothing it does (traps, ends of watches, going to sleep) can choose one.
 *
 * At such a moment the process is off its CPU: the slots are set without any interrupt and go live
 * together when the armer sleeps again. A hit is written to the ring of the CPU it happened on; the
 * armer waiting there preempts the thread and turns the slot off before it can trap again.
 *
 * A watch occupies its process until its deadline, whether it was hit early or not: the next moment
 * that may count is thereby independent of what was seen. The deadline was drawn with the line.
 *
 * One lock (priority-inheriting) guards the targets; it is never held across anything slow.
 */
#include "sampler.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"

#define NEVER UINT64_MAX
#define STACK_BYTES (128 * 1024)

/* The watch under way. */
struct flight {
	bool armed;
	struct candidate candidate;
	uint64_t moment, wall;      /* process clock and CLOCK_MONOTONIC at arming */
	uint64_t busy_until;        /* process clock: the process is occupied until then */
	uint64_t touched[MTL_SLOTS]; /* process clock; NEVER: not yet */
	unsigned pending;           /* slots still on, bit mask */
	unsigned cpu;               /* whose armer sees to the deadline */
	uint64_t switches;          /* of the process at arming */
	unsigned naps;              /* deadline checks in a row that found the process asleep */
};

struct target {
	bool used, paused, close_between;
	uint32_t index;
	struct watch watch;
	pid_t *tids;
	unsigned n_tids;
	double pace;
	struct candidate queue[SAMPLER_QUEUE];
	unsigned head, queued;
	struct flight flight;
	struct mtl_observation finished[SAMPLER_FINISHED];
	unsigned n_finished;
	uint64_t observations;
	struct sampler_counts counts;
};

struct armer {
	struct sampler *sampler;
	unsigned cpu;
	pthread_t thread;
	bool running;
	clockid_t cpu_clock;
	struct hit_ring *ring;
	int wake_fd;
	double pace;     /* moments a second */
	uint64_t moment; /* CLOCK_MONOTONIC */
	unsigned short random[3];
};

struct sampler {
	struct source *source;
	pthread_mutex_t lock;
	bool stop, realtime;
	enum watch_method method;
	double shift_ns;
	struct armer *armers;
	unsigned n_armers;
	struct target *targets[MTL_PROCESSES_MAX];
	unsigned n_targets; /* no target at or above this index */
};

static void lock(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->lock);
}

static void unlock(struct sampler *sampler)
{
	pthread_mutex_unlock(&sampler->lock);
}

static struct mtl_process *process_of(struct sampler *sampler, const struct target *target)
{
	return source_process(sampler->source, target->index);
}

/* ---- one watch ---- */

static void publish(struct sampler *sampler, struct target *target, const struct candidate *candidate)
{
	struct mtl_process *process = process_of(sampler, target);

	process->sequence++;
	process->hits = 0;
	process->watched_page = candidate->address[0] >> MTL_PAGE_SHIFT;
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		process->slot_address[slot] = slot < candidate->slots ? candidate->address[slot] : 0;
	process->slots_on = candidate->slots;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void unpublish(struct mtl_process *process)
{
	process->slots_on = 0;
	process->watched_page = 0;
	memset(process->slot_address, 0, sizeof(process->slot_address));
}

static float touched_seconds(const struct sampler *sampler, const struct flight *flight, unsigned slot)
{
	double ns;

	if (flight->touched[slot] == NEVER)
		return INFINITY;
	ns = (double)flight->touched[slot] - (double)flight->moment - sampler->shift_ns;
	if (ns > (double)flight->candidate.deadline_ns)
		return INFINITY;
	return ns > 0 ? ns / 1e9 : 0;
}

static void record(struct sampler *sampler, struct target *target)
{
	const struct flight *flight = &target->flight;
	struct mtl_observation *observation;

	if (target->n_finished == SAMPLER_FINISHED) {
		target->counts.lost++;
		return;
	}
	observation = &target->finished[target->n_finished++];
	*observation = (struct mtl_observation){
		.moment = flight->moment / 1e9,
		.deadline = flight->candidate.deadline_ns / 1e9,
		.weight = flight->candidate.weight,
		.wall = flight->wall / 1e9,
		.slots = flight->candidate.slots,
		.whole_line = flight->candidate.whole_line,
		.sequence = target->observations++,
	};
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		observation->touched[slot] = touched_seconds(sampler, flight, slot);
}

static void close_events(struct sampler *sampler, struct target *target)
{
	watch_close(&target->watch);
	process_of(sampler, target)->slots_open = 0;
}

static void land(struct sampler *sampler, struct target *target, bool keep)
{
	struct mtl_process *process = process_of(sampler, target);

	if (!target->flight.armed)
		return;
	watch_disarm(&target->watch);
	if (process->reborn == process->sequence)
		target->counts.reborn++;
	target->counts.armed_switches += process->switches - target->flight.switches;
	unpublish(process);
	target->flight.armed = false;
	if (keep)
		record(sampler, target);
	if (target->close_between)
		close_events(sampler, target);
}

static int open_events(struct sampler *sampler, struct target *target)
{
	int r = 0, error = -ESRCH;

	for (unsigned i = 0; i < target->n_tids; i++) {
		if (watch_has_thread(&target->watch, target->tids[i]))
			continue;
		r = watch_add_thread(&target->watch, target->tids[i]);
		if (r < 0)
			error = r;
		if (r == -ENOSPC || r == -EMFILE)
			break;
	}
	process_of(sampler, target)->slots_open = target->watch.n_threads ? target->watch.slots : 0;
	return target->watch.n_threads && r != -ENOSPC ? 0 : error;
}

static bool launch(struct armer *armer, struct target *target)
{
	struct sampler *sampler = armer->sampler;
	struct flight *flight = &target->flight;
	struct candidate candidate = target->queue[target->head];
	int r = target->watch.n_threads ? 0 : open_events(sampler, target);

	if (candidate.slots > target->watch.slots)
		candidate.slots = target->watch.slots;
	if (r >= 0) {
		publish(sampler, target, &candidate);
		r = watch_arm(&target->watch, candidate.address, candidate.slots);
	}
	target->counts.error = r;
	target->head = (target->head + 1) % SAMPLER_QUEUE;
	target->queued--;
	if (r < 0) {
		watch_disarm(&target->watch);
		unpublish(process_of(sampler, target));
		target->counts.refused++;
		return false;
	}
	*flight = (struct flight){
		.armed = true,
		.candidate = candidate,
		.moment = source_clock(sampler->source, target->index),
		.wall = source_now(),
		.pending = (1U << candidate.slots) - 1,
		.cpu = armer->cpu,
		.switches = process_of(sampler, target)->switches,
	};
	flight->busy_until = flight->moment + candidate.deadline_ns;
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		flight->touched[slot] = NEVER;
	target->counts.arms++;
	return true;
}

static void on_hit(void *userdata, const struct mtl_hit *hit)
{
	struct armer *armer = userdata;
	struct sampler *sampler = armer->sampler;
	struct target *target = sampler->targets[hit->process];
	struct mtl_process *process = source_process(sampler->source, hit->process);

	if (!target || !target->flight.armed || hit->sequence != process->sequence ||
		!(target->flight.pending & (1U << hit->slot)))
		return;
	watch_disarm_slot(&target->watch, hit->slot);
	process->slots_on--;
	target->flight.pending &= ~(1U << hit->slot);
	target->counts.hits++;
	if (!hit->reborn)
		target->flight.touched[hit->slot] = hit->clock;
	if (!target->flight.pending)
		land(sampler, target, true);
}

/* ---- the armer's day ---- */

static void draw_moment(struct armer *armer)
{
	double gap = -log1p(-erand48(armer->random)) / armer->pace;

	armer->moment = armer->pace > 0 ? source_now() + (uint64_t)(gap * 1e9) : NEVER;
}

/* The target this armer has preempted, or NULL: whoever ran on its CPU until it was switched in, and
 * did not go to sleep by itself. */
static struct target *preempted(struct armer *armer)
{
	const struct mtl_cpu *cpu = source_cpu(armer->sampler->source, armer->cpu);

	if (!cpu->previous || !cpu->previous_runnable)
		return NULL;
	return armer->sampler->targets[cpu->previous - 1];
}

static void moment_has_come(struct armer *armer)
{
	struct target *target = preempted(armer);

	if (!target || target->paused || erand48(armer->random) * armer->pace >= target->pace)
		return;
	if (target->flight.armed ||
		source_clock(armer->sampler->source, target->index) < target->flight.busy_until)
		target->counts.busy++;
	else if (!target->queued)
		target->counts.starved++;
	else
		launch(armer, target);
}

/* Lands the watch whose deadline has passed, or says when to look again (CLOCK_MONOTONIC). */
static uint64_t see_to_deadline(struct armer *armer, struct target *target)
{
	struct sampler *sampler = armer->sampler;
	struct flight *flight = &target->flight;
	uint64_t word = process_of(sampler, target)->clock, now = source_now();
	uint64_t running = word & MTL_CLOCK_RUNNING, clock = mtl_clock_at(word, now);
	uint64_t left = flight->busy_until - clock + (uint64_t)fmax(0, sampler->shift_ns);

	if ((int64_t)left <= 0) {
		land(sampler, target, true);
		return NEVER;
	}
	flight->naps = running ? 0 : flight->naps + 1;
	if (running)
		return now + left / running + 1000;
	return now + left + (100000ULL << (flight->naps < 8 ? flight->naps : 8));
}

/* Sees to all deadlines of this armer; returns when the next one may be due. */
static uint64_t see_to_deadlines(struct armer *armer)
{
	uint64_t next = NEVER;

	for (unsigned i = 0; i < armer->sampler->n_targets; i++) {
		struct target *target = armer->sampler->targets[i];

		if (target && target->flight.armed && target->flight.cpu == armer->cpu) {
			uint64_t due = see_to_deadline(armer, target);

			next = due < next ? due : next;
		}
	}
	return next;
}

static void doze(struct armer *armer, uint64_t until)
{
	struct pollfd fds[] = {
		{.fd = hit_ring_fd(armer->ring), .events = POLLIN},
		{.fd = armer->wake_fd, .events = POLLIN},
	};
	uint64_t now = source_now(), wait = until > now ? until - now : 0, drained;
	struct timespec timeout = {.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};

	ppoll(fds, 2, until == NEVER ? NULL : &timeout, NULL);
	if (fds[1].revents & POLLIN)
		(void)!read(armer->wake_fd, &drained, sizeof(drained));
}

static void take_place(struct armer *armer)
{
	struct sched_param parameter = {.sched_priority = 1};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(armer->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (!armer->sampler->realtime || sched_setscheduler(0, SCHED_FIFO, &parameter) < 0)
		setpriority(PRIO_PROCESS, syscall(SYS_gettid), -20);
}

static void *armer_run(void *argument)
{
	struct armer *armer = argument;
	struct sampler *sampler = armer->sampler;

	take_place(armer);
	lock(sampler);
	draw_moment(armer);
	while (!sampler->stop) {
		uint64_t due;

		hit_ring_consume(armer->ring);
		due = see_to_deadlines(armer);
		unlock(sampler);
		doze(armer, due < armer->moment ? due : armer->moment);
		lock(sampler);
		if (source_now() >= armer->moment) {
			moment_has_come(armer);
			draw_moment(armer);
		}
	}
	unlock(sampler);
	return NULL;
}

/* ---- from the main thread ---- */

static int start_armer(struct sampler *sampler, unsigned cpu)
{
	struct armer *armer = &sampler->armers[cpu];
	pthread_attr_t attr;
	int r;

	*armer = (struct armer){.sampler = sampler, .cpu = cpu, .moment = NEVER};
	armer->random[0] = source_now();
	armer->random[1] = source_now() >> 16;
	armer->random[2] = cpu * 7919;
	armer->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (armer->wake_fd < 0)
		return -errno;
	r = source_hit_ring_new(sampler->source, cpu, on_hit, armer, &armer->ring);
	if (r < 0)
		return r;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = -pthread_create(&armer->thread, &attr, armer_run, armer);
	pthread_attr_destroy(&attr);
	if (r < 0)
		return r;
	armer->running = true;
	pthread_getcpuclockid(armer->thread, &armer->cpu_clock);
	return 0;
}

static bool realtime_allowed(void)
{
	struct sched_param fifo = {.sched_priority = 1}, other = {0};

	if (sched_setscheduler(0, SCHED_FIFO, &fifo) < 0)
		return false;
	sched_setscheduler(0, SCHED_OTHER, &other);
	return true;
}

DEFINE_CLEANUP(struct sampler, sampler_free)

int sampler_new(struct source *source, bool realtime, struct sampler **ret_sampler)
{
	_cleanup_(sampler_freep) struct sampler *sampler = calloc(1, sizeof(*sampler));
	pthread_mutexattr_t attr;
	cpu_set_t set;

	if (!sampler)
		return -ENOMEM;
	sampler->source = source;
	sampler->realtime = realtime && realtime_allowed();
	sampler->method = sampler->realtime ? WATCH_OWN_CPU : WATCH_ONE_SHOT;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&sampler->lock, &attr);
	sampler->n_armers = sysconf(_SC_NPROCESSORS_CONF);
	if (sampler->n_armers > MTL_CPUS_MAX)
		sampler->n_armers = MTL_CPUS_MAX;
	sampler->armers = calloc(sampler->n_armers, sizeof(struct armer));
	if (!sampler->armers || sched_getaffinity(0, sizeof(set), &set) < 0)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < sampler->n_armers; cpu++) {
		int r = CPU_ISSET(cpu, &set) ? start_armer(sampler, cpu) : 0;

		if (r < 0)
			return r;
	}
	*ret_sampler = TAKE_PTR(sampler);
	return 0;
}

static void poke(struct armer *armer)
{
	uint64_t one = 1;

	(void)!write(armer->wake_fd, &one, sizeof(one));
}

struct sampler *sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return NULL;
	for (uint32_t index = 0; index < MTL_PROCESSES_MAX; index++)
		sampler_remove(sampler, index);
	lock(sampler);
	sampler->stop = true;
	unlock(sampler);
	for (unsigned cpu = 0; sampler->armers && cpu < sampler->n_armers; cpu++) {
		struct armer *armer = &sampler->armers[cpu];

		if (armer->running) {
			poke(armer);
			pthread_join(armer->thread, NULL);
		}
		if (armer->sampler)
			close(armer->wake_fd);
		hit_ring_free(armer->ring);
	}
	free(sampler->armers);
	free(sampler);
	return NULL;
}

enum watch_method sampler_method(const struct sampler *sampler)
{
	return sampler->method;
}

void sampler_set_method(struct sampler *sampler, enum watch_method method)
{
	sampler->method = method;
}

void sampler_set_shift(struct sampler *sampler, double shift_ns)
{
	lock(sampler);
	sampler->shift_ns = shift_ns;
	unlock(sampler);
}

int sampler_add(struct sampler *sampler, uint32_t index, pid_t pid, unsigned slots, unsigned length)
{
	struct target *target = calloc(1, sizeof(*target));

	(void)pid;
	if (!target)
		return -ENOMEM;
	target->used = true;
	target->index = index;
	watch_init(&target->watch, source_watch_program(sampler->source), sampler->method, slots, length);
	lock(sampler);
	sampler->targets[index] = target;
	if (index >= sampler->n_targets)
		sampler->n_targets = index + 1;
	unlock(sampler);
	return 0;
}

void sampler_remove(struct sampler *sampler, uint32_t index)
{
	struct target *target;

	lock(sampler);
	target = sampler->targets[index];
	if (target) {
		land(sampler, target, false);
		close_events(sampler, target);
		sampler->targets[index] = NULL;
	}
	unlock(sampler);
	if (target)
		free(target->tids);
	free(target);
}

static void drop_ended(struct target *target)
{
	for (unsigned i = target->watch.n_threads; i-- > 0;) {
		pid_t tid = target->watch.threads[i].tid;
		bool alive = false;

		for (unsigned j = 0; j < target->n_tids && !alive; j++)
			alive = target->tids[j] == tid;
		if (!alive)
			watch_remove_thread(&target->watch, tid);
	}
}

int sampler_threads(struct sampler *sampler, uint32_t index, const pid_t *tids, unsigned n)
{
	pid_t *copy = malloc(n * sizeof(*tids) + 1);
	struct target *target;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, tids, n * sizeof(*tids));
	lock(sampler);
	target = sampler->targets[index];
	free(target->tids);
	target->tids = copy;
	target->n_tids = n;
	target->counts.threads = n;
	drop_ended(target);
	if (!target->paused && (!target->close_between || target->flight.armed))
		r = open_events(sampler, target);
	target->counts.slots = target->watch.slots;
	if (r < 0)
		target->counts.error = r;
	unlock(sampler);
	return r;
}

void sampler_pause(struct sampler *sampler, uint32_t index, bool paused)
{
	struct target *target;

	lock(sampler);
	target = sampler->targets[index];
	if (paused && !target->paused) {
		land(sampler, target, false);
		close_events(sampler, target);
	}
	target->paused = paused;
	unlock(sampler);
}

void sampler_forget(struct sampler *sampler, uint32_t index)
{
	struct target *target;

	lock(sampler);
	target = sampler->targets[index];
	land(sampler, target, false);
	close_events(sampler, target);
	target->queued = 0;
	target->n_finished = 0;
	unlock(sampler);
}

void sampler_set_pace(struct sampler *sampler, uint32_t index, double arms_per_cpu_second,
	bool close_between)
{
	struct target *target;

	lock(sampler);
	target = sampler->targets[index];
	target->pace = arms_per_cpu_second;
	target->close_between = close_between;
	if (close_between && !target->flight.armed)
		close_events(sampler, target);
	unlock(sampler);
}

unsigned sampler_room(struct sampler *sampler, uint32_t index)
{
	return SAMPLER_QUEUE - sampler->targets[index]->queued;
}

int sampler_offer(struct sampler *sampler, uint32_t index, const struct candidate *candidate)
{
	struct target *target;
	int r = -ENOBUFS;

	lock(sampler);
	target = sampler->targets[index];
	if (target->queued < SAMPLER_QUEUE) {
		target->queue[(target->head + target->queued) % SAMPLER_QUEUE] = *candidate;
		target->queued++;
		r = 0;
	}
	unlock(sampler);
	return r;
}

void sampler_drop_candidates(struct sampler *sampler, uint32_t index)
{
	lock(sampler);
	sampler->targets[index]->queued = 0;
	unlock(sampler);
}

unsigned sampler_take(struct sampler *sampler, uint32_t index, struct mtl_observation *ret_observations,
	unsigned n)
{
	struct target *target;

	lock(sampler);
	target = sampler->targets[index];
	n = n < target->n_finished ? n : target->n_finished;
	memcpy(ret_observations, target->finished, n * sizeof(*ret_observations));
	target->n_finished -= n;
	memmove(target->finished, target->finished + n, target->n_finished * sizeof(*ret_observations));
	unlock(sampler);
	return n;
}

void sampler_counts(struct sampler *sampler, uint32_t index, struct sampler_counts *ret_counts)
{
	const struct mtl_process *process = source_process(sampler->source, index);

	lock(sampler);
	*ret_counts = sampler->targets[index]->counts;
	unlock(sampler);
	ret_counts->switches = process->switches;
	ret_counts->traps = process->traps;
	ret_counts->stray_traps = process->stray_traps;
	ret_counts->lost += process->lost;
	ret_counts->faults = process->faults;
	ret_counts->cpu_ns = source_clock(sampler->source, index);
}

static bool may_run_on(const struct mtl_process *process, const struct target *target, unsigned cpu)
{
	return target->n_tids > 1 || process->cpu == cpu || process->cpu == MTL_CPU_UNKNOWN;
}

static double pace_of_cpu(struct sampler *sampler, unsigned cpu)
{
	double pace = 0;

	for (unsigned i = 0; i < sampler->n_targets; i++) {
		struct target *target = sampler->targets[i];

		if (target && !target->paused && target->pace > pace &&
			may_run_on(process_of(sampler, target), target, cpu))
			pace = target->pace;
	}
	return pace;
}

void sampler_pace_cpus(struct sampler *sampler)
{
	lock(sampler);
	for (unsigned cpu = 0; cpu < sampler->n_armers; cpu++) {
		struct armer *armer = &sampler->armers[cpu];
		double pace = pace_of_cpu(sampler, cpu);

		if (!armer->running || pace == armer->pace)
			continue;
		armer->pace = pace;
		draw_moment(armer);
		poke(armer);
	}
	unlock(sampler);
}

double sampler_cpu_seconds(struct sampler *sampler)
{
	double seconds = 0;

	for (unsigned cpu = 0; cpu < sampler->n_armers; cpu++) {
		struct timespec used;

		if (sampler->armers[cpu].running && !clock_gettime(sampler->armers[cpu].cpu_clock, &used))
			seconds += used.tv_sec + used.tv_nsec / 1e9;
	}
	return seconds;
}
