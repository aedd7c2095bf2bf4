/* SPDX-License-Identifier: MIT */
#ifndef MTLD_SELF_TEST_H
#define MTLD_SELF_TEST_H

#include <stdbool.h>
#include "config.h"

/*
 * `mtld --self-test`: judge every rung of the ladder and print what works, and if not, the reason
 * and the fix; json: one object on standard output (docs/PROTOCOL.md, doctor). On this machine each
 * rung is tried; of a dump of another one (root: a directory that stands for /, "": none) only the
 * files are read and nothing is opened. Returns the exit status: 0 once it has reported, 1 when
 * root holds no machine, 4 when config->rung names a rung that does not work.
 */
int self_test_run(const struct config *config, const char *root, bool json);

#endif
