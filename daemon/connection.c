/* SPDX-License-Identifier: MIT */
/*
 * One client. Bytes come in, messages are answered in order, bytes go out; nothing here ever waits.
 *
 *   readable --> input queue --> one message a turn of the loop --> reply --> output queue --> send
 *
 * Invariants:
 *   - one message, or one update of a stream, is answered per turn, so that a pipelining client
 *     shares the loop with the sampler (which has priority) and with the other clients. A turn is a
 *     timer that has expired: whoever has been waiting longest is served first, while a deferred
 *     source, which never leaves the queue, would always be;
 *   - an answer that takes long comes in steps, one a turn;
 *   - while a stream runs, or an answer is unfinished, or while more than output_pause bytes wait
 *     to be sent, no further message is taken, and reading stops at request_bytes of input;
 *   - a client whose output stalls, or who starts a message and does not end it, is dropped;
 *   - a client that is gone (EPOLLHUP, EPIPE) still has what it sent before carried out;
 *   - handlers only mark (dead, closing); settle(), the last thing every handler does, ends.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include "byte_queue.h"
#include "cleanup.h"
#include "connection.h"
#include "json_message.h"

#define READ_BYTES 16384
#define ACCURACY_USEC 10000
#define NEVER UINT64_MAX

const struct connection_limits connection_default_limits = {
        .request_bytes = MESSAGE_BYTES_MAX,
        .output_bytes = 4 << 20,
        .output_pause = 256 << 10,
        .stalled_usec = 5000000,
        .partial_usec = 30000000,
        .stream_usec = 1000000,
};

struct connection {
	struct connection_owner owner;
	struct peer peer;
	int fd;
	sd_event_source *io, *turn, *timer;
	struct byte_queue input, output;
	struct json_call stream; /* the call whose updates are being sent; message NULL: none */
	uint64_t stream_next;
	bool unfinished;        /* or the call whose answer takes another turn */
	uint64_t partial_since; /* NEVER: no message begun */
	uint64_t stalled_since; /* NEVER: nothing waits to be sent */
	bool input_ended;       /* end of file, or no more is wanted */
	bool peer_gone;         /* nobody reads what we send */
	bool closing;           /* send what is queued, then end */
	bool dead;
	const char *why;
};

DEFINE_CLEANUP(struct connection, connection_free)

static uint64_t now_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void drop(struct connection *c, const char *why)
{
	c->dead = true;
	c->why = why;
}

