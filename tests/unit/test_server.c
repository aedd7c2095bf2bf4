/* SPDX-License-Identifier: MIT */
/*
 * The server over real sockets: order, streams, bounds and bad clients. Server and clients share
 * one thread: talking to a client turns the event loop. Deadlines are shortened by the limits.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "fake_manager.h"
#include "server.h"

#define USER 12345
#define STATUS "{\"method\":\"io.mtld.Status\"}"
#define CURVE "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":100}}"
#define STREAM "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":100},\"more\":true}"
#define RECORD "{\"method\":\"io.mtld.Observations\",\"parameters\":{\"pid\":100}}"
#define PATIENCE 20.0 /* seconds; valgrind on a loaded machine */

static struct connection_limits limits;
static struct config config;
static struct sockaddr_un address;
static sd_event *event;
static struct manager *manager;
static struct server *server;
static int listener;
static char answer[8 << 20];

/* --- the two ends */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void turn(double seconds)
{
	double end = now() + seconds;

	do
		assert_true(sd_event_run(event, 1000) >= 0);
	while (now() < end);
}

static int start(void **state)
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

static void serve(void)
{
	assert_int_equal(server_new(event, manager, &config, "", listener, &limits, &server), 0);
}

static int stop(void **state)
{
	(void)state;
	server = server_free(server);
	manager = manager_free(manager);
	event = sd_event_unref(event);
	close(listener);
	return 0;
}

static int dial(void)
{
	socklen_t size = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, size), 0);
	return fd;
}

/* All of it, turning the loop while the other side does not take it; -EPIPE when hung up on. */
static int put(int fd, const char *bytes, size_t size)
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

static void ask(int fd, const char *message)
{
	assert_int_equal(put(fd, message, strlen(message) + 1), 0);
}

/* The next message into answer, 1; 0 when the server hung up instead. Bytes are peeked at first, so
 * that nothing of the message after it is taken. */
static int get(int fd)
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

static struct json_object *got(int fd)
{
	struct json_object *object;

	assert_int_equal(get(fd), 1);
	object = json_tokener_parse(answer);
	assert_non_null(object);
	return object;
}

static void assert_answer_error(int fd, const char *error)
{
	struct json_object *object = got(fd), *name;
	const char *said = json_object_object_get_ex(object, "error", &name)
	                           ? json_object_get_string(name)
	                           : "";

	if (strcmp(said, error) != 0)
		fail_msg("\"%s\" where \"%s\" was expected", said, error);
	json_object_put(object);
}

static void assert_answered(int fd)
{
	assert_answer_error(fd, "");
}

static void assert_hung_up(int fd)
{
	assert_int_equal(get(fd), 0);
	close(fd);
}

/* Somebody else is served as ever. */
static void assert_alive(void)
{
	int fd = dial();

	ask(fd, STATUS);
	assert_answered(fd);
	close(fd);
}

static void assert_clients(unsigned n)
{
	double end = now() + PATIENCE;

	while (server_clients(server) != n && now() < end)
		turn(0);
	assert_int_equal(server_clients(server), n);
}

/* --- answering */

static void answers_in_order(void **state)
{
	static const char *const asked[] = {
	        "a.b.C", "io.mtld.Status", "io.mtld.Nothing", "io.mtld.List"};
	static const char *const errors[] = {"org.varlink.service.InterfaceNotFound", "",
	        "org.varlink.service.MethodNotFound", ""};
	char all[1024], *p = all;
	int fd;

	(void)state;
	serve();
	fd = dial();
	for (size_t i = 0; i < 4; i++)
		p += sprintf(p, "{\"method\":\"%s\"}", asked[i]) + 1;
	assert_int_equal(put(fd, all, (size_t)(p - all)), 0);
	for (size_t i = 0; i < 4; i++)
		assert_answer_error(fd, errors[i]);
	close(fd);
	assert_clients(0);
}

static void answers_byte_by_byte(void **state)
{
	int fd;

	(void)state;
	serve();
	fd = dial();
	for (size_t i = 0; i < sizeof(STATUS); i++)
		assert_int_equal(put(fd, &STATUS[i], 1), 0);
	assert_answered(fd);
	close(fd);
}

static void answers_a_half_closed_client(void **state)
{
	int fd;

	(void)state;
	serve();
	fd = dial();
	assert_int_equal(put(fd, STATUS "\0" STATUS, 2 * sizeof(STATUS)), 0);
	shutdown(fd, SHUT_WR);
	assert_answered(fd);
	assert_answered(fd);
	assert_hung_up(fd);
	assert_clients(0);
}

