/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "server_fixture.h"

struct connection_limits limits;
struct config config;
static struct sockaddr_un address;
sd_event *event;
struct manager *manager;
struct server *server;
static int listener;
char answer[8 << 20];

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void turn(double seconds)
{
	double end = now() + seconds;

	do
		assert_true(sd_event_run(event, 1000) >= 0);
	while (now() < end);
}

int start(void **state)
{
	(void)state;
	config_defaults(&config);
	limits = connection_default_limits;
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX; /* and an abstract name the kernel picks */
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	assert_int_equal(listen(listener, 64), 0);
	assert_true(sd_event_new(&event) >= 0);
	manager = fake_manager();
	return 0;
}

void serve(void)
{
	assert_int_equal(server_new(event, manager, &config, "", listener, &limits, &server), 0);
}

int stop(void **state)
{
	(void)state;
	server = server_free(server);
	manager = manager_free(manager);
	event = sd_event_unref(event);
	close(listener);
	return 0;
}

int dial(void)
{
	socklen_t size = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, size), 0);
	return fd;
}

int put(int fd, const char *bytes, size_t size)
{
	double end = now() + PATIENCE;

	while (size) {
		ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		}
		if (now() > end)
			fail_msg("nobody reads");
		turn(0);
	}
	return 0;
}

void ask(int fd, const char *message)
{
	assert_int_equal(put(fd, message, strlen(message) + 1), 0);
}

/* Bytes are peeked at first, so that nothing of the message after it is taken. */
int get(int fd)
{
	double end = now() + PATIENCE;
	size_t used = 0;

	while (now() < end) {
		ssize_t n = recv(fd, answer + used, sizeof(answer) - used - 1, MSG_PEEK);
		char *nul = n > 0 ? memchr(answer + used, '\0', (size_t)n) : NULL;

		if (n == 0 || (n < 0 && errno != EAGAIN))
			return 0;
		if (n > 0) {
			n = nul ? nul - answer - (ssize_t)used + 1 : n;
			assert_int_equal(recv(fd, answer + used, (size_t)n, 0), n);
			used += (size_t)n;
		}
		if (nul)
			return 1;
		turn(0);
	}
	fail_msg("no answer");
	return 0;
}

struct json_object *got(int fd)
{
	struct json_object *object;

	assert_int_equal(get(fd), 1);
	object = json_tokener_parse(answer);
	assert_non_null(object);
	return object;
}

void assert_answer_error(int fd, const char *error)
{
	struct json_object *object = got(fd), *name;
	const char *said = json_object_object_get_ex(object, "error", &name)
	                           ? json_object_get_string(name)
	                           : "";

	if (strcmp(said, error) != 0)
		fail_msg("\"%s\" where \"%s\" was expected", said, error);
	json_object_put(object);
}

void assert_answered(int fd)
{
	assert_answer_error(fd, "");
}

void assert_hung_up(int fd)
{
	assert_int_equal(get(fd), 0);
	close(fd);
}

void assert_alive(void)
{
	int fd = dial();

	ask(fd, STATUS);
	assert_answered(fd);
	close(fd);
}

void assert_clients(unsigned n)
{
	double end = now() + PATIENCE;

	while (server_clients(server) != n && now() < end)
		turn(0);
	assert_int_equal(server_clients(server), n);
}
