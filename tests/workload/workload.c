/* SPDX-License-Identifier: MIT */
/*
 * workload: a program whose miss-ratio curve is known, to measure the instrument with.
 *
 * `workload KIND …` touches --resident bytes once and then, until --seconds or SIGTERM, works on a
 * working set of --working-set bytes that lies somewhere (by --seed) inside them. It ends with one
 * JSON line of its own accounting: accesses per second of its own CPU time, the lines it visited.
 * `workload expect KIND …` prints the closed form instead: misses per access, one line a size.
 *
 * The main thread is the first worker, so one thread means one thread. Workers look at the flags
 * and, with --progress FILE, add to the uint64 at its start, once a step (some µs), not oftener.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "workload.h"

#define HUGE_BYTES (2UL << 20)

volatile sig_atomic_t stopping;
static volatile sig_atomic_t report_due;
static struct worker workers[THREADS_MAX];
static pthread_barrier_t ready;
static uint64_t *progress;

static double clock_seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double cpu_now(void)
{
	return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

double wall_now(void)
{
	return clock_seconds(CLOCK_MONOTONIC);
}

static void on_stop(int signal)
{
	(void)signal;
	stopping = 1;
}

static void on_report(int signal)
{
	(void)signal;
	report_due = 1;
}

/* --- the other end of a ping-pong */

static void pin_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

static void __attribute__((noreturn)) peer_run(int from, int to)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

int peer_start(int *ret_to, int *ret_from)
{
	int there[2], back[2];
	pid_t pid;

	if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0)
		return -errno;
	pin_here();
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(there[1]);
		close(back[0]);
		peer_run(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	*ret_to = there[1];
	*ret_from = back[0];
	return 0;
}

/* --- running */

static uint64_t total_accesses(const struct options *options)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < options->threads; i++)
		sum += __atomic_load_n(&workers[i].accesses, __ATOMIC_RELAXED);
	return sum;
}

static void report(const struct options *options, double started)
{
	report_due = 0;
	fprintf(stderr, "{\"cpu_seconds\":%.6f,\"accesses\":%llu}\n", cpu_now() - started,
	        (unsigned long long)total_accesses(options));
}

static void run(struct worker *worker, double started)
{
	uint64_t (*step)(struct worker *) = worker->options->kind->step;

	while (!stopping) {
		uint64_t n = step(worker);
		__atomic_store_n(&worker->accesses, worker->accesses + n, __ATOMIC_RELAXED);
		if (progress)
			__atomic_fetch_add(progress, n, __ATOMIC_RELAXED);
		if (report_due && worker == workers)
			report(worker->options, started);
	}
}

static void *thread_main(void *argument)
{
	pthread_barrier_wait(&ready);
	run(argument, 0);
	return NULL;
}

