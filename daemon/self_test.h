/* SPDX-License-Identifier: MIT */
#ifndef MTLD_SELF_TEST_H
#define MTLD_SELF_TEST_H

#include <stdbool.h>

/*
 * `mtld --self-test`: try every rung of the ladder on this machine and print what works, and if not,
 * the reason and the fix; json: one object on standard output (docs/PROTOCOL.md, doctor). root: ""
 * or a directory that stands for /. Returns the exit status, 0 once it has reported.
 */
int self_test_run(const char *root, bool json);

#endif
