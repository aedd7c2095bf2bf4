/* SPDX-License-Identifier: MIT */
/*
 * Share and Partition against a fake manager: the same objects as `mtl share` and `mtl partition`
 * give for the same curves, as io.mtld.varlink declares them; one curve is estimated a turn; what a
 * stranger's curve may not be is refused by its place; who may ask about which process.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "methods_fixture.h"
#include "command_fixture.h"

#define SLOW "10:20:0.8 20:50:0.5 40:-:0.04"
#define FAST "10:10:0.8 20:20:0.5 40:-:0.04"
#define SLOPE "5:2:0.9 10:6:0.7 20:80:0.55 30:120:0.4 60:-:0.16"

/* Of a program that scans 600 bytes and one that scans 200. */
static const struct live wide = {.footprint = 600,
        .resolution = 1,
        .step = 100,
        .width = 0.01,
        .misses = {1000, 1000, 1000, 1000, 1000, 1000, 0, 0},
        .n = 8};
static const struct live narrow = {.footprint = 200,
        .resolution = 1,
        .step = 100,
        .width = 0.01,
        .misses = {900, 900, 0, 0, 0, 0, 0, 0},
        .n = 8};

static char message[MESSAGE_BYTES_MAX + 1024];

/* "curves":[...] of pairs of name and text, closed by NULL. */
static const char *curves(const char *name, ...)
{
	static char list[MESSAGE_BYTES_MAX - 1024];
	int at = snprintf(list, sizeof(list), "\"curves\":[");
	va_list pairs;

	va_start(pairs, name);
	for (const char *comma = ""; name; name = va_arg(pairs, const char *), comma = ",")
		at += snprintf(list + at, sizeof(list) - (size_t)at,
		        "%s{\"name\":\"%s\",\"curve\":%s}", comma, name,
		        va_arg(pairs, const char *));
	va_end(pairs);
	snprintf(list + at, sizeof(list) - (size_t)at, "]");
	return list;
}

static const char *trace(const char *points, int distinct)
{
	static char texts[4][4096];
	static unsigned at;
	char *to = texts[at++ % 4];

	trace_text(points, distinct, to, sizeof(texts[0]));
	return to;
}

static const char *live(const struct live *of)
{
	static char texts[4][8192];
	static unsigned at;
	char *to = texts[at++ % 4];

	live_text(of, to, sizeof(texts[0]));
	return to;
}

static void ask(const struct peer *peer, const char *method, const char *parameters)
{
	snprintf(message, sizeof(message), "{\"method\":\"io.mtld.%s\",\"parameters\":{%s}}",
	        method, parameters);
	call_as(peer, message);
}

static void ask_with(const char *method, const char *list, const char *rest)
{
	static char both[MESSAGE_BYTES_MAX];

	snprintf(both, sizeof(both), "%s%s%s", list, *list && *rest ? "," : "", rest);
	ask(&root_peer, method, both);
}

/* --- the same as the commands */

/* What the command prints for these files; parts have no masks here. */
static struct json_object *printed(command_function *command, enum command_bit bit,
        const char *const *words, char **files, int n)
{
	struct options options = options_of(bit, words);
	struct json_object *object, *groups;

	if (run_command(command, &options, n, files) != MTL_DONE)
		fail_msg("%s", errors);
	options_done(&options);
	object = answer();
	groups = member_of(object, "groups");
	for (size_t i = 0; groups && i < json_object_array_length(groups); i++)
		json_object_object_del(json_object_array_get_idx(groups, i), "mask");
	return object;
}

static void is_same(struct json_object *object)
{
	/* as text: what was read back has integers where there were floats */
	assert_string_equal(
	        json_object_to_json_string(reply.parameters), json_object_to_json_string(object));
	json_object_put(object);
}