/* Resident memory, aligned, with a page of real memory behind every page of it. */
static char *map_resident(uint64_t bytes)
{
	char *area = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *start;

	if (area == MAP_FAILED)
		return NULL;
	start = (char *)(((uintptr_t)area + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
	for (uint64_t i = 0; i < bytes; i += 4096)
		((volatile char *)start)[i] = 1;
	return start;
}

static uint64_t scramble(uint64_t seed)
{
	return seed * 0x9e3779b97f4a7c15;
}

static int prepare_workers(const struct options *options, char *set)
{
	uint64_t lines = options->working_set / LINE_BYTES, random = scramble(options->seed);
	uint64_t part = lines / options->threads & ~1ULL;

	for (unsigned i = 0; i < options->threads; i++) {
		struct worker *worker = &workers[i];

		worker->options = options;
		worker->lines = options->private ? part : lines;
		worker->base = (uint64_t *)(set + (options->private ? i * part * LINE_BYTES : 0));
		worker->position = options->private ? 0 : i * part;
		worker->random = random_next(&random) | 1;
		if (options->kind->prepare) {
			int r = options->kind->prepare(worker);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int open_progress(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || ftruncate(fd, 16) < 0)
		return -errno;
	progress = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return progress == MAP_FAILED ? -errno : 0;
}

static void set_signals(const struct options *options)
{
	struct sigaction stop = {.sa_handler = on_stop};
	struct sigaction tell = {.sa_handler = on_report, .sa_flags = SA_RESTART};
	struct itimerval every = {0};

	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGUSR1, &stop, NULL);
	sigaction(SIGALRM, &tell, NULL);
	signal(SIGPIPE, SIG_IGN);
	every.it_interval.tv_sec = (time_t)options->report_seconds;
	every.it_interval.tv_usec =
	        (suseconds_t)(1e6 * (options->report_seconds - (double)every.it_interval.tv_sec));
	every.it_value = every.it_interval;
	setitimer(ITIMER_REAL, &every, NULL);
}

/* A timer of its own for the end, so that reports and the end do not share SIGALRM. */
static void set_end(double seconds)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec when = {0};
	timer_t timer;

	when.it_value.tv_sec = (time_t)seconds;
	when.it_value.tv_nsec = (long)(1e9 * (seconds - (double)when.it_value.tv_sec));
	if (seconds > 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0, &when, NULL);
}

static void print_result(const struct options *options, double cpu, double wall, long switches)
{
	uint64_t accesses = total_accesses(options);
	double lines = (double)(options->working_set / LINE_BYTES);
	double visits = (double)accesses / options->kind->words_per_visit;

	printf("{\"kind\":\"%s\",\"working_set_bytes\":%llu,\"lines\":%.0f,\"resident_bytes\":%llu,"
	       "\"threads\":%u,\"seed\":%llu,\"cpu_seconds\":%.6f,\"wall_seconds\":%.6f,"
	       "\"passes\":%.3f,\"accesses\":%llu,\"accesses_per_cpu_second\":%.1f,"
	       "\"lines_touched_per_cpu_second\":%.1f,\"switches_per_second\":%.1f}\n",
	        options->kind->name, (unsigned long long)options->working_set, lines,
	        (unsigned long long)options->resident, options->threads,
	        (unsigned long long)options->seed, cpu, wall, visits / lines,
	        (unsigned long long)accesses, cpu > 0 ? (double)accesses / cpu : 0,
	        cpu > 0 ? visits / cpu : 0, (double)switches / wall);
	fflush(stdout);
}

static long switches_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static int start_threads(const struct options *options, pthread_t *ret_threads)
{
	sigset_t all, before;
	int r = 0;

	pthread_barrier_init(&ready, NULL, options->threads);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned i = 1; i < options->threads && r == 0; i++)
		r = pthread_create(&ret_threads[i], NULL, thread_main, &workers[i]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

static int run_all(const struct options *options)
{
	pthread_t threads[THREADS_MAX];
	double cpu, wall;
	long switches;
	int r = start_threads(options, threads);

	if (r < 0)
		return r;
	set_signals(options);
	set_end(options->seconds);
	pthread_barrier_wait(&ready);
	switches = switches_now();
	wall = wall_now();
	cpu = cpu_now();
	run(&workers[0], cpu);
	cpu = cpu_now() - cpu;
	wall = wall_now() - wall;
	switches = switches_now() - switches;
	for (unsigned i = 1; i < options->threads; i++)
		pthread_join(threads[i], NULL);
	print_result(options, cpu, wall, switches);
	return 0;
}

static int work(const struct options *options)
{
	uint64_t room = (options->resident - options->working_set) / LINE_BYTES;
	uint64_t random = scramble(options->seed);
	char *area = map_resident(options->resident);
	int r;

	if (!area)
		return -ENOMEM;
	if (options->progress) {
		r = open_progress(options->progress);
		if (r < 0)
			return r;
	}
	r = prepare_workers(options, area + random_next(&random) % (room + 1) * LINE_BYTES);
	return r < 0 ? r : run_all(options);
}

int main(int argc, char **argv)
{
	struct options options;
	int r;

	arguments_parse(argc, argv, &options);
	r = options.expect ? expect(&options) : work(&options);
	if (r < 0)
		fprintf(stderr, "workload: %s\n", strerror(-r));
	return r < 0;
}
