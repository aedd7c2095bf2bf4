// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Where tracked processes are in their code, sampled by the clock of every CPU: for machines whose PMU
 * samples no data addresses. mtld decodes the code there and computes from the registers what it is
 * about to touch. Counted as address samples are (address_sample.bpf.c); whether a sample has an address
 * only mtld finds out.
 *
 * The event leaves kernel mode out, so what it interrupted is the program and its registers are whole.
 */
#include "address_ring.bpf.h"

#define CS_32 0x23 /* __USER32_CS */

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

	if (!slot || !is_tracked(slot, process))
		return 0;
	deliver_counted(slot, &sample, sizeof(sample));
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
