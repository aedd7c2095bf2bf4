/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_JSON_FILE_H
#define MTL_CLI_JSON_FILE_H

#include <stddef.h>
#include <json-c/json.h>

/*
 * A file up to its first NUL byte, which is then the last of `length`; NULL and 0 of an empty one.
 * Negative errno, in its own words in ret_error.
 */
int text_file_read(const char *path, char **ret_text, size_t *ret_length, char *ret_error,
        size_t error_size);

/* The one JSON value of a text that ends with a NUL byte not counted in length. -EBADMSG like
 * json_file_read(). */
int json_text_read(const char *text, size_t length, struct json_object **ret_object,
        char *ret_error, size_t error_size);

/*
 * The one JSON value a file holds. Why not, in ret_error ("it breaks off after byte 8"): -EBADMSG
 * for what is wrong with the content, else the errno of reading, in its own words.
 */
int json_file_read(
        const char *path, struct json_object **ret_object, char *ret_error, size_t error_size);

#endif
