/* SPDX-License-Identifier: MIT */
/*
 * Messages: what is taken, what is refused and with which words. Every refusal in the table but the
 * plain syntax errors is one json-c 0.16 would let pass.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cleanup.h"
#include "json_message.h"

#define N(array) (sizeof(array) / sizeof(*(array)))

static int parse(const char *text, size_t size, struct json_object **ret_object, char *ret_reason)
{
	/* an exact heap copy, so that reading past the end is seen */
	char *copy = malloc(size ? size : 1);
	int r;

	memcpy(copy, text, size);
	r = json_message_parse(copy, size, ret_object, ret_reason, 128);
	free(copy);
	return r;
}

static void accepts(void **state)
{
	static const char *const texts[] = {
	        "{}",
	        " {} \n",
	        "{\"a\":1}",
	        "{\"a\":-0.5e+10,\"b\":[0,1e3,0.25],\"c\":{\"a\":null}}",
	        "{\"a\":[true,false,null]}",
	        "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\ud83d\\ude00\"}",
	        "{\"a\":\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80:\"}",
	        "{\"\":\"\"}",
	        "{\"a:b\":1,\"a\":{\"a\":{\"a\":1}}}",
	        /* 16 deep */
	        "{\"a\":[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]}",
	};

	(void)state;
	for (size_t i = 0; i < N(texts); i++) {
		struct json_object *object = NULL;
		char reason[128] = "";

		if (parse(texts[i], strlen(texts[i]), &object, reason) != 0)
			fail_msg("%s: %s", texts[i], reason);
		assert_non_null(object);
		json_object_put(object);
	}
}

static const struct refusal {
	const char *text, *reason;
} refusals[] = {
        {"", "one JSON object"},
        {"  ", "one JSON object"},
        {"1", "one JSON object"},
        {"[1]", "one JSON object"},
        {"null", "one JSON object"},
        {"\"a\"", "one JSON object"},
        {"{", "cut off"},
        {"{\"a\":1", "cut off"},
        {"{\"a\"", "cut off"},
        {"{\"a", "string without an end"},
        {"{\"a\":1}}", "not JSON"},
        {"{\"a\":1}{}", "not JSON"},
        {"{\"a\":1} x", "unexpected character"},
        {"{\"a\":1,}", "not JSON"},
        {"{\"a\" 1}", "not JSON"},
        {"{a:1}", "unexpected character"},
        {"{\"a\":[1,,2]}", "not JSON"},
        {"{\"a\":[1,]}", "not JSON"},
        {"{'a':1}", "unexpected character"},
        {"{\"a\":'b'}", "unexpected character"},
        {"{\"a\":Infinity}", "unexpected character"},
        {"{\"a\":-Infinity}", "not a number"},
        {"{\"a\":NaN}", "unexpected character"},
        {"{\"a\":True}", "unexpected character"},
        {"{\"a\":TRUE}", "unexpected character"},
        {"{\"a\":nullx}", "unexpected character"},
        {"{\"a\":01}", "not a number"},
        {"{\"a\":-01}", "not a number"},
        {"{\"a\":1.}", "decimal point"},
        {"{\"a\":.5}", "unexpected character"},
        {"{\"a\":+1}", "unexpected character"},
        {"{\"a\":1e}", "exponent"},
        {"{\"a\":0x10}", "not a number"},
        {"{\"a\":1a}", "not a number"},
        {"{\"a\":-}", "not a number"},
        {"{/*c*/\"a\":1}", "unexpected character"},
        {"{\"a\":1}//", "unexpected character"},
        {"{\"a\":\"\t\"}", "control character"},
        {"{\"a\":\"\n\"}", "control character"},
        {"{\"a\":\"\\x41\"}", "unknown escape"},
        {"{\"a\":\"\\u12\"}", "four hexadecimal"},
        {"{\"a\":\"\\u0000\"}", "\\u0000"},
        {"{\"a\":\"\\ud800\"}", "surrogate"},
        {"{\"a\":\"\\ud800\\u0041\"}", "surrogate"},
        {"{\"a\":\"\\udc00\\ud800\"}", "surrogate"},
        {"{\"a\":\"\xff\"}", "not UTF-8"},
        {"{\"a\":\"\xc0\x80\"}", "not UTF-8"},
        {"{\"a\":\"\xe2\x82\"}", "not UTF-8"},
        {"{\"a\":\"\xed\xa0\x80\"}", "not UTF-8"},
        {"{\"a\":\"\xf4\x90\x80\x80\"}", "not UTF-8"},
        {"{\"a\":1,\"a\":2}", "twice"},
        {"{\"a\":1,\"\\u0061\":2}", "twice"},
        {"{\"a\":{\"b\":1},\"a\":{\"b\":1,\"c\":{\"d\":1}}}", "twice"},
        {"{\"x\":[{\"a\":1,\"a\":1}]}", "twice"},
        /* 17 deep */
        {"{\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", "deeper than 16"},
};

