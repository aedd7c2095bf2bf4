/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PMU_H
#define MTLD_PMU_H

/*
 * Performance monitoring units: what a machine has of them (pmu_discover) and which of their events
 * mtld can use (pmu_events). Both only read files under a root directory, so that a dump of another
 * machine's /proc and /sys answers as that machine would; nothing here opens an event.
 */

#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum pmu_vendor { PMU_OTHER_VENDOR, PMU_INTEL, PMU_AMD };

/* A field of an event's encoding, as /sys/bus/event_source/devices/PMU/format/NAME describes it:
 * the value's bits go, lowest first, to the set bits of `mask` in word config, config1, config2 ...
 */
struct pmu_field {
	char name[24];
	unsigned word; /* 0: config, 1: config1, 2: config2, 3: config3 */
	uint64_t mask;
};

/* One term list of sysfs, events/NAME: "event=0xcd,umask=0x1,ldlat=3". */
struct pmu_alias {
	char name[32];
	char terms[96];
};

#define PMU_FIELDS_MAX 40
#define PMU_ALIASES_MAX 64

struct pmu {
	char name[24];   /* its directory: "cpu", "cpu_core", "cpu_atom", "ibs_op", "ibs_fetch" */
	uint32_t type;   /* perf_event_attr.type */
	cpu_set_t cpus;  /* where its events can be opened: the online CPUs, or its share of them */
	int max_precise; /* caps/max_precise; 0: no precise samples; -1: the kernel does not say */
	struct pmu_field fields[PMU_FIELDS_MAX];
	unsigned n_fields;
	struct pmu_alias aliases[PMU_ALIASES_MAX];
	unsigned n_aliases;
};

#define PMUS_MAX 5

struct pmu_machine {
	enum pmu_vendor vendor;
	unsigned family, model, stepping; /* as /proc/cpuinfo gives them (extended parts added) */
	char model_name[64];
	bool foreign;       /* not x86: its /proc/cpuinfo names neither vendor nor family */
	bool hypervisor;    /* a virtual machine, by the flags in /proc/cpuinfo */
	int paranoid;       /* kernel.perf_event_paranoid; INT32_MAX: unknown */
	char lockdown[16];  /* "none", "integrity", "confidentiality"; "": unknown */
	unsigned kernel[2]; /* of a dump: {6, 1} of 6.1.0-18-amd64; {0, 0}: unknown */
	bool no_types;      /* of a dump: it has sys/kernel/btf, and no vmlinux there */
	cpu_set_t online;
	struct pmu pmus[PMUS_MAX];
	unsigned n_pmus;
	bool dump; /* read under a root that is not this machine's */
};

/*
 * Reads what there is under root ("" or NULL: this machine). What is missing is left out or
 * unknown; -ENOENT only when not even /proc/cpuinfo is there; -ENOMEM.
 */
int pmu_discover(const char *root, struct pmu_machine **ret_machine);

/* NULL when the machine has none of that name. */
const struct pmu *pmu_named(const struct pmu_machine *machine, const char *name);

/* Of the cores: "cpu", "cpu_core", "cpu_atom". */
static inline bool pmu_is_core(const struct pmu *pmu)
{
	return !strncmp(pmu->name, "cpu", 3);
}

enum pmu_event_kind {
	/* sampled, with the data address */
	PMU_LOADS,       /* retired loads */
	PMU_STORES,      /* retired stores */
	PMU_LOAD_MISSES, /* retired loads that missed the L1 data cache: no filter needed */
	PMU_IBS_OP,      /* AMD: any micro-op; address 0 where it touched no memory */
	PMU_PAGE_FAULTS, /* the software stand-in, on every machine */
	PMU_TASK_CLOCK,  /* where it is in its code, by the clock: the address is decoded from that
	                  */
	/* counted only */
	PMU_COUNT_LOADS,
	PMU_COUNT_STORES,
	PMU_COUNT_ACCESSES, /* loads and stores in one counter (AMD) */
	PMU_COUNT_L1_MISSES,
	PMU_COUNT_L2_MISSES,
	PMU_COUNT_LLC_MISSES,
};

static inline bool pmu_event_is_sampled(enum pmu_event_kind kind)
{
	return kind <= PMU_TASK_CLOCK;
}

/*
 * One event of one PMU, ready for perf_event_open(2) with pid -1 on any CPU of `cpus` (a hybrid
 * machine has two of each kind, on disjoint CPUs).
 *
 * attr: type, size, config, config1..., precise_ip, exclude_*, disabled = 1. For a sampled event
 * also sample_type, a prime sample_period (IBS: a multiple of period_step; keep it one when
 * changing it) and wakeup_events = 1, which keeps "large PEBS" from hiding records from BPF.
 * precise_ip is 2, or less where the files promise less (3 would tie the event to one counter):
 * where the kernel refuses it with EOPNOTSUPP, the next lower one down to 1 is to be tried. For a
 * counted event: sample_period = 0, sample_type = 0.
 */
struct pmu_event {
	const char *name; /* of the vendor: "MEM_INST_RETIRED.ALL_LOADS" */
	enum pmu_event_kind kind;
	char pmu[24]; /* name of the PMU */
	struct perf_event_attr attr;
	cpu_set_t cpus;
	bool needs_aux_leader; /* with PERF_SAMPLE_DATA_SRC: only in a group led by `leader` */
	struct perf_event_attr leader;
	bool data_src_tells_misses; /* perf_sample_data.data_src, where BPF can read it, holds the
	                               level that served the access: of Intel's loads only with the
	                               load-latency event, of its stores whether they hit L1, of IBS
	                               for loads */
	unsigned period_step;  /* sample_period has to be a multiple of this: 16 for IBS, else 1 */
	uint64_t least_period; /* and no less than this */
	const char *source;    /* the document or kernel file that says so */
};

/*
 * The events of this machine that mtld would use, in the order of enum pmu_event_kind, by the table
 * of microarchitectures, else by what sysfs calls mem-loads, mem-stores and ibs_op. PMU_PAGE_FAULTS
 * is always among them. The caller frees *ret_events. -ENOMEM.
 */
int pmu_events(const struct pmu_machine *machine, struct pmu_event **ret_events, unsigned *ret_n);

/* The clock of a CPU, `rate` samples a second of it, in user mode: on every machine. */
struct pmu_event pmu_task_clock(double rate);

/* What this machine's processor is called in the table: "Sapphire Rapids"; NULL: not in it. */
const char *pmu_microarchitecture(const struct pmu_machine *machine);

#endif
