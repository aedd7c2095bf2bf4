/* SPDX-License-Identifier: MIT */
/* Geometry of caches from sysfs, from CPUID, from a saved probe; who the CPU is. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_root.h"
#include "machine.h"

#define KIB 1024.0

/* --- CPUID, as machines of that kind have it */

struct leaf {
	uint32_t leaf, subleaf, r[4];
};

struct machine {
	const struct leaf *leaves;
	size_t n;
};

/* Core i7-9700: 8 cores, L3 12M in 12 ways. */
static const struct leaf intel[] = {
        {4, 0, {0x1c004121, 0x01c0003f, 0x3f, 0}},
        {4, 1, {0x1c004122, 0x01c0003f, 0x3f, 0}},
        {4, 2, {0x1c004143, 0x00c0003f, 0x3ff, 0}},
        {4, 3, {0x1c03c163, 0x02c0003f, 0x3fff, 6}},
        {4, 4, {0, 0, 0, 0}},
        {0x18, 0, {3, 0, 0, 0}},
        {0x18, 1, {0, 0x00080001, 8, 0x4122}}, /* instructions */
        {0x18, 2, {0, 0x00040001, 16, 0x4121}},
};

/* EPYC of family 19h: 32K:8, 512K:8, 32M:16. */
static const struct leaf amd[] = {
        {0x80000005, 0, {0xff40ff40, 0xff40ff40, 0x20080140, 0x20080140}},
        {0x80000006, 0, {0x48002200, 0x68004200, 0x02006140, 0x08009140}},
        {0x8000001d, 0, {0x4121, 0x01c0003f, 0x3f, 0}},
        {0x8000001d, 1, {0x4122, 0x01c0003f, 0x3f, 0}},
        {0x8000001d, 2, {0x4143, 0x01c0003f, 0x3ff, 2}},
        {0x8000001d, 3, {0x3c163, 0x03c0003f, 0x7fff, 1}},
        {0x8000001d, 4, {0, 0, 0, 0}},
};

/* A virtual machine on family 1Ah whose hypervisor empties the leaves of caches. */
static const struct leaf emptied[] = {
        {0x80000005, 0, {0xff60ff40, 0xff60ff40, 0x300c0140, 0x20080140}},
        {0x80000006, 0, {0x40802040, 0x60804040, 0x04006140, 0x0fe09140}},
        {0x8000001d, 0, {0, 0, 0, 0}},
};

static bool fake_cpuid(void *userdata, uint32_t leaf, uint32_t subleaf, uint32_t ret_registers[4])
{
	const struct machine *machine = userdata;

	for (size_t i = 0; i < machine->n; i++) {
		if (machine->leaves[i].leaf != leaf || machine->leaves[i].subleaf != subleaf)
			continue;
		memcpy(ret_registers, machine->leaves[i].r, sizeof(machine->leaves[i].r));
		return true;
	}
	return false;
}

static struct cache_geometry geometry_of(const struct leaf *leaves, size_t n)
{
	struct machine machine = {leaves, n};
	struct cache_geometry geometry;

	assert_int_equal(cache_geometry_from_cpuid(fake_cpuid, &machine, &geometry), 0);
	assert_int_equal(geometry.source, CACHE_FROM_CPUID);
	return geometry;
}

#define GEOMETRY_OF(leaves) geometry_of(leaves, sizeof(leaves) / sizeof(leaves[0]))

static void assert_level(const struct cache_geometry *geometry, unsigned level, const char *type,
        double size, unsigned ways, unsigned sets)
{
	const struct cache_level *found = cache_geometry_level(geometry, level);

	assert_non_null(found);
	assert_int_equal(found->level, level);
	assert_string_equal(found->type, type);
	assert_true(found->size_bytes == size);
	assert_int_equal(found->ways, ways);
	assert_int_equal(found->sets, sets);
	assert_true(cache_aliasing_stride(found) == sets * 64.0);
}

