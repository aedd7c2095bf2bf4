/* SPDX-License-Identifier: MIT */
/*
 * The command line's side of the socket against everything a peer may do: a whole reply, half a
 * reply, two at once, one byte at a time, garbage, silence, hanging up, never ending; and the words
 * a user gets for it.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../../cli/client.h"
#include "../../cli/options.h"
#include "io.mtld.varlink.h"

struct fixture {
	struct client *client;
	int peer;
};

static int setup(void **state)
{
	static struct fixture fixture;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	fixture.peer = pair[1];
	*state = &fixture;
	return client_from_fd(pair[0], &fixture.client);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	client_free(fixture->client);
	if (fixture->peer >= 0)
		close(fixture->peer);
	return 0;
}

/* Includes the NUL. */
static void say(struct fixture *fixture, const char *message)
{
	size_t size = strlen(message) + 1;

	assert_int_equal(write(fixture->peer, message, size), size);
}

static int receive(struct fixture *fixture, struct client_reply *ret_reply)
{
	return client_receive(fixture->client, 5, -1, ret_reply);
}

static void a_reply_is_taken_apart(void **state)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};

	say(*state, "{\"parameters\":{\"pid\":7},\"continues\":true}");
	assert_int_equal(receive(*state, &reply), 0);
	assert_null(reply.error);
	assert_true(reply.continues);
	assert_string_equal(
	        json_object_to_json_string_ext(reply.parameters, JSON_C_TO_STRING_PLAIN),
	        "{\"pid\":7}");
}

static void missing_parameters_are_an_empty_object(void **state)
{
	static const char *const replies[] = {"{}", "{\"parameters\":null}", "{\"parameters\":{}}"};

	for (size_t i = 0; i < 3; i++) {
		_cleanup_(client_reply_done) struct client_reply reply = {0};

		say(*state, replies[i]);
		assert_int_equal(receive(*state, &reply), 0);
		assert_false(reply.continues);
		assert_int_equal(json_object_object_length(reply.parameters), 0);
	}
}

static void an_error_reply_is_one(void **state)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};

	say(*state, "{\"error\":\"io.mtld.NotTracked\",\"parameters\":{\"pid\":7}}");
	assert_int_equal(receive(*state, &reply), 0);
	assert_true(reply_is(&reply, "NotTracked"));
	assert_false(reply_is(&reply, "NoSuchProcess"));
	assert_false(reply_is(&reply, "Not"));
}

static void two_replies_in_one_read_stay_two(void **state)
{
	static const char both[] = "{\"parameters\":{\"n\":1}}\0{\"parameters\":{\"n\":2}}";
	struct fixture *fixture = *state;

	assert_int_equal(write(fixture->peer, both, sizeof(both)), sizeof(both));
	for (int n = 1; n <= 2; n++) {
		_cleanup_(client_reply_done) struct client_reply reply = {0};
		struct json_object *value;

		assert_int_equal(receive(fixture, &reply), 0);
		assert_true(json_object_object_get_ex(reply.parameters, "n", &value));
		assert_int_equal(json_object_get_int(value), n);
	}
}

static void *say_slowly(void *argument)
{
	static const char message[] = "{\"parameters\":{\"text\":\"two\\u0020words\"}}";
	struct fixture *fixture = argument;

	for (size_t i = 0; i < sizeof(message); i++) {
		if (write(fixture->peer, message + i, 1) != 1)
			break;
		usleep(500);
	}
	return NULL;
}

static void a_reply_may_come_byte_by_byte(void **state)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	struct json_object *value;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, say_slowly, *state), 0);
	assert_int_equal(receive(*state, &reply), 0);
	pthread_join(thread, NULL);
	assert_true(json_object_object_get_ex(reply.parameters, "text", &value));
	assert_string_equal(json_object_get_string(value), "two words");
}

static void garbage_is_refused(void **state)
{
	static const char *const garbage[] = {"", "hello", "[]", "1", "null", "\"text\"", "{",
	        "{}x", "{} {}", "NaN", "{'error':1}", "{\"error\":1}", "{\"parameters\":[]}",
	        "{\"parameters\":1}", "{\"parameters\":{\"a\":\"\xff\xfe\"}}",
	        "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]}"};

	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		struct client_reply reply = {0};

		say(*state, garbage[i]);
		assert_int_equal(receive(*state, &reply), -EBADMSG);
		assert_null(reply.object);
	}
}

static void after_garbage_the_next_reply_is_read(void **state)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};

	say(*state, "hello");
	say(*state, "{\"parameters\":{}}");
	assert_int_equal(receive(*state, &reply), -EBADMSG);
	assert_int_equal(receive(*state, &reply), 0);
}

static void hanging_up_is_noticed(void **state)
{
	struct fixture *fixture = *state;
	struct client_reply reply;

	assert_int_equal(write(fixture->peer, "{\"param", 7), 7);
	close(TAKE_FD(fixture->peer));
	assert_int_equal(receive(fixture, &reply), -ECONNRESET);
	assert_int_equal(client_send(fixture->client, "Status", NULL, false), -EPIPE);
}

