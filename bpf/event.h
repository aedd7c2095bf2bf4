/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef MTL_EVENT_H
#define MTL_EVENT_H

/*
 * The one contract between the BPF programs and mtld. Fixed-width fields, no holes, sizes asserted.
 * The structures below live in maps that mtld maps into its memory, so both sides read and write
 * the very same bytes; each field names its only writer.
 *
 * The process clock is one 64-bit word: CPU time of all threads of a process in nanoseconds in the
 * upper 52 bits, the number of its threads on a CPU right now in the lower 12. With
 *
 *     clock(now) = base + running * now
 *
 * a switch in adds -now to base and 1 to running, a switch out adds +now and -1: one atomic
 * addition each, no lock, and one atomic load reads a consistent pair. Arithmetic is modulo 2^52 ns
 * (52 days, shared by all threads: a process that fills 64 CPUs takes 20 hours); only differences are
 * used, and mtld follows them with 64 bits.
 */

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif
#include <linux/perf_event.h>

#define MTL_PROCESSES_MAX 1024
#define MTL_CPUS_MAX 1024
#define MTL_DIRECTORY 4096           /* entries, a power of two */
#define MTL_DIRECTORY_SHARED (~0ULL) /* more than one tracked process has this entry */
#define MTL_CPU_ELSEWHERE (MTL_CPUS_MAX - 1) /* its ring takes the hits of CPUs without one */
#define MTL_CPU_UNKNOWN 0xffffffffU /* not switched in since it is tracked */
#define MTL_SLOTS 4
#define MTL_SLOT_MISS MTL_SLOTS
#define MTL_EVENTS 8 /* kinds of address samples at once */
#define MTL_COUNTERS 6 /* kinds of counted events; on each CPU one event a kind at most */
#define MTL_CLOCK_SHIFT 12
#define MTL_CLOCK_RUNNING ((1ULL << MTL_CLOCK_SHIFT) - 1)
#define MTL_PAGE_SHIFT 12

struct mtl_process {
	__u64 clock;                   /* bpf: see above */
	__u64 switches;                /* bpf: times a thread was switched in */
	__u64 faults;                  /* bpf: page faults, each a page that became resident */
	__u64 traps;                   /* bpf: debug exceptions taken */
	__u64 stray_traps;             /* bpf: of these, not the first of an armed slot */
	__u64 lost;                    /* bpf: hits and life records that found no room in a ring */
	__u64 slot_address[MTL_SLOTS]; /* mtld: what each slot watches; 0: nothing */
	__u64 watched_page;            /* mtld: page number of the watched line; 0: none */
	__u32 sequence;                /* mtld: number of the current watch */
	__u32 hits;                    /* bpf sets bits, mtld clears: slots that fired */
	__u32 slots_on;                /* mtld: slots enabled now, 0..4 */
	__u32 reborn;                  /* bpf: sequence of the watch whose page was faulted in anew */
	__u32 traced;                  /* bpf: 1 while a debugger holds the process */
	__u32 cpu;                     /* bpf: CPU it was last switched in on */
	__u32 fault_period;            /* mtld: every how many faults one is told; 0: none */
	__u32 execs;                   /* bpf: programs it executed */
	__u64 samples;                 /* bpf: address samples taken of it */
};

/* Who runs on a CPU, and who ran there just before. Process numbers are index + 1; 0: untracked. */
struct mtl_cpu {
	__u32 current;           /* bpf */
	__u32 previous;          /* bpf */
	__u32 previous_runnable; /* bpf: it was preempted, not put to sleep */
	__u32 reserved;
	__u64 pad[6];
};

/* What a trap, a switch and an arming cost the target, to be taken out of its clock. */
struct mtl_costs {
	__u64 trap_ns;
	__u64 switch_on_ns[MTL_SLOTS + 1]; /* switch-in with that many slots enabled */
};

struct mtl_hit {
	__u64 clock;    /* process CPU time, ns */
	__u32 process;  /* index */
	__u32 sequence; /* of the watch */
	__u32 slot;     /* MTL_SLOT_MISS: no trap; a miss that begins a visit to its line */
	__u32 reborn;   /* 1: the page was faulted in anew after arming */
	__u64 address;  /* MTL_SLOT_MISS: where */
	__u64 period;   /* MTL_SLOT_MISS: events that it stands for */
};

enum mtl_life_kind {
	MTL_LIFE_THREAD = 1, /* a thread was born */
	MTL_LIFE_EXEC = 2,
	MTL_LIFE_EXIT = 3, /* a thread ended */
	MTL_LIFE_TRACED = 4,
	MTL_LIFE_UNTRACED = 5,
	MTL_LIFE_FAULT = 6,
};

struct mtl_life {
	__u32 kind;
	__u32 process; /* index */
	__u32 tgid;    /* in the initial pid namespace */
	__u32 tid;     /* likewise */
	__u64 address; /* MTL_LIFE_FAULT: the faulting address; else 0 */
};

/* One kind of address samples on one CPU; its number is event * MTL_CPUS_MAX + cpu. Counted by the
 * program on that CPU alone: every sample is `seen` and exactly one of those below it. */
