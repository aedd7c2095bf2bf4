/* SPDX-License-Identifier: MIT */
/*
 * `mtl partition --watch`: the division in force follows the curves.
 *
 *     each round:  others?  ->  curves anew  ->  best division, against the one in force under the
 *                  curves of now  ->  controller.c  ->  change, or say why not
 *
 * Without --apply nothing is written: what would be changed is taken for done, so that the lines
 * show how often there would be a change. A round that lacks a curve is skipped, and a process that
 * has ended is dropped, with its weight; its ways stay with its group until a change takes them. A
 * control group that is gone may come back, as that of a service does: rounds are skipped till
 * then.
 *
 * Two who change the same groups would undo each other's work for ever. So what others have changed
 * or removed ends the loop, after what remains of ours is undone, as signals and a lack of programs
 * do. A crash leaves the journal to `mtl partition --revert`.
 */

#include "partition_watch.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monotonic.h"
#include "resctrl_session.h"
#include "stop_signals.h"
#include "terminal.h"
#include "watch_trial.h"

#define INTERVAL 10.0
#define GAIN 0.05
#define ROUNDS 3
#define PAUSE 60.0
#define GO_ON (-EAGAIN) /* in place of an exit code */

struct watch {
	struct options options;
	struct weight *weights; /* of those that are left; names are the caller's */
	char **operands;
	int n_operands;
	const struct watch_world *world;
	struct resctrl_place place;
	struct controller controller;
	struct in_force in_force;
	struct watch_trial trial;
	struct watch_lines lines;
	char why[RESCTRL_ERROR]; /* it ends */
};

static void watch_done(struct watch *watch)
{
	watch_trial_done(&watch->trial);
	in_force_done(&watch->in_force);
	free(watch->operands);
	free(watch->weights);
}

/* The reason to end, with this exit code. */
static int end(struct watch *watch, int code, const char *why)
{
	snprintf(watch->why, sizeof(watch->why), "%s", why);
	return code;
}

/* --- who is there */

/* An operand that is a process, digits alone, and no more. */
static bool has_ended(const struct watch *watch, const char *operand)
{
	char process[64], path[512];

	snprintf(process, sizeof(process), "/proc/%s", operand);
	return operand[strspn(operand, "0123456789")] == '\0' &&
	       resctrl_rooted(&watch->place, process, path) == 0 && access(path, F_OK) < 0 &&
	       errno == ENOENT;
}

static void forget_weight(struct watch *watch, const char *name)
{
	struct weight_list *list = &watch->options.weights;

	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->weights[i].name, name) == 0)
			list->weights[i--] = list->weights[--list->n];
}

static int drop_ended(struct watch *watch)
{
	int kept = 0;

	for (int i = 0; i < watch->n_operands; i++) {
		char *operand = watch->operands[i];

		if (!has_ended(watch, operand)) {
			watch->operands[kept++] = operand;
			continue;
		}
		forget_weight(watch, operand);
		watch_say(&watch->lines, "dropped", operand, "the process has ended");
	}
	watch->n_operands = kept;
	return kept >= 2 ? GO_ON : end(watch, MTL_DONE, "fewer than two programs are left");
}

/* --- one round */

static bool is_same(const struct division *division, const struct division_parts *one,
        const struct division_parts *other)
{
	size_t n = division->list->n;
	bool same = true;

	if (!one->ways || !other->ways)
		return !one->ways && !other->ways;
	for (size_t i = 0; i < n; i++) {
		same = same && one->ways[i] == other->ways[i];
		for (size_t j = 0; j < i; j++)
			same = same && (one->cluster[i] == one->cluster[j]) ==
			                       (other->cluster[i] == other->cluster[j]);
	}
	return same;
}

/* A division that is in force breaks the guarantee, and the best does not. */
static bool is_owed(const struct division *division, const struct division_state *in_force,
        const struct division_state *best)
{
	size_t n = division->list->n;

	return division->objective == MTL_GUARANTEE &&
	       mtl_division_robbed(division, in_force) < n &&
	       mtl_division_robbed(division, best) == n;
}

static void decide(struct watch *watch, const struct division_state *in_force,
        const struct division_state *best, bool same, struct watch_decision *decision)
{
	const struct division *division = decision->division;
	struct controller_finding finding = {.time = decision->time,
	        .same = same,
	        .owed = is_owed(division, in_force, best),
	        .in_force = mtl_division_value(division, in_force),
	        .rounding = mtl_division_rounding(division)};

	decision->gain = mtl_division_gain(division, in_force, best);
	decision->fraction = finding.in_force > 0 ? decision->gain.gain / finding.in_force : NAN;
	finding.gain = decision->gain.gain;
	finding.least = decision->gain.least;
	decision->decision = controller_decide(&watch->controller, &finding);
}

