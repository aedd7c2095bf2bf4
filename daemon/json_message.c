/* SPDX-License-Identifier: MIT */
/*
 * Messages from strangers: framing by NUL, then a strict parse.
 *
 * json-c 0.16 accepts, even with JSON_TOKENER_STRICT and VALIDATE_UTF8, single quotes, Infinity and
 * NaN, raw control characters, numbers like "1." and "-01", lone surrogates, overlong UTF-8 and
 * duplicate keys (last wins). So the bytes first pass a scanner that knows only the tokens of RFC
 * 8259, and json-c is left with the grammar. The scanner also counts colons: outside strings each
 * one belongs to exactly one member, so a parsed tree with fewer members than colons had a key
 * twice, whichever way the key was spelled. And it counts what separates values, so that no message
 * takes json-c longer, or more memory, than some thousands of them (10 ms).
 */
#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "cleanup.h"
#include "json_message.h"
#include "words.h"

DEFINE_CLEANUP(struct json_object, json_object_put)
DEFINE_CLEANUP(struct json_tokener, json_tokener_free)

struct scanner {
	const char *p, *end;
	size_t colons, separators;
	const char *problem;
};

int json_message_length(const char *bytes, size_t size, size_t limit, size_t *ret_length)
{
	const char *nul = size ? memchr(bytes, '\0', size < limit + 1 ? size : limit + 1) : NULL;

	if (!nul)
		return size > limit ? -EMSGSIZE : 0;
	if (nul == bytes)
		return -EBADMSG;
	*ret_length = (size_t)(nul - bytes);
	return 1;
}

void text_clean(char *text)
{
	const char *end = text + strlen(text);

	while (text < end) {
		size_t length = mtl_utf8_length(text, (size_t)(end - text));

		if (!length)
			*text = '?';
		text += length ? length : 1;
	}
}

struct json_object *json_text(const char *text)
{
	_cleanup_free_ char *copy = strdup(text);

	if (!copy)
		return NULL;
	text_clean(copy);
	return json_object_new_string(copy);
}

struct json_object *json_number(double value)
{
	char text[40];

	if (!isfinite(value))
		return NULL;
	snprintf(text, sizeof(text) - 2, "%.9g", value);
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
	return json_object_new_double_s(value, text);
}

/* --- the scanner */

static int problem(struct scanner *s, const char *text)
{
	if (!s->problem)
		s->problem = text;
	return -EBADMSG;
}

static int hex4(const char *p, const char *end, unsigned *ret_value)
{
	unsigned value = 0;

	if (end - p < 4)
		return -EBADMSG;
	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)p[i]))
			return -EBADMSG;
		value = value * 16 + (unsigned)(isdigit((unsigned char)p[i])
		                                        ? p[i] - '0'
		                                        : (p[i] | 32) - 'a' + 10);
	}
	*ret_value = value;
	return 0;
}

/* p is behind "\u" */
static int scan_unicode(struct scanner *s)
{
	unsigned unit, low;

	if (hex4(s->p, s->end, &unit) < 0)
		return problem(s, "\\u needs four hexadecimal digits");
	s->p += 4;
	if (unit == 0)
		return problem(s, "\\u0000 is not accepted");
	if (unit < 0xd800 || unit > 0xdfff)
		return 0;
	if (unit > 0xdbff || s->end - s->p < 6 || s->p[0] != '\\' || s->p[1] != 'u' ||
	        hex4(s->p + 2, s->end, &low) < 0 || low < 0xdc00 || low > 0xdfff)
		return problem(s, "half of a surrogate pair");
	s->p += 6;
	return 0;
}

static int scan_escape(struct scanner *s)
{
	char c = s->p < s->end ? *s->p : '\0';

	if (!c || !strchr("\"\\/bfnrtu", c))
		return problem(s, "unknown escape in a string");
	s->p++;
	return c == 'u' ? scan_unicode(s) : 0;
}