static bool again(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

/* --- output */

static void flush(struct connection *c)
{
	while (c->output.used && !c->peer_gone) {
		ssize_t n = send(c->fd, byte_queue_front(&c->output), c->output.used,
		        MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0) {
			c->peer_gone = !again(errno);
			break;
		}
		byte_queue_consume(&c->output, (size_t)n);
		c->stalled_since = now_usec();
	}
	if (c->peer_gone)
		byte_queue_clear(&c->output);
	if (!c->output.used)
		c->stalled_since = NEVER;
}

static void put(struct connection *c, const struct reply *reply)
{
	_cleanup_free_ char *bytes = NULL;
	size_t size;
	int r = reply_encode(reply, &bytes, &size);

	if (r == 0 && !c->peer_gone)
		r = byte_queue_append(&c->output, bytes, size, c->owner.limits->output_bytes);
	if (r == -ENOBUFS)
		drop(c, "does not read its replies");
	else if (r < 0)
		drop(c, "out of memory");
	if (c->stalled_since == NEVER)
		c->stalled_since = now_usec();
}

/* The one error a peer gets that cannot be understood; then it is disconnected. */
static void refuse_message(struct connection *c, const char *reason)
{
	struct reply reply = {0};

	if (reply_make(&reply, "io.mtld.MalformedMessage", "reason", json_text(reason), NULL) == 0)
		put(c, &reply);
	reply_done(&reply);
	c->closing = c->input_ended = true;
	byte_queue_clear(&c->input);
}

/* --- input */

static bool wants_input(const struct connection *c)
{
	return !c->input_ended && !c->dead && c->input.used <= c->owner.limits->request_bytes;
}

static void fill(struct connection *c)
{
	size_t room;
	char *bytes;
	ssize_t n;

	if (!wants_input(c))
		return;
	room = c->owner.limits->request_bytes + 1 - c->input.used;
	room = room < READ_BYTES ? room : READ_BYTES;
	bytes = byte_queue_reserve(&c->input, room);
	if (!bytes)
		return drop(c, "out of memory");
	n = recv(c->fd, bytes, room, MSG_DONTWAIT);
	if (n > 0)
		byte_queue_added(&c->input, (size_t)n);
	else if (n == 0 || c->peer_gone || !again(errno))
		c->input_ended = true;
}

/* Whether the next message may be taken now. */
static bool may_answer(const struct connection *c)
{
	return !c->dead && !c->closing && !c->stream.message &&
	       c->output.used <= c->owner.limits->output_pause;
}

static int next_message(const struct connection *c, size_t *ret_length)
{
	return json_message_length(byte_queue_front(&c->input), c->input.used,
	        c->owner.limits->request_bytes, ret_length);
}

/* --- answering */

/* Answer the call; it is kept when there is more to come. */
static void answer(struct connection *c, struct json_call *call)
{
	struct reply reply = {0};
	int r = methods_call(c->owner.context, &c->peer, call, &reply);

	if (r < 0)
		r = reply_make(&reply, "io.mtld.Failed", "reason", json_text(strerror(-r)), NULL);
	if (r < 0)
		drop(c, "out of memory");
	else if (!call->oneway && !reply.unfinished)
		put(c, &reply);
	if ((reply.continues || reply.unfinished) && !call->oneway && !c->dead) {
		c->unfinished = reply.unfinished;
		c->stream_next =
		        reply.unfinished ? NEVER : now_usec() + c->owner.limits->stream_usec;
		c->stream = *call;
		*call = (struct json_call){0};
	}
	reply_done(&reply);
}

static void answer_message(struct connection *c, size_t length)
{
	struct json_call call = {0};
	char reason[128];
	int r = json_call_parse(byte_queue_front(&c->input), length, &call, reason, sizeof(reason));

	if (r == -ENOMEM)
		return drop(c, "out of memory");
	if (r < 0)
		return refuse_message(c, reason);
	byte_queue_consume(&c->input, length + 1);
	answer(c, &call);
	json_call_done(&call);
}

/* Put the call again that is a stream or unfinished. */
static void answer_again(struct connection *c)
{
	struct json_call call = c->stream;

	c->stream = (struct json_call){0};
	c->unfinished = false;
	answer(c, &call);
	json_call_done(&call);
}

static void take_turn(struct connection *c)
{
	size_t length;
	char reason[64];
	int r;

	if (c->unfinished)
		return answer_again(c);
	if (!may_answer(c))
		return;
	r = next_message(c, &length);
	if (r > 0)
		answer_message(c, length);
	if (r >= 0)
		return;
	snprintf(reason, sizeof(reason), r == -EMSGSIZE ? "larger than %zu bytes" : "empty message",
	        c->owner.limits->request_bytes);
	refuse_message(c, reason);
}

/* A client that has not taken the last update yet misses this one. */
static void update_stream(struct connection *c)
{
	c->stream_next = now_usec() + c->owner.limits->stream_usec;
	if (!c->output.used)
		answer_again(c);
}

/* --- what happens next */

static uint64_t after(uint64_t since, uint64_t usec)
{
	return since == NEVER ? NEVER : since + usec;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_deadline(const struct connection *c)
{
	uint64_t next = earlier(after(c->stalled_since, c->owner.limits->stalled_usec),
	        after(c->partial_since, c->owner.limits->partial_usec));

	return c->stream.message ? earlier(next, c->stream_next) : next;
}

static void check_deadlines(struct connection *c)
{
	uint64_t now = now_usec();

	if (now >= after(c->stalled_since, c->owner.limits->stalled_usec))
		drop(c, "does not read its replies");
	else if (now >= after(c->partial_since, c->owner.limits->partial_usec))
		drop(c, "did not finish a message");
	else if (c->stream.message && now >= c->stream_next)
		update_stream(c);
}

/* Whether a turn would do anything, and the time the message now arriving began. */
static bool wants_turn(struct connection *c)
{
	size_t length;
	bool idle = !may_answer(c);
	int r = idle ? 0 : next_message(c, &length);

	if (idle || r || !c->input.used)
		c->partial_since = NEVER;
	else if (c->partial_since == NEVER)
		c->partial_since = now_usec();
	return c->unfinished || r != 0 || (!idle && c->peer_gone && wants_input(c));
}

static int arm(struct connection *c, bool turn)
{
	uint64_t deadline = next_deadline(c);
	uint32_t events = (wants_input(c) ? EPOLLIN : 0) | (c->output.used ? EPOLLOUT : 0);
	int r;

	/* a hang-up is level triggered: once seen, it is not listened to */
	r = sd_event_source_set_enabled(c->io, c->peer_gone ? SD_EVENT_OFF : SD_EVENT_ON);
	if (r >= 0)
		r = sd_event_source_set_io_events(c->io, events);
	if (r >= 0)
		r = sd_event_source_set_enabled(c->turn, turn ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	if (r >= 0 && deadline != NEVER)
		r = sd_event_source_set_time(c->timer, deadline);
	if (r >= 0)
		r = sd_event_source_set_enabled(
		        c->timer, deadline == NEVER ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
	return r;
}

/* Ends the connection or arranges its next event. c may be gone afterwards. */
static int settle(struct connection *c)
{
	bool turn;

	flush(c);
	if (c->peer_gone && c->stream.message) {
		json_call_done(&c->stream);
		c->unfinished = false;
	}
	turn = wants_turn(c);
	if (!c->dead && !turn && !c->output.used && !c->stream.message && c->input_ended)
		c->dead = true;
	if (!c->dead && arm(c, turn) < 0)
		drop(c, "out of memory");
	if (c->dead)
		c->owner.over(c->owner.user, c, c->why);
	return 0;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *user)
{
	struct connection *c = user;

	(void)source, (void)fd;
	manager_serves(c->owner.context->manager);
	if (events & (EPOLLHUP | EPOLLERR))
		c->peer_gone = true;
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		fill(c);
	return settle(c);
}

static int on_turn(sd_event_source *source, uint64_t usec, void *user)
{
	struct connection *c = user;

	(void)source, (void)usec;
	manager_serves(c->owner.context->manager);
	if (c->peer_gone)
		fill(c);
	take_turn(c);
	return settle(c);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *user)
{
	struct connection *c = user;

	(void)source, (void)usec;
	manager_serves(c->owner.context->manager);
	check_deadlines(c);
	return settle(c);
}

/* --- life */

static int add_sources(struct connection *c)
{
	sd_event *event = c->owner.event;
	int r = sd_event_add_io(event, &c->io, c->fd, EPOLLIN, on_io, c);

	if (r >= 0)
		r = sd_event_add_time(event, &c->turn, CLOCK_MONOTONIC, 0, 1, on_turn, c);
	if (r >= 0)
		r = sd_event_source_set_enabled(c->turn, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(
		        event, &c->timer, CLOCK_MONOTONIC, 0, ACCURACY_USEC, on_timer, c);
	if (r >= 0)
		r = sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_source_set_priority(c->io, CLIENT_PRIORITY);
	if (r >= 0)
		r = sd_event_source_set_priority(c->turn, CLIENT_PRIORITY);
	if (r >= 0)
		r = sd_event_source_set_priority(c->timer, CLIENT_PRIORITY);
	return r;
}

int connection_new(const struct connection_owner *owner, int fd, const struct peer *peer,
        struct connection **ret_connection)
{
	_cleanup_(connection_freep) struct connection *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		close(fd);
		return -ENOMEM;
	}
	*c = (struct connection){
	        .owner = *owner,
	        .peer = *peer,
	        .fd = fd,
	        .partial_since = NEVER,
	        .stalled_since = NEVER,
	};
	r = add_sources(c);
	if (r < 0)
		return r;
	*ret_connection = TAKE_PTR(c);
	return 0;
}

const struct peer *connection_peer(const struct connection *connection)
{
	return &connection->peer;
}

struct connection *connection_free(struct connection *c)
{
	if (!c)
		return NULL;
	sd_event_source_disable_unref(c->io);
	sd_event_source_disable_unref(c->turn);
	sd_event_source_disable_unref(c->timer);
	close(c->fd);
	json_call_done(&c->stream);
	byte_queue_clear(&c->input);
	byte_queue_clear(&c->output);
	free(c);
	return NULL;
}
