/* SPDX-License-Identifier: MIT */
/* Histories: the ring that mtld keeps, sizes between those kept, and the JSON both ways. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include <json-c/json.h>

#include "history_ring.h"

#define MI 1048576.0

/* Misses fall by half with each power of two, and the first size is below the resolution. */
static struct mtl_curve *curve_of(const struct history_ring *ring, double misses)
{
	static struct mtl_curve_point points[HISTORY_SIZES];
	static struct mtl_footprint_point footprint;
	static struct mtl_curve curve;

	for (unsigned i = 0; i < ring->n_sizes; i++) {
		double value = misses * 32768 / ring->sizes[i];

		points[i] = (struct mtl_curve_point){.size_bytes = ring->sizes[i],
		        .misses_per_second = value,
		        .low = value / 2,
		        .high = value * 2,
		        .below_resolution = i == 0};
	}
	footprint = (struct mtl_footprint_point){1, 16 * MI, 15 * MI, 17 * MI};
	curve = (struct mtl_curve){.points = points,
	        .n_points = ring->n_sizes,
	        .footprint = &footprint,
	        .n_footprint = 1};
	return &curve;
}

static void codes_are_close(void **state)
{
	(void)state;
	for (double value = 0x1p-15; value < 0x1p47; value *= 1.37)
		assert_true(fabs(history_value(history_code(value)) / value - 1) < 4e-4);
	assert_true(history_value(history_code(0)) == 0);
	assert_true(history_value(history_code(1e-9)) == 0);
	assert_true(isnan(history_value(history_code(NAN))));
	assert_true(isfinite(history_value(history_code(INFINITY))));
}

static void sizes_are_powers_and_caches(void **state)
{
	struct history_ring ring;

	(void)state;
	history_begin(&ring, 1.25 * MI, 36 * MI, 0, 0);
	assert_int_equal(ring.n_sizes, 19);
	for (unsigned i = 1; i < ring.n_sizes; i++)
		assert_true(ring.sizes[i] > ring.sizes[i - 1]);
	history_begin(&ring, 2 * MI, 32 * MI, 0, 0);
	assert_int_equal(ring.n_sizes, 16);
	history_begin(&ring, 0, 0, 0, 0);
	assert_int_equal(ring.n_sizes, 16);
	/* what docs/PROTOCOL.md says of memory */
	assert_true(sizeof(struct history_entry) <= 140);
}

static void entries_come_when_there_is_news(void **state)
{
	struct history_now now = {.wall = 109, .cpu = 9, .seen = 1000};
	struct history_ring ring;

	(void)state;
	history_begin(&ring, 0, 0, 100, 0);
	assert_false(history_due(&ring, &now));
	now.wall = 110;
	assert_true(history_due(&ring, &now));
	assert_int_equal(history_reason_now(&ring, &now), HISTORY_KNOWN);
	assert_int_equal(history_add(&ring, &now, HISTORY_KNOWN, curve_of(&ring, 1e6)), 0);
	now = (struct history_now){.wall = 130, .cpu = 20, .seen = 1059};
	assert_false(history_due(&ring, &now));
	now.seen = 1060;
	assert_true(history_due(&ring, &now));
	now.seen = 1001;
	now.wall = 170;
	assert_true(history_due(&ring, &now));
	now.seen = 1000;
	assert_int_equal(history_reason_now(&ring, &now), HISTORY_TOO_FEW);
	now.paused = true;
	assert_int_equal(history_reason_now(&ring, &now), HISTORY_PAUSED);
	now.cpu = 9.001;
	assert_int_equal(history_reason_now(&ring, &now), HISTORY_IDLE);
	now.cpu = 20;
	now.seen = 70; /* counted anew after an exec */
	now.wall = 121;
	assert_true(history_due(&ring, &now));
	history_done(&ring);
}

static void an_hour_is_kept_and_no_more(void **state)
{
	struct history_now now = {0};
	struct mtl_history *told;
	struct history_ring ring;
	double size = 2 * MI;

	(void)state;
	history_begin(&ring, 0, 0, 0, 0);
	for (unsigned i = 1; i <= 1000; i++) {
		now.wall = 10.0 * i;
		now.cpu = 5.0 * i;
		now.seen += 100;
		now.changes = i / 10;
		assert_int_equal(
		        history_add(&ring, &now, HISTORY_KNOWN, curve_of(&ring, 1e6 * i)), 0);
	}
	assert_int_equal(ring.room, HISTORY_ENTRIES);
	assert_int_equal(history_tell(&ring, 10010, &size, 1, &told), 0);
	assert_int_equal(told->n_entries, 360);
	for (size_t i = 0; i < told->n_entries; i++) {
		const struct mtl_history_entry *e = &told->entries[i];
		double wanted = 1e6 * (double)(641 + i) / 64;

		assert_true(fabs(e->seconds_ago - (10010 - 10.0 * (double)(641 + i))) < 0.2);
		assert_true(e->wall_seconds == 10 && e->cpu_seconds == 5);
		assert_true(e->changed == ((641 + i) % 10 == 0));
		assert_true(fabs(e->misses[0].value / wanted - 1) < 1e-3);
		assert_true(fabs(e->misses[0].low / wanted - 0.5) < 1e-3);
		assert_true(fabs(e->footprint.value / (16 * MI) - 1) < 1e-3);
	}
	mtl_history_free(told);
	assert_int_equal(history_tell(&ring, 10000 + 3595, &size, 1, &told), 0);
	assert_int_equal(told->n_entries, 1);
	mtl_history_free(told);
	history_done(&ring);
}

