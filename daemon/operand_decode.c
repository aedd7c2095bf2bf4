// SPDX-License-Identifier: MIT
/*
 * Effective addresses, and as much arithmetic as addresses are made of: moves, sums, shifts,
 * products, the stack pointer, string instructions (the direction flag taken for clear, as it is at
 * every call). All else that is written is forgotten; a wrong value would be worse than none.
 *
 * An effect returns what it knows of the results, before anything is written; then all that the
 * instruction writes is forgotten, and what is known of it set anew.
 */
#include "operand_decode.h"

#define RESULTS 3

struct results {
	struct {
		ZydisRegister name;
		uint64_t value;
	} of[RESULTS];
	unsigned n;
};

struct scene {
	const struct registers *before;
	const struct decoded *decoded;
	const struct operand_memory *memory;
	struct results results;
};

static bool is_accessed(const struct decoded *decoded, const ZydisDecodedOperand *operand)
{
	return operand->actions != 0 && decoded->instruction.mnemonic != ZYDIS_MNEMONIC_NOP;
}

enum operand_address operand_address(const struct registers *registers,
        const struct decoded *decoded, const ZydisDecodedOperand *operand, uint64_t *ret_address)
{
	const ZydisDecodedOperandMem *mem = &operand->mem;
	uint64_t base = 0, index = 0, address;

	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || mem->type == ZYDIS_MEMOP_TYPE_MIB)
		return OPERAND_NOT_MEMORY;
	if (mem->type == ZYDIS_MEMOP_TYPE_MEM && !is_accessed(decoded, operand))
		return OPERAND_NOT_MEMORY;
	if (mem->type == ZYDIS_MEMOP_TYPE_VSIB)
		return OPERAND_VECTOR;
	if (mem->segment == ZYDIS_REGISTER_FS || mem->segment == ZYDIS_REGISTER_GS)
		return OPERAND_SEGMENT;
	if ((mem->base != ZYDIS_REGISTER_NONE && !registers_get(registers, mem->base, &base)) ||
	        (mem->index != ZYDIS_REGISTER_NONE &&
	                !registers_get(registers, mem->index, &index)))
		return OPERAND_UNKNOWN;
	address = base + index * mem->scale + (uint64_t)mem->disp.value;
	*ret_address = lowest_bits(address, decoded->instruction.address_width);
	return OPERAND_KNOWN;
}

bool operand_value(const struct registers *registers, const struct decoded *decoded,
        const ZydisDecodedOperand *operand, const struct operand_memory *memory,
        uint64_t *ret_value)
{
	uint64_t address;

	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		*ret_value = lowest_bits(operand->imm.value.u, operand->size ?: 64);
		if (operand->imm.is_signed)
			*ret_value = operand->imm.value.u;
		return true;
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return registers_get(registers, operand->reg.value, ret_value);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM || operand->size % 8 ||
		        operand->size == 0 || operand->size > 64 ||
		        operand_address(registers, decoded, operand, &address) != OPERAND_KNOWN)
			return false;
		return memory->load(memory->userdata, address, operand->size / 8, ret_value);
	default:
		return false;
	}
}

/* ---- what effects are made of ---- */

static const ZydisDecodedOperand *operand_of(const struct scene *scene, unsigned number)
{
	return &scene->decoded->operands[number];
}

static bool value_of(const struct scene *scene, unsigned number, uint64_t *ret_value)
{
	return operand_value(
	        scene->before, scene->decoded, operand_of(scene, number), scene->memory, ret_value);
}

static bool named(const struct scene *scene, ZydisRegister name, uint64_t *ret_value)
{
	return registers_get(scene->before, name, ret_value);
}

static void put_register(struct scene *scene, ZydisRegister name, uint64_t value)
{
	struct results *results = &scene->results;

	results->of[results->n].name = name;
	results->of[results->n++].value = value;
}

static void put(struct scene *scene, unsigned number, uint64_t value)
{
	const ZydisDecodedOperand *operand = operand_of(scene, number);

	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
		put_register(scene, operand->reg.value, value);
}

static unsigned bits_of(const struct scene *scene, unsigned number)
{
	return operand_of(scene, number)->size ?: 64;
}

static unsigned visible(const struct scene *scene)
{
	return scene->decoded->instruction.operand_count_visible;
}

static ZydisRegister stack_pointer(const struct scene *scene)
{
	return scene->before->bits32 ? ZYDIS_REGISTER_ESP : ZYDIS_REGISTER_RSP;
}

static void move_stack(struct scene *scene, int words)
{
	uint64_t stack;

	if (named(scene, stack_pointer(scene), &stack))
		put_register(scene, stack_pointer(scene),
		        stack + (int64_t)words * registers_word(scene->before));
}

/* ---- arithmetic ---- */

typedef uint64_t two_fn(uint64_t a, uint64_t b, unsigned bits);