static void shares_as_mtl_does(void **state)
{
	static const char *const words[][4] = {
	        {"--size=30", "--json"}, {"--size=4", "--json"}, {"--size=300", "--json"}};
	static const char *const sizes[] = {"\"size\":30", "\"size\":4", "\"size\":300"};
	char *files[] = {trace_file("a.json", SLOW, 40), trace_file("b.json", FAST, 40),
	        trace_file("c.json", SLOPE, 60)};

	(void)state;
	for (size_t i = 0; i < N(sizes); i++) {
		ask_with("Share",
		        curves("a", trace(SLOW, 40), "b", trace(FAST, 40), "c", trace(SLOPE, 60),
		                NULL),
		        sizes[i]);
		assert_success("Share");
		is_same(printed(command_share, COMMAND_SHARE, words[i], files, 3));
	}
	assert_int_equal(turns, 2);
}

static void shares_live_curves_as_mtl_does(void **state)
{
	static const char *const words[] = {"--size=400", "--json", NULL};
	char *files[] = {live_file("a.json", &wide), live_file("b.json", &narrow)};

	(void)state;
	ask_with("Share", curves("a", live(&wide), "b", live(&narrow), NULL), "\"size\":400");
	assert_success("Share");
	is_same(printed(command_share, COMMAND_SHARE, words, files, 2));
}

static void partitions_as_mtl_does(void **state)
{
	static const struct {
		const char *words[7], *rest;
	} cases[] = {
	        {{"--size=60", "--ways=12", "--json"}, "\"size\":60,\"ways\":12"},
	        {{"--size=60", "--ways=6", "--json", "--objective=fair", "--weight=a=3"},
	                "\"size\":60,\"ways\":6,\"objective\":\"fair\",\"weights\":[{\"name\":"
	                "\"a\",\"weight\":3}]"},
	        {{"--size=60", "--ways=12", "--json", "--objective=guarantee", "--least=2"},
	                "\"size\":60,\"ways\":12,\"objective\":\"guarantee\",\"least_ways\":2"},
	        {{"--size=60", "--ways=12", "--json", "--clusters", "--miss-cost=7"},
	                "\"size\":60,\"ways\":12,\"clusters\":true,\"miss_cost\":7"},
	};
	char *files[] = {trace_file("a.json", SLOW, 40), trace_file("b.json", FAST, 40),
	        trace_file("c.json", SLOPE, 60)};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		ask_with("Partition",
		        curves("a", trace(SLOW, 40), "b", trace(FAST, 40), "c", trace(SLOPE, 60),
		                NULL),
		        cases[i].rest);
		assert_success("Partition");
		is_same(printed(command_partition, COMMAND_PARTITION, cases[i].words, files, 3));
	}
}

/* --- processes */

/* A curve of the fake manager's, asked for as Share asks. */
static char *fake_curve(int pid, double bytes, unsigned ways)
{
	const struct demand_cache cache = {bytes, ways};
	double sizes[DEMAND_SIZES_MAX];
	size_t n = mtl_demand_sizes(&cache, sizes);
	int at = sprintf(message, "\"pid\":%d,\"sizes\":[", pid);
	static char parameters[16384];

	for (size_t i = 0; i < n; i++)
		at += sprintf(message + at, "%s%.17g", i ? "," : "", sizes[i]);
	sprintf(message + at, "]");
	strcpy(parameters, message);
	ask(&root_peer, "Curve", parameters);
	assert_success("Curve");
	return strdup(json_object_to_json_string(member_of(reply.parameters, "curve")));
}

static void without_pids(const char *array)
{
	struct json_object *list = member_of(reply.parameters, array);

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);

		assert_int_equal(json_object_get_int(member_of(entry, "pid")),
		        atoi(json_object_get_string(member_of(entry, "name"))));
		json_object_object_del(entry, "pid");
	}
}

static void processes_count_as_their_curves(void **state)
{
	_cleanup_free_ char *one = NULL, *two = NULL;
	struct json_object *by_curves;

	(void)state;
	fake_process(context.manager, 100, USER);
	fake_process(context.manager, 200, 0);
	one = fake_curve(100, 4 << 20, 1);
	two = fake_curve(200, 4 << 20, 1);
	ask_with("Share", curves("100", one, "200", two, NULL), "\"size\":4194304");
	assert_success("Share");
	by_curves = json_object_get(reply.parameters);
	ask_with("Share", "\"pids\":[100,200]", "\"size\":4194304");
	assert_success("Share");
	assert_int_equal(turns, 4);
	without_pids("programs");
	is_same(by_curves);
}