/* p is behind the opening quote */
static int scan_string(struct scanner *s)
{
	while (s->p < s->end) {
		unsigned char c = (unsigned char)*s->p;
		size_t length = mtl_utf8_length(s->p, (size_t)(s->end - s->p));

		if (c < ' ')
			return problem(s, "raw control character in a string");
		if (!length)
			return problem(s, "not UTF-8");
		s->p += length;
		if (c == '"')
			return 0;
		if (c == '\\' && scan_escape(s) < 0)
			return -EBADMSG;
	}
	return problem(s, "string without an end");
}

static size_t digits(struct scanner *s)
{
	size_t n = 0;

	for (; s->p < s->end && isdigit((unsigned char)*s->p); s->p++)
		n++;
	return n;
}

static bool skip(struct scanner *s, const char *set)
{
	bool found = s->p < s->end && *s->p && strchr(set, *s->p);

	s->p += found;
	return found;
}

static int scan_number(struct scanner *s)
{
	skip(s, "-");
	if (!skip(s, "0") && !digits(s))
		return problem(s, "not a number");
	if (skip(s, ".") && !digits(s))
		return problem(s, "no digit after the decimal point");
	if (skip(s, "eE")) {
		skip(s, "+-");
		if (!digits(s))
			return problem(s, "no digit in the exponent");
	}
	if (s->p < s->end && isalnum((unsigned char)*s->p))
		return problem(s, "not a number");
	return 0;
}

static int scan_word(struct scanner *s)
{
	static const char *const words[] = {"true", "false", "null"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i]);

		if ((size_t)(s->end - s->p) >= length && !memcmp(s->p, words[i], length)) {
			s->p += length;
			return 0;
		}
	}
	return problem(s, "unexpected character");
}

static int scan_token(struct scanner *s)
{
	char c = *s->p;

	if (c == '-' || isdigit((unsigned char)c))
		return scan_number(s);
	if (!c || !strchr(" \t\r\n{}[],:\"", c))
		return scan_word(s);
	s->p++;
	s->colons += c == ':';
	s->separators += strchr("{[,:", c) != NULL;
	if (s->separators > MESSAGE_VALUES_MAX)
		return problem(s, "too many values");
	return c == '"' ? scan_string(s) : 0;
}

static int scan(
        const char *bytes, size_t size, size_t *ret_colons, char *ret_error, size_t error_size)
{
	struct scanner s = {.p = bytes, .end = bytes + size};

	while (s.p < s.end)
		if (scan_token(&s) < 0) {
			snprintf(ret_error, error_size, "%s, at byte %zu", s.problem,
			        (size_t)(s.p - bytes));
			return -EBADMSG;
		}
	*ret_colons = s.colons;
	return 0;
}

/* --- the parse */

/* Depth is bounded by the tokener. */
static size_t members(struct json_object *object)
{
	size_t n = 0;

	if (json_object_is_type(object, json_type_object)) {
		json_object_object_foreach (object, key, value) {
			(void)key;
			n += 1 + members(value);
		}
	} else if (json_object_is_type(object, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(object); i++)
			n += members(json_object_array_get_idx(object, i));
	}
	return n;
}