static uint64_t sum(uint64_t a, uint64_t b, unsigned bits)
{
	(void)bits;
	return a + b;
}

static uint64_t difference(uint64_t a, uint64_t b, unsigned bits)
{
	(void)bits;
	return a - b;
}

static uint64_t both(uint64_t a, uint64_t b, unsigned bits)
{
	(void)bits;
	return a & b;
}

static uint64_t either(uint64_t a, uint64_t b, unsigned bits)
{
	(void)bits;
	return a | b;
}

static uint64_t exclusive(uint64_t a, uint64_t b, unsigned bits)
{
	(void)bits;
	return a ^ b;
}

static uint64_t without(uint64_t a, uint64_t b, unsigned bits)
{
	(void)bits;
	return ~a & b;
}

static uint64_t product(uint64_t a, uint64_t b, unsigned bits)
{
	return sign_extend(a, bits) * sign_extend(b, bits);
}

static unsigned places(uint64_t count, unsigned bits)
{
	return count & (bits == 64 ? 63 : 31);
}

static uint64_t left(uint64_t a, uint64_t count, unsigned bits)
{
	return a << places(count, bits);
}

static uint64_t right(uint64_t a, uint64_t count, unsigned bits)
{
	return a >> places(count, bits);
}

static uint64_t right_signed(uint64_t a, uint64_t count, unsigned bits)
{
	return (uint64_t)((int64_t)sign_extend(a, bits) >> places(count, bits));
}

static uint64_t rotate_left(uint64_t a, uint64_t count, unsigned bits)
{
	unsigned by = places(count, bits) % bits;

	return by ? a << by | a >> (bits - by) : a;
}

static uint64_t rotate_right(uint64_t a, uint64_t count, unsigned bits)
{
	return rotate_left(a, bits - places(count, bits) % bits, bits);
}

static two_fn *const twos[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
        [ZYDIS_MNEMONIC_ADD] = sum,
        [ZYDIS_MNEMONIC_SUB] = difference,
        [ZYDIS_MNEMONIC_AND] = both,
        [ZYDIS_MNEMONIC_OR] = either,
        [ZYDIS_MNEMONIC_XOR] = exclusive,
        [ZYDIS_MNEMONIC_ANDN] = without,
        [ZYDIS_MNEMONIC_SHL] = left,
        [ZYDIS_MNEMONIC_SHR] = right,
        [ZYDIS_MNEMONIC_SAR] = right_signed,
        [ZYDIS_MNEMONIC_ROL] = rotate_left,
        [ZYDIS_MNEMONIC_ROR] = rotate_right,
        [ZYDIS_MNEMONIC_SHLX] = left,
        [ZYDIS_MNEMONIC_SHRX] = right,
        [ZYDIS_MNEMONIC_SARX] = right_signed,
        [ZYDIS_MNEMONIC_RORX] = rotate_right,
        [ZYDIS_MNEMONIC_IMUL] = product,
};

