/* SPDX-License-Identifier: MIT */
/*
 * The methods of io.mtld: permission first, then the manager, then its answer as JSON or its errno
 * as a named error. No state lives here: a stream (Curve with "more") is the same call put again
 * about once a second for as long as its replies say so, and it judges the peer anew each time.
 *
 * Peers that are neither root nor in the privileged group see and track only processes they own,
 * and one such user holds at most a quarter of the places, so that nobody can lock the others out.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "address_json.h"
#include "governing_json.h"
#include "cleanup.h"
#include "demand_list.h"
#include "group_methods.h"
#include "method.h"
#include "mtl.h"
#include "service.h"
#include "status_json.h"

DEFINE_CLEANUP(struct json_object, json_object_put)

#define SERVICE "org.varlink.service."
#define BYTES_MAX 1152921504606846976.0 /* 2^60 */
#define SECONDS_MAX 1e9

/* --- replies */

static void *memdup(const void *bytes, size_t size)
{
	void *copy = malloc(size);

	return copy ? memcpy(copy, bytes, size) : NULL;
}

int reply_make(struct reply *ret_reply, const char *error, ...)
{
	_cleanup_(json_object_putp) struct json_object *parameters = json_object_new_object();
	va_list pairs;
	const char *name;

	va_start(pairs, error);
	while ((name = va_arg(pairs, const char *))) {
		struct json_object *value = va_arg(pairs, struct json_object *);

		if (!parameters || json_object_object_add(parameters, name, value) < 0)
			json_object_put(value);
	}
	va_end(pairs);
	if (!parameters)
		return -ENOMEM;
	*ret_reply = (struct reply){.error = error, .parameters = TAKE_PTR(parameters)};
	return 0;
}

/* Answer {name: value}; value is consumed. */
static int reply_one(struct reply *ret_reply, const char *name, struct json_object *value)
{
	return reply_make(ret_reply, NULL, name, value, NULL);
}

void reply_done(struct reply *reply)
{
	json_object_put(reply->parameters);
	*reply = (struct reply){0};
}