static void cpuid_of_intel(void **state)
{
	struct cache_geometry geometry = GEOMETRY_OF(intel);

	(void)state;
	assert_int_equal(geometry.n, 3);
	assert_level(&geometry, 1, "Data", 32 * KIB, 8, 64);
	assert_level(&geometry, 2, "Unified", 256 * KIB, 4, 1024);
	assert_level(&geometry, 3, "Unified", 12 * 1024 * KIB, 12, 16384);
	assert_int_equal(geometry.tlb_entries, 64);
	assert_ptr_equal(cache_geometry_level(&geometry, 0), &geometry.levels[2]);
	assert_null(cache_geometry_level(&geometry, 4));
}

static void cpuid_of_amd(void **state)
{
	struct cache_geometry geometry = GEOMETRY_OF(amd);

	(void)state;
	assert_int_equal(geometry.n, 3);
	assert_level(&geometry, 1, "Data", 32 * KIB, 8, 64);
	assert_level(&geometry, 2, "Unified", 512 * KIB, 8, 1024);
	assert_level(&geometry, 3, "Unified", 32768 * KIB, 16, 32768);
	assert_int_equal(geometry.tlb_entries, 64);
}

static void cpuid_that_is_emptied(void **state)
{
	struct cache_geometry geometry = GEOMETRY_OF(emptied);

	(void)state;
	assert_int_equal(geometry.n, 3);
	assert_level(&geometry, 1, "Data", 48 * KIB, 12, 64);
	assert_level(&geometry, 2, "Unified", 1024 * KIB, 8, 2048);
	assert_level(&geometry, 3, "Unified", 508 * 1024 * KIB, 0, 0);
	assert_int_equal(geometry.tlb_entries, 96);
}

static void cpuid_that_says_nothing(void **state)
{
	struct machine machine = {NULL, 0};
	struct cache_geometry geometry = {.n = 7};

	(void)state;
	assert_int_equal(cache_geometry_from_cpuid(fake_cpuid, &machine, &geometry), -ENOENT);
	assert_int_equal(geometry.n, 7);
}

/* --- sysfs */

static void fake_text(unsigned index, const char *name, const char *text)
{
	char path[96];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu0/cache/index%u/%s", index, name);
	assert_int_equal(fake_file(path, text), 0);
}

static void fake_level(unsigned index, const char *level, const char *type, const char *size,
        const char *ways, const char *sets)
{
	fake_text(index, "level", level);
	fake_text(index, "type", type);
	fake_text(index, "size", size);
	fake_text(index, "ways_of_associativity", ways);
	fake_text(index, "number_of_sets", sets);
	fake_text(index, "coherency_line_size", "64\n");
}

static void sysfs_of_amd(void **state)
{
	struct cache_geometry geometry;

	(void)state;
	fake_level(0, "1\n", "Data\n", "48K\n", "12\n", "64\n");
	fake_level(1, "1\n", "Instruction\n", "32K\n", "8\n", "64\n");
	fake_level(2, "3\n", "Unified\n", "32768K\n", "16\n", "32768\n");
	fake_level(3, "2\n", "Unified\n", "1024K\n", "16\n", "1024\n");
	assert_int_equal(machine_caches(fake_root, &geometry), 0);
	assert_int_equal(geometry.source, CACHE_FROM_SYSFS);
	assert_int_equal(geometry.n, 3);
	assert_level(&geometry, 1, "Data", 48 * KIB, 12, 64);
	assert_level(&geometry, 2, "Unified", 1024 * KIB, 16, 1024);
	assert_level(&geometry, 3, "Unified", 32768 * KIB, 16, 32768);
}

