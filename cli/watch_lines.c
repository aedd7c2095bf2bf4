/* SPDX-License-Identifier: MIT */
/*
 * Lines of `mtl partition --watch`, each written by itself and at once, past stdio: who reads them
 * sees what happens when it does. A reader that is gone or a disk that is full is said once, and
 * stops nothing but a dry run, which is nothing without its lines.
 */

#include "watch_lines.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json_fields.h"
#include "size.h"
#include "terminal.h"

#define NAME 40
#define LINE 4096

static const char *const names[] = {
        [CONTROLLER_SAME] = "same",
        [CONTROLLER_SMALL] = "within_hysteresis",
        [CONTROLLER_UNCERTAIN] = "too_uncertain",
        [CONTROLLER_UNCONFIRMED] = "unconfirmed",
        [CONTROLLER_SOON] = "too_soon",
        [CONTROLLER_CHANGE] = "change",
};

/* --- where they go */

static int write_all(const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = write(STDOUT_FILENO, text, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		length -= (size_t)n;
	}
	return 0;
}

static void put_line(struct watch_lines *lines, const char *text)
{
	_cleanup_free_ char *line = NULL;
	int length = asprintf(&line, "%s\n", text), r;

	if (length < 0) {
		line = NULL;
		return;
	}
	r = write_all(line, (size_t)length);
	if (r < 0 && !lines->lost)
		complain(MTL_FAILED, "cannot write to standard output: %s%s", strerror(-r),
		        lines->dry ? "" : "; going on without it");
	lines->lost = r < 0;
}

static void put_text(struct watch_lines *lines, const char *text)
{
	char line[LINE + NUMBER_TEXT], now[NUMBER_TEXT];

	snprintf(line, sizeof(line), "%s  %s", time_format(time(NULL), now), text);
	line[strcspn(line, "\n")] = '\0';
	make_showable(line);
	put_line(lines, line);
}