static int tokenize(const char *bytes, size_t size, struct json_object **ret_object,
        char *ret_error, size_t error_size)
{
	/* json-c counts the innermost value as a level of its own */
	_cleanup_(json_tokener_freep) struct json_tokener *tokener =
	        json_tokener_new_ex(MESSAGE_DEPTH_MAX + 1);
	_cleanup_(json_object_putp) struct json_object *object = NULL;
	size_t end;

	if (!tokener)
		return -ENOMEM;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	object = json_tokener_parse_ex(tokener, bytes, (int)size);
	if (json_tokener_get_error(tokener) == json_tokener_error_depth) {
		snprintf(ret_error, error_size, "nested deeper than %d", MESSAGE_DEPTH_MAX);
		return -EBADMSG;
	}
	if (json_tokener_get_error(tokener) == json_tokener_continue) {
		snprintf(ret_error, error_size, "the JSON text is cut off");
		return -EBADMSG;
	}
	end = json_tokener_get_parse_end(tokener);
	if (json_tokener_get_error(tokener) != json_tokener_success || end != size) {
		snprintf(ret_error, error_size, "not JSON at byte %zu", end);
		return -EBADMSG;
	}
	*ret_object = TAKE_PTR(object);
	return 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t without_trailing_space(const char *bytes, size_t size)
{
	while (size && is_space(bytes[size - 1]))
		size--;
	return size;
}

static bool starts_object(const char *bytes, size_t size)
{
	size_t i = 0;

	while (i < size && is_space(bytes[i]))
		i++;
	return i < size && bytes[i] == '{';
}

int json_message_parse(const char *bytes, size_t size, struct json_object **ret_object,
        char *ret_error, size_t error_size)
{
	_cleanup_(json_object_putp) struct json_object *object = NULL;
	size_t colons;
	int r;

	if (size > MESSAGE_BYTES_MAX) {
		snprintf(ret_error, error_size, "larger than %d bytes", MESSAGE_BYTES_MAX);
		return -EBADMSG;
	}
	size = without_trailing_space(bytes, size);
	if (!starts_object(bytes, size)) {
		snprintf(ret_error, error_size, "a message is one JSON object");
		return -EBADMSG;
	}
	r = scan(bytes, size, &colons, ret_error, error_size);
	if (r == 0)
		r = tokenize(bytes, size, &object, ret_error, error_size);
	if (r < 0)
		return r;
	if (members(object) != colons) {
		snprintf(ret_error, error_size, "a key occurs twice in one object");
		return -EBADMSG;
	}
	*ret_object = TAKE_PTR(object);
	return 0;
}

/* --- the call */

/* What a top-level key must hold; null is as good as leaving it out. */
static const struct envelope_key {
	const char *name;
	enum json_type type;
	const char *type_name;
} envelope[] = {
        {"method", json_type_string, "a string"},
        {"parameters", json_type_object, "an object"},
        {"more", json_type_boolean, "true or false"},
        {"oneway", json_type_boolean, "true or false"},
};

static int check_envelope(struct json_object *message, char *ret_error, size_t error_size)
{
	for (size_t i = 0; i < sizeof(envelope) / sizeof(*envelope); i++) {
		struct json_object *value = json_object_object_get(message, envelope[i].name);

		if (value && !json_object_is_type(value, envelope[i].type)) {
			snprintf(ret_error, error_size, "\"%s\" must be %s", envelope[i].name,
			        envelope[i].type_name);
			return -EBADMSG;
		}
	}
	if (!json_object_object_get(message, "method")) {
		snprintf(ret_error, error_size, "\"method\" is missing");
		return -EBADMSG;
	}
	return 0;
}

int json_call_parse(const char *bytes, size_t size, struct json_call *ret_call, char *ret_error,
        size_t error_size)
{
	_cleanup_(json_object_putp) struct json_object *message = NULL;
	int r = json_message_parse(bytes, size, &message, ret_error, error_size);

	if (r == 0)
		r = check_envelope(message, ret_error, error_size);
	if (r < 0)
		return r;
	*ret_call = (struct json_call){
	        .method = json_object_get_string(json_object_object_get(message, "method")),
	        .parameters = json_object_object_get(message, "parameters"),
	        .more = json_object_get_boolean(json_object_object_get(message, "more")),
	        .oneway = json_object_get_boolean(json_object_object_get(message, "oneway")),
	};
	ret_call->message = TAKE_PTR(message);
	return 0;
}

void json_call_done(struct json_call *call)
{
	json_object_put(call->message);
	if (call->work)
		call->work_free(call->work);
	*call = (struct json_call){0};
}
