/* SPDX-License-Identifier: MIT */
#ifndef MTLD_CODE_WALK_H
#define MTLD_CODE_WALK_H

/*
 * From where a thread was and what its registers held to the addresses it was about to touch: its
 * code, read a little way on. Pure: whoever calls reads the memory.
 */

#include <stddef.h>
#include "registers.h"
#include "zydis_library.h"

enum { CODE_WALK_ADDRESSES = 8 };

struct code_memory_fn {
	/* Up to `size` bytes at `address`; returns how many there are, 0: none. */
	size_t (*read)(void *userdata, uint64_t address, void *ret_bytes, size_t size);
	void *userdata;
};

struct code_address {
	uint64_t address;
	bool write, stack; /* stack: near the stack pointer */
};

struct code_walk {
	struct code_address
	        found[CODE_WALK_ADDRESSES]; /* in the order in which they come, each once */
	unsigned n;
	unsigned instructions; /* decoded */
	bool unreadable;       /* not even the first instruction could be read */
	/* memory operands without an address: made of what is not known, relative to fs or gs, of a
	 * gather */
	unsigned unknown, segment, vector;
};

/*
 * Decodes from registers->ip on, in order, through direct branches and calls and those whose target
 * is known; at a branch that may go either way it takes the likelier (back, or else straight on)
 * and comes back for the other as long as it has found nothing but stack. It ends after some 60
 * instructions, with four addresses off the stack, or where the code does.
 */
void code_walk(const struct zydis_library *zydis, const struct registers *registers,
        const struct code_memory_fn *memory, struct code_walk *ret_walk);

#endif