/* xor and sub of a register with itself are zero, known or not. */
static bool is_zeroing(const struct scene *scene)
{
	ZydisMnemonic mnemonic = scene->decoded->instruction.mnemonic;
	const ZydisDecodedOperand *a = operand_of(scene, 0), *b = operand_of(scene, 1);

	return (mnemonic == ZYDIS_MNEMONIC_XOR || mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       a->reg.value == b->reg.value;
}

/* The first operand becomes that of itself and the second, or of the second and the third. */
static void two(struct scene *scene)
{
	two_fn *function = twos[scene->decoded->instruction.mnemonic];
	unsigned first = visible(scene) >= 3, bits = bits_of(scene, 0);
	uint64_t a, b;

	if (is_zeroing(scene))
		put(scene, 0, 0);
	else if (value_of(scene, first, &a) && value_of(scene, first + 1, &b))
		put(scene, 0, lowest_bits(function(lowest_bits(a, bits), b, bits), bits));
}

static void one(struct scene *scene)
{
	uint64_t a;

	if (!value_of(scene, 0, &a))
		return;
	switch (scene->decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_INC:
		put(scene, 0, a + 1);
		break;
	case ZYDIS_MNEMONIC_DEC:
		put(scene, 0, a - 1);
		break;
	case ZYDIS_MNEMONIC_NEG:
		put(scene, 0, -a);
		break;
	default:
		put(scene, 0, ~a);
	}
}

/* mul, and imul of one operand: twice as wide, in rdx and rax. */
static void wide_product(struct scene *scene)
{
	unsigned bits = bits_of(scene, 0);
	bool is_signed = scene->decoded->instruction.mnemonic == ZYDIS_MNEMONIC_IMUL;
	unsigned __int128 result;
	uint64_t a, b;

	if (bits < 32 || !value_of(scene, 0, &a) ||
	        !named(scene, bits == 64 ? ZYDIS_REGISTER_RAX : ZYDIS_REGISTER_EAX, &b))
		return;
	if (is_signed)
		result = (unsigned __int128)((__int128)(int64_t)sign_extend(a, bits) *
		                             (int64_t)sign_extend(b, bits));
	else
		result = (unsigned __int128)a * b;
	put_register(scene, ZYDIS_REGISTER_RAX, lowest_bits((uint64_t)result, bits));
	put_register(scene, ZYDIS_REGISTER_RDX, lowest_bits((uint64_t)(result >> bits), bits));
}

static void multiply(struct scene *scene)
{
	visible(scene) >= 2 ? two(scene) : wide_product(scene);
}

/* mulx: high, low = rdx times the third. */
static void multiply_apart(struct scene *scene)
{
	unsigned bits = bits_of(scene, 0);
	unsigned __int128 result;
	uint64_t a, b;

	if (!value_of(scene, 2, &a) ||
	        !named(scene, bits == 64 ? ZYDIS_REGISTER_RDX : ZYDIS_REGISTER_EDX, &b))
		return;
	result = (unsigned __int128)a * b;
	put(scene, 1, (uint64_t)result);
	put(scene, 0, (uint64_t)(result >> bits));
}

static void divide(struct scene *scene)
{
	unsigned bits = bits_of(scene, 0);
	unsigned __int128 whole;
	uint64_t by, low, high;

	if (bits < 32 || !value_of(scene, 0, &by) || by == 0 ||
	        !named(scene, ZYDIS_REGISTER_RAX, &low) ||
	        !named(scene, ZYDIS_REGISTER_RDX, &high) || lowest_bits(high, bits) >= by)
		return;
	whole = (unsigned __int128)lowest_bits(high, bits) << bits | lowest_bits(low, bits);
	put_register(scene, ZYDIS_REGISTER_RAX, (uint64_t)(whole / by));
	put_register(scene, ZYDIS_REGISTER_RDX, (uint64_t)(whole % by));
}

/* ---- moves ---- */

static void move(struct scene *scene)
{
	uint64_t value;

	if (value_of(scene, 1, &value))
		put(scene, 0, value);
}

static void move_signed(struct scene *scene)
{
	uint64_t value;

	if (value_of(scene, 1, &value))
		put(scene, 0, sign_extend(value, bits_of(scene, 1)));
}

static void load_address(struct scene *scene)
{
	uint64_t address;

	if (operand_address(scene->before, scene->decoded, operand_of(scene, 1), &address) ==
	        OPERAND_KNOWN)
		put(scene, 0, address);
}

static void exchange(struct scene *scene)
{
	uint64_t value;

	if (value_of(scene, 1, &value))
		put(scene, 0, value);
	if (value_of(scene, 0, &value))
		put(scene, 1, value);
}

/* cdqe and its kind: the sign of one half fills the other. */
static void widen(struct scene *scene)
{
	static const struct {
		ZydisMnemonic mnemonic;
		ZydisRegister from, to;
		unsigned bits;
		bool sign_alone;
	} widenings[] = {
	        {ZYDIS_MNEMONIC_CWDE, ZYDIS_REGISTER_AX, ZYDIS_REGISTER_EAX, 16, false},
	        {ZYDIS_MNEMONIC_CDQE, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_RAX, 32, false},
	        {ZYDIS_MNEMONIC_CDQ, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_EDX, 32, true},
	        {ZYDIS_MNEMONIC_CQO, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_RDX, 64, true},
	};
	uint64_t value;

	for (unsigned i = 0; i < sizeof(widenings) / sizeof(widenings[0]); i++) {
		if (scene->decoded->instruction.mnemonic != widenings[i].mnemonic ||
		        !named(scene, widenings[i].from, &value))
			continue;
		value = sign_extend(value, widenings[i].bits);
		if (widenings[i].sign_alone)
			value = (int64_t)value < 0 ? UINT64_MAX : 0;
		put_register(scene, widenings[i].to, value);
	}
}

static void push(struct scene *scene)
{
	move_stack(scene, -1);
}

static void pop(struct scene *scene)
{
	uint64_t stack, value;

	move_stack(scene, 1);
	if (named(scene, stack_pointer(scene), &stack) &&
	        scene->memory->load(
	                scene->memory->userdata, stack, registers_word(scene->before), &value))
		put(scene, 0, value);
}

static void leave(struct scene *scene)
{
	bool narrow = scene->before->bits32;
	ZydisRegister frame = narrow ? ZYDIS_REGISTER_EBP : ZYDIS_REGISTER_RBP;
	uint64_t address, value;

	if (!named(scene, frame, &address))
		return;
	put_register(scene, stack_pointer(scene), address + registers_word(scene->before));
	if (scene->memory->load(
	            scene->memory->userdata, address, registers_word(scene->before), &value))
		put_register(scene, frame, value);
}

/* ---- strings ---- */

/* Each pointer of the instruction moves by its elements: one, or as many as rcx says. What ends a
 * comparison is not known. */
static void string(struct scene *scene)
{
	const struct decoded *decoded = scene->decoded;
	bool repeated = decoded->instruction.attributes & ZYDIS_ATTRIB_HAS_REP;
	uint64_t count = 1, pointer;
	bool narrow = decoded->instruction.address_width == 32;

	if (repeated && !named(scene, narrow ? ZYDIS_REGISTER_ECX : ZYDIS_REGISTER_RCX, &count))
		return;
	if (decoded->instruction.attributes & (ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		return;
	for (unsigned i = 0; i < decoded->instruction.operand_count && scene->results.n < 2; i++) {
		const ZydisDecodedOperand *operand = &decoded->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		        named(scene, operand->mem.base, &pointer))
			put_register(
			        scene, operand->mem.base, pointer + count * (operand->size / 8));
	}
	if (repeated)
		put_register(scene, narrow ? ZYDIS_REGISTER_ECX : ZYDIS_REGISTER_RCX, 0);
}

/* ---- all of them ---- */

typedef void effect_fn(struct scene *scene);

static effect_fn *const effects[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
        [ZYDIS_MNEMONIC_ADD] = two,
        [ZYDIS_MNEMONIC_SUB] = two,
        [ZYDIS_MNEMONIC_AND] = two,
        [ZYDIS_MNEMONIC_OR] = two,
        [ZYDIS_MNEMONIC_XOR] = two,
        [ZYDIS_MNEMONIC_ANDN] = two,
        [ZYDIS_MNEMONIC_SHL] = two,
        [ZYDIS_MNEMONIC_SHR] = two,
        [ZYDIS_MNEMONIC_SAR] = two,
        [ZYDIS_MNEMONIC_ROL] = two,
        [ZYDIS_MNEMONIC_ROR] = two,
        [ZYDIS_MNEMONIC_SHLX] = two,
        [ZYDIS_MNEMONIC_SHRX] = two,
        [ZYDIS_MNEMONIC_SARX] = two,
        [ZYDIS_MNEMONIC_RORX] = two,
        [ZYDIS_MNEMONIC_IMUL] = multiply,
        [ZYDIS_MNEMONIC_MUL] = multiply,
        [ZYDIS_MNEMONIC_MULX] = multiply_apart,
        [ZYDIS_MNEMONIC_DIV] = divide,
        [ZYDIS_MNEMONIC_INC] = one,
        [ZYDIS_MNEMONIC_DEC] = one,
        [ZYDIS_MNEMONIC_NEG] = one,
        [ZYDIS_MNEMONIC_NOT] = one,
        [ZYDIS_MNEMONIC_MOV] = move,
        [ZYDIS_MNEMONIC_MOVZX] = move,
        [ZYDIS_MNEMONIC_MOVSX] = move_signed,
        [ZYDIS_MNEMONIC_MOVSXD] = move_signed,
        [ZYDIS_MNEMONIC_LEA] = load_address,
        [ZYDIS_MNEMONIC_XCHG] = exchange,
        [ZYDIS_MNEMONIC_CWDE] = widen,
        [ZYDIS_MNEMONIC_CDQE] = widen,
        [ZYDIS_MNEMONIC_CDQ] = widen,
        [ZYDIS_MNEMONIC_CQO] = widen,
        [ZYDIS_MNEMONIC_PUSH] = push,
        [ZYDIS_MNEMONIC_POP] = pop,
        [ZYDIS_MNEMONIC_LEAVE] = leave,
};

static effect_fn *effect_of(const ZydisDecodedInstruction *instruction)
{
	if (instruction->meta.category == ZYDIS_CATEGORY_STRINGOP)
		return string;
	return effects[instruction->mnemonic];
}

/* The pointers of a string instruction are written too, though named as addresses only. */
static void forget_written(struct registers *registers, const struct decoded *decoded,
        const ZydisDecodedOperand *operand)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	        operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		registers_forget(registers, operand->reg.value);
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	        decoded->instruction.meta.category == ZYDIS_CATEGORY_STRINGOP)
		registers_forget(registers, operand->mem.base);
}

void operand_effects(struct registers *registers, const struct decoded *decoded,
        const struct operand_memory *memory)
{
	struct scene scene = {.before = registers, .decoded = decoded, .memory = memory};
	effect_fn *effect = effect_of(&decoded->instruction);

	if (effect)
		effect(&scene);
	for (unsigned i = 0; i < decoded->instruction.operand_count; i++)
		forget_written(registers, decoded, &decoded->operands[i]);
	for (unsigned i = 0; i < scene.results.n; i++)
		registers_set(registers, scene.results.of[i].name, scene.results.of[i].value);
}