static void unknown_stays_unknown(void **state)
{
	struct history_now now = {.wall = 60, .cpu = 1};
	double sizes[] = {32768, 65536, 0.75 * 65536, 1e12};
	struct mtl_history *told;
	struct history_ring ring;

	(void)state;
	history_begin(&ring, MI, 32 * MI, 0, 5);
	assert_int_equal(history_add(&ring, &now, HISTORY_PAUSED, NULL), 0);
	now.wall = 70;
	assert_int_equal(history_add(&ring, &now, HISTORY_KNOWN, curve_of(&ring, 1e6)), 0);
	assert_int_equal(history_tell(&ring, 70, sizes, 4, &told), 0);
	assert_string_equal(told->entries[0].reason, "paused: a debugger was attached");
	assert_true(isnan(told->entries[0].footprint.value));
	assert_true(isnan(told->entries[0].misses[1].value));
	assert_string_equal(told->entries[1].reason, "");
	assert_true(isnan(told->entries[1].misses[0].value)); /* below the resolution */
	assert_false(isnan(told->entries[1].misses[1].value));
	assert_true(isnan(told->entries[1].misses[2].value)); /* next to it */
	assert_true(isnan(told->entries[1].misses[3].value));
	mtl_history_free(told);
	assert_int_equal(history_tell(&ring, 70, NULL, 0, &told), 0);
	assert_int_equal(told->n_sizes, 3);
	assert_true(told->sizes[1] == 16 * MI);
	mtl_history_free(told);
	history_done(&ring);
}

static void between_two_sizes_both_bound(void **state)
{
	const double sizes[] = {MI, 4 * MI};
	const struct mtl_history_value misses[] = {{8, 7, 9}, {2, 1, 3}};
	struct mtl_history_value value = mtl_history_between(sizes, misses, 2, 2 * MI);

	(void)state;
	assert_true(fabs(value.value - 5) < 1e-9 && value.low == 1 && value.high == 9);
	assert_true(mtl_history_between(sizes, misses, 2, MI).high == 9);
	assert_true(mtl_history_between(sizes, misses, 2, 4 * MI).value == 2);
	assert_true(isnan(mtl_history_between(sizes, misses, 2, MI / 2).value));
	assert_true(isnan(mtl_history_between(sizes, misses, 2, 5 * MI).value));
}

static struct mtl_history *example(void)
{
	struct mtl_history *history;

	assert_int_equal(mtl_history_new(2, 2, &history), 0);
	history->pid = 77;
	history->window_seconds = 30;
	strcpy(history->comm, "redis");
	history->sizes[0] = MI;
	history->sizes[1] = 2 * MI;
	history->entries[0].seconds_ago = 20;
	history->entries[0].changed = true;
	history->entries[0].footprint = (struct mtl_history_value){3, 2, 4};
	history->entries[0].misses[1] = (struct mtl_history_value){30, 20, 40};
	strcpy(history->entries[1].reason, "it did not run");
	return history;
}

static void json_goes_both_ways(void **state)
{
	struct mtl_history *history = example(), *again;
	struct json_object *object, *parsed;
	char error[128];

	(void)state;
	assert_int_equal(mtl_history_to_json(history, &object), 0);
	parsed = json_tokener_parse(json_object_to_json_string(object));
	assert_int_equal(mtl_history_from_json(parsed, &again, error, sizeof(error)), 0);
	assert_int_equal(again->pid, 77);
	assert_string_equal(again->comm, "redis");
	assert_int_equal(again->n_sizes, 2);
	assert_int_equal(again->n_entries, 2);
	assert_true(again->sizes[1] == 2 * MI);
	assert_true(again->entries[0].changed && !again->entries[1].changed);
	assert_true(again->entries[0].footprint.high == 4);
	assert_true(isnan(again->entries[0].misses[0].value));
	assert_true(again->entries[0].misses[1].low == 20);
	assert_string_equal(again->entries[1].reason, "it did not run");
	json_object_put(object);
	json_object_put(parsed);
	mtl_history_free(history);
	mtl_history_free(again);
}

static void what_is_no_history_is_refused(void **state)
{
	static const char *const bad[] = {"[]", "{}", "{\"sizes\":[],\"entries\":[]}",
	        "{\"sizes\":[0],\"entries\":[],\"pid\":1,\"comm\":\"\",\"window_seconds\":1}",
	        "{\"sizes\":[1],\"entries\":[{}],\"pid\":1,\"comm\":\"\",\"window_seconds\":1}",
	        "{\"sizes\":[1],\"entries\":[{\"seconds_ago\":1,\"wall_seconds\":1,\"cpu_seconds\":"
	        "1,\"changed\":false,\"footprint_bytes\":1,\"footprint_low\":1,\"footprint_high\":"
	        "1,\"misses\":[]}],\"pid\":1,\"comm\":\"\",\"window_seconds\":1}"};
	struct mtl_history *history = NULL;
	char error[128];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct json_object *object = json_tokener_parse(bad[i]);

		error[0] = '\0';
		assert_int_equal(
		        mtl_history_from_json(object, &history, error, sizeof(error)), -EBADMSG);
		assert_true(error[0]);
		assert_null(history);
		json_object_put(object);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(codes_are_close),
	        cmocka_unit_test(sizes_are_powers_and_caches),
	        cmocka_unit_test(entries_come_when_there_is_news),
	        cmocka_unit_test(an_hour_is_kept_and_no_more),
	        cmocka_unit_test(unknown_stays_unknown),
	        cmocka_unit_test(between_two_sizes_both_bound),
	        cmocka_unit_test(json_goes_both_ways),
	        cmocka_unit_test(what_is_no_history_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