/* Returns whether the partition has been taken; what went wrong is in error. */
static bool change(struct watch *watch, struct cache_partition *partition, bool divided,
        struct resctrl_report *report, struct in_force *former, char *error, size_t size)
{
	struct cache_partition *best = divided ? partition : NULL;
	int code;

	*error = '\0';
	complain_into(error, size);
	code = divided ? cache_partition_plan(partition) : MTL_DONE;
	complain_into(NULL, 0);
	if (code != MTL_DONE)
		return false;
	if (watch->lines.dry)
		in_force_assume(&watch->in_force, best, former);
	else if (in_force_change(
	                 &watch->in_force, best, &watch->place, former, report, error, size) < 0)
		return false;
	return divided;
}

static void gather(struct watch *watch, const struct demand_list *list)
{
	struct resctrl_report report = {0};
	char text[RESCTRL_ERROR];
	int r = in_force_gather(&watch->in_force, list, &watch->place, &report, text, sizeof(text));

	if (r > 0)
		snprintf(text, sizeof(text), "%zu thread%s of new processes moved", report.moved,
		        report.moved == 1 ? "" : "s");
	if (r != 0)
		watch_say(&watch->lines, r > 0 ? "gathered" : "failed", NULL, text);
}

/* Decides, acts and says so. Returns whether the partition has been taken. */
static bool act(
        struct watch *watch, struct cache_partition *partition, struct watch_decision *decision)
{
	bool changes = decision->decision == CONTROLLER_CHANGE, taken = false;
	_cleanup_(in_force_done) struct in_force former = {0};
	struct resctrl_report report = {0};
	char error[RESCTRL_ERROR] = "";

	watch_trial_end(
	        &watch->trial, &watch->in_force, decision->division, changes, &watch->lines);
	if (changes) {
		taken = change(
		        watch, partition, decision->best, &report, &former, error, sizeof(error));
		controller_changed(&watch->controller, decision->time);
		decision->error = *error ? error : NULL;
		decision->report = *error || watch->lines.dry ? NULL : &report;
	}
	watch_say_decision(&watch->lines, decision);
	if (decision->report)
		watch_trial_begin(&watch->trial, &former, decision);
	else if (!changes && decision->in_force)
		gather(watch, &partition->list);
	return taken;
}

static void parts_done(struct division_parts *parts)
{
	free((unsigned *)parts->ways);
}

/* GO_ON, or an exit code. The partition is taken over. */
static int judge(struct watch *watch, struct cache_partition *taken_over)
{
	_cleanup_(cache_partition_freep) struct cache_partition *partition = taken_over;
	const struct division *division = &partition->division;
	_cleanup_(mtl_division_state_done) struct division_state state = {0};
	_cleanup_(parts_done) struct division_parts in_force = {0};
	struct division_parts chosen = {division->ways, division->cluster, division->n_clusters};
	bool divided = mtl_division_is_worth_it(division);
	struct division_parts best = divided ? chosen : (struct division_parts){0};
	struct watch_decision decision = {.division = division,
	        .best = divided ? &chosen : NULL,
	        .controller = &watch->controller,
	        .time = watch->world->now(watch->world->data)};

	if (in_force_parts(&watch->in_force, &partition->list, &in_force) < 0)
		return end(watch, MTL_FAILED, "out of memory");
	decision.in_force = in_force.ways ? &in_force : NULL;
	if (mtl_division_state_new(division, decision.in_force, &state) < 0)
		return end(watch, MTL_FAILED, "out of memory");
	decide(watch, &state, divided ? &division->chosen : &division->whole,
	        is_same(division, &in_force, &best), &decision);
	if (act(watch, partition, &decision))
		TAKE_PTR(partition);
	return GO_ON;
}

static int skip(struct watch *watch, int code, const char *reason)
{
	if (watch->lines.round == 1 && code == MTL_USAGE)
		return end(watch, code, reason);
	controller_skip(&watch->controller);
	watch_say(&watch->lines, "skipped", NULL, reason);
	return GO_ON;
}

static int one_round(struct watch *watch)
{
	_cleanup_(cache_partition_freep) struct cache_partition *partition = NULL;
	char text[RESCTRL_ERROR];
	int code = drop_ended(watch);

	if (code != GO_ON)
		return code;
	if (in_force_check(&watch->in_force, &watch->place, text, sizeof(text)) < 0)
		return end(watch, MTL_FAILED, text);
	watch_trial_read(&watch->trial, &watch->in_force, &watch->place,
	        watch->world->now(watch->world->data));
	partition = calloc(1, sizeof(*partition));
	if (!partition)
		return end(watch, MTL_FAILED, "out of memory");
	complain_into(text, sizeof(text));
	code = cache_partition_new(&watch->options, watch->n_operands, watch->operands, partition);
	complain_into(NULL, 0);
	return code == MTL_DONE ? judge(watch, TAKE_PTR(partition)) : skip(watch, code, text);
}

