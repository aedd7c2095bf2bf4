// SPDX-License-Identifier: MIT
/*
 * A sample of the clock says where a thread was, not what it touched. But the instruction it was
 * about to execute, and those after it, name their memory by registers, whose values the sample
 * has.
 *
 * What is computed is right for certain as long as no branch is taken another way and nothing is
 * loaded. What is loaded is what memory holds now, some hundredths of a second later: pointers,
 * sizes and tables are what they were, and where an index has gone on, the address is one that the
 * program will come to, or came by. Without loads little was found: on real hardware a sample is
 * mostly of the instruction that waits for memory, and the next address comes from a structure. An
 * address that is wrong costs a watch, never the truth of the curve: the planner's weights undo
 * wherever it was led to.
 */
#include "code_walk.h"

#include <string.h>

#include "operand_decode.h"

#define INSTRUCTIONS 60
#define ENOUGH 4 /* addresses off the stack */
#define LOADS 16
#define PATHS 6
#define RETURNS 4
#define RED_ZONE 128
#define STACK_NEAR 65536 /* above the stack pointer */
#define FIRST_PAGE 4096

struct path {
	struct registers registers;
	uint64_t returns[RETURNS]; /* of calls that were followed */
	unsigned depth;
};

struct walker {
	const struct zydis_library *zydis;
	const struct code_memory_fn *memory;
	ZydisDecoder decoder;
	struct path path, others[PATHS];
	unsigned n_others;
	uint64_t visited[INSTRUCTIONS];
	unsigned loads, off_stack;
	struct code_walk *walk;
};

/* ---- memory ---- */

static bool near_stack(const struct registers *registers, uint64_t address)
{
	return registers->known & 1U << REGISTER_STACK &&
	       address - registers->value[REGISTER_STACK] + RED_ZONE < RED_ZONE + STACK_NEAR;
}

static bool load(void *userdata, uint64_t address, unsigned bytes, uint64_t *ret_value)
{
	struct walker *walker = userdata;
	uint64_t value = 0;

	if (walker->loads >= LOADS)
		return false;
	walker->loads++;
	if (walker->memory->read(walker->memory->userdata, address, &value, bytes) < bytes)
		return false;
	*ret_value = value;
	return true;
}

/* ---- what was found ---- */

static bool is_new(const struct code_walk *walk, uint64_t address)
{
	for (unsigned i = 0; i < walk->n; i++)
		if (walk->found[i].address == address)
			return false;
	return true;
}

static void keep(struct walker *walker, uint64_t address, bool write)
{
	struct code_walk *walk = walker->walk;
	bool stack = near_stack(&walker->path.registers, address);

	if (address < FIRST_PAGE || (int64_t)address < 0 || walk->n >= CODE_WALK_ADDRESSES ||
	        !is_new(walk, address))
		return;
	if (stack && walk->n - walker->off_stack >= CODE_WALK_ADDRESSES - ENOUGH)
		return;
	walk->found[walk->n++] = (struct code_address){address, write, stack};
	walker->off_stack += !stack;
}

static void look_at_operands(struct walker *walker, const struct decoded *decoded)
{
	struct code_walk *walk = walker->walk;

	for (unsigned i = 0; i < decoded->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoded->operands[i];
		uint64_t address;

		switch (operand_address(&walker->path.registers, decoded, operand, &address)) {
		case OPERAND_KNOWN:
			if (operand->mem.type == ZYDIS_MEMOP_TYPE_MEM)
				keep(walker, address,
				        operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
			break;
		case OPERAND_UNKNOWN:
			walk->unknown += operand->mem.type == ZYDIS_MEMOP_TYPE_MEM;
			break;
		case OPERAND_SEGMENT:
			walk->segment++;
			break;
		case OPERAND_VECTOR:
			walk->vector++;
			break;
		case OPERAND_NOT_MEMORY:
			break;
		}
	}
}

/* ---- where it goes on ---- */

static void move_stack(struct registers *registers, int64_t by)
{
	registers->value[REGISTER_STACK] =
	        lowest_bits(registers->value[REGISTER_STACK] + by, registers->bits32 ? 32 : 64);
}

/* The target of a jump or a call; false: not known. */
static bool target_of(struct walker *walker, const struct decoded *decoded, uint64_t *ret_target)
{
	const struct operand_memory memory = {load, walker};
	const ZydisDecodedOperand *operand = &decoded->operands[0];
	const struct registers *registers = &walker->path.registers;

	if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative) {
		*ret_target = lowest_bits(
		        registers->ip + operand->imm.value.u, registers->bits32 ? 32 : 64);
		return true;
	}
	return operand_value(registers, decoded, operand, &memory, ret_target);
}

static bool jump(struct walker *walker, const struct decoded *decoded)
{
	uint64_t target;

	if (!target_of(walker, decoded, &target))
		return false;
	walker->path.registers.ip = target;
	return true;
}

static bool call(struct walker *walker, const struct decoded *decoded)
{
	struct path *path = &walker->path;
	uint64_t back = path->registers.ip;

	if (path->depth >= RETURNS || !jump(walker, decoded))
		return false;
	path->returns[path->depth++] = back;
	move_stack(&path->registers, -(int64_t)registers_word(&path->registers));
	return true;
}

