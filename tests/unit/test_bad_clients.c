/* SPDX-License-Identifier: MIT */
/*
 * Clients that send garbage, half a message, too much, or never read; too many of them; whose they
 * are. Each gets what it should, and the others are served as ever. Deadlines are shortened by the
 * limits.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "server_fixture.h"

#define USER 12345

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
	assert_non_null(strstr(answer, "larger than 262144 bytes"));
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
