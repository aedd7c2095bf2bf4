// SPDX-License-Identifier: MIT
/* A name is a register's number, the lowest of its bits that it means, and how many. */
#include "registers.h"

struct part {
	unsigned number, shift, bits;
};

/* The names of each size stand in the order of their encoding; of 8 bits, ah ch dh bh come between
 * bl and spl. */
static bool part_of(ZydisRegister name, struct part *ret_part)
{
	static const struct {
		ZydisRegister first, last;
		struct part part; /* of the first */
	} names[] = {
	        {ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15, {0, 0, 64}},
	        {ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D, {0, 0, 32}},
	        {ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W, {0, 0, 16}},
	        {ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL, {0, 0, 8}},
	        {ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH, {0, 8, 8}},
	        {ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B, {4, 0, 8}},
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (name >= names[i].first && name <= names[i].last) {
			*ret_part = names[i].part;
			ret_part->number += name - names[i].first;
			return true;
		}
	return false;
}

static bool is_known(const struct registers *registers, unsigned number)
{
	return registers->known & 1U << number;
}

bool registers_get(const struct registers *registers, ZydisRegister name, uint64_t *ret_value)
{
	struct part part;

	if (name == ZYDIS_REGISTER_RIP || name == ZYDIS_REGISTER_EIP) {
		*ret_value = registers->ip;
		return true;
	}
	if (!part_of(name, &part) || !is_known(registers, part.number))
		return false;
	*ret_value = lowest_bits(registers->value[part.number] >> part.shift, part.bits);
	return true;
}

void registers_set(struct registers *registers, ZydisRegister name, uint64_t value)
{
	struct part part;
	uint64_t *whole, mask;

	if (!part_of(name, &part))
		return;
	whole = &registers->value[part.number];
	if (part.bits >= 32) {
		*whole = lowest_bits(value, part.bits);
		registers->known |= 1U << part.number;
		return;
	}
	mask = lowest_bits(UINT64_MAX, part.bits) << part.shift;
	*whole = (*whole & ~mask) | (value << part.shift & mask);
}

void registers_forget(struct registers *registers, ZydisRegister name)
{
	struct part part;

	if (part_of(name, &part))
		registers->known &= ~(1U << part.number);
}