static void sends_large_answers_whole(void **state)
{
	struct json_object *object, *record;
	int fd;

	(void)state;
	serve();
	fake_process(manager, 100, 0);
	manager->n_observations = 20000;
	fd = dial();
	ask(fd, RECORD);
	object = got(fd);
	assert_true(strlen(answer) > 1 << 20);
	record = json_object_object_get(json_object_object_get(object, "parameters"), "record");
	assert_int_equal(
	        json_object_array_length(json_object_object_get(record, "observations")), 20000);
	json_object_put(object);
	close(fd);
}

static void carries_out_oneway(void **state)
{
	static const char track[] =
	        "{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":100},\"oneway\":true}";
	int fd;

	(void)state;
	serve();
	fd = dial();
	ask(fd, track);
	ask(fd, "{\"method\":\"nonsense\",\"oneway\":true}");
	ask(fd, STATUS);
	assert_answered(fd); /* the only answer */
	turn(0.05);
	assert_int_equal(recv(fd, answer, 1, 0), -1);
	assert_int_equal(manager->n_tracked, 1);
	close(fd);
}

/* What was sent before hanging up is carried out, although its answers reach nobody. */
static void carries_out_after_hang_up(void **state)
{
	char many[8192], *p = many;
	int fd;

	(void)state;
	serve();
	for (int i = 0; i < 60; i++)
		p += sprintf(p, "{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":%d}}",
		             100 + i) +
		     1;
	fd = dial();
	assert_int_equal(send(fd, many, (size_t)(p - many), 0), p - many);
	close(fd);
	assert_clients(0); /* not connected yet */
	turn(0.05);
	assert_clients(0);
	assert_int_equal(manager->n_tracked, 60);
}

static void many_at_once(void **state)
{
	int fds[32];

	(void)state;
	serve();
	fake_process(manager, 100, 0);
	for (size_t i = 0; i < 32; i++)
		fds[i] = dial();
	for (size_t i = 0; i < 32; i++)
		ask(fds[i], CURVE);
	assert_clients(32);
	for (size_t i = 32; i-- > 0;) {
		assert_answered(fds[i]);
		close(fds[i]);
	}
	assert_clients(0);
}

/* --- streams */

static bool continues(int fd)
{
	struct json_object *object = got(fd), *value;
	bool more = json_object_object_get_ex(object, "continues", &value) &&
	            json_object_get_boolean(value);

	json_object_put(object);
	return more;
}

static void streams_until_exit(void **state)
{
	struct manager_process *process;
	double begun;
	int fd;

	(void)state;
	limits.stream_usec = 50000;
	serve();
	process = fake_process(manager, 100, 0);
	fd = dial();
	begun = now();
	ask(fd, STREAM);
	ask(fd, STATUS); /* waits for the end of the stream */
	for (int i = 0; i < 5; i++)
		assert_true(continues(fd));
	assert_true(now() - begun >= 4 * 0.05);
	process->state = "exited";
	while (continues(fd))
		;
	assert_answered(fd);
	assert_non_null(strstr(answer, "uptime_seconds"));
	ask(fd, STATUS);
	assert_answered(fd);
	close(fd);
}

static void streams_until_error(void **state)
{
	int fd;

	(void)state;
	limits.stream_usec = 20000;
	serve();
	fake_process(manager, 100, 0);
	fd = dial();
	ask(fd, STREAM);
	assert_true(continues(fd));
	manager_untrack(manager, 100);
	while (continues(fd))
		;
	assert_non_null(strstr(answer, "io.mtld.NotTracked\"")
	                        ?: strstr(answer, "io.mtld.NoSuchProcess\""));
	ask(fd, STATUS);
	assert_answered(fd);
	close(fd);
}

static void streams_until_hang_up(void **state)
{
	unsigned curves;
	int fd;

	(void)state;
	limits.stream_usec = 20000;
	serve();
	fake_process(manager, 100, 0);
	fd = dial();
	ask(fd, STREAM);
	assert_true(continues(fd));
	close(fd);
	assert_clients(0);
	curves = manager->n_curves;
	turn(0.1);
	assert_int_equal(manager->n_curves, curves);
}

/* A stream's reader who is slow gets fewer updates, and they do not pile up. */
static void streams_skip_for_the_slow(void **state)
{
	char message[4096] =
	        "{\"method\":\"io.mtld.Curve\",\"more\":true,\"parameters\":{\"pid\":100,"
	        "\"sizes\":[1";
	unsigned curves;
	int fd;

	(void)state;
	limits.stream_usec = 1000;
	serve();
	fake_process(manager, 100, 0);
	for (int i = 1; i < 256; i++)
		strcat(message, ",1");
	strcat(message, "]}}");
	fd = dial();
	ask(fd, message);
	do {
		curves = manager->n_curves;
		turn(0.5);
	} while (manager->n_curves != curves && curves < 50);
	assert_true(curves < 50); /* the socket is full, nothing more is made */
	assert_true(continues(fd));
	while (manager->n_curves == curves)
		assert_true(continues(fd));
	close(fd);
	assert_clients(0);
}

