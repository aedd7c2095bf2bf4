/* SPDX-License-Identifier: MIT */
/*
 * Encodings against the vendors' documents. The expected values were taken from the event lists
 * named beside them, event number and unit mask apart, not from the table under test; where libpfm4
 * knows the processor it has to agree (LIBPFM_FORCE_PMU), and where the kernel's sysfs names the
 * same event, that too.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "cleanup.h"
#include "fake_machine.h"
#include "pmu_libpfm.h"
#include "pmu_table.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct expected {
	enum pmu_event_kind kind;
	unsigned event, umask;
};

/* SKL/events/skylake_core.json, SKX, CLX, ICL, ICX, TGL, RKL: EventCode, UMask; PEBS and Data_LA
 * are 1. */
static const struct expected skylake[] = {
        {PMU_LOADS, 0xd0, 0x81},
        {PMU_STORES, 0xd0, 0x82},
        {PMU_LOAD_MISSES, 0xd1, 0x08},
        {PMU_COUNT_LOADS, 0xd0, 0x81},
        {PMU_COUNT_STORES, 0xd0, 0x82},
        {PMU_COUNT_L1_MISSES, 0x51, 0x01},
        {PMU_COUNT_L2_MISSES, 0xf1, 0x1f},
        {PMU_COUNT_LLC_MISSES, 0x2e, 0x41},
};

/* SPR/events/sapphirerapids_core.json, EMR, GNR, ADL/events/alderlake_goldencove_core.json */
static const struct expected golden_cove[] = {
        {PMU_LOADS, 0xd0, 0x81},
        {PMU_STORES, 0xd0, 0x82},
        {PMU_LOAD_MISSES, 0xd1, 0x08},
        {PMU_COUNT_LOADS, 0xd0, 0x81},
        {PMU_COUNT_STORES, 0xd0, 0x82},
        {PMU_COUNT_L1_MISSES, 0x51, 0x01},
        {PMU_COUNT_L2_MISSES, 0x25, 0x1f},
        {PMU_COUNT_LLC_MISSES, 0x2e, 0x41},
};

/* ADL/events/alderlake_gracemont_core.json */
static const struct expected gracemont[] = {
        {PMU_LOADS, 0xd0, 0x81},
        {PMU_STORES, 0xd0, 0x82},
        {PMU_LOAD_MISSES, 0xd1, 0x08},
        {PMU_COUNT_LOADS, 0xd0, 0x81},
        {PMU_COUNT_STORES, 0xd0, 0x82},
        {PMU_COUNT_L1_MISSES, 0xd1, 0x08},
        {PMU_COUNT_L2_MISSES, 0xd1, 0x10},
        {PMU_COUNT_LLC_MISSES, 0x2e, 0x41},
};

/* Linux 6.12 tools/perf/pmu-events/arch/x86/amdzenN/: all_dc_accesses 0x29/0x07 (ls_dispatch 1 + 2
 * + 4), l2_cache_req_stat.ls_rd_blk_c 0x64/0x08; Zen 1 ls_mab_alloc.loads 0x41/0x01, .stores 0x02
 */
static const struct expected zen1[] = {
        {PMU_COUNT_ACCESSES, 0x29, 0x01 | 0x02 | 0x04},
        {PMU_COUNT_L1_MISSES, 0x41, 0x01 | 0x02},
        {PMU_COUNT_L2_MISSES, 0x64, 0x08},
};

/* ls_refills_from_sys 0x43: lcl_l2 1, lcl_cache 2, lcl_dram 8, rmt_cache 0x10, rmt_dram 0x40 */
static const struct expected zen2[] = {
        {PMU_COUNT_ACCESSES, 0x29, 0x01 | 0x02 | 0x04},
        {PMU_COUNT_L1_MISSES, 0x43, 0x01 | 0x02 | 0x08 | 0x10 | 0x40},
        {PMU_COUNT_L2_MISSES, 0x64, 0x08},
        {PMU_COUNT_LLC_MISSES, 0x43, 0x08 | 0x10 | 0x40},
};

/* ls_any_fills_from_sys 0x44: lcl_l2 1, int_cache 2, ext_cache_local 4, mem_io_local 8,
 * ext_cache_remote 0x10, mem_io_remote 0x40 */
