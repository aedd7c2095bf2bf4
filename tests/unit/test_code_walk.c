// SPDX-License-Identifier: MIT
/*
 * Pieces of code, walked from their beginning: which addresses come of them. They lie in this
 * program and are read from it, never executed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "code_walk.h"

#define HEAP 0x7f1234560000ULL
#define STACK 0x7ffc00001000ULL

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

#define PIECE(name, code)                                                                          \
	extern const unsigned char piece_##name[];                                                 \
	__asm__(".pushsection pieces, \"aw\"\npiece_" #name ":\n" code "\n.popsection\n")

extern const unsigned char __start_pieces[], __stop_pieces[];

PIECE(plain, "mov 8(%rdi,%rcx,4), %rax; mov %rax, (%rsi)");
PIECE(later, "add $0x40, %rdi; lea 0x10(%rdi), %rdx; inc %rcx; shl $3, %rcx; add %rcx, %rdx;"
             "mov %rdx, %rbx; mov (%rbx), %rax");
PIECE(clobbered, "mov (%rdi), %rax; mov (%rax), %rdx; mov (%rdx), %rdx");
PIECE(structure, "mov (%r15), %rax; lea (%rax,%rcx,8), %rax; mov (%rax), %rax; hlt");
PIECE(loop, "1: nop; add $8, %rdi; cmp %rcx, %rdi; jne 2f; ud2; 2: mov (%rsi,%rdi), %eax; jmp 1b");
PIECE(back, "piece_back_top: mov (%rsi,%rcx,8), %rax; hlt; piece_back_in: inc %rcx;"
            "cmp %rdx, %rcx; jne piece_back_top; mov 0x300(%rdi), %rax; hlt");
PIECE(around, "test %rdi, %rdi; je 1f; hlt; 1: mov 0x20(%rsi), %rax; hlt");
PIECE(call,
        "call 1f; mov (%rsi), %rax; hlt; 1: push %rbp; mov %rsp, %rbp; mov (%rdi), %rcx; pop %rbp;"
        "ret");
PIECE(table, "mov piece_pointer(%rip), %rax; mov 0x10(%rax), %rbx; hlt");
PIECE(pointer, ".quad 0x7f1234560100");
PIECE(through, "call *piece_target(%rip); hlt; piece_behind: mov (%rdi), %eax; ret");
PIECE(target, ".quad piece_behind");
PIECE(spilled,
        "mov %rax, -8(%rsp); mov 8(%rsp), %rcx; mov 16(%rsp), %rdx; mov %rdx, -16(%rsp);"
        "mov %rcx, -24(%rsp); mov %rax, -32(%rsp); mov %rax, -40(%rsp); mov (%rdi), %rax; hlt");
PIECE(random, "mov %rdi, %rax; shl $13, %rax; xor %rdi, %rax; mov %rax, %rcx; shr $7, %rcx;"
              "xor %rax, %rcx; mov %rcx, %rax; shl $17, %rax; xor %rcx, %rax; mul %rsi;"
              "shl $6, %rdx; add %rbx, %rdx; mov (%rdx), %rax; hlt");
PIECE(segment,
        "mov %fs:0x28, %rax; vpgatherdd %xmm2, (%rdi,%xmm1,4), %xmm0; mov (%rdx), %rax; hlt");
PIECE(copy, "rep movsq; mov (%rdi), %rax; hlt");
PIECE(system, "syscall; mov (%rax), %rdx; mov (%rdi), %rdx; hlt");
PIECE(narrow,
        ".code32\nmov 4(%ebx,%ecx,2), %eax; push %edi; call 1f; hlt; 1: mov (%esi), %eax; ret;"
        "\n.code64");
PIECE(forever, "1: jmp 1b");
PIECE(long, ".rept 200\nnop\n.endr\nmov (%rdi), %rax");
PIECE(many, "mov (%rdi), %rax; mov 8(%rdi), %rax; mov 8(%rdi), %rax; mov 16(%rdi), %rax;"
            "mov 24(%rdi), %rax; mov 32(%rdi), %rax; mov 40(%rdi), %rax; hlt");
PIECE(nowhere, "mov 8(%rdi), %rax; mov (%rsi), %rax; hlt");
extern const unsigned char piece_back_in[], piece_behind[];

static uint64_t stack[16];
static bool unreadable;

/* Pieces and the stack; of everything else there is nothing. */
static size_t read_own(void *userdata, uint64_t address, void *ret_bytes, size_t size)
{
	const struct {
		uint64_t begin;
		const void *bytes;
		size_t size;
	} readable[] = {
	        {STACK, stack, sizeof(stack)},
	        {(uintptr_t)__start_pieces, __start_pieces, __stop_pieces - __start_pieces},
	        {(uint32_t)(uintptr_t)__start_pieces, __start_pieces, /* to programs of 32 bits */
	                __stop_pieces - __start_pieces},
	};

	(void)userdata;
	for (unsigned i = 0; !unreadable && i < 3; i++) {
		uint64_t offset = address - readable[i].begin;

		if (offset >= readable[i].size)
			continue;
		size = size < readable[i].size - offset ? size : readable[i].size - offset;
		memcpy(ret_bytes, (const char *)readable[i].bytes + offset, size);
		return size;
	}
	return 0;
}

