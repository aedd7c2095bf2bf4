/* SPDX-License-Identifier: MIT */
/*
 * The wire: one JSON object a message, ended by a NUL byte, over an AF_UNIX stream (Varlink).
 *
 * What arrives is kept in a buffer until a NUL is in it; a read may bring a part of a message or
 * several of them. Nothing waits without a limit, nothing grows beyond CLIENT_MESSAGE_MAX, and
 * nothing that arrives is believed before the parser and the shape check have seen it.
 */

#include "client.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "monotonic.h"

#define INTERFACE "io.mtld."
#define CHUNK 65536
#define DEPTH 16

struct client {
	int fd;
	char *buffer;
	size_t length, capacity;
	size_t scanned; /* no NUL before this */
};

struct client *client_free(struct client *client)
{
	if (!client)
		return NULL;
	if (client->fd >= 0)
		close(client->fd);
	free(client->buffer);
	free(client);
	return NULL;
}

void client_reply_done(struct client_reply *reply)
{
	json_object_put(reply->object);
	*reply = (struct client_reply){0};
}

int client_from_fd(int fd, struct client **ret_client)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->fd = fd;
	*ret_client = client;
	return 0;
}

/* connect() says ECONNREFUSED for a plain file too, which is another mistake. */
static int connect_error(const char *path)
{
	int error = errno;
	struct stat status;

	if (error == ECONNREFUSED && stat(path, &status) == 0 && !S_ISSOCK(status.st_mode))
		return -ENOTSOCK;
	return error == EAGAIN || error == EINPROGRESS ? -ETIMEDOUT : -error;
}

int client_connect(const char *path, struct client **ret_client)
{
	struct timeval limit = {.tv_sec = (time_t)CLIENT_REPLY_SECONDS};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return connect_error(path);
	r = client_from_fd(fd, ret_client);
	if (r == 0)
		TAKE_FD(fd);
	return r;
}

static int send_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static int add_member(struct json_object *object, const char *key, struct json_object *value)
{
	if (value && json_object_object_add(object, key, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

int client_send(
        struct client *client, const char *method, struct json_object *parameters, bool more)
{
	_cleanup_(json_object_putp) struct json_object *owned =
	        parameters ?: json_object_new_object();
	_cleanup_(json_object_putp) struct json_object *message = json_object_new_object();
	char name[64];
	const char *text;
	size_t length;
	int r;

	snprintf(name, sizeof(name), INTERFACE "%s", method);
	if (!message)
		return -ENOMEM;
	r = add_member(message, "method", json_object_new_string(name));
	r = r ?: add_member(message, "parameters", TAKE_PTR(owned));
	if (more)
		r = r ?: add_member(message, "more", json_object_new_boolean(true));
	if (r < 0)
		return r;
	text = json_object_to_json_string_length(
	        message, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
	return text ? send_all(client->fd, text, length + 1) : -ENOMEM;
}

/* 0 when something can be read. */
static int wait_readable(struct client *client, double deadline, int wake_fd)
{
	struct pollfd fds[] = {
	        {.fd = client->fd, .events = POLLIN},
	        {.fd = wake_fd, .events = POLLIN},
	};
	double left = deadline - monotonic_seconds();
	int n;

	if (left < 0)
		return -ETIMEDOUT;
	n = poll(fds, 2, (int)fmin(ceil(left * 1000), 3600e3));
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (fds[1].revents)
		return -ECANCELED;
	return n == 0 ? -EAGAIN : 0;
}

static int reserve(struct client *client)
{
	size_t capacity = client->capacity * 2 + CHUNK;
	char *larger;

	if (client->capacity - client->length >= CHUNK)
		return 0;
	if (client->length > CLIENT_MESSAGE_MAX)
		return -EMSGSIZE;
	larger = realloc(client->buffer, capacity);
	if (!larger)
		return -ENOMEM;
	client->buffer = larger;
	client->capacity = capacity;
	return 0;
}

static int read_some(struct client *client)
{
	int r = reserve(client);
	ssize_t n;

	if (r < 0)
		return r;
	n = recv(client->fd, client->buffer + client->length, CHUNK, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -errno;
	if (n == 0)
		return -ECONNRESET;
	client->length += (size_t)n;
	return 0;
}

/* The whole text must be one JSON object. */
static int parse_object(const char *text, size_t length, struct json_object **ret_object)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH);
	struct json_object *object;
	bool complete;

	if (!tokener)
		return -ENOMEM;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, text, (int)length);
	complete = json_tokener_get_error(tokener) == json_tokener_success &&
	           json_tokener_get_parse_end(tokener) == length;
	json_tokener_free(tokener);
	if (!complete || !json_object_is_type(object, json_type_object)) {
		json_object_put(object);
		return -EBADMSG;
	}
	*ret_object = object;
	return 0;
}

static int shape_reply(struct json_object *object, struct client_reply *ret_reply)
{
	struct client_reply reply = {.object = object};
	struct json_object *error, *continues;
	bool has_error = json_object_object_get_ex(object, "error", &error) && error;

	if (!json_object_object_get_ex(object, "parameters", &reply.parameters) ||
	        !reply.parameters) {
		reply.parameters = json_object_new_object();
		if (add_member(object, "parameters", reply.parameters) < 0)
			return -ENOMEM;
	}
	if (!json_object_is_type(reply.parameters, json_type_object))
		return -EBADMSG;
	if (has_error && !json_object_is_type(error, json_type_string))
		return -EBADMSG;
	reply.error = has_error ? json_object_get_string(error) : NULL;
	reply.continues = json_object_object_get_ex(object, "continues", &continues) &&
	                  json_object_get_boolean(continues);
	*ret_reply = reply;
	return 0;
}

static int take_message(struct client *client, size_t length, struct client_reply *ret_reply)
{
	_cleanup_(json_object_putp) struct json_object *object = NULL;
	int r = parse_object(client->buffer, length, &object);

	client->length -= length + 1;
	memmove(client->buffer, client->buffer + length + 1, client->length);
	client->scanned = 0;
	r = r ?: shape_reply(object, ret_reply);
	if (r == 0)
		TAKE_PTR(object);
	return r;
}

/* 0, or -EAGAIN while there is no whole message in the buffer. */
static int next_message(struct client *client, struct client_reply *ret_reply)
{
	char *end = NULL;

	if (client->length > client->scanned)
		end = memchr(
		        client->buffer + client->scanned, '\0', client->length - client->scanned);
	client->scanned = client->length;
	return end ? take_message(client, (size_t)(end - client->buffer), ret_reply) : -EAGAIN;
}

int client_receive(
        struct client *client, double seconds, int wake_fd, struct client_reply *ret_reply)
{
	double deadline = monotonic_seconds() + seconds;
	int r;

	for (;;) {
		r = next_message(client, ret_reply);
		if (r != -EAGAIN)
			return r;
		r = wait_readable(client, deadline, wake_fd);
		if (r == 0)
			r = read_some(client);
		if (r < 0 && r != -EAGAIN)
			return r;
	}
}

int client_call(struct client *client, const char *method, struct json_object *parameters,
        struct client_reply *ret_reply)
{
	int r = client_send(client, method, parameters, false);

	return r < 0 ? r : client_receive(client, CLIENT_REPLY_SECONDS, -1, ret_reply);
}
