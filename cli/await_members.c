/* SPDX-License-Identifier: MIT */
/*
 * Many processes at once. What cannot be asked of one of them is its state, and no reason to stop.
 *
 * All are asked in rounds until none has too few observations. One that has none of the CPU gets
 * none however long it is waited for: a process that has used less than 1/1000 of a CPU in at least
 * two seconds of being tracked is idle. Its misses are at most those of such a share of one CPU.
 */

#include "await_members.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "await_curve.h"
#include "monotonic.h"
#include "object.h"
#include "question.h"

#define AGAIN_MILLISECONDS 200
#define IDLE_SHARE 1e-3
#define IDLE_SECONDS 2.0

static const struct {
	const char *error;
	enum member_state state;
} states[] = {
        {"NotTracked", MEMBER_NEW},
        {"NotEnoughObservations", MEMBER_WAITING},
        {"NoSuchProcess", MEMBER_GONE},
        {"PermissionDenied", MEMBER_FORBIDDEN},
        {"KernelThread", MEMBER_KERNEL},
        {"TooManyProcesses", MEMBER_TOO_MANY},
};

static enum member_state state_of(const struct client_reply *reply)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (reply_is(reply, states[i].error))
			return states[i].state;
	return MEMBER_FAILED;
}

/* One call about one member; its state is what the answer says, on success `done`. */
static int ask(struct client *client, const struct options *options, const char *method,
        struct json_object *parameters, struct member *member, enum member_state done)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	struct json_object *curve = NULL;
	int r = parameters ? client_call(client, method, parameters, &reply) : -ENOMEM;

	if (r < 0)
		return client_explain(r, options->socket);
	if (reply.error && reply_is(&reply, "SamplingImpossible"))
		return reply_explain(&reply);
	member->state = reply.error ? state_of(&reply) : done;
	if (done != MEMBER_CURVE || reply.error)
		return MTL_DONE;
	if (!json_object_object_get_ex(reply.parameters, "curve", &curve) || !curve)
		return client_explain(-EBADMSG, options->socket);
	member->curve = json_object_get(curve);
	return MTL_DONE;
}

static int ask_curve(struct client *client, const struct options *options, struct member *member)
{
	return ask(client, options, "Curve", question_curve(member->pid, options), member,
	        MEMBER_CURVE);
}

int members_track(struct client *client, const struct options *options, struct member *members,
        size_t n, size_t *ret_tracked)
{
	int code = MTL_DONE;

	*ret_tracked = 0;
	for (size_t i = 0; code == MTL_DONE && i < n; i++) {
		code = ask_curve(client, options, &members[i]);
		if (code != MTL_DONE || members[i].state != MEMBER_NEW)
			continue;
		code = ask(client, options, "Track",
		        question_track(members[i].pid, await_idle_seconds(options)), &members[i],
		        MEMBER_WAITING);
		*ret_tracked += members[i].state == MEMBER_WAITING;
	}
	return code;
}

static struct member *find(struct member *members, size_t n, double pid)
{
	for (size_t i = 0; i < n; i++)
		if (members[i].pid == pid)
			return &members[i];
	return NULL;
}

/* How busy those are that are waited for, as List has it. */
static int look_how_busy(
        struct client *client, const struct options *options, struct member *members, size_t n)
{
	_cleanup_(json_object_putp) struct json_object *processes = NULL;
	int code = question_ask(client, options->socket, "List", NULL, "processes", &processes);

	if (code != MTL_DONE || !json_object_is_type(processes, json_type_array))
		return code;
	for (size_t i = 0; i < json_object_array_length(processes); i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);
		struct member *member = find(members, n, object_number(process, "pid"));
		double wall = object_number(process, "wall_seconds");

		if (!member || member->state != MEMBER_WAITING || !(wall > 0))
			continue;
		if (strcmp(object_text(process, "state"), "exited") == 0)
			member->state = MEMBER_GONE;
		member->busy = object_number(process, "cpu_seconds") / wall;
		if (member->state == MEMBER_WAITING && wall >= IDLE_SECONDS &&
		        member->busy < IDLE_SHARE)
			member->state = MEMBER_IDLE;
	}
	return MTL_DONE;
}

static int ask_again(struct client *client, const struct options *options, struct member *members,
        size_t n, size_t *ret_waiting)
{
	int code = MTL_DONE;

	*ret_waiting = 0;
	for (size_t i = 0; code == MTL_DONE && i < n; i++) {
		if (members[i].state != MEMBER_WAITING)
			continue;
		code = ask_curve(client, options, &members[i]);
		if (members[i].state == MEMBER_NEW) /* forgotten, since it has ended */
			members[i].state = MEMBER_GONE;
		*ret_waiting += members[i].state == MEMBER_WAITING;
	}
	return code;
}

int members_await(struct client *client, const struct options *options, double seconds,
        struct member *members, size_t n)
{
	double deadline = monotonic_seconds() + seconds;
	size_t waiting = 0;
	int code;

	do {
		if (waiting)
			poll(NULL, 0, AGAIN_MILLISECONDS);
		code = ask_again(client, options, members, n, &waiting);
		if (code == MTL_DONE && waiting)
			code = look_how_busy(client, options, members, n);
		waiting = 0;
		for (size_t i = 0; i < n; i++)
			waiting += members[i].state == MEMBER_WAITING;
	} while (code == MTL_DONE && waiting && monotonic_seconds() < deadline);
	return code;
}
