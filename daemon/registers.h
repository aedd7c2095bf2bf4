/* SPDX-License-Identifier: MIT */
#ifndef MTLD_REGISTERS_H
#define MTLD_REGISTERS_H

/*
 * The general registers of a thread, as far as they are known, under any of their names: rax, eax,
 * ax, al, ah. In the order of their encoding: rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15.
 */

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdint.h>

enum { REGISTERS = 16, REGISTER_STACK = 4 };

struct registers {
	uint64_t value[REGISTERS];
	uint32_t known; /* bit mask */
	uint64_t ip;    /* of the next instruction */
	bool bits32;    /* a 32-bit program */
};

static inline unsigned registers_word(const struct registers *registers)
{
	return registers->bits32 ? 4 : 8;
}

/* Its value, or that of the instruction pointer, zero-extended; false: not known, or another kind
 * of register. */
bool registers_get(const struct registers *registers, ZydisRegister name, uint64_t *ret_value);

/* As an instruction that writes it: a write of 32 bits clears the upper ones, a smaller one leaves
 * them, and of a register that is not known leaves it so. Other kinds of register are ignored. */
void registers_set(struct registers *registers, ZydisRegister name, uint64_t value);
void registers_forget(struct registers *registers, ZydisRegister name);

/* The lowest `bits` (1 to 64) of a value; the same, the highest of them being its sign. */
static inline uint64_t lowest_bits(uint64_t value, unsigned bits)
{
	return bits < 64 ? value & ((1ULL << bits) - 1) : value;
}

static inline uint64_t sign_extend(uint64_t value, unsigned bits)
{
	return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

#endif
