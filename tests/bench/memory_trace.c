/* SPDX-License-Identifier: MIT */
/*
 * memory_trace: a plugin of qemu's user-mode emulator that writes the address of every data access
 * of a program, as mtl trace reads them (--format u64).
 *
 *     qemu-x86_64 -plugin memory_trace.so,out=FILE COMMAND...
 *
 * Some ten times as fast as valgrind's lackey. An access is one of the emulator: it makes several
 * of 8 bytes of one vector instruction. One that crosses a line boundary is two. What the kernel
 * touches for the program is not in it. Debian has no header for plugins: what is used of the
 * interface (version 1 of it) is declared here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define LINE_BYTES 64
#define NO_REGISTERS 0
#define READ_AND_WRITE 3

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

EXPORT int qemu_plugin_version = 1;

static FILE *out;

static void put(uint64_t address)
{
	fwrite(&address, sizeof(address), 1, out);
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
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
	qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
	return 0;
}