/* --- bad clients */

static void refuses_garbage(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} garbage[] = {
#define WITH_NUL(text) {text, sizeof(text)}
	        WITH_NUL("GET / HTTP/1.1\r\n\r\n"),
	        WITH_NUL(""),
	        WITH_NUL("{}"),
	        WITH_NUL("{'method':'io.mtld.Status'}"),
	        WITH_NUL("{\"method\":\"io.mtld.Status\""),
	        WITH_NUL("{\"method\":\"io.mtld.Status\",\"method\":\"io.mtld.List\"}"),
	        WITH_NUL("[]\0\0"),
	};

	(void)state;
	serve();
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		int fd = dial();

		put(fd, garbage[i].bytes, garbage[i].size);
		assert_answer_error(fd, "io.mtld.MalformedMessage");
		assert_hung_up(fd);
		assert_alive();
	}
	assert_clients(0);
}

static void answers_before_the_garbage(void **state)
{
	int fd;

	(void)state;
	serve();
	fd = dial();
	put(fd, STATUS "\0nonsense\0" STATUS, 2 * sizeof(STATUS) + 9);
	assert_answered(fd);
	assert_answer_error(fd, "io.mtld.MalformedMessage");
	assert_hung_up(fd);
}

static void refuses_a_megabyte(void **state)
{
	char *megabyte = malloc(1 << 20);
	int fd;

	(void)state;
	serve();
	memset(megabyte, 'x', 1 << 20);
	fd = dial();
	assert_true(put(fd, megabyte, 1 << 20) < 0);
	assert_answer_error(fd, "io.mtld.MalformedMessage");
	assert_non_null(strstr(answer, "larger than 65536 bytes"));
	assert_hung_up(fd);
	assert_alive();
	free(megabyte);
}

static void takes_the_largest_message(void **state)
{
	static char message[MESSAGE_BYTES_MAX + 1];
	int fd;

	(void)state;
	serve();
	memset(message, ' ', MESSAGE_BYTES_MAX);
	memcpy(message, STATUS, strlen(STATUS));
	fd = dial();
	assert_int_equal(put(fd, message, sizeof(message)), 0);
	assert_int_equal(put(fd, message, sizeof(message)), 0);
	assert_answered(fd);
	assert_answered(fd);
	close(fd);
}

static void drops_half_a_message(void **state)
{
	double begun;
	int fd, idle;

	(void)state;
	limits.partial_usec = 200000;
	serve();
	idle = dial();
	ask(idle, STATUS);
	assert_answered(idle);
	fd = dial();
	begun = now();
	assert_int_equal(put(fd, STATUS, 10), 0);
	turn(0.1);
	put(fd, &STATUS[10], 1); /* trickling does not help */
	assert_hung_up(fd);
	assert_true(now() - begun >= 0.19);
	assert_clients(1); /* the idle one may stay */
	ask(idle, STATUS);
	assert_answered(idle);
	close(idle);
}

static void half_a_message_and_gone(void **state)
{
	int fd;

	(void)state;
	serve();
	fd = dial();
	assert_int_equal(put(fd, STATUS, 10), 0);
	close(fd);
	assert_clients(0);
}

/* Asks and never reads: its answers are bounded, it is dropped, the others are served meanwhile. */
static void drops_who_never_reads(void **state)
{
	char *many = malloc(1000 * sizeof(CURVE));
	double begun;
	int fd;

	(void)state;
	limits.stalled_usec = 300000;
	serve();
	fake_process(manager, 100, 0);
	for (size_t i = 0; i < 1000; i++)
		memcpy(many + i * sizeof(CURVE), CURVE, sizeof(CURVE));
	fd = dial();
	begun = now();
	while (send(fd, many, 1000 * sizeof(CURVE), MSG_NOSIGNAL) > 0 && now() - begun < 0.1)
		turn(0);
	while (server_clients(server) > 0 && now() - begun < PATIENCE) {
		if (now() - begun < 0.2)
			assert_alive();
		turn(0);
	}
	assert_int_equal(server_clients(server), 0);
	assert_true(now() - begun >= 0.29);
	close(fd);
	free(many);
}

static void drops_who_asks_too_much(void **state)
{
	int fd;

	(void)state;
	limits.output_bytes = 100000;
	serve();
	fake_process(manager, 100, 0);
	manager->n_observations = 20000;
	fd = dial();
	ask(fd, RECORD);
	assert_hung_up(fd);
	assert_alive();
}

