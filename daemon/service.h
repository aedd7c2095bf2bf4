/* SPDX-License-Identifier: MIT */
#ifndef MTLD_SERVICE_H
#define MTLD_SERVICE_H

#include "methods.h"
#include "parameters.h"

/* org.varlink.service, the interface every Varlink service has: who it is, what it speaks. */
int service_get_info(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply);
int service_get_interface_description(const struct methods_context *context,
        const struct peer *peer, const struct arguments *arguments, struct reply *ret_reply);

/* Whether an interface of that name is served, the length given since a method name holds it. */
bool service_has_interface(const char *name, size_t length);

#endif