static void refuses(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(refusals); i++) {
		struct json_object *object = NULL;
		char reason[128] = "";
		int r = parse(refusals[i].text, strlen(refusals[i].text), &object, reason);

		if (r != -EBADMSG || !strstr(reason, refusals[i].reason))
			fail_msg("%s: returned %d, \"%s\"", refusals[i].text, r, reason);
		assert_null(object);
	}
}

static void refuses_nul_inside(void **state)
{
	static const char text[] = "{\"a\":\0 1}", string[] = "{\"a\":\"x\0y\"}",
	                  number[] = "{\"a\":-\0}";
	struct json_object *object = NULL;
	char reason[128];

	(void)state;
	assert_int_equal(parse(text, sizeof(text) - 1, &object, reason), -EBADMSG);
	assert_int_equal(parse(string, sizeof(string) - 1, &object, reason), -EBADMSG);
	assert_int_equal(parse(number, sizeof(number) - 1, &object, reason), -EBADMSG);
}

static void refuses_too_large(void **state)
{
	size_t size = MESSAGE_BYTES_MAX + 1;
	char *text = malloc(size), reason[128];
	struct json_object *object = NULL;

	(void)state;
	memset(text, ' ', size);
	memcpy(text, "{}", 2);
	assert_int_equal(parse(text, size, &object, reason), -EBADMSG);
	assert_non_null(strstr(reason, "larger than 262144"));
	assert_int_equal(parse(text, size - 1, &object, reason), 0);
	json_object_put(object);
	free(text);
}

/* {"a":[1,1,1...]} */
static int parse_ones(size_t n, char *ret_reason)
{
	_cleanup_free_ char *text = malloc(2 * n + 16);
	struct json_object *object = NULL;
	size_t at = (size_t)sprintf(text, "{\"a\":[1");
	int r;

	for (size_t i = 1; i < n; i++) {
		text[at++] = ',';
		text[at++] = '1';
	}
	memcpy(text + at, "]}", 2);
	r = parse(text, at + 2, &object, ret_reason);
	json_object_put(object);
	return r;
}

static void refuses_too_many_values(void **state)
{
	char reason[128];

	(void)state;
	assert_int_equal(parse_ones(MESSAGE_VALUES_MAX - 2, reason), 0);
	assert_int_equal(parse_ones(MESSAGE_VALUES_MAX - 1, reason), -EBADMSG);
	assert_non_null(strstr(reason, "too many values"));
}

static void frames(void **state)
{
	size_t length = 99;

	(void)state;
	assert_int_equal(json_message_length(NULL, 0, 10, &length), 0);
	assert_int_equal(json_message_length("abc", 3, 10, &length), 0);
	assert_int_equal(json_message_length("\0", 1, 10, &length), -EBADMSG);
	assert_int_equal(length, 99);
	assert_int_equal(json_message_length("abc\0def\0", 8, 10, &length), 1);
	assert_int_equal(length, 3);
	assert_int_equal(json_message_length("0123456789\0", 11, 10, &length), 1);
	assert_int_equal(length, 10);
	assert_int_equal(json_message_length("0123456789", 10, 10, &length), 0);
	assert_int_equal(json_message_length("0123456789x", 11, 10, &length), -EMSGSIZE);
	assert_int_equal(json_message_length("0123456789x\0", 12, 10, &length), -EMSGSIZE);
}

