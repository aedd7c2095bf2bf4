/* SPDX-License-Identifier: MIT */
/*
 * load SOCKET PID SECONDS CLIENTS SILENT: CLIENTS ask mtld for the curve of PID ten times a second
 * each, at moments of their own, while SILENT others do the same and never read. Prints how
 * many answers came, how many were errors, and the median, 99th percentile and greatest time to
 * one, in milliseconds.
 *
 * A client whose answer is still to come does not ask again: its next question is late by as much,
 * which counts (the time is from when it ought to have asked).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 0.1
#define ERROR "{\"error\""

struct client {
	int fd;
	double due; /* when it asks, or ought to have asked */
	bool waiting, begun, failed;
};

static char question[128];
static size_t question_size;
static double *times;
static size_t n_times, errors, hung_up;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		fprintf(stderr, "load: cannot connect to %s: %s\n", path, strerror(errno));
		exit(1);
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* What comes: bytes up to a NUL are one answer. */
static void take(struct client *client)
{
	char bytes[65536];
	ssize_t n = read(client->fd, bytes, sizeof(bytes));
	double at = now();

	if (n <= 0) {
		if (n < 0 && errno == EAGAIN)
			return;
		hung_up++;
		close(client->fd);
		client->fd = -1;
		return;
	}
	if (!client->begun)
		client->failed =
		        memmem(bytes, (size_t)n < 64 ? (size_t)n : 64, ERROR, strlen(ERROR));
	client->begun = true;
	if (bytes[n - 1] != '\0')
		return;
	times[n_times++] = at - client->due;
	errors += client->failed;
	client->begun = client->waiting = false;
	client->due += PERIOD;
}

static void ask(struct client *client)
{
	if (write(client->fd, question, question_size) == (ssize_t)question_size)
		client->waiting = true;
}

/* They ask as often as the others; when they are dropped, or nothing more is taken, nothing comes
 * of it. */
static void annoy(struct client *silent, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (silent[i].due > now())
			continue;
		silent[i].due += PERIOD;
		(void)!send(silent[i].fd, question, question_size, MSG_NOSIGNAL);
	}
}

static double wait_for(const struct client *clients, size_t n, double end)
{
	double next = end;

	for (size_t i = 0; i < n; i++) {
		if (clients[i].fd >= 0 && !clients[i].waiting && clients[i].due < next)
			next = clients[i].due;
	}
	return next;
}

static void run(
        struct client *clients, size_t n, struct client *silent, size_t n_silent, double end)
{
	struct pollfd *fds = calloc(n, sizeof(*fds));

	while (now() < end) {
		double left = wait_for(clients, n, end) - now();

		for (size_t i = 0; i < n; i++)
			fds[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
		poll(fds, n, left > 0 ? (int)(left * 1000) : 0);
		for (size_t i = 0; i < n; i++) {
			if (fds[i].revents)
				take(&clients[i]);
			if (clients[i].fd >= 0 && !clients[i].waiting && clients[i].due <= now())
				ask(&clients[i]);
		}
		annoy(silent, n_silent);
	}
	free(fds);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t n = argc == 6 ? strtoul(argv[4], NULL, 10) : 0;
	size_t n_silent = argc == 6 ? strtoul(argv[5], NULL, 10) : 0;
	double seconds = argc == 6 ? strtod(argv[3], NULL) : 0, begin = now();
	struct client *clients = calloc(n + n_silent + 1, sizeof(*clients));

	if (n == 0 || !clients || !(seconds > 0)) {
		fprintf(stderr, "usage: load SOCKET PID SECONDS CLIENTS SILENT\n");
		return 2;
	}
	times = calloc((size_t)(seconds / PERIOD + 2) * n, sizeof(*times));
	question_size =
	        1 + (size_t)snprintf(question, sizeof(question),
	                    "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":%s}}", argv[2]);
	srandom(1);
	for (size_t i = 0; i < n + n_silent; i++)
		clients[i] = (struct client){.fd = connect_to(argv[1]),
		        .due = begin + PERIOD * (double)(random() % 1000) / 1000};
	run(clients, n, clients + n, n_silent, begin + seconds);
	if (n_times == 0) {
		fprintf(stderr, "load: no answer\n");
		return 1;
	}
	qsort(times, n_times, sizeof(*times), compare);
	printf("{\"answers\":%zu,\"errors\":%zu,\"hung_up\":%zu,\"median_ms\":%.2f,\"p99_ms\":%.2f,"
	       "\"max_ms\":%.2f}\n",
	        n_times, errors, hung_up, times[n_times / 2] * 1e3, times[n_times * 99 / 100] * 1e3,
	        times[n_times - 1] * 1e3);
	return 0;
}
