/* SPDX-License-Identifier: MIT */
#ifndef VARLINK_CHECK_H
#define VARLINK_CHECK_H

#include <stddef.h>

struct json_object;

/*
 * Check an object against a named declaration of an interface description: a type, the answer of a
 * method or the parameters of an error ("Process", "Curve", "NotTracked"). 0, or -EBADMSG with
 * what differs in ret_problem: a member missing, one too many, or of another type.
 */
int varlink_check(const char *description, const char *name, struct json_object *object,
        char *ret_problem, size_t size);

#endif
