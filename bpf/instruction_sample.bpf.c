// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Where tracked processes are in their code, sampled by the clock of every CPU: for machines whose PMU
 * samples no data addresses. mtld decodes the code there and computes from the registers what it is
 * about to touch. Counted as address samples are (address_sample.bpf.c); whether a sample has an address
 * only mtld finds out. Of a sample in kernel mode the registers are the kernel's: it is counted as such.
 *
 * In either mode it is counted how often a process is found at an instruction that moves or stores a string
 * (rep movs, rep stos), apart when it is being watched: with a data breakpoint on, processors do these a byte or a
 * word at a time, some 20 times slower (daemon/string_cost.c). Where the kernel's memory may not be read
 * (lockdown), `can_look` is cleared before loading, and only those of the program are counted.
 */
#include "address_ring.bpf.h"

#define CS_32 0x23 /* __USER32_CS */
#define CS_RING 3

const volatile bool can_look = true;

/* REP, perhaps a prefix of its operands' size, and MOVS or STOS. */
static __always_inline bool is_string(const __u8 code[3])
{
	__u8 operation = (code[1] & 0xf0) == 0x40 || code[1] == 0x66 ? code[2] : code[1];

	return (code[0] == 0xf3 || code[0] == 0xf2) &&
		(operation == 0xa4 || operation == 0xa5 || operation == 0xaa || operation == 0xab);
}

static __always_inline void count(__u32 index, bool watched, __u64 ip, bool user)
{
	struct mtl_counts *its = bpf_map_lookup_elem(&counts, &index);
	struct mtl_clock_samples *samples;
	__u8 code[3] = {};

	if (!its)
		return;
	samples = &its->clock[watched];
	if (user)
		bpf_probe_read_user(code, sizeof(code), (void *)ip);
	else if (can_look)
		bpf_probe_read_kernel(code, sizeof(code), (void *)ip);
	__sync_fetch_and_add(&samples->all, 1);
	if (is_string(code))
		__sync_fetch_and_add(&samples->strings, 1);
}

SEC("perf_event")
int instruction_sample(struct bpf_perf_event_data *ctx)
{
	__u32 index = 0, tgid = bpf_get_current_pid_tgid() >> 32;
	__u64 cookie = bpf_get_attach_cookie(ctx);
	struct mtl_event_slot *slot = bpf_map_lookup_elem(&event_slots, &cookie);
	struct mtl_process *process = process_of(tgid, &index);
	struct mtl_instruction sample = {
		.registers = {ctx->regs.rax, ctx->regs.rcx, ctx->regs.rdx, ctx->regs.rbx,
			ctx->regs.rsp, ctx->regs.rbp, ctx->regs.rsi, ctx->regs.rdi, ctx->regs.r8,
			ctx->regs.r9, ctx->regs.r10, ctx->regs.r11, ctx->regs.r12, ctx->regs.r13,
			ctx->regs.r14, ctx->regs.r15},
		.ip = ctx->regs.rip,
		.process = index,
		.tgid = tgid,
		.event = cookie / MTL_CPUS_MAX,
		.bits32 = (ctx->regs.cs & 0xffff) == CS_32,
	};

	bool user = (ctx->regs.cs & CS_RING) == CS_RING;

	if (!slot || !is_tracked(slot, process))
		return 0;
	count(index, process->slots_on > 0, sample.ip, user);
	if (user)
		deliver_counted(slot, &sample, sizeof(sample));
	else
		slot->kernel++;
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
