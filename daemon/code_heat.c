// SPDX-License-Identifier: MIT
/*
 * What the planner is told of a sample: every address off the stack that the code ahead names; the
 * stack's own only when there is nothing else. Programs touch their stack all the time, and it is a
 * page or two: told as often as it is touched, it would take the place of all that is to be found.
 * (heat.c counts a page that it was told of once, however often, which keeps globals from the
 * same.)
 *
 * The process goes on meanwhile. Its code hardly changes (code made at run time may: then an
 * address comes out wrong, which costs a watch).
 */
#include "code_heat.h"

#include <string.h>

#include "code_memory.h"

bool code_heat_possible(void)
{
	return zydis_library() != NULL;
}

static size_t read_memory(void *userdata, uint64_t address, void *ret_bytes, size_t size)
{
	return code_memory_read(userdata, address, ret_bytes, size);
}

static void tell(struct planner *planner, const struct code_walk *walk, bool stack)
{
	for (unsigned i = 0; i < walk->n; i++) {
		if (walk->found[i].stack != stack)
			continue;
		planner_heat(planner, walk->found[i].address, 1);
		if (stack)
			return;
	}
}

static bool all_stack(const struct code_walk *walk)
{
	for (unsigned i = 0; i < walk->n; i++)
		if (!walk->found[i].stack)
			return false;
	return true;
}

enum code_outcome code_addresses(const char *root, pid_t pid, const struct mtl_instruction *sample,
        struct code_walk *ret_walk)
{
	struct registers registers = {
	        .known = 0xffff,
	        .ip = sample->ip,
	        .bits32 = sample->bits32,
	};
	struct code_memory memory;
	const struct code_memory_fn read = {read_memory, &memory};

	memset(ret_walk, 0, sizeof(*ret_walk));
	if (!code_heat_possible() || code_memory_open(root, pid, &memory) < 0)
		return CODE_UNREADABLE;
	memcpy(registers.value, sample->registers, sizeof(registers.value));
	code_walk(zydis_library(), &registers, &read, ret_walk);
	code_memory_close(&memory);
	if (ret_walk->n > 0)
		return CODE_USED;
	return ret_walk->unreadable ? CODE_UNREADABLE : CODE_WITHOUT_ADDRESS;
}

enum code_outcome code_heat(
        struct planner *planner, const char *root, pid_t pid, const struct mtl_instruction *sample)
{
	struct code_walk walk;
	enum code_outcome outcome = code_addresses(root, pid, sample, &walk);

	tell(planner, &walk, all_stack(&walk));
	return outcome;
}
