/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_JSON_FILE_H
#define MTL_CLI_JSON_FILE_H

#include <stddef.h>
#include <json-c/json.h>

/*
 * The one JSON value a file holds. Why not, in ret_error ("it breaks off after byte 8"): -EBADMSG
 * for what is wrong with the content, else the errno of reading, in its own words.
 */
int json_file_read(
        const char *path, struct json_object **ret_object, char *ret_error, size_t error_size);

#endif