static int parse_call(const char *text, struct json_call *ret_call, char *ret_reason)
{
	return json_call_parse(text, strlen(text), ret_call, ret_reason, 128);
}

static void reads_calls(void **state)
{
	struct json_call call = {0};
	char reason[128];

	(void)state;
	assert_int_equal(parse_call("{\"method\":\"a.B\"}", &call, reason), 0);
	assert_string_equal(call.method, "a.B");
	assert_null(call.parameters);
	assert_false(call.more);
	assert_false(call.oneway);
	json_call_done(&call);

	assert_int_equal(parse_call("{\"method\":\"a.B\",\"parameters\":{\"x\":1},\"more\":true,"
	                            "\"oneway\":false,\"x-trace\":[1]}",
	                         &call, reason),
	        0);
	assert_int_equal(json_object_object_length(call.parameters), 1);
	assert_true(call.more);
	assert_false(call.oneway);
	json_call_done(&call);

	assert_int_equal(parse_call("{\"method\":\"a.B\",\"parameters\":null,\"more\":null,"
	                            "\"oneway\":true}",
	                         &call, reason),
	        0);
	assert_null(call.parameters);
	assert_false(call.more);
	assert_true(call.oneway);
	json_call_done(&call);
	assert_null(call.message);
}

static void refuses_calls(void **state)
{
	static const struct refusal calls[] = {
	        {"{}", "\"method\" is missing"},
	        {"{\"method\":null}", "\"method\" is missing"},
	        {"{\"method\":1}", "\"method\" must be a string"},
	        {"{\"method\":\"a.B\",\"parameters\":[]}", "\"parameters\" must be an object"},
	        {"{\"method\":\"a.B\",\"more\":1}", "\"more\" must be true or false"},
	        {"{\"method\":\"a.B\",\"oneway\":\"yes\"}", "\"oneway\" must be true or false"},
	        {"nonsense", "one JSON object"},
	};

	(void)state;
	for (size_t i = 0; i < N(calls); i++) {
		struct json_call call = {0};
		char reason[128] = "";

		assert_int_equal(parse_call(calls[i].text, &call, reason), -EBADMSG);
		assert_string_equal(call.method ? call.method : "", "");
		if (!strstr(reason, calls[i].reason))
			fail_msg("%s: \"%s\"", calls[i].text, reason);
	}
}

static void cleans_text(void **state)
{
	static const struct {
		const char *dirty, *clean;
	} texts[] = {
	        {"plain", "plain"},
	        {"\xc3\xa4", "\xc3\xa4"},
	        {"\xff\xfe", "??"},
	        {"a\xc3", "a?"},
	        {"\xe2\x82z", "??z"},
	        {"\xed\xa0\x80", "???"},
	};

	(void)state;
	for (size_t i = 0; i < N(texts); i++) {
		char text[16];

		strcpy(text, texts[i].dirty);
		text_clean(text);
		assert_string_equal(text, texts[i].clean);
	}
}

static void prints_values(void **state)
{
	static const struct {
		double value;
		const char *text;
	} numbers[] = {{0.1, "0.1"}, {30, "30.0"}, {1e-5, "1e-05"}, {-0.25, "-0.25"}};
	struct json_object *object = json_text("\xff");

	(void)state;
	assert_string_equal(json_object_get_string(object), "?");
	json_object_put(object);
	assert_null(json_number(NAN));
	assert_null(json_number(INFINITY));
	for (size_t i = 0; i < N(numbers); i++) {
		object = json_number(numbers[i].value);
		assert_string_equal(json_object_to_json_string(object), numbers[i].text);
		json_object_put(object);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(accepts),
	        cmocka_unit_test(refuses),
	        cmocka_unit_test(refuses_nul_inside),
	        cmocka_unit_test(refuses_too_large),
	        cmocka_unit_test(refuses_too_many_values),
	        cmocka_unit_test(frames),
	        cmocka_unit_test(reads_calls),
	        cmocka_unit_test(refuses_calls),
	        cmocka_unit_test(cleans_text),
	        cmocka_unit_test(prints_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
