/* SPDX-License-Identifier: MIT */
/*
 * memory_trace: a plugin of qemu's user-mode emulator that writes the address of every data access
 * of a program, as mtl trace reads them (--format u64).
 *
 *     qemu-x86_64 -plugin memory_trace.so,out=FILE COMMAND...
 *
 * Some ten times as fast as valgrind's lackey. An access is one of the emulator: it makes several
 * of 8 bytes of one vector instruction. One that crosses a line boundary is two. What the kernel
 * touches for the program is not in it. Memory that is mapped anew, or given back and faulted in
 * again, is other memory, as it is to a cache: bits above those of addresses count how often.
 * Debian has no header for plugins: what is used of the interface (version 1 of it) is declared
 * here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define EXPORT __attribute__((visibility("default")))
#define LINE_BYTES 64
#define NO_REGISTERS 0
#define READ_AND_WRITE 3
#define ADDRESS_BITS 47
#define PAGE_BITS 12

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t plugin_id;

void qemu_plugin_register_vcpu_tb_trans_cb(
        plugin_id id, void (*callback)(plugin_id id, struct qemu_plugin_tb *block));
void qemu_plugin_register_atexit_cb(
        plugin_id id, void (*callback)(plugin_id id, void *userdata), void *userdata);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
        void (*callback)(unsigned cpu, uint32_t info, uint64_t address, void *userdata), int flags,
        int direction, void *userdata);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id,
        void (*callback)(plugin_id id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
                uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8));
void qemu_plugin_register_vcpu_syscall_ret_cb(
        plugin_id id, void (*callback)(plugin_id id, unsigned cpu, int64_t number, int64_t result));

EXPORT int qemu_plugin_version = 1;

static FILE *out;
static uint16_t *renewed; /* of each page, how often */
static uint64_t program_break;

static void put(uint64_t address)
{
	if (address >> ADDRESS_BITS == 0)
		address |= (uint64_t)renewed[address >> PAGE_BITS] << ADDRESS_BITS;
	fwrite(&address, sizeof(address), 1, out);
}

static void renew(uint64_t begin, uint64_t end)
{
	const uint64_t page = 1 << PAGE_BITS;

	if (end > 1ULL << ADDRESS_BITS)
		return;
	for (begin = (begin + page - 1) / page * page; begin < end; begin += page)
		renewed[begin >> PAGE_BITS]++;
}

static _Thread_local uint64_t argument[4];

static void on_call(plugin_id id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
        uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	(void)id, (void)cpu, (void)number, (void)a5, (void)a6, (void)a7, (void)a8;
	argument[0] = a1, argument[1] = a2, argument[2] = a3, argument[3] = a4;
}

static void on_return(plugin_id id, unsigned cpu, int64_t number, int64_t result)
{
	(void)id, (void)cpu;
	if (number == SYS_mmap && result > 0 && (argument[3] & MAP_ANONYMOUS))
		renew(result, result + argument[1]);
	if (number == SYS_madvise && result == 0 && argument[2] == MADV_DONTNEED)
		renew(argument[0], argument[0] + argument[1]);
	if (number != SYS_brk || result <= 0)
		return;
	renew(program_break ? program_break : (uint64_t)result, result);
	program_break = result;
}

static void on_access(unsigned cpu, uint32_t info, uint64_t address, void *userdata)
{
	uint64_t last = address + (1U << qemu_plugin_mem_size_shift(info)) - 1;

	(void)cpu, (void)userdata;
	put(address);
	if (address / LINE_BYTES != last / LINE_BYTES)
		put(last);
}

static void on_block(plugin_id id, struct qemu_plugin_tb *block)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_access,
		        NO_REGISTERS, READ_AND_WRITE, NULL);
}

static void on_exit_of_program(plugin_id id, void *userdata)
{
	(void)id, (void)userdata;
	fclose(out);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *information, int n, char **arguments);
EXPORT int qemu_plugin_install(plugin_id id, const void *information, int n, char **arguments)
{
	(void)information;
	if (n != 1 || strncmp(arguments[0], "out=", 4) != 0)
		return -1;
	out = fopen(arguments[0] + 4, "we");
	if (!out)
		return -1;
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	renewed = mmap(NULL, sizeof(*renewed) << (ADDRESS_BITS - PAGE_BITS), PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (renewed == MAP_FAILED)
		return -1;
	qemu_plugin_register_vcpu_syscall_cb(id, on_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
	qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
	return 0;
}