static void one_curve_is_estimated_a_turn(void **state)
{
	char list[1024] = "\"pids\":[1000";

	(void)state;
	for (int i = 0; i < 64; i++)
		fake_process(context.manager, 1000 + i, USER);
	for (int i = 1; i < 64; i++)
		sprintf(list + strlen(list), ",%d", 1000 + i);
	strcat(list, "]");
	ask_with("Partition", list, "\"size\":33554432,\"ways\":64,\"objective\":\"fair\"");
	assert_success("Partition");
	assert_int_equal(turns, 66);
	assert_int_equal(most_curves, 1);
	assert_int_equal(json_object_array_length(member_of(reply.parameters, "groups")), 64);
	ask_with("Share", list, "\"size\":33554432");
	assert_error("InvalidParameter");
	assert_int_equal(turns, 1);
}

static void processes_and_curves_mix(void **state)
{
	(void)state;
	fake_process(context.manager, 100, USER);
	ask_with("Partition", curves("saved", live(&wide), NULL),
	        "\"pids\":[100],\"size\":8388608,\"ways\":16");
	assert_success("Partition");
	assert_string_equal(
	        json_object_get_string(member_of(element(reply.parameters, "groups", 0), "name")),
	        "100");
	assert_string_equal(
	        json_object_get_string(member_of(element(reply.parameters, "groups", 1), "name")),
	        "saved");
}

static int pid_named(void)
{
	return json_object_get_int(member_of(reply.parameters, "pid"));
}

static void names_the_process(void **state)
{
	static const char both[] = "\"pids\":[100,200],\"size\":1048576";

	(void)state;
	ask(&root_peer, "Share", both);
	assert_error("NoSuchProcess");
	assert_int_equal(pid_named(), 100);
	fake_process(context.manager, 100, USER);
	make_process(200, 0);
	ask(&root_peer, "Share", both);
	assert_error("NotTracked");
	assert_int_equal(pid_named(), 200);
	fake_process(context.manager, 200, 0);
	context.manager->curve_result = -ENODATA;
	ask(&root_peer, "Share", both);
	assert_error("NotEnoughObservations");
	assert_int_equal(pid_named(), 100);
	context.manager->curve_result = -EINVAL;
	ask(&root_peer, "Share", both);
	assert_error("InvalidParameter");
	assert_string_equal(string_of("parameter"), "size");
}

/* --- who may */

static void change_owner(void)
{
	make_process(100, 0);
}

static void others_ask_about_their_own_alone(void **state)
{
	static const char ours[] = "\"pids\":[100,300],\"size\":1048576",
	                  roots[] = "\"pids\":[100,200],\"size\":1048576";

	(void)state;
	make_process(100, USER);
	fake_process(context.manager, 100, USER);
	fake_process(context.manager, 200, 0);
	fake_process(context.manager, 300, USER)->state = "exited";
	ask(&user, "Share", ours);
	assert_success("Share");
	ask(&user, "Share", roots);
	assert_error("PermissionDenied");
	ask(&member, "Share", roots);
	assert_success("Share");
	ask(&user, "Partition", "\"pids\":[200,100],\"size\":1048576,\"ways\":16");
	assert_error("PermissionDenied");
	between_turns = change_owner; /* it has executed a set-user-ID program meanwhile */
	ask(&user, "Share", ours);
	assert_error("PermissionDenied");
}

static void anybody_may_ask_about_curves(void **state)
{
	static char parameters[8192];

	(void)state;
	snprintf(parameters, sizeof(parameters), "%s,\"size\":30",
	        curves("a", trace(SLOW, 40), "b", trace(FAST, 40), NULL));
	ask(&user, "Share", parameters);
	assert_success("Share");
}

/* --- what is refused */