static void silence_has_a_limit(void **state)
{
	struct fixture *fixture = *state;
	struct client_reply reply;

	assert_int_equal(client_receive(fixture->client, 0.02, -1, &reply), -ETIMEDOUT);
	assert_int_equal(write(fixture->peer, "{\"param", 7), 7);
	assert_int_equal(client_receive(fixture->client, 0.02, -1, &reply), -ETIMEDOUT);
}

static void the_user_may_stop_the_waiting(void **state)
{
	struct fixture *fixture = *state;
	struct client_reply reply;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(client_receive(fixture->client, 5, fds[0], &reply), -ECANCELED);
	close(fds[0]);
	close(fds[1]);
}

static void *never_end(void *argument)
{
	struct fixture *fixture = argument;
	static char chunk[65536];

	memset(chunk, ' ', sizeof(chunk));
	while (send(fixture->peer, chunk, sizeof(chunk), MSG_NOSIGNAL) > 0)
		continue;
	return NULL;
}

static void a_reply_without_end_is_cut_off(void **state)
{
	struct fixture *fixture = *state;
	struct client_reply reply;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, never_end, fixture), 0);
	assert_int_equal(client_receive(fixture->client, 60, -1, &reply), -EMSGSIZE);
	fixture->client = client_free(fixture->client);
	pthread_join(thread, NULL);
}

enum { LARGE = 3 << 20 };

static void *say_much(void *argument)
{
	struct fixture *fixture = argument;
	FILE *file = fdopen(TAKE_FD(fixture->peer), "w");

	fputs("{\"parameters\":{\"text\":\"", file);
	for (size_t i = 0; i < LARGE; i++)
		fputc('x', file);
	fputs("\"}}", file);
	fputc('\0', file);
	fclose(file);
	return NULL;
}

static void a_large_reply_is_read_whole(void **state)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	struct json_object *value;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, say_much, *state), 0);
	assert_int_equal(receive(*state, &reply), 0);
	pthread_join(thread, NULL);
	assert_true(json_object_object_get_ex(reply.parameters, "text", &value));
	assert_int_equal(json_object_get_string_len(value), LARGE);
}

static void assert_sent(struct fixture *fixture, const char *message)
{
	char text[512] = "";
	ssize_t n = read(fixture->peer, text, sizeof(text));

	assert_int_equal(n, strlen(message) + 1);
	assert_string_equal(text, message);
}

static void calls_look_as_the_protocol_wants(void **state)
{
	struct fixture *fixture = *state;
	struct json_object *parameters = json_object_new_object();

	assert_int_equal(client_send(fixture->client, "Status", NULL, false), 0);
	assert_sent(fixture, "{\"method\":\"io.mtld.Status\",\"parameters\":{}}");
	json_object_object_add(parameters, "pid", json_object_new_int(7));
	assert_int_equal(client_send(fixture->client, "Curve", parameters, true), 0);
	assert_sent(
	        fixture, "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":7},\"more\":true}");
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void connecting_tells_the_mistakes_apart(void **state)
{
	char directory[] = "/tmp/test-client-XXXXXX", path[64], far[200];
	struct client *client;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/socket", directory);
	assert_int_equal(client_connect(path, &client), -ENOENT);
	fd = listen_at(path);
	assert_int_equal(client_connect(path, &client), 0);
	client_free(client);
	close(fd);
	assert_int_equal(client_connect(path, &client), -ECONNREFUSED);
	assert_int_equal(unlink(path), 0);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(client_connect(path, &client), -ENOTSOCK);
	snprintf(far, sizeof(far), "%s/below", path);
	assert_int_equal(client_connect(far, &client), -ENOTDIR);
	memset(far, 'x', sizeof(far) - 1);
	far[sizeof(far) - 1] = '\0';
	assert_int_equal(client_connect(far, &client), -ENAMETOOLONG);
	unlink(path);
	rmdir(directory);
}

/* What a function says on standard error. */
static int run_with_stderr(
        int (*function)(const void *), const void *argument, char *ret_text, size_t size)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO), code;

	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	code = function(argument);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	ret_text[fread(ret_text, 1, size - 1, file)] = '\0';
	fclose(file);
	return code;
}

static int explain_connection(const void *argument)
{
	return client_explain(*(const int *)argument, "/run/x");
}

static void every_connection_error_has_words(void **state)
{
	static const struct {
		int error;
		const char *words;
	} cases[] = {
	        {-ENOENT, "mtld is not running at /run/x: `systemctl start mtld`"},
	        {-ECONNREFUSED, "`mtl run`"},
	        {-EACCES, "group mtl"},
	        {-ETIMEDOUT, "did not answer in time"},
	        {-ECONNRESET, "closed the connection"},
	        {-EBADMSG, "does not speak the protocol"},
	        {-EMSGSIZE, "16 MB"},
	        {-EDOM, "Numerical argument"},
	};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
		        run_with_stderr(explain_connection, &cases[i].error, text, sizeof(text)),
		        MTL_FAILED);
		assert_memory_equal(text, "mtl: ", 5);
		assert_non_null(strstr(text, cases[i].words));
		assert_non_null(strstr(text, "/run/x"));
	}
}

