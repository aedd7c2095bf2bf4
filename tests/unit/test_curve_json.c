/* SPDX-License-Identifier: MIT */
/* The curve object: what is written is what is read, and what does not fit is refused with a place.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "json_fields.h"
#include "agreement.h"
#include "mtl.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

static struct mtl_curve_point points[] = {
        {32768, 1e-5, 1.23456789012345678e7, 1.1e7, 1.3e7, NAN, 1, true},
        {46341, 1.0 / 3, 4e6, 0, 5e6, 0.125, 0.3, false},
        {65536, INFINITY, 0, 0, 3, NAN, NAN, false},
};
static struct mtl_footprint_point windows[] = {
        {1e-3, 4194304, 4e6, 4.4e6}, {0.75, 16777216, 16777216, 17e6}};

static const struct mtl_curve curve = {.points = points,
        .n_points = 3,
        .footprint = windows,
        .n_footprint = 2,
        .observations = 881,
        .effective_observations = 700.25,
        .footprint_bytes = 16777216,
        .footprint_window_seconds = 0.75,
        .resolution_seconds = 5e-5,
        .resolution_bytes = 1048576,
        .reference_bytes = 1048576,
        .cache_bytes = 8388608,
        .cache_misses_per_second = 3e6};

static const struct mtl_curve_origin origin = {.pid = 4711,
        .comm = "redis-server",
        .method = "residual",
        .rung = "watchpoints",
        .clock = "cpu",
        .window_seconds = 30,
        .wall_seconds = 41.2,
        .cpu_seconds = 29.8,
        .lost = 12,
        .resident_bytes = 17825792,
        .phase_seconds = 3.1,
        .phase_changes = 7,
        .phase_reason = "its resident memory grew from 4M to 32M",
        .accesses_per_second = NAN,
        .l1_misses_per_second = 2.5e7,
        .l2_misses_per_second = NAN,
        .llc_misses_per_second = 2e6,
        .overhead_target = 0.004,
        .overhead_daemon = NAN,
        .checked_pairs = 12, /* and by chance it was faster while watched */
        .checked_loss = -0.0012,
        .checked_low = -0.0051,
        .checked_high = -0.0003,
        .note = "three watch slots: a debugger holds one"};

static struct json_object *written(
        const struct mtl_curve *from, const struct mtl_curve_origin *about)
{
	struct json_object *object = NULL;

	assert_int_equal(mtl_curve_to_json(from, about, &object), 0);
	assert_non_null(object);
	return object;
}

/* Through text, as between two programs. */
static struct json_object *through_text(struct json_object *object)
{
	struct json_object *again = json_tokener_parse(json_object_to_json_string(object));

