// SPDX-License-Identifier: MIT
/*
 * What instructions do to registers: random ones are carried out by the processor and by
 * operand_effects(), which may know less but nothing else. And the addresses of their operands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "operand_decode.h"
#include "simulate.h"
#include "zydis_library.h"

#define STACK REGISTER_STACK

static bool no_memory(void *userdata, uint64_t address, unsigned bytes, uint64_t *ret_value)
{
	(void)userdata, (void)address, (void)bytes, (void)ret_value;
	return false;
}

static bool constant(void *userdata, uint64_t address, unsigned bytes, uint64_t *ret_value)
{
	(void)userdata;
	*ret_value = lowest_bits(address * 3, bytes * 8);
	return true;
}

static bool decode(bool bits32, const void *bytes, size_t n, struct decoded *ret_decoded)
{
	const struct zydis_library *zydis = zydis_library();
	ZydisDecoder decoder;

	assert_non_null(zydis);
	zydis->init(&decoder, bits32 ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64,
	        bits32 ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(zydis->decode(
	        &decoder, bytes, n, &ret_decoded->instruction, ret_decoded->operands));
}

/* ---- beside the processor ---- */

/* A function of one instruction between loading all registers from an array and storing them back;
 * the stack pointer stays. */
static unsigned char *room;

static unsigned char *emit(unsigned char *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

/* mov register <-> [rdi + 8 number] */
static unsigned char *emit_move(unsigned char *at, unsigned char opcode, unsigned number)
{
	const unsigned char bytes[] = {0x48 | (number & 8) >> 1, opcode, 0x47 | (number & 7) << 3,
	        (unsigned char)(8 * number)};

	return emit(at, bytes, sizeof(bytes));
}

static void execute(const unsigned char *bytes, size_t n, uint64_t registers[REGISTERS])
{
	static const unsigned char enter[] = "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57\x57";
	static const unsigned char back[] = "\x57\x48\x8b\x7c\x24\x08"; /* rdi: our array again */
	static const unsigned char rdi[] = "\x58\x48\x89\x47\x38";
	static const unsigned char leave[] = "\xfc\x5f\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xc3";
	unsigned char *at = emit(room, enter, sizeof(enter) - 1);

	for (unsigned i = 0; i < REGISTERS; i++)
		if (i != STACK && i != 7)
			at = emit_move(at, 0x8b, i);
	at = emit_move(at, 0x8b, 7);
	at = emit(at, bytes, n);
	at = emit(at, back, sizeof(back) - 1);
	for (unsigned i = 0; i < REGISTERS; i++)
		if (i != STACK && i != 7)
			at = emit_move(at, 0x89, i);
	at = emit(at, rdi, sizeof(rdi) - 1);
	emit(at, leave, sizeof(leave) - 1);
	((void (*)(uint64_t *))room)(registers);
}

/* Opcodes on registers alone; digit: of the ModRM byte, -1: another register. */
static const struct {
	unsigned char opcode[2];
	int digit;
	unsigned immediate;
	bool wide; /* no form of 8 or 16 bits wanted */
} forms[] = {
        {{0x01}, -1, 0, false},
        {{0x29}, -1, 0, false},
        {{0x21}, -1, 0, false},
        {{0x09}, -1, 0, false},
        {{0x31}, -1, 0, false},
        {{0x89}, -1, 0, false},
        {{0x87}, -1, 0, false},
        {{0x00}, -1, 0, false},
        {{0x28}, -1, 0, false},
        {{0x20}, -1, 0, false},
        {{0x30}, -1, 0, false},
        {{0x88}, -1, 0, false},
        {{0x86}, -1, 0, false},
        {{0x8b}, -1, 0, false},
        {{0x03}, -1, 0, false},
        {{0x11}, -1, 0, false},
        {{0x19}, -1, 0, false}, /* adc, sbb: not understood */
        {{0x83}, 0, 1, false},
        {{0x83}, 5, 1, false},
        {{0x83}, 4, 1, false},
        {{0x83}, 1, 1, false},
        {{0x83}, 6, 1, false},
        {{0x81}, 0, 4, true},
        {{0xff}, 0, 0, false},
        {{0xff}, 1, 0, false},
        {{0xfe}, 0, 0, false},
        {{0xf7}, 2, 0, false},
        {{0xf7}, 3, 0, false},
        {{0xf7}, 4, 0, false},
        {{0xf7}, 5, 0, false},
        {{0xf6}, 4, 0, false},
        {{0xf6}, 3, 0, false},
        {{0xc1}, 0, 1, false},
        {{0xc1}, 1, 1, false},
        {{0xc1}, 4, 1, false},
        {{0xc1}, 5, 1, false},
        {{0xc1}, 7, 1, false},
        {{0xd3}, 4, 0, false},
        {{0xd3}, 5, 0, false},
        {{0xd3}, 7, 0, false},
        {{0xd3}, 0, 0, false},
        {{0xd3}, 1, 0, false},
        {{0xc0}, 4, 1, false},
        {{0xc0}, 0, 1, false},
        {{0x0f, 0xaf}, -1, 0, false},
        {{0x69}, -1, 4, true},
        {{0x6b}, -1, 1, false},
        {{0x0f, 0xb6}, -1, 0, false},
        {{0x0f, 0xb7}, -1, 0, false},
        {{0x0f, 0xbe}, -1, 0, false},
        {{0x0f, 0xbf}, -1, 0, false},
        {{0x63}, -1, 0, false},
        {{0x0f, 0x44}, -1, 0, false},
        {{0x0f, 0xc8}, 1, 0, true}, /* cmov, bswap: likewise */
        {{0x98}, -2, 0, false},
        {{0x99}, -2, 0, false},
        {{0x90}, -2, 0, false},
};

#define FORMS (sizeof(forms) / sizeof(forms[0]))

static unsigned any(uint64_t *random, unsigned below)
{
	return sim_uniform(random) * below;
}

/* Never the stack pointer. */
static unsigned any_register(uint64_t *random)
{
	unsigned number = any(random, REGISTERS);

	return number == STACK ? 0 : number;
}

static size_t any_instruction(uint64_t *random, unsigned char *ret_bytes)
{
	unsigned form = any(random, FORMS), size = any(random, 4), n = 0;
	unsigned reg = any_register(random), rm = any_register(random);

	if (size == 0 && !forms[form].wide)
		ret_bytes[n++] = 0x66;
	ret_bytes[n++] = 0x40 | (size == 1) << 3 | (reg & 8) >> 1 | (rm & 8) >> 3;
	if (size == 2 && reg < 4 && rm < 4)
		n--; /* without the prefix, bytes 4 to 7 are ah ch dh bh */
	ret_bytes[n++] = forms[form].opcode[0];
	if (forms[form].opcode[0] == 0x0f)
		ret_bytes[n++] = forms[form].opcode[1];
	if (forms[form].digit >= -1)
		ret_bytes[n++] = 0xc0 |
		                 (forms[form].digit >= 0 ? (unsigned)forms[form].digit : reg & 7)
		                         << 3 |
		                 (rm & 7);
	for (unsigned i = 0; i < forms[form].immediate; i++)
		ret_bytes[n++] = any(random, 256);
	return n;
}

static uint64_t any_value(uint64_t *random)
{
	static const uint64_t odd[] = {0, 1, UINT64_MAX, 1ULL << 63, 0x80000000, 0x7fffffff, 255};
	unsigned which = any(random, 12);

	return which < 7 ? odd[which] : (uint64_t)(sim_uniform(random) * 0x1p64);
}

static bool writes_stack(const struct decoded *decoded)
{
	for (unsigned i = 0; i < decoded->instruction.operand_count; i++)
		if (decoded->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY ||
		        (decoded->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		                (decoded->operands[i].reg.value == ZYDIS_REGISTER_RSP ||
		                        decoded->operands[i].reg.value == ZYDIS_REGISTER_ESP ||
		                        decoded->operands[i].reg.value == ZYDIS_REGISTER_SP ||
		                        decoded->operands[i].reg.value == ZYDIS_REGISTER_SPL)))
			return true;
	return false;
}

/* Returns how many registers that the instruction changed are known after it. */
static unsigned compare(const unsigned char *bytes, size_t n, const uint64_t before[REGISTERS],
        uint32_t known, const struct decoded *decoded)
{
	const struct operand_memory memory = {no_memory, NULL};
	struct registers registers = {.known = known};
	uint64_t after[REGISTERS];
	unsigned told = 0;

	memcpy(after, before, sizeof(after));
	execute(bytes, n, after);
	for (unsigned i = 0; i < REGISTERS; i++)
		registers.value[i] = known & 1U << i ? before[i] : ~before[i];
	operand_effects(&registers, decoded, &memory);
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (i == STACK || !(registers.known & 1U << i))
			continue;
		if (registers.value[i] != after[i])
			fail_msg("%02x %02x %02x %02x: register %u is %lx, not %lx", bytes[0],
			        bytes[1], bytes[2], bytes[3], i, after[i], registers.value[i]);
		told += after[i] != before[i];
	}
	return told;
}