/* r: of filling it. */
static void put_object(struct watch_lines *lines, struct json_object *object, int r)
{
	const char *text = r < 0 ? NULL
	                         : json_object_to_json_string_ext(object,
	                                   JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	if (text)
		put_line(lines, text);
	else
		complain(MTL_FAILED, "out of memory");
}

static int put_string(struct json_object *object, const char *key, const char *text)
{
	return text ? mtl_json_put(object, key, mtl_json_text_new(text))
	            : mtl_json_put_number(object, key, NAN);
}

static int begin(const struct watch_lines *lines, const char *event, struct json_object *object)
{
	int r = object ? put_string(object, "event", event) : -ENOMEM;

	r = r ?: mtl_json_put(object, "time", json_object_new_int64(time(NULL)));
	return r ?: mtl_json_put(object, "round", json_object_new_int64(lines->round));
}

/* --- decisions */

/* "a 9, b+c 2 ways" */
static void parts_text(const struct division *division, const struct division_parts *parts,
        char *ret_text, size_t size)
{
	size_t n = division->list->n;
	char name[NAME];

	snprintf(ret_text, size, "%s", parts ? "" : "undivided");
	for (unsigned c = 0; parts && c < parts->n_clusters; c++) {
		const char *before = *ret_text ? ", " : "";
		unsigned ways = 0;

		for (size_t i = 0; i < n; i++) {
			if (parts->cluster[i] != c)
				continue;
			text_append(ret_text, size, "%s%s", before,
			        show_name(division->list->operands[i].name, name, sizeof(name)));
			before = "+";
			ways = parts->ways[i];
		}
		if (*before == '+')
			text_append(ret_text, size, " %u", ways);
	}
	text_append(ret_text, size, "%s", parts ? " ways" : "");
}

static char *signed_count(double value, char ret_text[NUMBER_TEXT + 1])
{
	char number[NUMBER_TEXT];

	snprintf(ret_text, NUMBER_TEXT + 1, "%s%s", value < 0 ? "-" : "",
	        count_format(fabs(value), number));
	return ret_text;
}

static void gain_text(const struct division *division, const struct division_gain *gain,
        double fraction, char *ret_text, size_t size)
{
	char likely[NUMBER_TEXT + 1], least[NUMBER_TEXT + 1], most[NUMBER_TEXT + 1],
	        percent[NUMBER_TEXT];

	signed_count(gain->gain, likely);
	if (division->objective == MTL_FAIR)
		snprintf(ret_text, size, "worst slowdown %s less", likely);
	else
		snprintf(ret_text, size, "%s %s fewer", likely, mtl_demands_unit(division->list));
	text_append(ret_text, size, " (%s%s", fraction < 0 ? "-" : "",
	        percent_format(fabs(fraction), percent));
	if (gain->least < gain->most)
		text_append(ret_text, size, "; between %s and %s", signed_count(gain->least, least),
		        signed_count(gain->most, most));
	text_append(ret_text, size, ")");
}

static void verdict_text(const struct watch_lines *lines, const struct watch_decision *decision,
        char *ret_text, size_t size)
{
	const struct controller *controller = decision->controller;
	char one[NUMBER_TEXT], other[NUMBER_TEXT];

	*ret_text = '\0';
	if (decision->decision == CONTROLLER_SAME)
		text_append(ret_text, size, "the best");
	else if (decision->error)
		text_append(ret_text, size, "not changed: %s", decision->error);
	else if (decision->decision == CONTROLLER_SMALL)
		text_append(ret_text, size, "not changed, within the hysteresis of %s",
		        percent_format(controller->terms.gain, one));
	else if (decision->decision == CONTROLLER_UNCERTAIN)
		text_append(ret_text, size, "not changed, too uncertain");
	else if (decision->decision == CONTROLLER_UNCONFIRMED)
		text_append(ret_text, size, "not yet, round %u of %u", controller->running,
		        controller->terms.rounds);
	else if (decision->decision == CONTROLLER_SOON)
		text_append(ret_text, size, "not yet, %s after the last change, of %s",
		        seconds_format(decision->time - controller->changed_at, one),
		        seconds_format(controller->terms.pause, other));
	else
		text_append(ret_text, size, "%s", lines->dry ? "would be changed" : "changed");
	if (decision->report && !lines->dry)
		text_append(ret_text, size, ", %zu thread%s moved", decision->report->moved,
		        decision->report->moved == 1 ? "" : "s");
}

static void decision_text(const struct watch_lines *lines, const struct watch_decision *decision,
        char *ret_text, size_t size)
{
	char in_force[LINE / 4], best[LINE / 4], gain[LINE / 8], verdict[LINE / 4];

	parts_text(decision->division, decision->in_force, in_force, sizeof(in_force));
	parts_text(decision->division, decision->best, best, sizeof(best));
	gain_text(decision->division, &decision->gain, decision->fraction, gain, sizeof(gain));
	verdict_text(lines, decision, verdict, sizeof(verdict));
	if (decision->decision == CONTROLLER_SAME)
		snprintf(ret_text, size, "%s: %s", in_force, verdict);
	else
		snprintf(ret_text, size, "%s; best %s, %s: %s", in_force, best, gain, verdict);
}

static int put_parts(struct json_object *object, const char *key, const struct division *division,
        const struct division_parts *parts)
{
	struct json_object *array = parts ? json_object_new_array() : NULL;
	int r = parts ? mtl_json_put(object, key, array) : put_string(object, key, NULL);

	for (size_t i = 0; r == 0 && parts && i < division->list->n; i++) {
		struct json_object *group = json_object_new_object();

		r = mtl_json_append(array, group);
		r = r ?: put_string(group, "name", division->list->operands[i].name);
		r = r ?: mtl_json_put(group, "ways", json_object_new_int64(parts->ways[i]));
		r = r ?: mtl_json_put(group, "cluster", json_object_new_int64(parts->cluster[i]));
	}
	return r;
}

static int put_decision(struct json_object *object, const struct watch_lines *lines,
        const struct watch_decision *decision, const char *reason)
{
	const struct division *division = decision->division;
	bool acted = decision->decision == CONTROLLER_CHANGE && !decision->error;
	const char *notes = decision->report ? decision->report->notes : "";
	int r = put_parts(object, "in_force", division, decision->in_force);

	r = r ?: put_parts(object, "best", division, decision->best);
	r = r ?: mtl_json_put_number(object, "gain", decision->gain.gain);
	r = r ?: mtl_json_put_number(object, "low", decision->gain.least);
	r = r ?: mtl_json_put_number(object, "high", decision->gain.most);
	r = r ?: mtl_json_put_number(object, "fraction", decision->fraction);
	r = r ?: put_string(object, "unit", division->list->demands[0]->unit);
	r = r ?: put_string(object, "objective", mtl_objective_name(division->objective));
	r = r
	            ?: put_string(object, "decision",
	                       decision->error ? "failed" : names[decision->decision]);
	r = r ?: mtl_json_put(object, "dry_run", json_object_new_boolean(lines->dry));
	r = r ?: mtl_json_put(object, "applied", json_object_new_boolean(acted && !lines->dry));
	r = r ?: put_string(object, "reason", reason);
	return r ?: put_string(object, "notes", *notes ? notes : NULL);
}

void watch_say_decision(struct watch_lines *lines, const struct watch_decision *decision)
{
	_cleanup_json_ struct json_object *object = NULL;
	char text[LINE];
	int r;

	if (!lines->json) {
		decision_text(lines, decision, text, sizeof(text));
		put_text(lines, text);
		return;
	}
	object = json_object_new_object();
	verdict_text(lines, decision, text, sizeof(text));
	r = begin(lines, "decision", object);
	put_object(lines, object, r ?: put_decision(object, lines, decision, text));
}

/* --- outcomes */

/* "1.2 M/s of memory traffic before, 900 k/s after (-25 %)" */
static void traffic_text(const struct watch_outcome *outcome, char *ret_text, size_t size)
{
	double before = outcome->before->bytes_per_second, after = outcome->after->bytes_per_second;
	char one[NUMBER_TEXT], other[NUMBER_TEXT], percent[NUMBER_TEXT];

	snprintf(ret_text, size, "%sB/s of memory traffic before, %sB/s after",
	        count_format(before, one), count_format(after, other));
	if (before > 0)
		text_append(ret_text, size, " (%s%s)", after < before ? "-" : "+",
		        percent_format(fabs(after / before - 1), percent));
}

static void outcome_text(const struct watch_outcome *outcome, char *ret_text, size_t size)
{
	char expected[NUMBER_TEXT + 1], now[NUMBER_TEXT + 1], percent[NUMBER_TEXT];

	snprintf(ret_text, size, "outcome: ");
	if (outcome->reason)
		text_append(ret_text, size, "not measured (%s)", outcome->reason);
	else
		traffic_text(outcome, ret_text + strlen(ret_text), size - strlen(ret_text));
	text_append(ret_text, size, "; expected a gain of %s (%s%s)",
	        signed_count(outcome->gain, expected), outcome->fraction < 0 ? "-" : "",
	        percent_format(fabs(outcome->fraction), percent));
	if (!isnan(outcome->gain_now))
		text_append(ret_text, size, ", by the curves of now %s (%s%s)",
		        signed_count(outcome->gain_now, now), outcome->fraction_now < 0 ? "-" : "",
		        percent_format(fabs(outcome->fraction_now), percent));
}

static int put_flows(struct json_object *object, const char *key, const struct measure_flows *flows)
{
	struct json_object *inner = json_object_new_object(), *groups = json_object_new_array();
	int r = mtl_json_put(object, key, inner);

	r = r ?: mtl_json_put_number(inner, "bytes_per_second", flows->bytes_per_second);
	r = r ?: mtl_json_put_number(inner, "occupancy_bytes", flows->occupancy);
	r = r ?: mtl_json_put(inner, "groups", groups);
	for (size_t i = 0; r == 0 && i < flows->n; i++) {
		const struct measure_flow *flow = &flows->flows[i];
		struct json_object *group = json_object_new_object();

		r = mtl_json_append(groups, group);
		r = r ?: put_string(group, "resctrl_group", flow->name);
		r = r ?: mtl_json_put_number(group, "bytes_per_second", flow->bytes_per_second);
		r = r ?: mtl_json_put_number(group, "occupancy_bytes", flow->occupancy);
	}
	return r;
}

static int put_outcome(struct json_object *object, const struct watch_outcome *outcome)
{
	int r = put_flows(object, "before", outcome->before);

	r = r ?: put_flows(object, "after", outcome->after);
	r = r ?: put_string(object, "reason", outcome->reason);
	r = r ?: mtl_json_put_number(object, "expected_gain", outcome->gain);
	r = r ?: mtl_json_put_number(object, "expected_fraction", outcome->fraction);
	r = r ?: mtl_json_put_number(object, "gain_now", outcome->gain_now);
	r = r ?: mtl_json_put_number(object, "fraction_now", outcome->fraction_now);
	return r ?: put_string(object, "unit", outcome->unit);
}

void watch_say_outcome(struct watch_lines *lines, const struct watch_outcome *outcome)
{
	_cleanup_json_ struct json_object *object = NULL;
	char text[LINE];
	int r;

	if (!lines->json) {
		outcome_text(outcome, text, sizeof(text));
		put_text(lines, text);
		return;
	}
	object = json_object_new_object();
	r = begin(lines, "outcome", object);
	put_object(lines, object, r ?: put_outcome(object, outcome));
}

/* --- the rest */

void watch_say(struct watch_lines *lines, const char *event, const char *group, const char *reason)
{
	_cleanup_json_ struct json_object *object = NULL;
	char text[LINE], name[NAME];
	int r;

	if (!lines->json) {
		snprintf(text, sizeof(text), "%s%s%s: %s", event, group ? " " : "",
		        group ? show_name(group, name, sizeof(name)) : "", reason);
		put_text(lines, text);
		return;
	}
	object = json_object_new_object();
	r = begin(lines, event, object);
	r = r ?: put_string(object, "name", group);
	put_object(lines, object, r ?: put_string(object, "reason", reason));
}
