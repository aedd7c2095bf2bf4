/* SPDX-License-Identifier: MIT */
/*
 * Files of JSON, read whole. What is wrong is said by the byte, since nobody finds it otherwise.
 */

#include "json_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

static int read_text(const char *path, char **ret_text, size_t *ret_length)
{
	_cleanup_free_ char *text = NULL;
	FILE *file = fopen(path, "re");
	size_t size = 0;
	ssize_t length;
	int r;

	if (!file)
		return -errno;
	length = getdelim(&text, &size, '\0', file);
	r = length > INT_MAX ? -EFBIG : length < 0 && !feof(file) ? -errno : 0;
	fclose(file);
	if (r < 0)
		return r;
	/* Of an empty file getdelim() leaves an allocation without content. */
	*ret_text = length < 0 ? NULL : TAKE_PTR(text);
	*ret_length = length < 0 ? 0 : (size_t)length;
	return 0;
}

int text_file_read(const char *path, char **ret_text, size_t *ret_length, char *ret_error,
        size_t error_size)
{
	int r = read_text(path, ret_text, ret_length);

	if (r < 0)
		snprintf(ret_error, error_size, "%s", strerror(-r));
	return r;
}

static struct json_object *parse(
        const char *text, size_t length, char *ret_error, size_t error_size)
{
	struct json_tokener *tokener = json_tokener_new();
	enum json_tokener_error error;
	struct json_object *object;
	size_t end;

	if (!tokener) {
		snprintf(ret_error, error_size, "out of memory");
		return NULL;
	}
	/* With the terminating NUL, which ends the text for json-c; without a length it reads
	 * beyond. */
	object = json_tokener_parse_ex(tokener, text, length < INT_MAX ? (int)length + 1 : INT_MAX);
	error = json_tokener_get_error(tokener);
	if (length == 0)
		snprintf(ret_error, error_size, "it is empty");
	else if (error == json_tokener_success)
		snprintf(ret_error, error_size, "it is null");
	else if (error == json_tokener_error_parse_eof || error == json_tokener_continue)
		snprintf(ret_error, error_size, "it breaks off after byte %zu", length);
	else
		snprintf(ret_error, error_size, "it is no JSON from byte %zu on",
		        json_tokener_get_parse_end(tokener) + 1);
	end = json_tokener_get_parse_end(tokener);
	if (object && end < length && strspn(text + end, " \t\r\n") < length - end) {
		snprintf(ret_error, error_size,
		        "it goes on after its first object, from byte %zu on", end + 1);
		json_object_put(object);
		object = NULL;
	}
	json_tokener_free(tokener);
	return object;
}

int json_text_read(const char *text, size_t length, struct json_object **ret_object,
        char *ret_error, size_t error_size)
{
	struct json_object *object = parse(text, length, ret_error, error_size);

	if (!object)
		return -EBADMSG;
	*ret_object = object;
	return 0;
}

int json_file_read(
        const char *path, struct json_object **ret_object, char *ret_error, size_t error_size)
{
	_cleanup_free_ char *text = NULL;
	size_t length = 0;
	int r = text_file_read(path, &text, &length, ret_error, error_size);

	/* No JSON has the NUL byte that a reading may end with. */
	return r ?: json_text_read(text ?: "", length, ret_object, ret_error, error_size);
}
