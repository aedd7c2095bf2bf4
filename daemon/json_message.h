/* SPDX-License-Identifier: MIT */
#ifndef MTLD_JSON_MESSAGE_H
#define MTLD_JSON_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#define MESSAGE_BYTES_MAX 262144
#define MESSAGE_VALUES_MAX 16384 /* separators, in fact: what a parse costs, and its memory */
#define MESSAGE_DEPTH_MAX 16     /* arrays and objects inside one another, the message included */

struct json_object;

/* One Varlink call as it came over the wire; strings point into the message it owns. */
struct json_call {
	struct json_object *message; /* owned */
	const char *method;
	struct json_object *parameters; /* NULL: none given */
	bool more, oneway;
	void *work; /* what a method has of its answer so far; owned, freed by work_free() */
	void (*work_free)(void *work);
};

/*
 * The first message in bytes ends before the first NUL. 1 and its length when it is whole, 0 when
 * it is not yet; -EMSGSIZE when it is longer than limit, -EBADMSG when it is empty.
 */
int json_message_length(const char *bytes, size_t size, size_t limit, size_t *ret_length);

/*
 * One JSON object, strictly: RFC 8259 and nothing that json-c takes beyond it, well-formed UTF-8,
 * no \u0000, no lone surrogate, no key twice in one object, at most MESSAGE_DEPTH_MAX deep, at most
 * MESSAGE_VALUES_MAX of `{[,:`.
 * -EBADMSG with what is wrong and where in ret_error; -ENOMEM.
 */
int json_message_parse(const char *bytes, size_t size, struct json_object **ret_object,
        char *ret_error, size_t error_size);

/* A call out of one message. Other top-level keys are ignored. Errors as json_message_parse(). */
int json_call_parse(const char *bytes, size_t size, struct json_call *ret_call, char *ret_error,
        size_t error_size);
void json_call_done(struct json_call *call);

/* Values for answers: a string whose ill-formed bytes became '?' (a comm may hold any byte), and a
 * number, null unless it is finite. NULL also when memory is short; json-c prints both as null. */
struct json_object *json_text(const char *text);
struct json_object *json_number(double value);

/* Replace the bytes of text that are not well-formed UTF-8 by '?'. */
void text_clean(char *text);

#endif