static void refuses_parameters(void **state)
{
	static const char service[] = "org.varlink.service.InvalidParameter",
	                  mtld[] = "io.mtld.InvalidParameter";
	static const struct {
		const char *method, *parameters, *error, *parameter;
	} bad[] = {
	        {"Share", "\"pids\":[1,2]", service, "size"},
	        {"Share", "\"pids\":[1,2],\"size\":null", service, "size"},
	        {"Share", "\"pids\":[1,2],\"size\":0", mtld, "size"},
	        {"Share", "\"pids\":[1,2],\"size\":-1", mtld, "size"},
	        {"Share", "\"pids\":[1,2],\"size\":1e19", mtld, "size"},
	        {"Share", "\"pids\":[1,2],\"size\":1e999", mtld, "size"},
	        {"Share", "\"pids\":[1,2],\"size\":\"1M\"", service, "size"},
	        {"Share", "\"pids\":[1,2],\"size\":1,\"ways\":2", service, "ways"},
	        {"Share", "\"pids\":1,\"size\":1", service, "pids"},
	        {"Share", "\"pids\":[],\"size\":1", mtld, "pids"},
	        {"Share", "\"pids\":[0,1],\"size\":1", mtld, "pids"},
	        {"Share", "\"pids\":[1,\"2\"],\"size\":1", service, "pids"},
	        {"Share", "\"pids\":[1],\"size\":1", mtld, "pids"},
	        {"Share", "\"size\":1", mtld, "pids"},
	        {"Share", "\"pids\":[1,2,1],\"size\":1", mtld, "pids[2]"},
	        {"Share", "\"curves\":{},\"size\":1", service, "curves"},
	        {"Share", "\"curves\":[],\"size\":1", mtld, "curves"},
	        {"Share", "\"curves\":[1,2],\"size\":1", service, "curves"},
	        {"Share", "\"curves\":[{},{}],\"size\":1", service, "curves[0].name"},
	        {"Share", "\"curves\":[{\"name\":1},{}],\"size\":1", service, "curves[0].name"},
	        {"Share", "\"curves\":[{\"name\":\"a\"},{}],\"size\":1", service,
	                "curves[0].curve"},
	        {"Share", "\"curves\":[{\"name\":\"a\",\"curve\":[]},{}],\"size\":1", service,
	                "curves[0].curve"},
	        {"Share", "\"curves\":[{\"name\":\"a\",\"curve\":{},\"x\":1},{}],\"size\":1",
	                service, "curves[0].x"},
	        {"Share", "\"curves\":[{\"name\":\"\",\"curve\":{}},{}],\"size\":1", mtld,
	                "curves[0].name"},
	        {"Share", "\"curves\":[{\"name\":\"a\",\"curve\":{}},{}],\"size\":1", mtld,
	                "curves[0].curve"},
	        {"Share", "\"pids\":[1,2],\"size\":1,\"miss_cost\":1", service, "miss_cost"},
	        {"Partition", "\"pids\":[1,2],\"size\":4", service, "ways"},
	        {"Partition", "\"pids\":[1,2],\"size\":4,\"ways\":4,\"miss_cost\":0", mtld,
	                "miss_cost"},
	        {"Partition", "\"pids\":[1,2],\"size\":4,\"ways\":0", mtld, "ways"},
	        {"Partition", "\"pids\":[1,2],\"size\":4,\"ways\":65", mtld, "ways"},
	        {"Partition", "\"pids\":[1,2],\"size\":4,\"ways\":2.0", service, "ways"},
	        {"Partition", "\"pids\":[1,2],\"size\":5,\"ways\":4", mtld, "size"},
	        {"Partition", "\"pids\":[1,2],\"size\":1,\"ways\":1", mtld, "ways"},
	        {"Partition", "\"pids\":[1,2],\"size\":4,\"ways\":4,\"least_ways\":3", mtld,
	                "ways"},
	        {"Partition", "\"pids\":[1,2],\"size\":4,\"ways\":4,\"objective\":\"best\"", mtld,
	                "objective"},
	        {"Partition", "\"pids\":[1,2],\"size\":4,\"ways\":4,\"clusters\":1", service,
	                "clusters"},
	        {"Partition", "\"pids\":[1,2,3,4,5,6,7],\"size\":16,\"ways\":16,\"clusters\":true",
	                mtld, "clusters"},
	        {"Partition", "\"pids\":[1,2],\"size\":4,\"ways\":4,\"weights\":[2]", service,
	                "weights"},
	};

	(void)state;
	for (size_t i = 0; i < N(bad); i++) {
		ask(&root_peer, bad[i].method, bad[i].parameters);
		if (!reply.error || strcmp(reply.error, bad[i].error) ||
		        strcmp(string_of("parameter"), bad[i].parameter) || !*string_of("reason"))
			fail_msg("%s %s: %s %s", bad[i].method, bad[i].parameters,
			        reply.error ? reply.error : "accepted",
			        json_object_to_json_string(reply.parameters));
	}
	assert_int_equal(context.manager->n_curves, 0);
}

