/* SPDX-License-Identifier: MIT */
/*
 * The HTTP side of `mtl export`: libmicrohttpd with one thread, which only ever hands out finished
 * texts. Answers are made by the other thread; a request that finds none from the last second is
 * suspended until there is one, and costs nothing meanwhile. One lock guards what the two share.
 *
 * Strangers are bounded: HTTP_CONNECTIONS at once (http_connections.c: who comes then takes the
 * place of who has been asking longest; while all wait for an answer, he waits in the kernel's
 * queue), 16 KiB of memory each (longer headers: 431), IDLE_SECONDS of silence,
 * HTTP_PATIENCE_SECONDS for a request and its answer together however slowly bytes trickle, no
 * bodies, GET and HEAD only. Who is at the other end does not matter: nothing is changed by a
 * request.
 */

#include "http_server.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "http_connections.h"
#include "http_library.h"
#include "http_request.h"
#include "monotonic.h"
#include "page_files.h"

#define MEMORY_PER_CONNECTION 16384
#define IDLE_SECONDS 15
#define PAGE_POLICY                                                                                \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "                \
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
#define NO_POLICY "default-src 'none'; frame-ancestors 'none'"

struct request {
	struct MHD_Connection *connection;
	struct http_connection *of;
	struct request *next; /* in the list of those who wait */
	bool called, waited;
};

/* Texts that never change. */
enum fixed {
	NOT_FOUND,
	NOT_ALLOWED,
	NOT_OURS,
	HAS_BODY,
	NOT_YET,
	PAGE,
	STYLE,
	SCRIPT,
	CHART,
	ICON,
	N_FIXED
};

struct http_server {
	const struct http_library *library;
	struct MHD_Daemon *daemon;
	int wanted_fd;
	char own_name[256], *allowed;
	struct http_address address;
	struct MHD_Response *fixed[N_FIXED];
	pthread_mutex_t lock;
	/* behind the lock */
	struct MHD_Response *answers[HTTP_FORMS];
	double published; /* monotonic; < 0: never */
	struct request *waiting;
	struct http_connections connections;
	bool stopping;
};

static const struct {
	unsigned status;
	const char *type, *text, *policy;
} fixed_texts[] = {
        [NOT_FOUND] = {404, "text/plain", "There are /metrics, /curves.json and the page at /.\n",
                NO_POLICY},
        [NOT_ALLOWED] = {405, "text/plain", "Only GET and HEAD.\n", NO_POLICY},
        [NOT_OURS] = {421, "text/plain",
                "This is not the host that the request names; see --allow-host of mtl export.\n",
                NO_POLICY},
        [HAS_BODY] = {413, "text/plain", "A request has no body here.\n", NO_POLICY},
        [NOT_YET] = {503, "text/plain", "There is no answer yet.\n", NO_POLICY},
        [PAGE] = {200, "text/html; charset=utf-8", page_index_html, PAGE_POLICY},
        [STYLE] = {200, "text/css; charset=utf-8", page_page_css, NO_POLICY},
        [SCRIPT] = {200, "text/javascript; charset=utf-8", page_page_js, NO_POLICY},
        [CHART] = {200, "text/javascript; charset=utf-8", page_chart_js, NO_POLICY},
        [ICON] = {200, "image/svg+xml", page_icon_svg, NO_POLICY},
};

static const struct {
	const char *path;
	enum fixed fixed;
} files[] = {{"/", PAGE}, {"/page.css", STYLE}, {"/page.js", SCRIPT}, {"/chart.js", CHART},
        {"/icon.svg", ICON}};

