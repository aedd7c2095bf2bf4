/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_RESCTRL_MASKS_H
#define MTL_CLI_RESCTRL_MASKS_H

/* Masks of one cache: which are valid, and so many bits for each of several groups. */

#include <stddef.h>
#include <stdint.h>

#include "resctrl.h"

#define RESCTRL_BITS 32 /* of a mask, at most */

struct resctrl_want {
	unsigned ways;
	uint32_t mask; /* in: not 0, exactly this; out: the mask */
};

/*
 * 0, or -EINVAL with a sentence when the kernel would not take this mask on the cache: out of
 * range, with holes, too few bits, or taken by an exclusive group.
 */
int resctrl_mask_check(const struct resctrl_cache *cache, uint32_t taken, uint32_t mask,
        char *ret_error, size_t error_size);

/*
 * Disjoint masks for those that want ways, apart from all that are exact and from what is taken.
 * -ENOSPC when there are none, with a sentence; wants are unchanged then.
 */
int resctrl_masks(const struct resctrl_cache *cache, uint32_t taken,
        enum resctrl_shareable shareable, struct resctrl_want *wants, size_t n, char *ret_error,
        size_t error_size);

#endif
