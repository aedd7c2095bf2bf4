/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_CURVE_PICTURE_H
#define MTL_CLI_CURVE_PICTURE_H

#include <stddef.h>
#include <json-c/json.h>

/*
 * Live curves, n >= 1 of them as curve objects, in one picture (--plot): misses per second with
 * their 90 % intervals over the logarithm of size, dotted below the resolution; the sizes that the
 * first one is about are marked. Returns an exit code, having said what was wrong.
 */
int curve_picture(const char *path, struct json_object *const *curves, size_t n);

#endif
