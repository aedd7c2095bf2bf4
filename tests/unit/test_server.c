/* SPDX-License-Identifier: MIT */
/*
 * The server over real sockets: answers in order and whole, oneway, half-closed clients, streams.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "server_fixture.h"

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

/* --- answers that take several turns */

#define MANY 32

/* About all of MANY processes; rest: behind the parameters. */
static int share_many(const char *rest)
{
	char message[1024] = "{\"method\":\"io.mtld.Share\",\"parameters\":{\"pids\":[1000";
	int fd;

	serve();
	for (int i = 0; i < MANY; i++)
		fake_process(manager, 1000 + i, 0);
	for (int i = 1; i < MANY; i++)
		sprintf(message + strlen(message), ",%d", 1000 + i);
	sprintf(message + strlen(message), "],\"size\":1048576}%s}", rest);
	fd = dial();
	ask(fd, message);
	return fd;
}

static void others_have_their_turn(void **state)
{
	int fd = share_many(""), other = dial();

	(void)state;
	ask(fd, STATUS);
	while (manager->n_curves == 0)
		turn(0);
	ask(other, STATUS);
	assert_answered(other);
	assert_in_range(manager->n_curves, 1, MANY - 1);
	assert_answered(fd);
	assert_non_null(strstr(answer, "\"hurt_by\""));
	assert_int_equal(manager->n_curves, MANY);
	assert_answered(fd);
	assert_non_null(strstr(answer, "\"uptime_seconds\""));
	close(fd);
	close(other);
}

static void needs_no_turns_for_nobody(void **state)
{
	int fd = share_many(",\"oneway\":true");

	(void)state;
	ask(fd, STATUS);
	assert_answered(fd); /* the only answer */
	assert_non_null(strstr(answer, "\"uptime_seconds\""));
	assert_int_equal(manager->n_curves, 0);
	close(fd);
}

static void stops_when_the_client_is_gone(void **state)
{
	int fd = share_many("");

	(void)state;
	while (manager->n_curves == 0)
		turn(0);
	close(fd);
	turn(0.05);
	assert_clients(0);
	assert_in_range(manager->n_curves, 1, MANY - 1);
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
	        TEST(others_have_their_turn),
	        TEST(needs_no_turns_for_nobody),
	        TEST(stops_when_the_client_is_gone),
	        TEST(streams_until_exit),
	        TEST(streams_until_error),
	        TEST(streams_until_hang_up),
	        TEST(streams_skip_for_the_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