static void sysfs_follows_what_is_missing(void **state)
{
	struct cache_geometry geometry;

	(void)state;
	fake_level(0, "1\n", "Data\n", "32K\n", "8\n", "");
	fake_level(1, "2\n", "Unified\n", "512K\n", "", "1024\n");
	fake_level(2, "3\n", "Unified\n", "lots\n", "16\n", "16384\n");
	fake_level(3, "4\n", "Unified\n", "inf\n", "16\n", "16384\n");
	assert_int_equal(machine_caches(fake_root, &geometry), 0);
	assert_int_equal(geometry.n, 2);
	assert_level(&geometry, 1, "Data", 32 * KIB, 8, 64);
	assert_level(&geometry, 2, "Unified", 512 * KIB, 8, 1024);
}

/* Not even where it leaves others to be believed. */
static void sysfs_is_not_believed_everything(void **state)
{
	static const char *const levels[] = {
	        "0\n", "9\n", "-1\n", "2147483648\n", "4294967297\n", "18446744073709551617\n"};
	static const char *const sizes[] = {"0K\n", "7\n", "1023\n", "-32K\n"};
	struct cache_geometry geometry;

	(void)state;
	fake_level(0, "2\n", "Unified\n", "1K\n", "1\n", "16\n");
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		fake_level(1, levels[i], "Unified\n", "32K\n", "8\n", "64\n");
		assert_int_equal(machine_caches(fake_root, &geometry), 0);
		assert_int_equal(geometry.n, 1);
		assert_level(&geometry, 2, "Unified", KIB, 1, 16);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fake_level(1, "1\n", "Unified\n", sizes[i], "8\n", "64\n");
		assert_int_equal(machine_caches(fake_root, &geometry), 0);
		assert_int_equal(geometry.n, 1);
	}
	fake_level(1, "8\n", "Unified\n", "32K\n", "4294967304\n", "64\n");
	assert_int_equal(machine_caches(fake_root, &geometry), 0);
	assert_level(&geometry, 8, "Unified", 32 * KIB, 8, 64);
}

/* The CPU that runs this has nothing to say of another machine. */
static void nothing_below_a_root(void **state)
{
	struct cache_geometry geometry;

	(void)state;
	assert_int_equal(machine_caches(fake_root, &geometry), -ENOENT);
}

/* --- who */

#define CPUINFO                                                                                    \
	"processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n"              \
	"model name\t: AMD EPYC\nstepping\t: 1\nmicrocode\t: 0xb002110\nflags\t\t: fpu %s lm\n\n"  \
	"processor\t: 1\nvendor_id\t: Other\n"

static void identity_of_cpuinfo(void **state)
{
	struct cpu_identity identity;
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), CPUINFO, "hypervisor");
	assert_int_equal(fake_file("proc/cpuinfo", text), 0);
	identity = machine_identity(fake_root);
	assert_string_equal(identity.vendor, "AuthenticAMD");
	assert_string_equal(identity.family, "26");
	assert_string_equal(identity.model, "2");
	assert_string_equal(identity.stepping, "1");
	assert_string_equal(identity.microcode, "0xb002110");
	assert_true(identity.hypervisor);
	snprintf(text, sizeof(text), CPUINFO, "vme");
	assert_int_equal(fake_file("proc/cpuinfo", text), 0);
	assert_false(machine_identity(fake_root).hypervisor);
}

/* --- saved answers */

#define CPU                                                                                        \
	"{\"vendor\":\"AuthenticAMD\",\"family\":\"26\",\"model\":\"2\",\"stepping\":\"1\","       \
	"\"microcode\":\"0xb002110\",\"hypervisor\":true}"
#define LEVEL(level, size, ways, onset, capacity, verdict)                                         \
	"{\"level\":" level ",\"type\":\"Unified\",\"size_bytes\":" size ",\"ways\":" ways         \
	",\"line_bytes\":64,\"measured_onset\":" onset ",\"measured_capacity_bytes\":" capacity    \
	",\"verdict\":\"" verdict "\"}"

static void save(const char *cpu, const char *levels)
{
	char text[2048];

	snprintf(text, sizeof(text), CPUINFO, "hypervisor");
	assert_int_equal(fake_file("proc/cpuinfo", text), 0);
	snprintf(text, sizeof(text),
	        "{\"cpu\":%s,\"levels\":[%s],\"tlb\":{\"measured_entries\":null,"
	        "\"predicted_entries\":96}}",
	        cpu, levels);
	assert_int_equal(fake_file("var/lib/mtl/probe.json", text), 0);
}