static int explain_reply(const void *argument)
{
	return reply_explain(argument);
}

static void assert_reply(const char *message, int code, const char *words)
{
	struct json_object *object = json_tokener_parse(message), *error, *parameters;
	char text[2048];

	assert_true(json_object_object_get_ex(object, "error", &error));
	assert_true(json_object_object_get_ex(object, "parameters", &parameters));
	struct client_reply reply = {object, parameters, json_object_get_string(error), false};

	assert_int_equal(run_with_stderr(explain_reply, &reply, text, sizeof(text)), code);
	assert_string_equal(text, words);
	json_object_put(object);
}

static void replies_say_what_went_wrong(void **state)
{
	(void)state;
	assert_reply("{\"error\":\"io.mtld.NotEnoughObservations\",\"parameters\":{\"pid\":1,"
	             "\"observations\":12,\"needed\":60,\"reason\":null}}",
	        MTL_NOT_ENOUGH, "mtl: not enough yet: 12 of about 60 observations\n");
	assert_reply("{\"error\":\"io.mtld.NotEnoughObservations\",\"parameters\":{\"pid\":1,"
	             "\"observations\":0,\"needed\":60,\"reason\":\"it sleeps\"}}",
	        MTL_NOT_ENOUGH, "mtl: not enough yet: 0 of about 60 observations (it sleeps)\n");
	assert_reply("{\"error\":\"io.mtld.NotEnoughObservations\",\"parameters\":{\"pid\":1,"
	             "\"observations\":12,\"needed\":60,\"reason\":null,\"seconds\":24,"
	             "\"basis\":\"at 2 observations a second so far\"}}",
	        MTL_NOT_ENOUGH,
	        "mtl: not enough yet: 12 of about 60 observations; about 24 s more, at 2 "
	        "observations a second so far\n");
	assert_reply("{\"error\":\"io.mtld.SamplingImpossible\",\"parameters\":{\"reason\":\"no "
	             "CAP_BPF\",\"fix\":\"use root\"}}",
	        MTL_IMPOSSIBLE, "mtl: sampling is impossible here: no CAP_BPF; use root\n");
	assert_reply("{\"error\":\"io.mtld.SamplingImpossible\",\"parameters\":{\"reason\":\"no "
	             "CAP_BPF\",\"fix\":\"\"}}",
	        MTL_IMPOSSIBLE, "mtl: sampling is impossible here: no CAP_BPF\n");
	assert_reply("{\"error\":\"io.mtld.New\",\"parameters\":{\"a\":1}}", MTL_FAILED,
	        "mtl: mtld answered io.mtld.New, which this mtl does not know: { \"a\": 1 }\n");
}

/* The daemon's own description of its interface is the list of errors there are. */
static void every_error_of_the_interface_has_words(void **state)
{
	const char *line = io_mtld_varlink;
	int n = 0;

	(void)state;
	for (; line; line = strchr(line, '\n')) {
		char name[64], error[96], text[1024];

		line += *line == '\n';
		if (sscanf(line, "error %63[A-Za-z]", name) != 1)
			continue;
		snprintf(error, sizeof(error), "io.mtld.%s", name);
		struct client_reply reply = {
		        .error = error, .parameters = json_object_new_object()};

		reply_sentence(&reply, text, sizeof(text));
		json_object_put(reply.parameters);
		assert_null(strstr(text, "does not know"));
		n++;
	}
	assert_true(n >= 8);
}

static void long_words_are_cut(void **state)
{
	struct client_reply reply = {
	        .error = "io.mtld.PermissionDenied", .parameters = json_object_new_object()};
	char text[32], reason[200];

	(void)state;
	memset(reason, 'x', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	json_object_object_add(reply.parameters, "reason", json_object_new_string(reason));
	reply_sentence(&reply, text, sizeof(text));
	assert_int_equal(strlen(text), sizeof(text) - 1);
	json_object_put(reply.parameters);
}

#define SOCKET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        SOCKET_TEST(a_reply_is_taken_apart),
	        SOCKET_TEST(missing_parameters_are_an_empty_object),
	        SOCKET_TEST(an_error_reply_is_one),
	        SOCKET_TEST(two_replies_in_one_read_stay_two),
	        SOCKET_TEST(a_reply_may_come_byte_by_byte),
	        SOCKET_TEST(garbage_is_refused),
	        SOCKET_TEST(after_garbage_the_next_reply_is_read),
	        SOCKET_TEST(hanging_up_is_noticed),
	        SOCKET_TEST(silence_has_a_limit),
	        SOCKET_TEST(the_user_may_stop_the_waiting),
	        SOCKET_TEST(a_reply_without_end_is_cut_off),
	        SOCKET_TEST(a_large_reply_is_read_whole),
	        SOCKET_TEST(calls_look_as_the_protocol_wants),
	        cmocka_unit_test(connecting_tells_the_mistakes_apart),
	        cmocka_unit_test(every_connection_error_has_words),
	        cmocka_unit_test(replies_say_what_went_wrong),
	        cmocka_unit_test(every_error_of_the_interface_has_words),
	        cmocka_unit_test(long_words_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
