// SPDX-License-Identifier: MIT
/*
 * What being watched costs a running program: its progress in windows in which mtld tracks it
 * against windows in which it does not, in pairs next to each other and in random order, so that
 * whatever else happens on the machine meets both alike.
 *
 *     paired SOCKET PROGRESS PID PAIRS WINDOW SETTLE
 *
 * PROGRESS is the file the workload counts its accesses in. After every change mtld is given SETTLE
 * seconds, which are not measured. Prints one JSON object: the median of (1 - tracked / untracked)
 * with the 90 % interval of that median (order statistics), in how many of the tracked windows the
 * observations grew, and what mtld itself used of one core in either kind of window. On a machine of
 * one CPU mtld's main thread, whose work is not done to the target, runs in its place: there its time
 * is taken off the window, and shows in mtld's own use only.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 1000
#define REPLY_MAX 65536

struct bench {
	const char *socket;
	const volatile uint64_t *progress;
	pid_t pid, mtld;
	double window, settle;
	unsigned grown;
	double daemon_seconds[2], window_seconds[2]; /* untracked, tracked */
};

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "paired: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_seconds(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void sleep_seconds(double seconds)
{
	struct timespec nap = {.tv_sec = (time_t)seconds, .tv_nsec = fmod(seconds, 1) * 1e9};

	nanosleep(&nap, NULL);
}

/* Sends one message, returns the reply's parameters. */
static struct json_object *call(const struct bench *bench, const char *message)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	static char reply[REPLY_MAX];
	size_t n = 0;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct json_object *object, *error;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", bench->socket);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		fail(bench->socket);
	if (write(fd, message, strlen(message) + 1) < 0)
		fail("write");
	while (n < sizeof(reply) && (n == 0 || reply[n - 1])) {
		ssize_t got = read(fd, reply + n, sizeof(reply) - n);

		if (got <= 0)
			fail("read");
		n += got;
	}
	close(fd);
	object = json_tokener_parse(reply);
	if (!object || json_object_object_get_ex(object, "error", &error)) {
		fprintf(stderr, "paired: %s -> %s\n", message, reply);
		exit(1);
	}
	return object;
}

static void track(const struct bench *bench, bool on)
{
	char message[128];

	snprintf(message, sizeof(message), "{\"method\":\"io.mtld.%s\",\"parameters\":{\"pid\":%d}}",
		on ? "Track" : "Untrack", bench->pid);
	json_object_put(call(bench, message));
}

static int64_t number(struct json_object *object, const char *name)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(object, name, &value);
	return json_object_get_int64(value);
}

static int64_t observations(const struct bench *bench)
{
	struct json_object *reply = call(bench, "{\"method\":\"io.mtld.List\"}");
	struct json_object *parameters, *list;
	int64_t n = -1;

	json_object_object_get_ex(reply, "parameters", &parameters);
	json_object_object_get_ex(parameters, "processes", &list);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (number(json_object_array_get_idx(list, i), "pid") == bench->pid)
			n = number(json_object_array_get_idx(list, i), "observations");
	json_object_put(reply);
	return n;
}

static pid_t daemon_pid(const struct bench *bench)
{
	struct json_object *reply = call(bench, "{\"method\":\"io.mtld.Status\"}"), *parameters;
	pid_t pid;

	json_object_object_get_ex(reply, "parameters", &parameters);
	pid = number(parameters, "pid");
	json_object_put(reply);
	return pid;
}

/* CPU time of mtld's main thread: "run_ns wait_ns slices" */
static double main_thread_seconds(const struct bench *bench)
{
	char path[64];
	unsigned long long ns = 0;
	FILE *file;

	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", bench->mtld, bench->mtld);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%llu", &ns) != 1)
		fail(path);
	fclose(file);
	return ns / 1e9;
}

/* Accesses a second in one window. */
static double measure(struct bench *bench, bool tracked)
{
	clockid_t clock;
	double begin, seconds, daemon, elsewhere;
	uint64_t accesses;
	int64_t seen = 0;

	if (clock_getcpuclockid(bench->mtld, &clock))
		fail("mtld's clock");
	if (tracked)
		track(bench, true);
	sleep_seconds(bench->settle);
	if (tracked)
		seen = observations(bench);
	daemon = now_seconds(clock);
	elsewhere = main_thread_seconds(bench);
	accesses = *bench->progress;
	begin = now_seconds(CLOCK_MONOTONIC);
	sleep_seconds(bench->window);
	accesses = *bench->progress - accesses;
	seconds = now_seconds(CLOCK_MONOTONIC) - begin;
	elsewhere = main_thread_seconds(bench) - elsewhere;
	bench->daemon_seconds[tracked] += now_seconds(clock) - daemon;
	bench->window_seconds[tracked] += seconds;
	if (tracked) {
		bench->grown += observations(bench) > seen;
		track(bench, false);
	}
	return accesses / (seconds - elsewhere);
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void report(const struct bench *bench, double *losses, unsigned n)
{
	unsigned reach = ceil(1.645 * sqrt(n) / 2), middle = n / 2;

	qsort(losses, n, sizeof(double), by_value);
	printf("{\"pairs\":%u,\"slowdown\":%.5f,\"low\":%.5f,\"high\":%.5f,\"grown\":%u,"
	       "\"mtld_tracking\":%.5f,\"mtld_idle\":%.5f}\n",
		n, n % 2 ? losses[middle] : (losses[middle - 1] + losses[middle]) / 2,
		losses[middle > reach ? middle - reach : 0],
		losses[middle + reach < n ? middle + reach : n - 1], bench->grown,
		bench->daemon_seconds[1] / bench->window_seconds[1],
		bench->daemon_seconds[0] / bench->window_seconds[0]);
}

int main(int argc, char **argv)
{
	static double losses[PAIRS_MAX];
	struct bench bench = {0};
	unsigned pairs;
	int fd;

	if (argc != 7) {
		fputs("usage: paired SOCKET PROGRESS PID PAIRS WINDOW SETTLE\n", stderr);
		return 2;
	}
	bench.socket = argv[1];
	bench.pid = atoi(argv[3]);
	pairs = atoi(argv[4]);
	bench.window = atof(argv[5]);
	bench.settle = atof(argv[6]);
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	bench.progress = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (fd < 0 || bench.progress == MAP_FAILED)
		fail(argv[2]);
	if (pairs < 2 || pairs > PAIRS_MAX)
		return 2;
	bench.mtld = daemon_pid(&bench);
	srandom(1);
	for (unsigned i = 0; i < pairs; i++) {
		bool first = random() & 1;
		double rate[2];

		rate[first] = measure(&bench, first);
		rate[!first] = measure(&bench, !first);
		losses[i] = 1 - rate[1] / rate[0];
	}
	report(&bench, losses, pairs);
	return 0;
}
