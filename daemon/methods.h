/* SPDX-License-Identifier: MIT */
#ifndef MTLD_METHODS_H
#define MTLD_METHODS_H

#include <stdbool.h>
#include "config.h"
#include "json_message.h"
#include "log.h"
#include "manager.h"
#include "peer.h"

/* What a method may look at besides its call. */
struct methods_context {
	struct manager *manager;
	const struct config *config;
	const char *root; /* "" or a directory that stands for / */
	unsigned clients; /* connected now */
	struct log_limit *log; /* of lines about what is tracked; NULL: none */
	struct recent_curves *recent; /* NULL: each curve is estimated anew */
};

/* An answer: parameters (owned; NULL stands for {}) and, when it is an error, the error's name. */
struct reply {
	const char *error; /* NULL: success */
	struct json_object *parameters;
	bool continues;  /* ask again in a moment: the call is a stream */
	bool unfinished; /* no answer yet: put the call again when others have had their turn */
};

/*
 * Answer a call as this peer. What the peer did wrong is an error in the reply; negative errno only
 * when no answer could be made (-ENOMEM). A call whose reply says continues is put again, as it is,
 * for the next update; one that is unfinished, until it is not: no turn takes long.
 */
int methods_call(const struct methods_context *context, const struct peer *peer,
        struct json_call *call, struct reply *ret_reply);

/* The message of a reply as it goes over the wire, NUL included in the size. */
int reply_encode(const struct reply *reply, char **ret_bytes, size_t *ret_size);

void reply_done(struct reply *reply);

/* A reply whose parameters are pairs of name and value, closed by NULL; error NULL: success. Values
 * are consumed. -ENOMEM. */
int reply_make(struct reply *ret_reply, const char *error, ...) __attribute__((sentinel));

#endif
