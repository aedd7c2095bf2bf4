/* SPDX-License-Identifier: MIT */
#ifndef MTLD_METHOD_H
#define MTLD_METHOD_H

/* What the files of methods have in common; methods.h is for those who call. */

#include "methods.h"
#include "parameters.h"

/* How a method answers; like methods_call(). */
typedef int method_function(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply);

/* 0: tracked and this peer may see it; 1: the reply says why not. -ENOMEM. */
int method_find_process(const struct methods_context *context, const struct peer *peer, pid_t pid,
        struct manager_process *ret_process, struct reply *ret_reply);

/* What the manager refused (a negative errno) about this process, as the peer is told. */
int method_refused(
        const struct methods_context *context, struct reply *ret_reply, pid_t pid, int r);

/* A parameter that is not one (-EBADMSG) or out of range (-ERANGE); other errors come back. */
int method_bad_parameter(const struct parameter_problem *problem, int r, struct reply *ret_reply);

/* Curve (curve_method.c). */
method_function method_curve;

/* History (history_method.c). */
method_function method_history;

/* Share and Partition (cache_methods.c). */
method_function method_share, method_partition;

#endif