static struct registers at(const unsigned char *code)
{
	struct registers registers = {.known = 0xffff, .ip = (uintptr_t)code};

	for (unsigned i = 0; i < REGISTERS; i++)
		registers.value[i] = HEAP + 0x1000 * i;
	registers.value[RSP] = STACK;
	registers.value[RCX] = 5;
	return registers;
}

static struct code_walk walk_from(struct registers registers)
{
	const struct code_memory_fn memory = {read_own, NULL};
	struct code_walk walk;

	assert_non_null(zydis_library());
	code_walk(zydis_library(), &registers, &memory, &walk);
	return walk;
}

#define assert_walk(walk, ...)                                                                     \
	do {                                                                                       \
		const uint64_t wanted[] = {__VA_ARGS__};                                           \
		assert_int_equal((walk).n, sizeof(wanted) / sizeof(wanted[0]));                    \
		for (unsigned i = 0; i < (walk).n; i++)                                            \
			assert_int_equal((walk).found[i].address, wanted[i]);                      \
	} while (0)

static uint64_t r(unsigned number)
{
	return HEAP + 0x1000 * number;
}

static void operands_of_the_instruction_itself(void **state)
{
	struct code_walk walk = walk_from(at(piece_plain));

	(void)state;
	assert_true(walk.n >= 2);
	assert_int_equal(walk.found[0].address, r(RDI) + 5 * 4 + 8);
	assert_false(walk.found[0].write);
	assert_int_equal(walk.found[1].address, r(RSI));
	assert_true(walk.found[1].write);
	assert_false(walk.found[1].stack);
}

static void registers_are_followed(void **state)
{
	struct code_walk walk = walk_from(at(piece_later));

	(void)state;
	assert_int_equal(walk.found[0].address, r(RDI) + 0x40 + 0x10 + 6 * 8);
}

/* Where a processor waits for memory is behind the load: the next one goes by a structure. */
static void what_is_loaded_is_followed(void **state)
{
	struct registers registers = at(piece_structure);

	(void)state;
	registers.value[15] = (uintptr_t)piece_pointer;
	assert_walk(walk_from(registers), (uintptr_t)piece_pointer, 0x7f1234560100 + 5 * 8);
}

static void what_cannot_be_loaded_is_not_known(void **state)
{
	struct code_walk walk = walk_from(at(piece_clobbered));

	(void)state;
	assert_int_equal(walk.found[0].address, r(RDI));
	assert_true(walk.unknown >= 2);
}

static void branches_are_followed(void **state)
{
	struct registers registers = at(piece_loop);

	(void)state;
	registers.value[RDI] = 8;
	/* straight on fails: the other way is gone */
	assert_walk(walk_from(registers), r(RSI) + 16);
	/* back, round the loop, rather than on */
	assert_walk(walk_from(at(piece_back_in)), r(RSI) + 6 * 8);
	/* a way around that is not taken at first */
	assert_walk(walk_from(at(piece_around)), r(RSI) + 0x20);
}

/* Of what it touched off the stack; returns how many there are. */
static unsigned off_stack(const struct code_walk *walk, uint64_t ret_addresses[CODE_WALK_ADDRESSES])
{
	unsigned n = 0;

	for (unsigned i = 0; i < walk->n; i++)
		if (!walk->found[i].stack)
			ret_addresses[n++] = walk->found[i].address;
	return n;
}

static void calls_come_back(void **state)
{
	struct code_walk walk = walk_from(at(piece_call));
	uint64_t addresses[CODE_WALK_ADDRESSES];

	(void)state;
	assert_int_equal(off_stack(&walk, addresses), 2);
	assert_int_equal(addresses[0], r(RDI));
	assert_int_equal(addresses[1], r(RSI));
	assert_true(walk.n > 2);
	assert_true(walk.found[0].stack && walk.found[0].write);
}

static void returns_by_what_lies_on_the_stack(void **state)
{
	struct code_walk walk;

	(void)state;
	stack[0] = (uintptr_t)piece_nowhere;
	walk = walk_from(at(piece_behind));
	stack[0] = 0;
	assert_walk(walk, r(RDI), STACK, r(RDI) + 8, r(RSI));
}