	assert_non_null(again);
	json_object_put(object);
	return again;
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void assert_same_origin(const struct mtl_curve_origin *o)
{
	assert_int_equal(o->pid, origin.pid);
	assert_string_equal(o->comm, origin.comm);
	assert_string_equal(o->method, origin.method);
	assert_string_equal(o->rung, origin.rung);
	assert_string_equal(o->clock, origin.clock);
	assert_string_equal(o->note, origin.note);
	assert_int_equal(o->lost, origin.lost);
	assert_true(same(o->window_seconds, origin.window_seconds));
	assert_true(same(o->wall_seconds, origin.wall_seconds));
	assert_true(same(o->cpu_seconds, origin.cpu_seconds));
	assert_true(same(o->resident_bytes, origin.resident_bytes));
	assert_true(same(o->phase_seconds, origin.phase_seconds));
	assert_int_equal(o->phase_changes, origin.phase_changes);
	assert_string_equal(o->phase_reason, origin.phase_reason);
	assert_true(same(o->accesses_per_second, origin.accesses_per_second));
	assert_true(same(o->l1_misses_per_second, origin.l1_misses_per_second));
	assert_true(same(o->l2_misses_per_second, origin.l2_misses_per_second));
	assert_true(same(o->llc_misses_per_second, origin.llc_misses_per_second));
	assert_true(same(o->overhead_target, origin.overhead_target));
	assert_true(same(o->overhead_daemon, origin.overhead_daemon));
	assert_int_equal(o->checked_pairs, origin.checked_pairs);
	assert_true(same(o->checked_loss, origin.checked_loss));
	assert_true(same(o->checked_low, origin.checked_low));
	assert_true(same(o->checked_high, origin.checked_high));
}

static void assert_same_curve(const struct mtl_curve *c)
{
	assert_int_equal(c->observations, curve.observations);
	assert_true(same(c->effective_observations, curve.effective_observations));
	assert_true(same(c->footprint_bytes, curve.footprint_bytes));
	assert_true(same(c->footprint_window_seconds, curve.footprint_window_seconds));
	assert_true(same(c->resolution_seconds, curve.resolution_seconds));
	assert_true(same(c->resolution_bytes, curve.resolution_bytes));
	assert_true(same(c->reference_bytes, curve.reference_bytes));
	assert_true(same(c->cache_bytes, curve.cache_bytes));
	assert_true(same(c->cache_misses_per_second, curve.cache_misses_per_second));
	assert_int_equal(c->n_points, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct mtl_curve_point *p = &c->points[i], *q = &points[i];
		assert_true(same(p->size_bytes, q->size_bytes));
		assert_true(same(p->fill_time_seconds, q->fill_time_seconds));
		assert_true(same(p->misses_per_second, q->misses_per_second));
		assert_true(same(p->low, q->low) && same(p->high, q->high));
		assert_true(same(p->miss_ratio, q->miss_ratio));
		assert_true(same(p->relative_miss_ratio, q->relative_miss_ratio));
		assert_int_equal(p->below_resolution, q->below_resolution);
	}
	assert_int_equal(c->n_footprint, 2);
	for (unsigned i = 0; i < 2; i++) {
		const struct mtl_footprint_point *p = &c->footprint[i], *q = &windows[i];
		assert_true(same(p->window_seconds, q->window_seconds));
		assert_true(same(p->bytes, q->bytes));
		assert_true(same(p->low, q->low) && same(p->high, q->high));
	}
}

static void round_trip(void **state)
{
	struct json_object *object = through_text(written(&curve, &origin));
	_cleanup_(mtl_curve_freep) struct mtl_curve *again = NULL;
	struct mtl_curve_origin about;
	char error[128] = "";
	(void)state;

	assert_int_equal(mtl_curve_from_json(object, &again, &about, error, sizeof(error)), 0);
	assert_same_curve(again);
	assert_same_origin(&about);
	json_object_put(object);
}

static void members_are_those_of_the_schema(void **state)
{
	static const char *const members[] = {"pid", "comm", "method", "rung", "clock",
	        "window_seconds", "wall_seconds", "cpu_seconds", "lost", "resident_bytes",
	        "accesses_per_second", "l1_misses_per_second", "l2_misses_per_second",
	        "llc_misses_per_second", "phase_seconds", "phase_changes", "phase_reason", "agreement", "reuse", "note", "overhead", "observations", "effective_observations",
	        "footprint_bytes", "footprint_window_seconds", "resolution_bytes", "resolution_seconds", "reference_bytes",
	        "points", "footprint"};
	struct json_object *object = written(&curve, &origin);
	(void)state;

	assert_int_equal(json_object_object_length(object), sizeof(members) / sizeof(*members));
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		assert_true(json_object_object_get_ex(object, members[i], NULL));
	json_object_put(object);
}

/* Predicted against counted; where there is nothing to compare with, the reason. */
static void agreement_is_predicted_by_counted(void **state)
{
	struct mtl_curve_origin about = origin;
	struct mtl_curve from = curve;
	struct mtl_agreement a;

	(void)state;
	mtl_agreement(&from, &about, &a);
	assert_true(a.ratio == 1.5 && a.cache_bytes == from.cache_bytes);
	assert_string_equal(a.reason, "");
	about.llc_misses_per_second = 0;
	mtl_agreement(&from, &about, &a);
	assert_true(isnan(a.ratio));
	assert_string_equal(a.reason, "no miss was counted");
	about.llc_misses_per_second = NAN;
	mtl_agreement(&from, &about, &a);
	assert_true(isnan(a.ratio) && a.predicted_misses_per_second == 3e6);
	assert_non_null(strstr(a.reason, "no counter"));
	about.llc_misses_per_second = 1e6;
	from.cache_bytes = 0;
	mtl_agreement(&from, &about, &a);
	assert_true(isnan(a.ratio) && isnan(a.predicted_misses_per_second));
	assert_non_null(strstr(a.reason, "size"));
}

/* Saved before there were counts. */
static void older_curves_are_read(void **state)
{
	static const char *const newer[] = {"l1_misses_per_second", "l2_misses_per_second",
	        "llc_misses_per_second", "agreement", "reuse"};
	struct json_object *object = written(&curve, &origin);
	struct mtl_curve_origin about;
	struct mtl_curve *again;
	char error[128];

	(void)state;
	for (size_t i = 0; i < sizeof(newer) / sizeof(*newer); i++)
		json_object_object_del(object, newer[i]);
	assert_int_equal(mtl_curve_from_json(object, &again, &about, error, sizeof(error)), 0);
	assert_true(isnan(about.l1_misses_per_second) && isnan(about.llc_misses_per_second));
	assert_true(again->cache_bytes == 0 && isnan(again->cache_misses_per_second));
	mtl_curve_free(again);
	json_object_put(object);
}

static void unknown_is_null_and_no_note_is_no_member(void **state)
{
	struct mtl_curve_origin silent = origin;
	struct json_object *object, *point, *member;
	_cleanup_(mtl_curve_freep) struct mtl_curve *again = NULL;
	(void)state;

	silent.note[0] = '\0';
	object = through_text(written(&curve, &silent));
	assert_false(json_object_object_get_ex(object, "note", NULL));
	assert_true(json_object_object_get_ex(object, "accesses_per_second", &member));
	assert_null(member);
	point = json_object_array_get_idx(json_object_object_get(object, "points"), 2);
	assert_true(json_object_object_get_ex(point, "fill_time_seconds", &member));
	assert_null(member);
	assert_int_equal(mtl_curve_from_json(object, &again, &silent, NULL, 0), 0);
	assert_string_equal(silent.note, "");
	json_object_object_add(object, "note", NULL); /* as a Varlink ?string may be */
	again = mtl_curve_free(again);
	assert_int_equal(mtl_curve_from_json(object, &again, &silent, NULL, 0), 0);
	json_object_put(object);
}

/* Two independent statements of "valid UTF-8": json-c refuses to parse what is not. */
static void names_become_utf8(void **state)
{
	static const struct {
		const char *comm, *expected;
	} cases[] = {{"caf\xc3\xa9", "caf\xc3\xa9"}, {"caf\xe9", "caf?"}, {"\xff\xfe", "??"},
	        {"\xc3", "?"}, {"\xc0\xaf", "??"}, {"\xed\xa0\x80", "???"},
	        {"\xf0\x9f\x90\x8c slow", "\xf0\x9f\x90\x8c slow"}, {"\xf4\x90\x80\x80", "????"},
	        {"q\"\\\n\t", "q\"\\\n\t"}, {"", ""}};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct json_tokener *tokener = json_tokener_new();
		struct mtl_curve_origin about = origin;
		struct json_object *object, *again;
		const char *text;
		strncpy(about.comm, cases[i].comm, sizeof(about.comm) - 1);
		about.comm[strlen(cases[i].comm)] = '\0';
		object = written(&curve, &about);
		text = json_object_to_json_string(object);
		json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
		again = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
		assert_non_null(again);
		assert_string_equal(json_object_get_string(json_object_object_get(again, "comm")),
		        cases[i].expected);
		json_object_put(again);
		json_object_put(object);
		json_tokener_free(tokener);
	}
}