static const char *const form_types[] = {
        [HTTP_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
        [HTTP_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
        [HTTP_JSON] = "application/json",
};

/* --- responses */

static struct MHD_Response *response_new(const struct http_library *library, const char *text,
        size_t length, enum MHD_ResponseMemoryMode mode, const char *type, const char *policy)
{
	const char *const headers[][2] = {
	        {"Content-Type", type},
	        {"Content-Security-Policy", policy},
	        {"X-Content-Type-Options", "nosniff"},
	        {"Referrer-Policy", "no-referrer"},
	        {"Cross-Origin-Resource-Policy", "same-origin"},
	        {"Cache-Control", "no-store"},
	        {"Vary", "Accept"},
	};
	struct MHD_Response *response =
	        library->MHD_create_response_from_buffer(length, (void *)text, mode);

	for (size_t i = 0; response && i < sizeof(headers) / sizeof(*headers); i++)
		library->MHD_add_response_header(response, headers[i][0], headers[i][1]);
	return response;
}

static int make_fixed(struct http_server *server)
{
	for (size_t i = 0; i < N_FIXED; i++) {
		server->fixed[i] = response_new(server->library, fixed_texts[i].text,
		        strlen(fixed_texts[i].text), MHD_RESPMEM_PERSISTENT, fixed_texts[i].type,
		        fixed_texts[i].policy);
		if (!server->fixed[i])
			return -ENOMEM;
	}
	server->library->MHD_add_response_header(server->fixed[NOT_ALLOWED], "Allow", "GET, HEAD");
	return 0;
}

static void destroy(const struct http_library *library, struct MHD_Response **responses, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (responses[i])
			library->MHD_destroy_response(responses[i]);
}

/* --- requests, in the thread of the library */

static enum MHD_Result give_fixed(
        struct http_server *server, struct MHD_Connection *connection, enum fixed fixed)
{
	return server->library->MHD_queue_response(
	        connection, fixed_texts[fixed].status, server->fixed[fixed]);
}

static const char *header(
        const struct http_server *server, struct MHD_Connection *connection, const char *name)
{
	return server->library->MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Why it is refused whatever it asks for; N_FIXED: it is not. */
static enum fixed refusal(
        const struct http_server *server, struct MHD_Connection *connection, const char *method)
{
	const char *length = header(server, connection, "Content-Length");

	if (!http_host_is_ours(
	            header(server, connection, "Host"), server->own_name, server->allowed))
		return NOT_OURS;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return NOT_ALLOWED;
	if ((length && strcmp(length, "0") != 0) || header(server, connection, "Transfer-Encoding"))
		return HAS_BODY;
	return N_FIXED;
}

static void set_stage(
        struct http_server *server, struct http_connection *connection, enum http_stage stage)
{
	pthread_mutex_lock(&server->lock);
	if (connection)
		connection->stage = stage;
	pthread_mutex_unlock(&server->lock);
}

/* The lock is held. */
static enum MHD_Result give_published(
        struct http_server *server, struct request *request, enum http_form form)
{
	return server->answers[form] ? server->library->MHD_queue_response(
	                                       request->connection, 200, server->answers[form])
	                             : give_fixed(server, request->connection, NOT_YET);
}

/* Until there is another answer; the lock is held. */
static void let_wait(struct http_server *server, struct request *request)
{
	if (request->of)
		request->of->stage = HTTP_WAITING;
	server->library->MHD_suspend_connection(request->connection);
	request->next = server->waiting;
	server->waiting = request;
	eventfd_write(server->wanted_fd, 1);
}

/* A fresh answer at once; else the request waits for it, from the second call on: whether a
 * connection is read from when it is resumed was settled before it was suspended, after the call
 * before that. During the first one it is, and a peer that has closed its direction since (`nc -N`)
 * would be taken for one that is gone; once a call has left the whole request unanswered, it is
 * not. */
static enum MHD_Result give_answer(
        struct http_server *server, struct request *request, enum http_form form)
{
	enum MHD_Result result = MHD_YES;

	pthread_mutex_lock(&server->lock);
	if (request->waited || server->stopping ||
	        monotonic_seconds() - server->published < HTTP_FRESH_SECONDS)
		result = give_published(server, request, form);
	else if (request->called)
		let_wait(server, request);
	request->called = true;
	pthread_mutex_unlock(&server->lock);
	return result;
}

static enum MHD_Result route(struct http_server *server, struct request *request, const char *path)
{
	const char *accept = header(server, request->connection, "Accept");

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (strcmp(path, files[i].path) == 0)
			return give_fixed(server, request->connection, files[i].fixed);
	if (strcmp(path, "/curves.json") == 0)
		return give_answer(server, request, HTTP_JSON);
	if (strcmp(path, "/metrics") == 0)
		return give_answer(server, request,
		        http_wants_openmetrics(accept) ? HTTP_OPENMETRICS : HTTP_TEXT);
	return give_fixed(server, request->connection, NOT_FOUND);
}

static struct http_connection *connection_of(
        const struct http_server *server, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = server->library->MHD_get_connection_info(
	        connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* At first, when the headers are there: a refusal before any of a body is read (which ends the
 * connection), or nothing yet. Then for the request, again where that
 * has no answer yet, and once more after a wait. */
static enum MHD_Result answer(void *argument, struct MHD_Connection *connection, const char *path,
        const char *method, const char *version, const char *data, size_t *size, void **ret_request)
{
	struct http_server *server = argument;
	struct request *request = *ret_request;
	enum fixed why;

	(void)version, (void)data, (void)size;
	if (request)
		return route(server, request, path);
	set_stage(server, connection_of(server, connection), HTTP_ANSWERING);
	why = refusal(server, connection, method);
	if (why != N_FIXED)
		return give_fixed(server, connection, why);
	request = calloc(1, sizeof(*request));
	if (!request)
		return MHD_NO;
	request->connection = connection;
	request->of = connection_of(server, connection);
	*ret_request = request;
	return MHD_YES;
}

static void completed(void *argument, struct MHD_Connection *connection, void **request,
        enum MHD_RequestTerminationCode code)
{
	struct http_server *server = argument;
	struct http_connection *of = connection_of(server, connection);

	(void)code;
	free(*request);
	*request = NULL;
	if (!of)
		return;
	pthread_mutex_lock(&server->lock);
	of->since = monotonic_seconds();
	of->stage = HTTP_ASKING;
	pthread_mutex_unlock(&server->lock);
}

/* One that is not on the list is bounded by silence alone. */
static void connection_begins(
        struct http_server *server, struct MHD_Connection *from, void **ret_context)
{
	const union MHD_ConnectionInfo *info =
	        server->library->MHD_get_connection_info(from, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (!info)
		return;
	pthread_mutex_lock(&server->lock);
	*ret_context =
	        http_connections_add(&server->connections, info->connect_fd, monotonic_seconds());
	http_connections_make_room(&server->connections, HTTP_CONNECTIONS);
	pthread_mutex_unlock(&server->lock);
}

/* Before the descriptor is closed. */
static void connection_ends(struct http_server *server, void **context)
{
	pthread_mutex_lock(&server->lock);
	http_connections_remove(&server->connections, *context);
	pthread_mutex_unlock(&server->lock);
	*context = NULL;
}

static void notified(void *argument, struct MHD_Connection *connection, void **context,
        enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		connection_begins(argument, connection, context);
	else
		connection_ends(argument, context);
}

/* --- the other thread */

const struct http_address *http_server_address(const struct http_server *server)
{
	return &server->address;
}

/* One connection more than there is room for: for whom another one gives way. poll: with epoll,
 * libmicrohttpd 0.9.75 accepts nobody for as long as it is idle once it has been at its limit. */
static int start_daemon(struct http_server *server, int fd)
{
	const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
	                       MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;

	server->daemon = server->library->MHD_start_daemon(flags, 0, NULL, NULL, answer, server,
	        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, HTTP_CONNECTIONS + 1U,
	        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_PER_CONNECTION,
	        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_NOTIFY_COMPLETED,
	        completed, server, MHD_OPTION_NOTIFY_CONNECTION, notified, server,
	        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	return server->daemon ? 0 : -ENOMEM;
}

static struct http_server *server_new(const char *own_name, const char *allowed)
{
	struct http_server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->published = -1e9;
	server->wanted_fd = -1;
	pthread_mutex_init(&server->lock, NULL);
	snprintf(server->own_name, sizeof(server->own_name), "%s", own_name);
	server->allowed = strdup(allowed ?: "");
	return server;
}

int http_server_start(const struct http_address *address, const char *own_name, const char *allowed,
        struct http_server **ret_server, char *ret_error, size_t error_size)
{
	_cleanup_(http_server_stopp) struct http_server *server = server_new(own_name, allowed);
	_cleanup_close_ int fd = -1;
	int r;

	snprintf(ret_error, error_size, "out of memory");
	if (!server || !server->allowed)
		return -ENOMEM;
	server->library = http_library();
	if (!server->library) {
		snprintf(ret_error, error_size,
		        "libmicrohttpd is not installed: `apt install libmicrohttpd12`");
		return -ENOENT;
	}
	server->wanted_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = server->wanted_fd < 0 ? -errno : make_fixed(server);
	if (r < 0)
		return r;
	fd = http_address_listen(address, &server->address, ret_error, error_size);
	if (fd < 0)
		return fd;
	r = start_daemon(server, fd);
	if (r < 0)
		return r;
	TAKE_FD(fd);
	*ret_server = TAKE_PTR(server);
	return 0;
}

int http_server_wanted_fd(const struct http_server *server)
{
	return server->wanted_fd;
}

void http_server_wanted_clear(struct http_server *server)
{
	eventfd_t count;

	eventfd_read(server->wanted_fd, &count);
}

/* Those who wait are taken off the list first: one that is resumed may end at once. */
static void resume_all(struct http_server *server, bool stopping)
{
	struct request *request, *next;

	pthread_mutex_lock(&server->lock);
	server->stopping = stopping;
	request = TAKE_PTR(server->waiting);
	pthread_mutex_unlock(&server->lock);
	for (; request; request = next) {
		next = request->next;
		request->waited = true;
		set_stage(server, request->of, HTTP_ANSWERING);
		server->library->MHD_resume_connection(request->connection);
	}
}

int http_server_publish(struct http_server *server, struct http_answers *answers)
{
	struct MHD_Response *responses[HTTP_FORMS] = {0};

	for (size_t i = 0; i < HTTP_FORMS; i++) {
		responses[i] = response_new(server->library, answers->text[i], answers->length[i],
		        MHD_RESPMEM_MUST_FREE, form_types[i], NO_POLICY);
		if (!responses[i]) {
			destroy(server->library, responses, HTTP_FORMS);
			return -ENOMEM;
		}
		answers->text[i] = NULL;
	}
	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < HTTP_FORMS; i++) {
		struct MHD_Response *old = server->answers[i];

		server->answers[i] = responses[i];
		responses[i] = old;
	}
	server->published = monotonic_seconds();
	pthread_mutex_unlock(&server->lock);
	destroy(server->library, responses, HTTP_FORMS);
	resume_all(server, false);
	return 0;
}

void http_server_sweep(struct http_server *server)
{
	pthread_mutex_lock(&server->lock);
	http_connections_cut_old(&server->connections, monotonic_seconds(), HTTP_PATIENCE_SECONDS);
	pthread_mutex_unlock(&server->lock);
}

struct http_server *http_server_stop(struct http_server *server)
{
	if (!server)
		return NULL;
	if (server->daemon) {
		resume_all(server, true);
		server->library->MHD_stop_daemon(server->daemon);
	}
	if (server->library) {
		destroy(server->library, server->fixed, N_FIXED);
		destroy(server->library, server->answers, HTTP_FORMS);
	}
	if (server->wanted_fd >= 0)
		close(server->wanted_fd);
	pthread_mutex_destroy(&server->lock);
	free(server->allowed);
	free(server);
	return NULL;
}