static void a_saved_probe_counts_first(void **state)
{
	char doubt[192];
	struct cache_geometry geometry;

	(void)state;
	fake_level(0, "1\n", "Data\n", "32K\n", "8\n", "64\n");
	save(CPU, LEVEL("1", "49152", "12", "13", "40000", "confirmed") "," LEVEL(
	                  "2", "1048576", "8", "17", "900000", "differs") "," LEVEL("3",
	                  "532676608", "null", "null", "2097152",
	                  "not-measurable") "," LEVEL("4", "7", "8", "9", "null", "confirmed"));
	assert_int_equal(machine_caches(fake_root, &geometry), 0);
	assert_int_equal(geometry.source, CACHE_FROM_PROBE);
	assert_int_equal(geometry.n, 3);
	assert_level(&geometry, 1, "Unified", 48 * KIB, 12, 64);
	assert_level(&geometry, 2, "Unified", 1024 * KIB, 16, 1024);
	assert_level(&geometry, 3, "Unified", 2048 * KIB, 0, 0);
	assert_false(cache_level_doubt(&geometry.levels[0], doubt, sizeof(doubt)));
	assert_false(cache_level_doubt(&geometry.levels[1], doubt, sizeof(doubt)));
	assert_true(cache_level_doubt(&geometry.levels[2], doubt, sizeof(doubt)));
	assert_string_equal(doubt,
	        "of L3, which is said to have 508M, 2M could be had when `mtl probe` ran: others' "
	        "use of it and a wrong size look alike");
	assert_int_equal(geometry.tlb_entries, 96);
}

static void a_probe_of_another_cpu_does_not(void **state)
{
	struct cache_geometry geometry;

	(void)state;
	fake_level(0, "1\n", "Data\n", "32K\n", "8\n", "64\n");
	save("{\"vendor\":\"AuthenticAMD\",\"family\":\"25\",\"model\":\"2\",\"stepping\":\"1\","
	     "\"microcode\":\"0xb002110\",\"hypervisor\":true}",
	        LEVEL("1", "49152", "12", "13", "40000", "confirmed"));
	assert_int_equal(machine_caches_probed(fake_root, &geometry), -ESTALE);
	assert_int_equal(machine_caches(fake_root, &geometry), 0);
	assert_int_equal(geometry.source, CACHE_FROM_SYSFS);
}

static void what_is_no_probe_does_not(void **state)
{
	static const char *const texts[] = {"", "{", "[]", "null", "{\"cpu\":1,\"levels\":[]}",
	        "{\"cpu\":" CPU "}", "{\"cpu\":" CPU ",\"levels\":[]}",
	        "{\"cpu\":" CPU ",\"levels\":[1,{},{\"level\":-1,\"size_bytes\":1e99}]}"};
	struct cache_geometry geometry;

	(void)state;
	save(CPU, "");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(fake_file("var/lib/mtl/probe.json", texts[i]), 0);
		assert_true(machine_caches_probed(fake_root, &geometry) < 0);
	}
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(cpuid_of_intel),
	        cmocka_unit_test(cpuid_of_amd),
	        cmocka_unit_test(cpuid_that_is_emptied),
	        cmocka_unit_test(cpuid_that_says_nothing),
	        IN_ROOT(sysfs_of_amd),
	        IN_ROOT(sysfs_follows_what_is_missing),
	        IN_ROOT(sysfs_is_not_believed_everything),
	        IN_ROOT(nothing_below_a_root),
	        IN_ROOT(identity_of_cpuinfo),
	        IN_ROOT(a_saved_probe_counts_first),
	        IN_ROOT(a_probe_of_another_cpu_does_not),
	        IN_ROOT(what_is_no_probe_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
