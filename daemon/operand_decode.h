/* SPDX-License-Identifier: MIT */
#ifndef MTLD_OPERAND_DECODE_H
#define MTLD_OPERAND_DECODE_H

/*
 * One decoded instruction and the registers before it: which memory it touches, and which registers
 * are known after it. Pure.
 */

#include "registers.h"

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

enum operand_address {
	OPERAND_NOT_MEMORY, /* or memory that is not touched: of lea and nop */
	OPERAND_KNOWN,
	OPERAND_UNKNOWN, /* made of a register that is not known */
	OPERAND_SEGMENT, /* relative to fs or gs, whose bases are not known */
	OPERAND_VECTOR,  /* a gather or scatter: as many addresses as elements */
};

/* What can be said of the address of an operand; registers->ip is the end of the instruction. */
enum operand_address operand_address(const struct registers *registers,
        const struct decoded *decoded, const ZydisDecodedOperand *operand, uint64_t *ret_address);

/* Memory of the program that is read for its sake: up to 8 bytes, zero-extended. false: not to be
 * had. */
struct operand_memory {
	bool (*load)(void *userdata, uint64_t address, unsigned bytes, uint64_t *ret_value);
	void *userdata;
};

/* The value of an operand that is read, zero-extended; false: not known. */
bool operand_value(const struct registers *registers, const struct decoded *decoded,
        const ZydisDecodedOperand *operand, const struct operand_memory *memory,
        uint64_t *ret_value);

/* Carries out what the instruction does to general registers; those that it writes in a way not
 * understood are forgotten. Not the flow of control: registers->ip stays. */
void operand_effects(struct registers *registers, const struct decoded *decoded,
        const struct operand_memory *memory);

#endif
