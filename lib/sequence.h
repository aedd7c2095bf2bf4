/* SPDX-License-Identifier: MIT */
#ifndef MTL_SEQUENCE_H
#define MTL_SEQUENCE_H

/* Of which sequences there is a trace; for those who start from them. */

#include <stddef.h>
#include <stdint.h>

/* Reuse times: each leads back to an access, no two to the same one. -EINVAL, -ENOMEM. */
int mtl_rt_check(const uint64_t *rt, size_t n);

#endif