int reply_encode(const struct reply *reply, char **ret_bytes, size_t *ret_size)
{
	_cleanup_(json_object_putp) struct json_object *message = json_object_new_object();
	struct json_object *parameters =
	        reply->parameters ? json_object_get(reply->parameters) : json_object_new_object();
	const char *text;
	size_t length;
	char *bytes;

	if (!message || !parameters) {
		json_object_put(parameters);
		return -ENOMEM;
	}
	if (reply->error)
		json_object_object_add(message, "error", json_object_new_string(reply->error));
	json_object_object_add(message, "parameters", parameters);
	if (reply->continues)
		json_object_object_add(message, "continues", json_object_new_boolean(true));
	text = json_object_to_json_string_length(
	        message, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
	bytes = text ? memdup(text, length + 1) : NULL;
	if (!bytes)
		return -ENOMEM;
	*ret_bytes = bytes;
	*ret_size = length + 1;
	return 0;
}

/* --- errors */

static struct json_object *integer(int64_t value)
{
	return json_object_new_int64(value);
}

static struct json_object *counter(uint64_t value)
{
	return json_object_new_uint64(value);
}

static struct json_object *text_or_null(const char *text)
{
	return *text ? json_text(text) : NULL;
}

static int no_such_process(struct reply *ret_reply, pid_t pid)
{
	return reply_make(ret_reply, "io.mtld.NoSuchProcess", "pid", integer(pid), NULL);
}

static int permission_denied(struct reply *ret_reply, const char *reason)
{
	return reply_make(ret_reply, "io.mtld.PermissionDenied", "reason", json_text(reason), NULL);
}

static int too_many(struct reply *ret_reply, unsigned limit)
{
	return reply_make(ret_reply, "io.mtld.TooManyProcesses", "limit", integer(limit), NULL);
}

static int not_tracked(const struct methods_context *context, struct reply *ret_reply, pid_t pid)
{
	uid_t owner;

	if (process_owner(context->root, pid, &owner) == -ESRCH)
		return no_such_process(ret_reply, pid);
	return reply_make(ret_reply, "io.mtld.NotTracked", "pid", integer(pid), NULL);
}

static int sampling_impossible(const struct methods_context *context, struct reply *ret_reply)
{
	struct manager_status status;

	manager_status(context->manager, &status);
	return reply_make(ret_reply, "io.mtld.SamplingImpossible", "reason",
	        json_text(status.reason), "fix", json_text(status.fix), NULL);
}

static int not_enough(const struct methods_context *context, struct reply *ret_reply, pid_t pid)
{
	struct manager_process process;
	char reason[sizeof(process.reason) + sizeof(process.governing.backoff)];

	if (manager_process(context->manager, pid, &process) < 0)
		return not_tracked(context, ret_reply, pid);
	governing_reason(&process, reason, sizeof(reason));
	return reply_make(ret_reply, "io.mtld.NotEnoughObservations", "pid", integer(pid),
	        "observations", counter(process.observations), "needed",
	        integer(MTL_OBSERVATIONS_NEEDED), "reason", text_or_null(reason), "seconds",
	        isfinite(process.first_curve_seconds)
	                ? integer(llround(ceil(process.first_curve_seconds)))
	                : NULL,
	        "basis", text_or_null(process.first_curve_basis), "state",
	        json_text(process.state), NULL);
}

int method_refused(const struct methods_context *context, struct reply *ret_reply, pid_t pid, int r)
{
	switch (r) {
	case -ESRCH:
		return no_such_process(ret_reply, pid);
	case -ENOENT:
		return not_tracked(context, ret_reply, pid);
	case -ENOTSUP:
		return reply_make(ret_reply, "io.mtld.KernelThread", "pid", integer(pid), NULL);
	case -EUSERS:
		return too_many(ret_reply, context->config->max_processes);
	case -ENOSYS:
		return sampling_impossible(context, ret_reply);
	case -EACCES:
		return permission_denied(ret_reply, "this process may not be observed");
	case -ENODATA:
		return not_enough(context, ret_reply, pid);
	case -EINVAL:
		return reply_make(ret_reply, "io.mtld.InvalidParameter", "parameter",
		        json_text("sizes"), "reason",
		        json_text("no curve can be given at these sizes and windows"), NULL);
	case -ENOMEM:
		return r;
	default:
		return reply_make(
		        ret_reply, "io.mtld.Failed", "reason", json_text(strerror(-r)), NULL);
	}
}

int method_find_process(const struct methods_context *context, const struct peer *peer, pid_t pid,
        struct manager_process *ret_process, struct reply *ret_reply)
{
	int r = manager_process(context->manager, pid, ret_process);

	if (r == 0 && peer_may_see(peer, context->root, ret_process))
		return 0;
	r = r < 0 ? method_refused(context, ret_reply, pid, r)
	          : permission_denied(ret_reply, "the process belongs to another user");
	return r < 0 ? r : 1;
}

/* --- Status, List */

static int status(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	const struct config *config = context->config;
	struct json_object *answer = json_object_new_object();
	struct manager_status now;

	(void)peer, (void)arguments;
	if (!answer)
		return -ENOMEM;
	manager_status(context->manager, &now);
	json_object_object_add(answer, "version", json_text(MTL_VERSION));
	json_object_object_add(answer, "pid", integer(now.pid));
	json_object_object_add(answer, "uptime_seconds", json_number(now.uptime_seconds));
	json_object_object_add(answer, "rung", json_text(now.rung));
	json_object_object_add(answer, "reason", json_text(now.reason));
	json_object_object_add(answer, "calibration", calibration_json(&now));
	json_object_object_add(answer, "max_overhead", json_number(config->max_overhead));
	json_object_object_add(answer, "max_daemon_cpu", json_number(config->max_daemon_cpu));
	json_object_object_add(answer, "daemon_cpu", json_number(now.daemon_cpu));
	json_object_object_add(answer, "processes", integer(now.processes));
	json_object_object_add(answer, "max_processes", integer(config->max_processes));
	json_object_object_add(answer, "top", integer(config->top));
	json_object_object_add(answer, "cgroups", cgroups_json(context));
	json_object_object_add(answer, "lost", counter(now.lost));
	json_object_object_add(answer, "clients", integer(context->clients));
	json_object_object_add(answer, "address_samples", address_json(&now));
	json_object_object_add(answer, "address_reason", text_or_null(now.events_reason));
	json_object_object_add(answer, "agreement", scores_json(&now));
	json_object_object_add(answer, "reuse_reason", text_or_null(now.reuse_reason));
	ret_reply->parameters = answer;
	return 0;
}

static struct json_object *process_json(const struct manager_process *process)
{
	const struct {
		const char *name;
		double value;
	} rates[] = {
	        {"observations_per_second", process->observations_per_second},
	        {"accesses_per_second", process->rates.accesses},
	        {"l1_misses_per_second", process->rates.l1_misses},
	        {"l2_misses_per_second", process->rates.l2_misses},
	        {"llc_misses_per_second", process->rates.llc_misses},
	        {"llc_ratio", process->llc_ratio},
	        {"reuse_difference", process->reuse_difference},
	};
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	json_object_object_add(object, "pid", integer(process->pid));
	json_object_object_add(object, "comm", json_text(process->comm));
	json_object_object_add(object, "state", json_text(process->state));
	json_object_object_add(object, "reason", text_or_null(process->reason));
	json_object_object_add(object, "threads", integer(process->threads));
	json_object_object_add(object, "observations", counter(process->observations));
	json_object_object_add(object, "observations_needed", integer(MTL_OBSERVATIONS_NEEDED));
	tracking_json(process, object);
	json_object_object_add(object, "reuse_observations", counter(process->reuse_observations));
	json_object_object_add(object, "births", counter(process->births));
	json_object_object_add(object, "lost", counter(process->lost));
	json_object_object_add(object, "resident_bytes", integer(llround(process->resident_bytes)));
	json_object_object_add(object, "cpu_seconds", json_number(process->cpu_seconds));
	json_object_object_add(object, "wall_seconds", json_number(process->wall_seconds));
	json_object_object_add(object, "overhead_target", json_number(process->overhead_target));
	governing_json(&process->governing, object);
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		json_object_object_add(object, rates[i].name, json_number(rates[i].value));
	return object;
}

static int list(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	_cleanup_(json_object_putp) struct json_object *processes = json_object_new_array();
	struct manager_process process;

	(void)arguments;
	for (unsigned i = 0; manager_process_at(context->manager, i, &process) == 0; i++) {
		struct json_object *object;

		if (!peer_may_see(peer, context->root, &process))
			continue;
		object = process_json(&process);
		if (!processes || !object || json_object_array_add(processes, object) < 0) {
			json_object_put(object);
			return -ENOMEM;
		}
	}
	return processes ? reply_one(ret_reply, "processes", TAKE_PTR(processes)) : -ENOMEM;
}

/* --- Observations */

static int observations(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	_cleanup_free_ struct mtl_observation *watched = NULL;
	_cleanup_free_ struct mtl_birth *births = NULL;
	struct mtl_estimate_options options;
	struct mtl_curve_origin origin;
	struct manager_process process;
	struct json_object *record;
	size_t n, n_births;
	int r = method_find_process(context, peer, arguments->pid, &process, ret_reply);

	if (r)
		return r;
	manager_asked(context->manager, arguments->pid);
	r = manager_observations(context->manager, arguments->pid, &watched, &n, &births, &n_births,
	        &origin, &options);
	if (r < 0)
		return method_refused(context, ret_reply, arguments->pid, r);
	text_clean(origin.comm);
	r = mtl_record_to_json(watched, n, births, n_births, &origin, &options, &record);
	if (r < 0)
		return method_refused(context, ret_reply, arguments->pid, r);
	return reply_one(ret_reply, "record", record);
}

/* --- Track, Untrack */

static unsigned places_of(const struct methods_context *context, uid_t uid, pid_t except)
{
	struct manager_process process;
	unsigned n = 0;

	for (unsigned i = 0; manager_process_at(context->manager, i, &process) == 0; i++)
		n += process.uid == uid && process.pid != except && !manager_has_ended(&process) &&
		     !strcmp(process.tracked_by, "pid");
	return n;
}

/* 0: this unprivileged peer may track pid; 1: the reply says why not. */
static int may_track(const struct methods_context *context, const struct peer *peer, pid_t pid,
        struct reply *ret_reply)
{
	unsigned limit = (context->config->max_processes + 3) / 4;
	uid_t owner;
	int r = process_owner(context->root, pid, &owner);

	if (r < 0)
		r = method_refused(context, ret_reply, pid, r);
	else if (owner != peer->uid)
		r = permission_denied(ret_reply, "the process belongs to another user; root and "
		                                 "the group of mtld may track it");
	else if (places_of(context, peer->uid, pid) >= limit)
		r = too_many(ret_reply, limit);
	else
		return 0;
	return r < 0 ? r : 1;
}

static void log_tracking(const struct methods_context *context, enum log_event event,
        const struct peer *peer, const struct manager_process *process)
{
	uint64_t unlogged;

	if (context->log && log_allowed(context->log, 20, &unlogged))
		log_event(event, SD_INFO,
		        &(struct log_about){process->pid, process->comm, peer->pid, peer->uid},
		        "%s %d (%s) for pid %d, uid %u; unlogged before it: %" PRIu64,
		        event == LOG_TRACKED ? "tracking" : "no longer tracking", (int)process->pid,
		        process->comm, (int)peer->pid, (unsigned)peer->uid, unlogged);
}

static int track(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	struct manager_process process;
	pid_t pid = arguments->pid;
	bool known = manager_process(context->manager, pid, &process) == 0;
	int r = peer->privileged ? 0 : may_track(context, peer, pid, ret_reply);

	if (r)
		return r;
	r = known ? method_find_process(context, peer, pid, &process, ret_reply) : 0;
	if (r)
		return r;
	r = manager_track(context->manager, pid, arguments->idle_seconds);
	if (r < 0)
		return method_refused(context, ret_reply, pid, r);
	/* the pid may have changed hands between the question and the tracking */
	r = method_find_process(context, peer, pid, &process, ret_reply);
	if (r && !known)
		manager_untrack(context->manager, pid);
	else if (!known)
		log_tracking(context, LOG_TRACKED, peer, &process);
	return r;
}

/* It would come back within a second or two, with nothing known of it. */
static int tracked_otherwise(const struct manager_process *process, struct reply *ret_reply)
{
	char reason[2 * MANAGER_CGROUP_NAME + 96];

	if (process->cgroup)
		snprintf(reason, sizeof(reason),
		        "it is tracked as a member of the control group %s: untrack cgroup:%s",
		        process->cgroup, process->cgroup);
	else
		snprintf(reason, sizeof(reason),
		        "it is tracked as one of the busiest: see top in mtld.conf");
	return reply_make(ret_reply, "io.mtld.InvalidParameter", "parameter", json_text("pid"),
	        "reason", json_text(reason), NULL);
}

static int untrack(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	struct manager_process process;
	int r = method_find_process(context, peer, arguments->pid, &process, ret_reply);

	if (r)
		return r;
	r = manager_untrack(context->manager, arguments->pid);
	if (r == -EBUSY)
		return tracked_otherwise(&process, ret_reply);
	if (r < 0)
		return method_refused(context, ret_reply, arguments->pid, r);
	log_tracking(context, LOG_UNTRACKED, peer, &process);
	return 0;
}

/* --- the table */

#define PID                                                                                        \
	{                                                                                          \
		"pid", parameter_pid, offsetof(struct arguments, pid), true, 1, INT32_MAX          \
	}

static const struct parameter pid_only[] = {PID};

static const struct parameter curve_parameters[] = {
        PID,
        {"sizes", parameter_numbers, offsetof(struct arguments, sizes), false, 1, BYTES_MAX},
        {"windows", parameter_numbers, offsetof(struct arguments, windows), false, 1e-9,
                SECONDS_MAX},
        {"reference", parameter_number, offsetof(struct arguments, reference), false, 1, BYTES_MAX},
        {"aside", parameter_bool, offsetof(struct arguments, aside), false, 0, 0},
};

static const struct parameter history_parameters[] = {
        PID,
        {"sizes", parameter_numbers, offsetof(struct arguments, sizes), false, 1, BYTES_MAX},
};

static const struct parameter track_parameters[] = {
        PID,
        {"idle_seconds", parameter_number, offsetof(struct arguments, idle_seconds), false, 0,
                SECONDS_MAX},
};

static const struct parameter cgroup_parameters[] = {
        {"cgroup", parameter_string, offsetof(struct arguments, cgroup), true, 0, 0},
};

static const struct parameter interface_parameters[] = {
        {"interface", parameter_string, offsetof(struct arguments, interface), true, 0, 0},
};

#define CACHE                                                                                      \
	{"pids", parameter_pids, offsetof(struct arguments, pids), false, 1, INT32_MAX},           \
	        {"curves", parameter_objects, offsetof(struct arguments, curves), false, 1,        \
	                PIDS_MAX},                                                                 \
	{                                                                                          \
		"size", parameter_number, offsetof(struct arguments, size), true, 1, BYTES_MAX     \
	}

static const struct parameter share_parameters[] = {CACHE};

static const struct parameter partition_parameters[] = {
        CACHE,
        {"ways", parameter_unsigned, offsetof(struct arguments, ways), true, 1, DEMAND_WAYS_MAX},
        {"objective", parameter_string, offsetof(struct arguments, objective), false, 0, 0},
        {"weights", parameter_objects, offsetof(struct arguments, weights), false, 1, PIDS_MAX},
        {"least_ways", parameter_unsigned, offsetof(struct arguments, least_ways), false, 1,
                DEMAND_WAYS_MAX},
        {"clusters", parameter_bool, offsetof(struct arguments, clusters), false, 0, 0},
        {"miss_cost", parameter_number, offsetof(struct arguments, miss_cost), false, 1e-12, 1e12},
};

#define ROWS(table) table, sizeof(table) / sizeof(*(table))

static const struct method {
	const char *name;
	method_function *answer;
	const struct parameter *parameters;
	size_t n_parameters;
} methods[] = {
        {"io.mtld.Status", status, NULL, 0},
        {"io.mtld.List", list, NULL, 0},
        {"io.mtld.Curve", method_curve, ROWS(curve_parameters)},
        {"io.mtld.Observations", observations, ROWS(pid_only)},
        {"io.mtld.History", method_history, ROWS(history_parameters)},
        {"io.mtld.Track", track, ROWS(track_parameters)},
        {"io.mtld.Untrack", untrack, ROWS(pid_only)},
        {"io.mtld.Share", method_share, ROWS(share_parameters)},
        {"io.mtld.Partition", method_partition, ROWS(partition_parameters)},
        {"io.mtld.TrackCgroup", method_track_cgroup, ROWS(cgroup_parameters)},
        {"io.mtld.UntrackCgroup", method_untrack_cgroup, ROWS(cgroup_parameters)},
        {SERVICE "GetInfo", service_get_info, NULL, 0},
        {SERVICE "GetInterfaceDescription", service_get_interface_description,
                ROWS(interface_parameters)},
};

static const struct method *find_method(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

static int unknown_method(const char *name, struct reply *ret_reply)
{
	const char *dot = strrchr(name, '.');
	_cleanup_free_ char *interface = dot ? strndup(name, (size_t)(dot - name)) : NULL;

	if (dot && !interface)
		return -ENOMEM;
	if (dot && !service_has_interface(name, (size_t)(dot - name)))
		return reply_make(ret_reply, SERVICE "InterfaceNotFound", "interface",
		        json_text(interface), NULL);
	return reply_make(ret_reply, SERVICE "MethodNotFound", "method", json_text(name), NULL);
}

int method_bad_parameter(const struct parameter_problem *problem, int r, struct reply *ret_reply)
{
	if (r != -EBADMSG && r != -ERANGE)
		return r;
	return reply_make(ret_reply,
	        r == -EBADMSG ? SERVICE "InvalidParameter" : "io.mtld.InvalidParameter",
	        "parameter", json_text(problem->name), "reason", json_text(problem->reason), NULL);
}

int methods_call(const struct methods_context *context, const struct peer *peer,
        struct json_call *call, struct reply *ret_reply)
{
	const struct method *method = find_method(call->method);
	struct parameter_problem problem;
	struct arguments arguments;
	int r;

	*ret_reply = (struct reply){0};
	if (!method)
		return unknown_method(call->method, ret_reply);
	memset(&arguments, 0, sizeof(arguments));
	arguments.call = call;
	r = parameters_read(
	        method->parameters, method->n_parameters, call->parameters, &arguments, &problem);
	if (r < 0)
		return method_bad_parameter(&problem, r, ret_reply);
	r = method->answer(context, peer, &arguments, ret_reply);
	ret_reply->continues = ret_reply->continues && call->more;
	return r < 0 ? r : 0;
}