static const struct expected zen3[] = {
        {PMU_COUNT_ACCESSES, 0x29, 0x01 | 0x02 | 0x04},
        {PMU_COUNT_L1_MISSES, 0x44, 0x01 | 0x02 | 0x04 | 0x08 | 0x10 | 0x40},
        {PMU_COUNT_L2_MISSES, 0x64, 0x08},
        {PMU_COUNT_LLC_MISSES, 0x44, 0x04 | 0x08 | 0x10 | 0x40},
};

/* The same with alternate_memories 0x80; .all is 0xff. Zen 4 and Zen 5. */
static const struct expected zen4[] = {
        {PMU_COUNT_ACCESSES, 0x29, 0x01 | 0x02 | 0x04},
        {PMU_COUNT_L1_MISSES, 0x44, 0xff},
        {PMU_COUNT_L2_MISSES, 0x64, 0x08},
        {PMU_COUNT_LLC_MISSES, 0x44, 0x04 | 0x08 | 0x10 | 0x40 | 0x80},
};

static const struct processor {
	const char *name, *vendor;
	unsigned family, model, stepping;
	const char *tree;
	struct {
		const char *pmu;
		const struct expected *expected;
		size_t n;
	} parts[2];
} processors[] = {
#define INTEL(name, model, stepping, list)                                                         \
	{                                                                                          \
		name, "GenuineIntel", 6, model, stepping, "intel-server",                          \
		{                                                                                  \
			{                                                                          \
				"cpu", list, LENGTH(list)                                          \
			}                                                                          \
		}                                                                                  \
	}
#define HYBRID(name, model)                                                                        \
	{                                                                                          \
		name, "GenuineIntel", 6, model, 2, "hybrid-laptop",                                \
		{                                                                                  \
			{"cpu_core", golden_cove, LENGTH(golden_cove)},                            \
			{                                                                          \
				"cpu_atom", gracemont, LENGTH(gracemont)                           \
			}                                                                          \
		}                                                                                  \
	}
#define AMD(name, family, model, list)                                                             \
	{                                                                                          \
		name, "AuthenticAMD", family, model, 1, "amd-server",                              \
		{                                                                                  \
			{                                                                          \
				"cpu", list, LENGTH(list)                                          \
			}                                                                          \
		}                                                                                  \
	}
        INTEL("Skylake", 0x4e, 3, skylake),
        INTEL("Skylake", 0x9e, 10, skylake),
        INTEL("Skylake", 0xa6, 0, skylake),
        INTEL("Skylake server", 0x55, 4, skylake),
        INTEL("Cascade Lake", 0x55, 7, skylake),
        INTEL("Cascade Lake", 0x55, 11, skylake),
        INTEL("Ice Lake", 0x7e, 5, skylake),
        INTEL("Tiger Lake", 0x8c, 1, skylake),
        INTEL("Rocket Lake", 0xa7, 1, skylake),
        INTEL("Ice Lake server", 0x6a, 6, skylake),
        INTEL("Sapphire Rapids", 0x8f, 8, golden_cove),
        INTEL("Emerald Rapids", 0xcf, 2, golden_cove),
        INTEL("Granite Rapids", 0xad, 1, golden_cove),
        INTEL("Granite Rapids", 0xae, 1, golden_cove),
        INTEL("Alder Lake-N", 0xbe, 0, gracemont),
        HYBRID("Alder Lake", 0x97),
        HYBRID("Alder Lake", 0x9a),
        HYBRID("Raptor Lake", 0xb7),
        HYBRID("Raptor Lake", 0xba),
        HYBRID("Raptor Lake", 0xbf),
        AMD("Zen 1", 0x17, 0x01, zen1),
        AMD("Zen 1", 0x17, 0x18, zen1),
        AMD("Zen 2", 0x17, 0x31, zen2),
        AMD("Zen 2", 0x17, 0x71, zen2),
        AMD("Zen 3", 0x19, 0x01, zen3),
        AMD("Zen 3", 0x19, 0x21, zen3),
        AMD("Zen 4", 0x19, 0x11, zen4),
        AMD("Zen 4", 0x19, 0x61, zen4),
        AMD("Zen 4", 0x19, 0xa0, zen4),
        AMD("Zen 5", 0x1a, 0x02, zen4),
        AMD("Zen 5", 0x1a, 0x44, zen4),
};