/* --- from the first round to the end */

static int check_apply(const struct watch *watch)
{
	struct resctrl_geometry geometry;
	char error[RESCTRL_ERROR];
	int r = resctrl_geometry_read(&watch->place, &geometry, error, sizeof(error));

	if (r == 0) {
		resctrl_geometry_done(&geometry);
		r = resctrl_applied(&watch->place, error, sizeof(error));
	}
	if (!watch->options.apply && r > 0)
		return complain(MTL_DONE,
		        "a partition is in force: this dry run begins as if there were none");
	if (!watch->options.apply || r == 0)
		return MTL_DONE;
	return complain(MTL_FAILED, "cannot --apply: %s",
	        r < 0 ? error
	              : "a partition is in force, or one was broken off: `mtl partition "
	                "--revert` undoes it");
}

static int start(struct watch *watch, char **operands)
{
	const struct weight_list *list = &watch->options.weights;

	if (!isnan(watch->options.wait))
		return complain(MTL_USAGE,
		        "partition: --wait and --watch do not go together: a round whose curves "
		        "are not there is skipped");
	watch->options.wait = 0;
	watch->operands = calloc((size_t)watch->n_operands + 1, sizeof(*watch->operands));
	watch->weights = calloc(list->n + 1, sizeof(*watch->weights));
	if (!watch->operands || !watch->weights)
		return complain(MTL_FAILED, "out of memory");
	memcpy(watch->operands, operands, (size_t)watch->n_operands * sizeof(*operands));
	for (size_t i = 0; i < list->n; i++)
		watch->weights[i] = list->weights[i];
	watch->options.weights.weights = watch->weights;
	return check_apply(watch);
}

/* What was made is undone, unless it is to stay. */
static int finish(struct watch *watch, int code)
{
	struct resctrl_report report = {0};
	char error[RESCTRL_ERROR], text[2 * RESCTRL_ERROR];
	bool made = watch->in_force.partition && !watch->lines.dry;

	if (code == MTL_USAGE)
		return complain(code, "%s", watch->why);
	snprintf(text, sizeof(text), "%s", watch->why);
	if (made && watch->options.keep)
		text_append(text, sizeof(text),
		        "; the division stays in force, until `mtl partition --revert`");
	else if (made && resctrl_revert(&watch->place, &report, error, sizeof(error)) < 0)
		code = complain(MTL_FAILED, "cannot undo the division: %s", error);
	else if (made)
		text_append(text, sizeof(text), "; the division is undone");
	watch_say(&watch->lines, "ended", NULL, text);
	return code == MTL_DONE ? code : complain(code, "%s", watch->why);
}

int partition_watch_in(const struct options *options, int n_operands, char **operands,
        const struct watch_world *world)
{
	_cleanup_(watch_done) struct watch watch = {.options = *options,
	        .n_operands = n_operands,
	        .world = world,
	        .place = {.root = options->root},
	        .lines = {.json = options->json, .dry = !options->apply},
	        .controller.terms = {isnan(options->gain) ? GAIN : options->gain,
	                options->rounds ?: ROUNDS, isnan(options->pause) ? PAUSE : options->pause}};
	int code = start(&watch, operands);

	if (code != MTL_DONE)
		return code;
	watch.options.interval = isnan(options->interval) ? INTERVAL : options->interval;
	do {
		watch.lines.round++;
		code = one_round(&watch);
		if (code == GO_ON && watch.lines.lost && watch.lines.dry)
			return MTL_FAILED;
		if (code == GO_ON && !world->pause(world->data, watch.options.interval))
			code = end(&watch, MTL_DONE, "asked to end");
	} while (code == GO_ON);
	return finish(&watch, code);
}

/* --- the real world */

static double now(void *data)
{
	(void)data;
	return monotonic_seconds();
}

static bool pause_until(void *data, double seconds)
{
	struct pollfd signal_fd = {.fd = *(int *)data, .events = POLLIN};
	double deadline = monotonic_seconds() + seconds, left;
	int n;

	do {
		left = deadline - monotonic_seconds();
		n = poll(&signal_fd, 1, left > 0 ? (int)fmin(ceil(1e3 * left), 1e9) : 0);
	} while ((n < 0 && errno == EINTR) || (n == 0 && monotonic_seconds() < deadline));
	return n == 0;
}

int partition_watch(const struct options *options, int n_operands, char **operands)
{
	sigset_t old_mask;
	_cleanup_close_ int signal_fd = stop_signals_catch(&old_mask);
	const struct watch_world world = {now, pause_until, &signal_fd};

	if (signal_fd < 0)
		return complain(MTL_FAILED, "cannot wait for signals: %s", strerror(-signal_fd));
	signal(SIGPIPE,
	        SIG_IGN); /* a line that nobody reads is no reason to leave things as they are */
	return partition_watch_in(options, n_operands, operands, &world);
}