static void what_is_known_is_what_the_processor_does(void **state)
{
	unsigned runs = 300000, told = 0, tried = 0;
	uint64_t random = 1, before[REGISTERS];

	(void)state;
	if (RUNNING_ON_VALGRIND) /* it lacks some of the odder forms */
		skip();
	for (unsigned run = 0; run < runs; run++) {
		unsigned char bytes[16];
		size_t n = any_instruction(&random, bytes);
		uint32_t known = any(&random, 3) ? 0xffff : any(&random, 0x10000);
		struct decoded decoded;

		if (!decode(false, bytes, n, &decoded) || decoded.instruction.length != n ||
		        writes_stack(&decoded))
			continue;
		for (unsigned i = 0; i < REGISTERS; i++)
			before[i] = any_value(&random);
		told += compare(bytes, n, before, known, &decoded);
		tried++;
	}
	print_message("%u instructions, %u changes known\n", tried, told);
	assert_true(tried > runs / 2 && told > tried / 3);
}

static void division_is_the_processors(void **state)
{
	static const unsigned char wide[] = {0x48, 0xf7, 0xf3}, narrow[] = {0xf7, 0xf3};
	uint64_t random = 2;

	(void)state;
	for (unsigned run = 0; run < sim_runs(3000); run++) {
		bool is_wide = run % 2;
		const unsigned char *bytes = is_wide ? wide : narrow;
		uint64_t before[REGISTERS];
		struct decoded decoded;

		for (unsigned i = 0; i < REGISTERS; i++)
			before[i] = any_value(&random);
		before[3] |= 1; /* rbx */
		before[2] %= is_wide ? before[3] : (uint32_t)before[3];
		assert_true(decode(false, bytes, is_wide ? 3 : 2, &decoded));
		compare(bytes, is_wide ? 3 : 2, before, 0xffff, &decoded);
	}
}

