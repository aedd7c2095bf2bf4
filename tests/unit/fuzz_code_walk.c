/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as code and as memory, any registers: a walk ends, keeps within its bounds, and names
 * only addresses that a program can have, each once.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "code_walk.h"

#define CODE 0x400000ULL

struct input {
	const uint8_t *bytes;
	size_t size;
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* The same bytes lie at CODE and at every multiple of 64 KiB above 4 GiB. */
static size_t read_input(void *userdata, uint64_t address, void *ret_bytes, size_t size)
{
	const struct input *input = userdata;
	uint64_t offset = address < 1ULL << 32 ? address - CODE : address & 0xffff;

	require(size <= 16);
	if (offset >= input->size)
		return 0;
	size = size < input->size - offset ? size : input->size - offset;
	memcpy(ret_bytes, input->bytes + offset, size);
	return size;
}

static void check(const struct code_walk *walk)
{
	require(walk->n <= CODE_WALK_ADDRESSES && walk->instructions <= 60);
	require(!walk->unreadable || (walk->n == 0 && walk->instructions == 0));
	for (unsigned i = 0; i < walk->n; i++) {
		require(walk->found[i].address >= 4096 && (int64_t)walk->found[i].address > 0);
		for (unsigned k = 0; k < i; k++)
			require(walk->found[i].address != walk->found[k].address);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct registers registers = {.ip = CODE};
	struct input input;
	struct code_memory_fn memory = {read_input, &input};
	struct code_walk walk;

	if (size < 4 + sizeof(registers.value) || !zydis_library())
		return 0;
	registers.bits32 = data[0] & 1;
	memcpy(&registers.known, data + 2, 2);
	memcpy(registers.value, data + 4, sizeof(registers.value));
	input.bytes = data + 4 + sizeof(registers.value);
	input.size = size - 4 - sizeof(registers.value);
	code_walk(zydis_library(), &registers, &memory, &walk);
	check(&walk);
	return 0;
}