struct mtl_event_slot {
	__u64 seen;        /* bpf */
	__u64 foreign;     /* bpf: of a process that is not tracked */
	__u64 zero;        /* bpf: without an address */
	__u64 kernel;      /* bpf: with an address of the kernel */
	__u64 filtered;    /* bpf: a load that hit, where only misses are wanted */
	__u64 delivered;   /* bpf */
	__u64 lost;        /* bpf: found no room in the ring */
	__u16 misses_only; /* mtld */
	__u16 misses;      /* mtld: enum mtl_misses */
	__u32 accesses;    /* mtld: enum mtl_accesses */
};

/* Which samples of an event are known to be misses of the L1 cache. */
enum mtl_misses {
	MTL_MISSES_NONE,
	MTL_MISSES_ALL,
	MTL_MISSES_TOLD, /* those whose data_src says so */
};

/* Which samples of an event stand for memory accesses, each for as many as its period. */
enum mtl_accesses {
	MTL_ACCESSES_NONE,
	MTL_ACCESSES_ALL,
	MTL_ACCESSES_ADDRESSED, /* those with a data address of the process */
};

/* Samples of the clock; of these, at an instruction that moves or stores strings. */
struct mtl_clock_samples {
	__u64 all, strings;
};

/* What a process was counted to have done, by the slices of CPU time it had: added up when a thread
 * is switched out, so a slice under way is not in it. */
struct mtl_counts {
	__u64 value[MTL_COUNTERS];      /* bpf: events */
	__u64 running_ns[MTL_COUNTERS]; /* bpf: in so much of its CPU time they were counted */
	__u64 cpu_ns;                   /* bpf: CPU time of these slices */
	__u64 sampled;                  /* bpf: accesses that its address samples stand for */
	__u64 misses;                   /* bpf: address samples known to be misses */
	struct mtl_clock_samples clock[2]; /* bpf: while no watch was on; while one was */
	__u32 visit_part; /* mtld: of its misses told, so many of 2^32 begin a visit; 0: none */
	__u32 reserved;
};

struct mtl_address {
	__u64 address;
	__u64 data_src; /* union perf_mem_data_src; 0: not known */
	__u32 period;   /* events that this sample stands for */
	__u32 process;  /* index */
	__u32 tgid;     /* in the initial pid namespace */
	__u32 event;    /* which kind */
};

/* Where a thread was in user mode, and its general registers in the order of their encoding: rax rcx rdx
 * rbx rsp rbp rsi rdi r8 ... r15. */
struct mtl_instruction {
	__u64 registers[16];
	__u64 ip;
	__u32 process; /* index */
	__u32 tgid;    /* in the initial pid namespace */
	__u32 event;   /* which kind */
	__u32 bits32;  /* 1: in a 32-bit code segment */
};

/* A task as the kernel's events name it; written by the task iterator. */
struct mtl_task {
	__u32 tgid;
	__u32 tid;
};

/* CPU time of a thread so far, of the main one with that of all that have ended; likewise. */
struct mtl_task_time {
	__u32 pid; /* of its process, as the reader's pid namespace numbers it */
	__u32 reserved;
	__u64 start_ns; /* of its process, since boot */
	__u64 cpu_ns;
};

_Static_assert(sizeof(struct mtl_process) == 128, "mtl_process has no holes");
_Static_assert(sizeof(struct mtl_cpu) == 64, "mtl_cpu is one cache line");
_Static_assert(sizeof(struct mtl_costs) == 48, "mtl_costs has no holes");
_Static_assert(sizeof(struct mtl_hit) == 40, "mtl_hit has no holes");
_Static_assert(sizeof(struct mtl_life) == 24, "mtl_life has no holes");
_Static_assert(sizeof(struct mtl_event_slot) == 64, "mtl_event_slot is one cache line");
_Static_assert(sizeof(struct mtl_counts) == 160, "mtl_counts has no holes");
_Static_assert(sizeof(struct mtl_address) == 32, "mtl_address has no holes");
_Static_assert(sizeof(struct mtl_instruction) == 152, "mtl_instruction has no holes");
_Static_assert(sizeof(struct mtl_task_time) == 24, "mtl_task_time has no holes");
_Static_assert(sizeof(struct mtl_task) == 8, "mtl_task has no holes");

/* Whether data_src says that a load found its line in the L1 cache, or already on its way there; what
 * is unknown has not. */
static inline int mtl_load_hit(__u64 data_src)
{
	union perf_mem_data_src source = {.val = data_src};

	return (source.mem_lvl & PERF_MEM_LVL_HIT) &&
		(source.mem_lvl & (PERF_MEM_LVL_L1 | PERF_MEM_LVL_LFB));
}

/* Whether data_src says that it was not there; what is unknown was. */
static inline int mtl_load_missed(__u64 data_src)
{
	union perf_mem_data_src source = {.val = data_src};

	return (source.mem_lvl & (PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS)) && !mtl_load_hit(data_src);
}

/* CPU time in ns (modulo 2^52) that the clock word shows at `now`. */
static inline __u64 mtl_clock_at(__u64 word, __u64 now)
{
	__u64 running = word & MTL_CLOCK_RUNNING;

	return ((word >> MTL_CLOCK_SHIFT) + running * now) & (~0ULL >> MTL_CLOCK_SHIFT);
}

/* From one reading to another that is less than 2^51 ns away, either way; both modulo 2^52 or more. */
static inline __s64 mtl_clock_between(__u64 from, __u64 to)
{
	return (__s64)((to - from) << MTL_CLOCK_SHIFT) >> MTL_CLOCK_SHIFT;
}

#endif