static void refused(const char *parameter, const char *words)
{
	assert_error("InvalidParameter");
	assert_string_equal(string_of("parameter"), parameter);
	assert_true(is_said(string_of("reason"), words));
}

/* The second of two curves is what a stranger may send. */
static void refuses_curves(void **state)
{
	static const struct {
		const char *curve, *words;
	} bad[] = {
	        {"{\"a\":1}", "neither a curve of mtld nor one of mtl trace"},
	        {"{\"accesses\":1,\"distinct\":1,\"line_bytes\":1,\"points\":[]}",
	                "points: expected some"},
	        {"{\"accesses\":-1,\"distinct\":1,\"line_bytes\":1,\"points\":[]}",
	                "accesses: expected an integer, not negative"},
	        {"{\"accesses\":1e300,\"distinct\":1,\"line_bytes\":1,\"points\":[]}",
	                "accesses: expected an integer"},
	        {"{\"accesses\":9,\"distinct\":1,\"line_bytes\":1,\"points\":[{\"size_bytes\":1e31,"
	         "\"fill_time_accesses\":1,\"miss_ratio\":1}]}",
	                "points[0]: a number is out of range"},
	        {"{\"accesses\":9,\"distinct\":1,\"line_bytes\":1,\"points\":[{\"size_bytes\":"
	         "1e999,"
	         "\"fill_time_accesses\":1,\"miss_ratio\":1}]}",
	                "points[0].size_bytes: expected a number"},
	        {"{\"accesses\":9,\"distinct\":1,\"line_bytes\":1,\"points\":[{\"size_bytes\":1,"
	         "\"fill_time_accesses\":1,\"miss_ratio\":-1}]}",
	                "points[0]"},
	        {"{\"accesses\":9,\"distinct\":1,\"line_bytes\":1,\"points\":[{\"size_bytes\":1,"
	         "\"fill_time_accesses\":1,\"miss_ratio\":1},{\"size_bytes\":1,"
	         "\"fill_time_accesses\":2,\"miss_ratio\":1}]}",
	                "points[1]: sizes must rise"},
	        {"{\"accesses\":9,\"distinct\":1,\"line_bytes\":1,\"points\":[[[[[[[1]]]]]]]}",
	                "points[0]: expected an object"},
	        {"{\"cpu_seconds\":1}", "missing"},
	};

	(void)state;
	for (size_t i = 0; i < N(bad); i++) {
		ask_with("Share", curves("a", trace(SLOW, 40), "b", bad[i].curve, NULL),
		        "\"size\":30");
		refused("curves[1].curve", bad[i].words);
		assert_int_equal(turns, 1);
	}
}

static void refuses_what_is_too_much(void **state)
{
	static char many[32768] = "{\"points\":[0", name[256];

	(void)state;
	for (int i = 0; i < 512; i++)
		strcat(many, ",0");
	strcat(many, "]}");
	ask_with("Share", curves("a", trace(SLOW, 40), "b", many, NULL), "\"size\":30");
	refused("curves[1].curve", "points: has 513 entries, more than 512");
	memset(name, 'x', 129);
	ask_with("Share", curves("a", trace(SLOW, 40), name, trace(SLOW, 40), NULL), "\"size\":30");
	refused("curves[1].name", "must have 1 to 128 bytes");
	name[128] = '\0';
	ask_with("Share", curves("a", trace(SLOW, 40), name, trace(SLOW, 40), NULL), "\"size\":30");
	assert_success("Share");
}