static void refused(struct json_object *object, const char *error_expected)
{
	struct mtl_curve *again = NULL;
	struct mtl_curve_origin about = {.pid = -77};
	char error[128] = "";

	assert_int_equal(
	        mtl_curve_from_json(object, &again, &about, error, sizeof(error)), -EBADMSG);
	assert_string_equal(error, error_expected);
	assert_null(again);
	assert_int_equal(about.pid, -77);
	assert_int_equal(mtl_curve_from_json(object, &again, &about, NULL, 0), -EBADMSG);
	json_object_put(object);
}

/* The object with one member replaced, or without it when the JSON is NULL. */
static struct json_object *with(const char *name, const char *json)
{
	struct json_object *object = written(&curve, &origin);

	json_object_object_del(object, name);
	if (json)
		json_object_object_add(object, name, json_tokener_parse(json));
	return object;
}

static struct json_object *with_in(
        const char *array, size_t index, const char *name, const char *json)
{
	struct json_object *object = written(&curve, &origin);
	struct json_object *item =
	        json_object_array_get_idx(json_object_object_get(object, array), index);

	json_object_object_del(item, name);
	if (json)
		json_object_object_add(item, name, json_tokener_parse(json));
	return object;
}

static void what_does_not_fit_is_refused(void **state)
{
	(void)state;

	refused(NULL, "expected an object");
	refused(json_tokener_parse("[]"), "expected an object");
	refused(json_tokener_parse("{}"), "pid: missing");
	refused(with("pid", NULL), "pid: missing");
	refused(with("pid", "null"), "pid: must not be null");
	refused(with("pid", "1.5"), "pid: expected a process id");
	refused(with("pid", "-1"), "pid: expected a process id");
	refused(with("pid", "99999999999"), "pid: expected a process id");
	refused(with("pid", "\"1\""), "pid: expected a process id");
	refused(with("comm", "5"), "comm: expected a (shorter) string");
	refused(with("comm", "\"sixteen letters!\""), "comm: expected a (shorter) string");
	refused(with("comm", "\"a\\u0000b\""), "comm: expected a (shorter) string");
	refused(with("note", "{}"), "note: expected a (shorter) string");
	refused(with("lost", "-3"), "lost: expected an integer, not negative");
	refused(with("observations", "1e300"), "observations: expected an integer, not negative");
	refused(with("window_seconds", "\"30\""),
	        "window_seconds: expected a number, not negative");
	refused(with("cpu_seconds", "-1"), "cpu_seconds: expected a number, not negative");
	refused(with("resident_bytes", "true"), "resident_bytes: expected a number, not negative");
	refused(with("accesses_per_second", NULL), "accesses_per_second: missing");
	refused(with("overhead", NULL), "overhead: missing");
	refused(with("overhead", "[]"), "overhead: expected an object");
	refused(with("overhead", "{\"target\":0.1}"), "overhead.daemon: missing");
	refused(with("points", NULL), "points: missing");
	refused(with("points", "{}"), "points: expected an array");
	refused(with("points", "[7]"), "points[0]: expected an object");
	refused(with("points", "[{}]"), "points[0].size_bytes: missing");
	refused(with("footprint", "null"), "footprint: expected an array");
}

