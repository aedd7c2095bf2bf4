// SPDX-License-Identifier: MIT
/*
 * The table of microarchitectures. It names few events, those whose meaning is the same everywhere.
 *
 * - Loads, stores: retired instructions (Intel), which PEBS can sample with the data address. Not
 *   the load-latency event (0x1cd): Sapphire Rapids takes it only beside an auxiliary leader. Not
 *   STORE_SAMPLE (0x2cd): it lives on one counter, and libpfm4 encodes it wrongly.
 * - Load misses: retired loads whose data was not in L1, sampled: the beginning of a visit. What a
 *   prefetcher brought in time is a hit.
 * - Accesses: AMD counts dispatched, not retired operations: those of mispredicted paths too.
 * - L1, L2 misses: lines brought into the cache for whatever reason (Intel P cores, AMD L1): what a
 *   miss-ratio curve counts, plus prefetches in vain. Gracemont has only demand loads. AMD's L2
 *   misses are those of the L1 data cache, without the L2 prefetcher's.
 * - LLC misses: Intel: 0x412e, the architectural event, without prefetches into L3. AMD: fills of
 *   the L1 data cache from beyond the L3 of the CCX: what the L2 prefetcher fetched from memory
 *   counts as found in L2. Zen 1 has no such event for one process.
 *
 * Models: Intel by tools/perf/pmu-events/arch/x86/mapfile.csv and
 * arch/x86/include/asm/intel-family.h, AMD by bsp_init_amd() in arch/x86/kernel/cpu/amd.c (all
 * Linux 6.12). Events: github.com/intel/perfmon and tools/perf/pmu-events/arch/x86/amdzen*. PEBS
 * with addresses: intel_*_pebs_event_constraints in arch/x86/events/intel/ds.c. None of it has run
 * on hardware.
 */
#include "pmu_table.h"

#include <stddef.h>
#include <string.h>

#define PERFMON "github.com/intel/perfmon: "
#define AMD_JSON "Linux 6.12 tools/perf/pmu-events/arch/x86/"

/* What several of them have alike. clang-format takes such lists for blocks. */
/* clang-format off */
#define P_CORE                                                                                     \
	{PMU_LOADS, "MEM_INST_RETIRED.ALL_LOADS", 0x81d0},                                         \
	{PMU_STORES, "MEM_INST_RETIRED.ALL_STORES", 0x82d0},                                       \
	{PMU_LOAD_MISSES, "MEM_LOAD_RETIRED.L1_MISS", 0x08d1},                                     \
	{PMU_COUNT_LOADS, "MEM_INST_RETIRED.ALL_LOADS", 0x81d0},                                   \
	{PMU_COUNT_STORES, "MEM_INST_RETIRED.ALL_STORES", 0x82d0},                                 \
	{PMU_COUNT_L1_MISSES, "L1D.REPLACEMENT", 0x0151}
#define INTEL_LLC                                                                                  \
	{PMU_COUNT_LLC_MISSES, "LONGEST_LAT_CACHE.MISS", 0x412e}
#define ZEN                                                                                        \
	{PMU_COUNT_ACCESSES, "ls_dispatch (loads, stores, load-stores)", 0x0729},                  \
	{PMU_COUNT_L2_MISSES, "l2_cache_req_stat.ls_rd_blk_c", 0x0864}
/* clang-format on */

static const struct pmu_codes skylake = {
        PERFMON
        "SKL/events/skylake_core.json v59, SKX v1.37, CLX v1.25, ICL v1.24, ICX v1.30, TGL v1.19, "
        "RKL v1.04; ds.c: intel_skl_pebs_event_constraints, intel_icl_pebs_event_constraints",
        {
                P_CORE,
                {PMU_COUNT_L2_MISSES, "L2_LINES_IN.ALL", 0x1ff1},
                INTEL_LLC,
        },
};