static void refuses_what_does_not_go_together(void **state)
{
	static char data[4096];
	const char *two;

	(void)state;
	ask_with("Share", curves("a", trace(SLOW, 40), "a", trace(FAST, 40), NULL), "\"size\":30");
	refused("curves[1].name", "another one's");
	fake_process(context.manager, 100, USER);
	ask_with("Share", curves("100", live(&wide), NULL), "\"pids\":[100],\"size\":30");
	refused("curves[0].name", "another one's");
	ask_with("Share", curves("a", trace(SLOW, 40), "b", live(&wide), NULL), "\"size\":30");
	refused("curves", "a is a trace and b a live curve");
	snprintf(data, sizeof(data), "{\"format\":\"tokens\",%s", trace(SLOW, 40) + 1);
	ask_with("Share", curves("a", trace(SLOW, 40), "b", data, NULL), "\"size\":30");
	refused("curves", "sizes are numbers of data in b and bytes in a");
	two = curves("a", trace(SLOW, 40), "b", trace(FAST, 40), NULL);
	ask_with("Partition", two,
	        "\"size\":60,\"ways\":6,\"weights\":[{\"name\":\"a\",\"weight\":2},"
	        "{\"name\":\"a\",\"weight\":2}]");
	refused("weights[1].name", "is there twice");
	ask_with("Partition", two,
	        "\"size\":60,\"ways\":6,\"weights\":[{\"name\":\"c\",\"weight\":2}]");
	refused("weights[0].name", "no group is called so");
	ask_with("Partition", two,
	        "\"size\":60,\"ways\":6,\"weights\":[{\"name\":\"a\",\"weight\":0}]");
	refused("weights[0].weight", "must be");
}

/* Strangers' names come back as they are, in sentences without what moves a cursor. */
static void names_are_harmless(void **state)
{
	(void)state;
	ask_with("Partition",
	        curves("\\u001b[2J\xc3\xa4", trace(SLOW, 40), "b", trace(FAST, 40), NULL),
	        "\"size\":16,\"ways\":2");
	assert_error("TooUncertain");
	assert_non_null(string_of("reason"));
	assert_null(strchr(string_of("reason"), '\x1b'));
	assert_true(is_said(string_of("reason"), "?[2J\xc3\xa4"));
}

static void is_too_uncertain(void **state)
{
	const struct live steep = {.footprint = 2000,
	        .resolution = 1,
	        .step = 100,
	        .width = 0.6,
	        .misses = {1000, 900, 800, 700, 600, 500, 400, 300, 200, 100},
	        .n = 10};
	struct live quick = steep;

	(void)state;
	for (int i = 0; i < 10; i++)
		quick.misses[i] = i ? 10 : 500;
	ask_with("Partition", curves("a", live(&steep), "b", live(&quick), NULL),
	        "\"size\":1000,\"ways\":10");
	assert_error("TooUncertain");
	assert_true(is_said(string_of("reason"),
	        "too uncertain to tell whether the best division (8, 2 ways)"));
}

static int begin(void **state)
{
	return files_setup(state) ?: fresh(state);
}

static int end(void **state)
{
	return files_teardown(state) | done(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	        TEST(shares_as_mtl_does),
	        TEST(shares_live_curves_as_mtl_does),
	        TEST(partitions_as_mtl_does),
	        TEST(processes_count_as_their_curves),
	        TEST(one_curve_is_estimated_a_turn),
	        TEST(processes_and_curves_mix),
	        TEST(names_the_process),
	        TEST(others_ask_about_their_own_alone),
	        TEST(anybody_may_ask_about_curves),
	        TEST(refuses_parameters),
	        TEST(refuses_curves),
	        TEST(refuses_what_is_too_much),
	        TEST(refuses_what_does_not_go_together),
	        TEST(names_are_harmless),
	        TEST(is_too_uncertain),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