/* To where it was called from: by us, or by what lies on the stack. */
static bool go_back(struct walker *walker, const struct decoded *decoded)
{
	struct path *path = &walker->path;
	struct registers *registers = &path->registers;
	const ZydisDecodedOperand *operand = &decoded->operands[0];
	unsigned word = registers_word(registers);
	uint64_t back;

	if (path->depth > 0)
		back = path->returns[--path->depth];
	else if (!(registers->known & 1U << REGISTER_STACK) ||
	         !load(walker, registers->value[REGISTER_STACK], word, &back))
		return false;
	registers->ip = back;
	move_stack(registers, word);
	if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		move_stack(registers, operand->imm.value.u);
	return true;
}

/* A loop goes round more often than it ends; a way around is taken less often than not. */
static bool fork_path(struct walker *walker, const struct decoded *decoded)
{
	const struct operand_memory memory = {load, walker};
	struct registers *registers = &walker->path.registers;
	uint64_t on = registers->ip, target;

	operand_effects(registers, decoded, &memory);
	if (!target_of(walker, decoded, &target))
		return false;
	registers->ip = target < on ? on : target;
	if (walker->n_others < PATHS)
		walker->others[walker->n_others++] = walker->path;
	registers->ip = target < on ? target : on;
	return true;
}

static bool enter_kernel(struct walker *walker, const struct decoded *decoded)
{
	const struct operand_memory memory = {load, walker};

	operand_effects(&walker->path.registers, decoded, &memory);
	registers_forget(&walker->path.registers, ZYDIS_REGISTER_RAX);
	return true;
}

static bool stops(ZydisMnemonic mnemonic)
{
	static const ZydisMnemonic ends[] = {ZYDIS_MNEMONIC_HLT, ZYDIS_MNEMONIC_INT3,
	        ZYDIS_MNEMONIC_UD0, ZYDIS_MNEMONIC_UD1, ZYDIS_MNEMONIC_UD2};

	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (mnemonic == ends[i])
			return true;
	return false;
}

/* Past this instruction; false: nobody knows where it goes on. */
static bool go_on(struct walker *walker, const struct decoded *decoded)
{
	const struct operand_memory memory = {load, walker};

	if (stops(decoded->instruction.mnemonic))
		return false;
	switch (decoded->instruction.meta.category) {
	case ZYDIS_CATEGORY_UNCOND_BR:
		return jump(walker, decoded);
	case ZYDIS_CATEGORY_COND_BR:
		return fork_path(walker, decoded);
	case ZYDIS_CATEGORY_CALL:
		return call(walker, decoded);
	case ZYDIS_CATEGORY_RET:
		return go_back(walker, decoded);
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return enter_kernel(walker, decoded);
	default:
		operand_effects(&walker->path.registers, decoded, &memory);
		return true;
	}
}

/* ---- the walk ---- */

static bool been_there(const struct walker *walker, uint64_t ip)
{
	for (unsigned i = 0; i < walker->walk->instructions; i++)
		if (walker->visited[i] == ip)
			return true;
	return false;
}

static bool decode(struct walker *walker, struct decoded *ret_decoded)
{
	unsigned char bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
	uint64_t ip = walker->path.registers.ip;
	size_t n = walker->memory->read(walker->memory->userdata, ip, bytes, sizeof(bytes));

	walker->walk->unreadable |= n == 0 && walker->walk->instructions == 0;
	if (n == 0 || !ZYAN_SUCCESS(walker->zydis->decode(&walker->decoder, bytes, n,
	                      &ret_decoded->instruction, ret_decoded->operands)))
		return false;
	walker->visited[walker->walk->instructions++] = ip;
	walker->path.registers.ip = lowest_bits(
	        ip + ret_decoded->instruction.length, walker->path.registers.bits32 ? 32 : 64);
	return true;
}

static bool may_go_on(const struct walker *walker)
{
	return walker->walk->instructions < INSTRUCTIONS && walker->off_stack < ENOUGH &&
	       !been_there(walker, walker->path.registers.ip);
}

static void follow(struct walker *walker)
{
	struct decoded decoded;

	while (may_go_on(walker) && decode(walker, &decoded)) {
		look_at_operands(walker, &decoded);
		if (!go_on(walker, &decoded))
			return;
	}
}

void code_walk(const struct zydis_library *zydis, const struct registers *registers,
        const struct code_memory_fn *memory, struct code_walk *ret_walk)
{
	struct walker walker = {
	        .zydis = zydis,
	        .memory = memory,
	        .path = {.registers = *registers},
	        .walk = ret_walk,
	};

	memset(ret_walk, 0, sizeof(*ret_walk));
	zydis->init(&walker.decoder,
	        registers->bits32 ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64,
	        registers->bits32 ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64);
	follow(&walker);
	while (walker.n_others > 0 && walker.off_stack == 0) {
		walker.path = walker.others[--walker.n_others];
		follow(&walker);
	}
}
