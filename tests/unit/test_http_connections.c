/* SPDX-License-Identifier: MIT */
/* Who gives way when there are more connections than there is room for. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/socket.h>
#include <unistd.h>

#include "../../cli/http_connections.h"

#define N 6

static struct http_connections connections;
static struct http_connection *those[N];
static int ours[N], theirs[N];

/* Number i has been there since i. */
static int setup(void **state)
{
	(void)state;
	connections = (struct http_connections){0};
	for (int i = 0; i < N; i++) {
		int pair[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
		ours[i] = pair[0];
		theirs[i] = pair[1];
		those[i] = http_connections_add(&connections, ours[i], i);
		assert_non_null(those[i]);
	}
	assert_int_equal(connections.n, N);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < N; i++) {
		http_connections_remove(&connections, those[i]);
		close(ours[i]);
		close(theirs[i]);
	}
	assert_null(connections.first);
	assert_int_equal(connections.n, 0);
	return 0;
}

/* Bit i: number i is cut off, as its peer sees it. */
static unsigned cut_off(void)
{
	unsigned cut = 0;
	char byte;

	for (int i = 0; i < N; i++)
		cut |= (unsigned)(recv(theirs[i], &byte, 1, 0) == 0) << i;
	return cut;
}

static void there_is_room(void **state)
{
	(void)state;
	assert_int_equal(http_connections_make_room(&connections, N), N);
	assert_int_equal(cut_off(), 0);
}

static void the_oldest_that_asks_gives_way(void **state)
{
	(void)state;
	those[0]->stage = HTTP_ANSWERING;
	those[1]->stage = HTTP_WAITING;
	those[2]->since = 10; /* its last request is done since */
	assert_int_equal(http_connections_make_room(&connections, N - 1), N - 1);
	assert_int_equal(cut_off(), 1 << 3);
	assert_int_equal(http_connections_make_room(&connections, N - 1), N - 1);
	assert_int_equal(cut_off(), 1 << 3);
	assert_int_equal(http_connections_make_room(&connections, N - 4), N - 4);
	assert_int_equal(cut_off(), 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5);
}

static void then_who_does_not_take_an_answer(void **state)
{
	(void)state;
	for (int i = 0; i < N; i++)
		those[i]->stage = i % 2 ? HTTP_ANSWERING : HTTP_WAITING;
	assert_int_equal(http_connections_make_room(&connections, N - 1), N - 1);
	assert_int_equal(cut_off(), 1 << 1);
}

static void who_waits_for_an_answer_never_does(void **state)
{
	(void)state;
	for (int i = 0; i < N; i++)
		those[i]->stage = HTTP_WAITING;
	assert_int_equal(http_connections_make_room(&connections, 1), N);
	assert_int_equal(cut_off(), 0);
}

static void patience_ends(void **state)
{
	(void)state;
	those[1]->stage = HTTP_WAITING;
	http_connections_cut_old(&connections, 32.5, 30);
	assert_int_equal(cut_off(), 1 << 0 | 1 << 1 | 1 << 2);
	assert_int_equal(connections.n, 3);
	http_connections_remove(&connections, those[1]);
	those[1] = NULL;
	assert_int_equal(connections.n, 3);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
	        EACH(there_is_room),
	        EACH(the_oldest_that_asks_gives_way),
	        EACH(then_who_does_not_take_an_answer),
	        EACH(who_waits_for_an_answer_never_does),
	        EACH(patience_ends),
	};
#undef EACH

	return cmocka_run_group_tests(tests, NULL, NULL);
}