/* ---- addresses ---- */

static struct registers numbered(bool bits32)
{
	struct registers registers = {.known = 0xffff, .ip = 0x400010, .bits32 = bits32};

	for (unsigned i = 0; i < REGISTERS; i++)
		registers.value[i] = 0x10000 * (i + 1);
	return registers;
}

/* The address of the first memory operand. */
static enum operand_address address_of(
        const struct registers *registers, const void *bytes, size_t n, uint64_t *ret_address)
{
	struct decoded decoded;

	assert_true(decode(registers->bits32, bytes, n, &decoded));
	for (unsigned i = 0; i < decoded.instruction.operand_count; i++)
		if (decoded.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return operand_address(
			        registers, &decoded, &decoded.operands[i], ret_address);
	return OPERAND_NOT_MEMORY;
}

static void addresses_of_all_forms(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool bits32;
		enum operand_address what;
		uint64_t address;
	} known[] = {
	        {"\x48\x8b\x44\x8f\x08", 5, false, OPERAND_KNOWN, 0x80000 + 4 * 0x20000 + 8},
	        {"\x48\x8b\x05\xf0\xff\xff\xff", 7, false, OPERAND_KNOWN, 0x400000}, /* rip-16 */
	        {"\x67\x8b\x04\x0f", 4, false, OPERAND_KNOWN, 0xa0000},              /* edi+ecx */
	        {"\x8b\x04\x25\x00\x10\x00\x80", 7, false, OPERAND_KNOWN, 0xffffffff80001000},
	        {"\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9, false, OPERAND_SEGMENT, 0},
	        {"\x65\x8b\x07", 3, false, OPERAND_SEGMENT, 0},
	        {"\xc4\xe2\x69\x92\x04\x0f", 6, false, OPERAND_VECTOR, 0},          /* vgatherdps */
	        {"\x62\xf2\x7d\x49\x92\x04\x0f", 7, false, OPERAND_VECTOR, 0},      /* evex */
	        {"\x62\xf1\x7c\x48\x10\x47\x01", 7, false, OPERAND_KNOWN, 0x80040}, /* disp8*64 */
	        {"\x0f\x1f\x44\x00\x00", 5, false, OPERAND_NOT_MEMORY, 0},          /* nop */
	        {"\x8b\x47\xfc", 3, true, OPERAND_KNOWN, 0x80000 - 4},
	        {"\xa1\x78\x56\x34\x12", 5, true, OPERAND_KNOWN, 0x12345678},
	        {"\xd7", 1, false, OPERAND_KNOWN, 0x40000},     /* xlat: rbx + al */
	        {"\xf3\xa4", 2, false, OPERAND_KNOWN, 0x80000}, /* rep movsb: rdi */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct registers registers = numbered(known[i].bits32);
		uint64_t address = 0;

		assert_int_equal(address_of(&registers, known[i].bytes, known[i].n, &address),
		        known[i].what);
		assert_int_equal(address, known[i].address);
	}
}

static void wraps_at_32_bits(void **state)
{
	struct registers registers = numbered(true);
	uint64_t address;

	(void)state;
	registers.value[7] = 0xfffffff8;
	assert_int_equal(address_of(&registers, "\x8b\x47\x10", 3, &address), OPERAND_KNOWN);
	assert_int_equal(address, 8);
}

static void what_is_not_known_has_no_address(void **state)
{
	struct registers registers = numbered(false);
	uint64_t address;

	(void)state;
	registers.known = ~(1U << 7);
	assert_int_equal(address_of(&registers, "\x48\x8b\x07", 3, &address), OPERAND_UNKNOWN);
	assert_int_equal(address_of(&registers, "\x48\x8b\x04\x3e", 4, &address), OPERAND_UNKNOWN);
	assert_int_equal(address_of(&registers, "\x48\x8b\x06", 3, &address), OPERAND_KNOWN);
}

static struct registers after(struct registers registers, const void *bytes, size_t n,
        const struct operand_memory *memory)
{
	struct decoded decoded;

	assert_true(decode(registers.bits32, bytes, n, &decoded));
	operand_effects(&registers, &decoded, memory);
	return registers;
}

static void the_stack_pointer_moves(void **state)
{
	const struct operand_memory memory = {constant, NULL};
	struct registers registers = numbered(false), narrow = numbered(true), now;

	(void)state;
	now = after(registers, "\x57", 1, &memory); /* push rdi */
	assert_int_equal(now.value[STACK], registers.value[STACK] - 8);
	now = after(registers, "\x5b", 1, &memory); /* pop rbx */
	assert_int_equal(now.value[STACK], registers.value[STACK] + 8);
	assert_int_equal(now.value[3], registers.value[STACK] * 3);
	now = after(narrow, "\x5b", 1, &memory);
	assert_int_equal(now.value[STACK], registers.value[STACK] + 4);
	now = after(registers, "\xc9", 1, &memory); /* leave */
	assert_int_equal(now.value[STACK], registers.value[5] + 8);
	assert_int_equal(now.value[5], registers.value[5] * 3);
}

static void strings_move_their_pointers(void **state)
{
	const struct operand_memory memory = {no_memory, NULL};
	struct registers registers = numbered(false), now;

	(void)state;
	now = after(registers, "\xf3\x48\xa5", 3, &memory); /* rep movsq */
	assert_int_equal(now.value[1], 0);
	assert_int_equal(now.value[6], registers.value[6] + 8 * registers.value[1]);
	assert_int_equal(now.value[7], registers.value[7] + 8 * registers.value[1]);
	now = after(registers, "\xac", 1, &memory); /* lodsb */
	assert_int_equal(now.value[6], registers.value[6] + 1);
	assert_false(now.known & 1);
	now = after(registers, "\xf2\xae", 2, &memory); /* repne scasb: ends nobody knows where */
	assert_false(now.known & (1U << 1 | 1U << 7));
}

static int setup(void **state)
{
	(void)state;
	room = mmap(
	        NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return room == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_is_known_is_what_the_processor_does),
	        cmocka_unit_test(division_is_the_processors),
	        cmocka_unit_test(addresses_of_all_forms),
	        cmocka_unit_test(wraps_at_32_bits),
	        cmocka_unit_test(what_is_not_known_has_no_address),
	        cmocka_unit_test(the_stack_pointer_moves),
	        cmocka_unit_test(strings_move_their_pointers),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