static bool is_prime(uint64_t n)
{
	for (uint64_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

/* What has to hold of every event, whatever the processor. */
static void check_attr(const struct pmu_machine *machine, const struct pmu_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	bool sampled = pmu_event_is_sampled(event->kind), ibs = event->kind == PMU_IBS_OP;

	assert_non_null(event->name);
	assert_non_null(event->source);
	assert_int_equal(attr->size, sizeof(*attr));
	assert_true(attr->disabled);
	assert_false(attr->freq || attr->watermark || attr->inherit);
	assert_int_equal(attr->wakeup_events, sampled); /* else large PEBS hides records from BPF */
	assert_int_equal(attr->sample_type, sampled ? PERF_SAMPLE_ADDR : 0);
	assert_int_equal(attr->exclude_kernel, !ibs); /* IBS: PERF_PMU_CAP_NO_EXCLUDE */
	assert_int_equal(event->period_step, ibs ? 16 : 1);
	assert_int_equal(attr->sample_period % event->period_step, 0);
	assert_true(!sampled || attr->sample_period >= event->least_period);
	if (sampled && event->kind != PMU_PAGE_FAULTS)
		assert_true(is_prime(attr->sample_period / event->period_step));
	assert_true(CPU_COUNT(&event->cpus) > 0);
	assert_true(!pmu_named(machine, event->pmu) ||
	            CPU_EQUAL(&event->cpus, &pmu_named(machine, event->pmu)->cpus));
}

static const struct pmu_event *find(
        const struct pmu_event *events, unsigned n, enum pmu_event_kind kind, const char *pmu)
{
	for (unsigned i = 0; i < n; i++)
		if (events[i].kind == kind && !strcmp(events[i].pmu, pmu))
			return &events[i];
	return NULL;
}

static void check_part(const struct pmu_machine *machine, const struct pmu_event *events,
        unsigned n, const char *name, const struct expected *expected, size_t n_expected)
{
	const struct pmu *pmu = pmu_named(machine, name);
	unsigned of_pmu = 0;

	for (size_t i = 0; i < n_expected; i++) {
		const struct pmu_event *event = find(events, n, expected[i].kind, name);

		assert_non_null(event);
		assert_int_equal(event->attr.type, pmu->type);
		assert_int_equal(event->attr.config, expected[i].event | expected[i].umask << 8);
		assert_int_equal(event->attr.config1, 0);
		assert_int_equal(event->attr.precise_ip, pmu_event_is_sampled(event->kind) ? 2 : 0);
		assert_false(event->needs_aux_leader);
		/* ds.c, precise_datala_hsw(): of these events, only stores tell whether they hit L1 */
		assert_int_equal(event->data_src_tells_misses, event->kind == PMU_STORES);
	}
	for (unsigned i = 0; i < n; i++)
		of_pmu += !strcmp(events[i].pmu, name);
	assert_int_equal(of_pmu, n_expected);
}

static void documented_codes(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(processors); i++) {
		const struct processor *processor = &processors[i];
		_cleanup_free_ struct pmu_machine *machine = NULL;
		_cleanup_free_ struct pmu_event *events = NULL;
		unsigned n;

		fake_machine(processor->tree);
		fake_processor(processor->vendor, processor->family, processor->model,
		        processor->stepping);
		machine = fake_discover();
		assert_string_equal(pmu_microarchitecture(machine), processor->name);
		assert_int_equal(pmu_events(machine, &events, &n), 0);
		for (unsigned k = 0; k < n; k++) {
			check_attr(machine, &events[k]);
			assert_true(k == 0 || events[k - 1].kind <= events[k].kind);
		}
		for (unsigned k = 0; k < 2 && processor->parts[k].pmu; k++)
			check_part(machine, events, n, processor->parts[k].pmu,
			        processor->parts[k].expected, processor->parts[k].n);
		assert_non_null(find(events, n, PMU_PAGE_FAULTS, "software"));
		fake_root_free(NULL);
		fake_root_new(NULL);
	}
}

/* What no row names, and neighbours of rows. */
static void not_in_the_table(void **state)
{
	static const struct {
		const char *vendor;
		unsigned family, model, stepping;
	} others[] = {{"GenuineIntel", 6, 0x3f, 2}, {"GenuineIntel", 6, 0xaa, 4},
	        {"GenuineIntel", 6, 0xaf, 0}, {"GenuineIntel", 15, 0x8f, 8},
	        {"AuthenticAMD", 6, 0x8f, 8}, {"AuthenticAMD", 0x17, 0x92, 0},
	        {"AuthenticAMD", 0x19, 0xb0, 0}, {"AuthenticAMD", 0x1a, 0x50, 0},
	        {"AuthenticAMD", 0x15, 1, 2}, {"HygonGenuine", 0x18, 1, 1}};

	(void)state;
	for (size_t i = 0; i < LENGTH(others); i++) {
		_cleanup_free_ struct pmu_machine *machine = NULL;

		fake_processor(
		        others[i].vendor, others[i].family, others[i].model, others[i].stepping);
		machine = fake_discover();
		assert_null(pmu_microarchitecture(machine));
		assert_null(pmu_codes_of(machine, "cpu"));
	}
}

static void ibs(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL, *older = NULL;
	_cleanup_free_ struct pmu_event *events = NULL, *of_older = NULL;
	const struct pmu_event *event;
	unsigned n;

	(void)state;
	fake_machine("amd-server");
	machine = fake_discover();
	assert_int_equal(pmu_events(machine, &events, &n), 0);
	event = find(events, n, PMU_IBS_OP, "ibs_op");
	assert_int_equal(event->attr.type, 11);
	assert_int_equal(event->attr.config, 1 << 19); /* cnt_ctl: operations, not cycles */
	assert_int_equal(event->attr.precise_ip, 0);
	assert_true(event->data_src_tells_misses);
	assert_true(event->least_period >= 16 && event->least_period % 16 == 0);

	/* A processor that cannot count operations has no cnt_ctl (cnt_ctl_is_visible()). */
	assert_int_equal(
	        remove(fake_path("sys/bus/event_source/devices/ibs_op/format/cnt_ctl")), 0);
	older = fake_discover();
	assert_int_equal(pmu_events(older, &of_older, &n), 0);
	assert_int_equal(find(of_older, n, PMU_IBS_OP, "ibs_op")->attr.config, 0);
}

/* An Intel processor of tomorrow: by sysfs, in a group where the kernel names a leader. */
static void by_sysfs(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;
	_cleanup_free_ struct pmu_event *events = NULL;
	const struct pmu_event *loads, *stores, *atom;
	unsigned n;

	(void)state;
	fake_machine("hybrid-laptop");
	fake_processor("GenuineIntel", 6, 0xaa, 4);
	machine = fake_discover();
	assert_int_equal(pmu_events(machine, &events, &n), 0);
	loads = find(events, n, PMU_LOADS, "cpu_core");
	assert_int_equal(loads->attr.config, 0x1cd);
	assert_int_equal(loads->attr.config1, 3);
	assert_int_equal(loads->attr.type, 4);
	assert_true(loads->needs_aux_leader);
	assert_int_equal(loads->leader.config, 0x8203);
	assert_int_equal(loads->leader.type, 4);
	assert_int_equal(loads->leader.sample_period, 0);
	assert_true(loads->data_src_tells_misses);
	stores = find(events, n, PMU_STORES, "cpu_core");
	assert_int_equal(stores->attr.config, 0x2cd); /* libpfm4 says 0x3cd */
	assert_false(stores->needs_aux_leader);
	atom = find(events, n, PMU_LOADS, "cpu_atom");
	assert_int_equal(atom->attr.config, 0x5d0);
	assert_int_equal(atom->attr.config1, 3);
	assert_int_equal(atom->attr.type, 10);
	assert_false(atom->needs_aux_leader);
	assert_int_equal(find(events, n, PMU_STORES, "cpu_atom")->attr.config, 0x6d0);
}

/* Its counts: the kernel's generic ones, on a hybrid machine with the PMU in the upper half of
 * config. */
static void generic_counts(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;
	_cleanup_free_ struct pmu_event *events = NULL;
	const struct pmu_event *event;
	unsigned n;

	(void)state;
	fake_machine("hybrid-laptop");
	fake_processor("GenuineIntel", 6, 0xaa, 4);
	machine = fake_discover();
	assert_int_equal(pmu_events(machine, &events, &n), 0);
	event = find(events, n, PMU_COUNT_STORES, "cpu_atom");
	assert_int_equal(event->attr.type, PERF_TYPE_HW_CACHE);
	assert_int_equal(event->attr.config, 10ull << 32 | PERF_COUNT_HW_CACHE_OP_WRITE << 8);
	event = find(events, n, PMU_COUNT_LLC_MISSES, "cpu_core");
	assert_int_equal(event->attr.config,
	        4ull << 32 | PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	for (unsigned i = 0; i < n; i++)
		check_attr(machine, &events[i]);
}

static void without_pebs(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;
	_cleanup_free_ struct pmu_event *events = NULL;
	unsigned n;

	(void)state;
	fake_machine("vm-with-counters");
	machine = fake_discover();
	assert_int_equal(pmu_events(machine, &events, &n), 0);
	assert_null(find(events, n, PMU_LOADS, "cpu"));
	assert_non_null(find(events, n, PMU_COUNT_LOADS, "cpu"));
	fake_file("sys/bus/event_source/devices/cpu/caps/max_precise", "1\n");
	free(machine);
	free(events);
	machine = fake_discover();
	assert_int_equal(pmu_events(machine, &events, &n), 0);
	assert_int_equal(find(events, n, PMU_LOADS, "cpu")->attr.precise_ip, 1);
}

static void without_pmu(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;
	_cleanup_free_ struct pmu_event *events = NULL;
	unsigned n;

	(void)state;
	fake_machine("vm-without-pmu");
	machine = fake_discover();
	assert_int_equal(pmu_events(machine, &events, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(events[0].kind, PMU_PAGE_FAULTS);
	assert_int_equal(events[0].attr.type, PERF_TYPE_SOFTWARE);
}

/* --- libpfm4. It asks for the environment once, so each PMU gets a process of its own. */

struct named {
	const char *name;
	unsigned event, umask;
};

static int compare_with_libpfm(const char *pmu, const struct named *named, size_t n)
{
	setenv("LIBPFM_FORCE_PMU", pmu, 1);
	for (size_t i = 0; i < n; i++) {
		uint64_t config = 0, config1 = 1;
		int r = pmu_libpfm_encode(named[i].name, &config, &config1);

		if (r < 0 || config != (named[i].event | named[i].umask << 8) || config1) {
			fprintf(stderr, "%s::%s: %d, %#llx\n", pmu, named[i].name, r,
			        (unsigned long long)config);
			return 1;
		}
	}
	return pmu_libpfm_encode("NO_SUCH_EVENT", &(uint64_t){0}, &(uint64_t){0}) != -ENOENT;
}

static void agrees(const char *pmu, const struct named *named, size_t n)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(compare_with_libpfm(pmu, named, n));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void libpfm_on_intel(void **state)
{
	static const struct named before[] = {
	        {"MEM_INST_RETIRED:ALL_LOADS", 0xd0, 0x81},
	        {"MEM_INST_RETIRED:ALL_STORES", 0xd0, 0x82},
	        {"MEM_LOAD_RETIRED:L1_MISS", 0xd1, 0x08},
	        {"L1D:REPLACEMENT", 0x51, 0x01},
	        {"L2_LINES_IN:ALL", 0xf1, 0x1f},
	        {"LONGEST_LAT_CACHE:MISS", 0x2e, 0x41},
	};
	static const struct named since[] = {
	        {"MEM_INST_RETIRED:ALL_LOADS", 0xd0, 0x81},
	        {"MEM_INST_RETIRED:ALL_STORES", 0xd0, 0x82},
	        {"MEM_LOAD_RETIRED:L1_MISS", 0xd1, 0x08},
	        {"L1D:REPLACEMENT", 0x51, 0x01},
	        {"L2_LINES_IN:ALL", 0x25, 0x1f},
	        {"LONGEST_LAT_CACHE:MISS", 0x2e, 0x41},
	};
	static const char *const pmus[] = {"skl", "skx", "clx", "icl", "icx"};

	(void)state;
	for (size_t i = 0; i < LENGTH(pmus); i++)
		agrees(pmus[i], before, LENGTH(before));
	agrees("spr", since, LENGTH(since));
}

static void libpfm_on_amd(void **state)
{
#define ACCESSES                                                                                   \
	{                                                                                          \
		"LS_DISPATCH:LD_DISPATCH:STORE_DISPATCH:LD_ST_DISPATCH", 0x29, 0x07                \
	}
#define L2_MISSES                                                                                  \
	{                                                                                          \
		"CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C", 0x64, 0x08               \
	}
	static const struct named of_zen1[] = {
	        ACCESSES, L2_MISSES, {"MAB_ALLOCATION_BY_PIPE:DATA_PIPE:ST_PIPE", 0x41, 0x03}};
	static const struct named of_zen2[] = {ACCESSES, L2_MISSES,
	        {"DATA_CACHE_REFILLS_FROM_SYSTEM:MABRESP_LCL_L2:LS_MABRESP_LCL_CACHE:"
	         "LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_CACHE:LS_MABRESP_RMT_DRAM",
	                0x43, 0x5b},
	        {"DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_CACHE:"
	         "LS_MABRESP_RMT_DRAM",
	                0x43, 0x58}};
	static const struct named of_zen3[] = {ACCESSES, L2_MISSES,
	        {"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2:INT_CACHE:EXT_CACHE_LCL:MEM_IO_LCL:"
	         "EXT_CACHE_RMT:MEM_IO_RMT",
	                0x44, 0x5f},
	        {"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:EXT_CACHE_LCL:MEM_IO_LCL:EXT_CACHE_RMT:MEM_IO_"
	         "RMT",
	                0x44, 0x5c}};
	static const struct named of_zen4[] = {ACCESSES, L2_MISSES,
	        {"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:NEAR_CACHE_NEAR_FAR:DRAM_IO_NEAR:FAR_CACHE_NEAR_"
	         "FAR:"
	         "DRAM_IO_FAR:ALT_MEM_NEAR_FAR",
	                0x44, 0xdc}};

	(void)state;
	agrees("amd64_fam17h_zen1", of_zen1, LENGTH(of_zen1));
	agrees("amd64_fam17h_zen2", of_zen2, LENGTH(of_zen2));
	agrees("amd64_fam19h_zen3", of_zen3, LENGTH(of_zen3));
	agrees("amd64_fam19h_zen4", of_zen4, LENGTH(of_zen4));
}

/* A processor that only libpfm4 knows: Haswell and Broadwell, whose loads have another name. */
static int only_libpfm(const char *pmu)
{
	_cleanup_free_ struct pmu_machine *machine = fake_discover();
	_cleanup_free_ struct pmu_event *events = NULL;
	const struct pmu_event *loads, *misses;
	unsigned n;

	setenv("LIBPFM_FORCE_PMU", pmu, 1);
	if (pmu_events(machine, &events, &n) < 0)
		return 1;
	loads = find(events, n, PMU_LOADS, "cpu");
	misses = find(events, n, PMU_LOAD_MISSES, "cpu");
	return !(loads && misses && loads->attr.config == 0x81d0 && misses->attr.config == 0x8d1 &&
	         !strcmp(loads->source, "libpfm4") && loads->attr.precise_ip == 2);
}

static void by_libpfm(void **state)
{
	static const char *const pmus[] = {"hsw", "bdw"};

	(void)state;
	fake_machine("intel-server");
	fake_processor("GenuineIntel", 6, 0x3f, 2);
	for (size_t i = 0; i < LENGTH(pmus); i++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit(only_libpfm(pmus[i]));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

#define rooted(test) cmocka_unit_test_setup_teardown(test, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        rooted(documented_codes),
	        rooted(not_in_the_table),
	        rooted(ibs),
	        rooted(by_sysfs),
	        rooted(generic_counts),
	        rooted(without_pebs),
	        rooted(without_pmu),
	        cmocka_unit_test(libpfm_on_intel),
	        cmocka_unit_test(libpfm_on_amd),
	        rooted(by_libpfm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