static void what_is_no_curve_is_refused(void **state)
{
	(void)state;

	refused(with_in("points", 1, "low", "4000001"),
	        "points[1]: not low <= misses_per_second <= high");
	refused(with_in("points", 1, "high", "3999999"),
	        "points[1]: not low <= misses_per_second <= high");
	refused(with_in("points", 2, "size_bytes", "0"), "points[2]: size_bytes must be positive");
	refused(with_in("points", 0, "below_resolution", "1"),
	        "points[0].below_resolution: expected true or false");
	refused(with_in("points", 0, "misses_per_second", "null"),
	        "points[0].misses_per_second: must not be null");
	refused(with_in("points", 2, "relative_miss_ratio", "[]"),
	        "points[2].relative_miss_ratio: expected a number, not negative");
	refused(with_in("footprint", 1, "window_seconds", "0"),
	        "footprint[1]: window_seconds must be positive");
	refused(with_in("footprint", 1, "high", "1"), "footprint[1]: not low <= bytes <= high");
	refused(with_in("footprint", 0, "bytes", NULL), "footprint[0].bytes: missing");
	/* what the parser lets through although it is not JSON */
	refused(with_in("points", 0, "high", "Infinity"),
	        "points[0].high: expected a number, not negative");
	refused(with_in("points", 0, "high", "NaN"),
	        "points[0].high: expected a number, not negative");
}

static void what_has_no_null_must_be_finite(void **state)
{
	struct mtl_curve_origin about = origin;
	struct mtl_curve_point bad[] = {points[0]};
	struct mtl_curve one = {.points = bad, .n_points = 1};
	struct json_object *object = NULL;
	(void)state;

	about.cpu_seconds = NAN;
	assert_int_equal(mtl_curve_to_json(&curve, &about, &object), -EINVAL);
	bad[0].high = INFINITY;
	assert_int_equal(mtl_curve_to_json(&one, &origin, &object), -EINVAL);
	assert_null(object);
}

static void more_members_do_no_harm(void **state)
{
	struct json_object *object = with("of_a_later_version", "{\"a\":[1]}");
	_cleanup_(mtl_curve_freep) struct mtl_curve *again = NULL;
	struct mtl_curve_origin about;
	(void)state;

	assert_int_equal(mtl_curve_from_json(object, &again, &about, NULL, 0), 0);
	json_object_put(object);
}

static void numbers_have_no_negative_zero(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{-0.0, "0"}, {0, "0"}, {-0.5, "-0.5"}, {0.1, "0.1"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_json_ struct json_object *number = mtl_json_number_new(cases[i].value);

		assert_string_equal(json_object_to_json_string(number), cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(round_trip),
	        cmocka_unit_test(members_are_those_of_the_schema),
	        cmocka_unit_test(unknown_is_null_and_no_note_is_no_member),
	        cmocka_unit_test(agreement_is_predicted_by_counted),
	        cmocka_unit_test(older_curves_are_read),
	        cmocka_unit_test(names_become_utf8),
	        cmocka_unit_test(what_does_not_fit_is_refused),
	        cmocka_unit_test(what_is_no_curve_is_refused),
	        cmocka_unit_test(what_has_no_null_must_be_finite),
	        cmocka_unit_test(more_members_do_no_harm),
	        cmocka_unit_test(numbers_have_no_negative_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
