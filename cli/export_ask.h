/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_EXPORT_ASK_H
#define MTL_CLI_EXPORT_ASK_H

#include "export_state.h"

struct asker;

/* options->sizes are those of the metrics (none: the usual ones), options->top the most processes.
 * -E2BIG: too many sizes; -ENOMEM. */
int asker_new(const struct options *options, struct asker **ret_asker);
struct asker *asker_free(struct asker *asker);
DEFINE_CLEANUP(struct asker, asker_free)

/*
 * Asks mtld: Status, List, and Curve of those processes whose curve is oldest, as many as seconds
 * have passed since the last time, at most all of them: a question for a curve a second in the long
 * run. It takes ASK_SECONDS at most. What it knows afterwards, which stays the asker's.
 */
#define ASK_SECONDS 5.0
const struct export_state *asker_ask(struct asker *asker);

#endif