static void tables_are_read(void **state)
{
	struct code_walk walk = walk_from(at(piece_table));

	(void)state;
	assert_walk(walk, (uintptr_t)piece_pointer, 0x7f1234560110);
	walk = walk_from(at(piece_through));
	assert_walk(walk, (uintptr_t)piece_target, STACK, r(RDI), STACK - 8);
}

/* However much of it there is, the stack leaves room for what lies elsewhere. */
static void the_stack_is_told_apart(void **state)
{
	struct code_walk walk = walk_from(at(piece_spilled));
	uint64_t addresses[CODE_WALK_ADDRESSES];

	(void)state;
	assert_int_equal(off_stack(&walk, addresses), 1);
	assert_int_equal(addresses[0], r(RDI));
	assert_int_equal(walk.n, 5);
}

static void arithmetic_is_carried_out(void **state)
{
	struct registers registers = at(piece_random);
	uint64_t x = 0x123456789abcdef, lines = 131072;

	(void)state;
	registers.value[RDI] = x;
	registers.value[RSI] = lines;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	assert_walk(walk_from(registers),
	        r(RBX) + ((uint64_t)((unsigned __int128)x * lines >> 64) << 6));
}

static void what_has_no_address_is_counted(void **state)
{
	struct code_walk walk = walk_from(at(piece_segment));

	(void)state;
	assert_walk(walk, r(RDX));
	assert_int_equal(walk.segment, 1);
	assert_int_equal(walk.vector, 1);
}

static void strings(void **state)
{
	(void)state;
	assert_walk(walk_from(at(piece_copy)), r(RDI), r(RSI), r(RDI) + 40);
}

static void system_calls_return(void **state)
{
	struct code_walk walk = walk_from(at(piece_system));

	(void)state;
	assert_walk(walk, r(RDI));
	assert_int_equal(walk.unknown, 1);
}

static void programs_of_32_bits(void **state)
{
	struct registers registers = at(piece_narrow);

	(void)state;
	registers.bits32 = true;
	registers.ip = (uint32_t)registers.ip;
	for (unsigned i = 0; i < REGISTERS; i++)
		registers.value[i] = (uint32_t)registers.value[i];
	registers.value[RCX] = 0xfffffffe;
	registers.value[RSP] = 0xffff1000;
	assert_walk(walk_from(registers), (uint32_t)r(RBX), 0xffff1000, 0xffff0ffc,
	        (uint32_t)r(RSI), 0xffff0ff8);
}

static void it_ends(void **state)
{
	struct code_walk walk = walk_from(at(piece_forever));

	(void)state;
	assert_int_equal(walk.n, 0);
	assert_int_equal(walk.instructions, 1);
	walk = walk_from(at(piece_long));
	assert_int_equal(walk.n, 0);
	assert_int_equal(walk.instructions, 60);
	walk = walk_from(at(piece_many));
	assert_walk(walk, r(RDI), r(RDI) + 8, r(RDI) + 16, r(RDI) + 24);
}

static void code_that_cannot_be_read(void **state)
{
	struct code_walk walk;

	(void)state;
	unreadable = true;
	walk = walk_from(at(piece_plain));
	unreadable = false;
	assert_true(walk.unreadable);
	assert_int_equal(walk.n, 0);
	assert_false(walk_from(at(piece_plain)).unreadable);
}

/* The kernel's half, and the first page, are nobody's. */
static void addresses_that_cannot_be(void **state)
{
	struct registers registers = at(piece_nowhere);

	(void)state;
	registers.value[RDI] = 0;
	registers.value[RSI] = 0xffff888000000000;
	assert_int_equal(walk_from(registers).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(operands_of_the_instruction_itself),
	        cmocka_unit_test(registers_are_followed),
	        cmocka_unit_test(what_is_loaded_is_followed),
	        cmocka_unit_test(what_cannot_be_loaded_is_not_known),
	        cmocka_unit_test(branches_are_followed),
	        cmocka_unit_test(calls_come_back),
	        cmocka_unit_test(returns_by_what_lies_on_the_stack),
	        cmocka_unit_test(tables_are_read),
	        cmocka_unit_test(the_stack_is_told_apart),
	        cmocka_unit_test(arithmetic_is_carried_out),
	        cmocka_unit_test(what_has_no_address_is_counted),
	        cmocka_unit_test(strings),
	        cmocka_unit_test(system_calls_return),
	        cmocka_unit_test(programs_of_32_bits),
	        cmocka_unit_test(it_ends),
	        cmocka_unit_test(code_that_cannot_be_read),
	        cmocka_unit_test(addresses_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