static const struct pmu_codes golden_cove = {
        PERFMON
        "SPR/events/sapphirerapids_core.json v1.39, EMR v1.24, GNR v1.20, "
        "ADL/events/alderlake_goldencove_core.json v1.40; ds.c: intel_glc_pebs_event_constraints",
        {
                P_CORE,
                {PMU_COUNT_L2_MISSES, "L2_LINES_IN.ALL", 0x1f25},
                INTEL_LLC,
        },
};

static const struct pmu_codes gracemont = {
        PERFMON
        "ADL/events/alderlake_gracemont_core.json v1.40; ds.c: intel_grt_pebs_event_constraints "
        "(all events are PEBS)",
        {
                {PMU_LOADS, "MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0},
                {PMU_STORES, "MEM_UOPS_RETIRED.ALL_STORES", 0x82d0},
                {PMU_LOAD_MISSES, "MEM_LOAD_UOPS_RETIRED.L1_MISS", 0x08d1},
                {PMU_COUNT_LOADS, "MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0},
                {PMU_COUNT_STORES, "MEM_UOPS_RETIRED.ALL_STORES", 0x82d0},
                {PMU_COUNT_L1_MISSES, "MEM_LOAD_UOPS_RETIRED.L1_MISS", 0x08d1},
                {PMU_COUNT_L2_MISSES, "MEM_LOAD_UOPS_RETIRED.L2_MISS", 0x10d1},
                INTEL_LLC,
        },
};

static const struct pmu_codes zen1 = {
        AMD_JSON "amdzen1/memory.json, cache.json, recommended.json (all_dc_accesses)",
        {
                ZEN,
                {PMU_COUNT_L1_MISSES, "ls_mab_alloc (loads, stores)", 0x0341},
        },
};

static const struct pmu_codes zen2 = {
        AMD_JSON "amdzen2/memory.json (ls_refills_from_sys), cache.json, recommended.json",
        {
                ZEN,
                {PMU_COUNT_L1_MISSES, "ls_refills_from_sys (all sources)", 0x5b43},
                {PMU_COUNT_LLC_MISSES, "ls_refills_from_sys (DRAM, caches of another die)", 0x5843},
        },
};

static const struct pmu_codes zen3 = {
        AMD_JSON "amdzen3/memory.json (ls_any_fills_from_sys), cache.json, recommended.json",
        {
                ZEN,
                {PMU_COUNT_L1_MISSES, "ls_any_fills_from_sys (all sources)", 0x5f44},
                {PMU_COUNT_LLC_MISSES, "ls_any_fills_from_sys (beyond the CCX)", 0x5c44},
        },
};

static const struct pmu_codes zen4 = {
        AMD_JSON
        "amdzen4/cache.json (ls_any_fills_from_sys), amdzen5/load-store.json, l2-cache.json, "
        "recommended.json",
        {
                ZEN,
                {PMU_COUNT_L1_MISSES, "ls_any_fills_from_sys.all", 0xff44},
                {PMU_COUNT_LLC_MISSES, "ls_any_fills_from_sys (beyond the CCX)", 0xdc44},
        },
};

struct range {
	unsigned first, last;
};

#define END                                                                                        \
	{                                                                                          \
		1, 0                                                                               \
	} /* behind the last of some ranges */
#define ANY                                                                                        \
	{                                                                                          \
		0, 15                                                                              \
	} /* every stepping */

struct microarchitecture {
	const char *name;
	enum pmu_vendor vendor;
	unsigned family;
	struct range models[8], steppings;
	struct {
		const char *pmu;
		const struct pmu_codes *codes;
	} parts[2];
};

static const struct microarchitecture table[] = {
        {"Skylake", PMU_INTEL, 6,
                {{0x4e, 0x4e}, {0x5e, 0x5e}, {0x8e, 0x8e}, {0x9e, 0x9e}, {0xa5, 0xa6}, END}, ANY,
                {{"cpu", &skylake}}},
        {"Skylake server", PMU_INTEL, 6, {{0x55, 0x55}, END}, {0, 4}, {{"cpu", &skylake}}},
        {"Cascade Lake", PMU_INTEL, 6, {{0x55, 0x55}, END}, {5, 15}, {{"cpu", &skylake}}},
        {"Ice Lake", PMU_INTEL, 6, {{0x7d, 0x7e}, END}, ANY, {{"cpu", &skylake}}},
        {"Tiger Lake", PMU_INTEL, 6, {{0x8c, 0x8d}, END}, ANY, {{"cpu", &skylake}}},
        {"Rocket Lake", PMU_INTEL, 6, {{0xa7, 0xa7}, END}, ANY, {{"cpu", &skylake}}},
        {"Ice Lake server", PMU_INTEL, 6, {{0x6a, 0x6a}, {0x6c, 0x6c}, END}, ANY,
                {{"cpu", &skylake}}},
        {"Sapphire Rapids", PMU_INTEL, 6, {{0x8f, 0x8f}, END}, ANY, {{"cpu", &golden_cove}}},
        {"Emerald Rapids", PMU_INTEL, 6, {{0xcf, 0xcf}, END}, ANY, {{"cpu", &golden_cove}}},
        {"Granite Rapids", PMU_INTEL, 6, {{0xad, 0xae}, END}, ANY, {{"cpu", &golden_cove}}},
        {"Alder Lake", PMU_INTEL, 6, {{0x97, 0x97}, {0x9a, 0x9a}, END}, ANY,
                {{"cpu_core", &golden_cove}, {"cpu_atom", &gracemont}}},
        {"Raptor Lake", PMU_INTEL, 6, {{0xb7, 0xb7}, {0xba, 0xba}, {0xbf, 0xbf}, END}, ANY,
                {{"cpu_core", &golden_cove}, {"cpu_atom", &gracemont}}},
        {"Alder Lake-N", PMU_INTEL, 6, {{0xbe, 0xbe}, END}, ANY, {{"cpu", &gracemont}}},
        {"Zen 1", PMU_AMD, 0x17, {{0x00, 0x2f}, {0x50, 0x5f}, END}, ANY, {{"cpu", &zen1}}},
        {"Zen 2", PMU_AMD, 0x17, {{0x30, 0x4f}, {0x60, 0x7f}, {0x90, 0x91}, {0xa0, 0xaf}, END}, ANY,
                {{"cpu", &zen2}}},
        {"Zen 3", PMU_AMD, 0x19, {{0x00, 0x0f}, {0x20, 0x5f}, END}, ANY, {{"cpu", &zen3}}},
        {"Zen 4", PMU_AMD, 0x19, {{0x10, 0x1f}, {0x60, 0xaf}, END}, ANY, {{"cpu", &zen4}}},
        {"Zen 5", PMU_AMD, 0x1a, {{0x00, 0x2f}, {0x40, 0x4f}, {0x60, 0x7f}, END}, ANY,
                {{"cpu", &zen4}}},
};

static bool within(struct range range, unsigned value)
{
	return range.first <= value && value <= range.last;
}

static bool is_model(const struct microarchitecture *row, unsigned model)
{
	for (const struct range *range = row->models; range->first <= range->last; range++)
		if (within(*range, model))
			return true;
	return false;
}

static const struct microarchitecture *row_of(const struct pmu_machine *machine)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].vendor == machine->vendor && table[i].family == machine->family &&
		        is_model(&table[i], machine->model) &&
		        within(table[i].steppings, machine->stepping))
			return &table[i];
	return NULL;
}

const struct pmu_codes *pmu_codes_of(const struct pmu_machine *machine, const char *name)
{
	const struct microarchitecture *row = row_of(machine);

	for (unsigned i = 0; row && i < 2 && row->parts[i].pmu; i++)
		if (!strcmp(row->parts[i].pmu, name))
			return row->parts[i].codes;
	return NULL;
}

const char *pmu_microarchitecture(const struct pmu_machine *machine)
{
	const struct microarchitecture *row = row_of(machine);

	return row ? row->name : NULL;
}