/* Shuts its reading side and stays: must not make the loop spin. */
static void rests_when_nobody_reads(void **state)
{
	uint64_t before, after;
	int fd;

	(void)state;
	serve();
	fd = dial();
	shutdown(fd, SHUT_RD);
	put(fd, STATUS, sizeof(STATUS));
	turn(0.05);
	sd_event_get_iteration(event, &before);
	turn(0.1);
	sd_event_get_iteration(event, &after);
	assert_true(after - before < 200); /* turn() itself makes one a millisecond */
	close(fd);
	assert_clients(0);
}

/* --- bounds */

static void turns_away_the_surplus(void **state)
{
	int first, second, third;

	(void)state;
	config.max_clients = 2;
	serve();
	first = dial();
	second = dial();
	assert_clients(2);
	third = dial();
	put(third, STATUS, sizeof(STATUS));
	assert_answer_error(third, "io.mtld.TooManyClients");
	assert_hung_up(third);
	ask(first, STATUS);
	assert_answered(first);
	close(first);
	assert_clients(1);
	assert_alive();
	close(second);
}

/* Become that user for connect(), which is when the kernel notes who the peer is. */
static int dial_as(uid_t uid, gid_t gid, gid_t supplementary)
{
	int fd;

	assert_int_equal(setgroups(1, &supplementary), 0);
	assert_int_equal(setegid(gid), 0);
	assert_int_equal(seteuid(uid), 0);
	fd = dial();
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(setegid(0), 0);
	return fd;
}

static void bounds_one_users_clients(void **state)
{
	int fds[3];

	(void)state;
	if (geteuid() != 0)
		skip();
	config.max_clients = 8;
	serve();
	for (size_t i = 0; i < 3; i++)
		fds[i] = dial_as(USER, USER, USER);
	assert_clients(2);
	assert_answer_error(fds[2], "io.mtld.TooManyClients");
	assert_hung_up(fds[2]);
	assert_alive();
	close(fds[0]);
	close(fds[1]);
	assert_clients(0);
}

static void judges_by_credentials(void **state)
{
	static const struct {
		uid_t uid;
		gid_t gid, supplementary;
		bool sees;
	} peers[] = {
	        {0, 0, 0, true},
	        {USER, USER, USER, false},
	        {USER, 2, USER, true},
	        {USER, USER, 2, true},
	};

	(void)state;
	if (geteuid() != 0 || !getgrgid(2))
		skip();
	snprintf(config.socket_group, sizeof(config.socket_group), "%s", getgrgid(2)->gr_name);
	serve();
	fake_process(manager, 1, 0);
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++) {
		int fd = dial_as(peers[i].uid, peers[i].gid, peers[i].supplementary);

		ask(fd, "{\"method\":\"io.mtld.List\"}");
		assert_answered(fd);
		assert_int_equal(strstr(answer, "\"pid\"") != NULL, peers[i].sees);
		close(fd);
	}
}

/* It lets the kernel accept above the limit, then closes the connection to report EMFILE. */
static bool under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

static void rests_without_descriptors(void **state)
{
	struct rlimit before, few;
	uint64_t begun, ended;
	int fd, highest;

	(void)state;
	serve();
	turn(0.01);
	fd = dial();
	highest = dup(fd);
	close(highest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)highest;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	put(fd, STATUS, sizeof(STATUS));
	sd_event_get_iteration(event, &begun);
	turn(0.3);
	sd_event_get_iteration(event, &ended);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(ended - begun < 600); /* turn() itself makes one a millisecond */
	assert_int_equal(server_clients(server), 0);
	if (!under_valgrind())
		assert_answered(fd);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
	        TEST(answers_in_order),
	        TEST(answers_byte_by_byte),
	        TEST(answers_a_half_closed_client),
	        TEST(sends_large_answers_whole),
	        TEST(carries_out_oneway),
	        TEST(carries_out_after_hang_up),
	        TEST(many_at_once),
	        TEST(streams_until_exit),
	        TEST(streams_until_error),
	        TEST(streams_until_hang_up),
	        TEST(streams_skip_for_the_slow),
	        TEST(refuses_garbage),
	        TEST(answers_before_the_garbage),
	        TEST(refuses_a_megabyte),
	        TEST(takes_the_largest_message),
	        TEST(drops_half_a_message),
	        TEST(half_a_message_and_gone),
	        TEST(drops_who_never_reads),
	        TEST(drops_who_asks_too_much),
	        TEST(rests_when_nobody_reads),
	        TEST(turns_away_the_surplus),
	        TEST(bounds_one_users_clients),
	        TEST(judges_by_credentials),
	        TEST(rests_without_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
