/* SPDX-License-Identifier: MIT */
/*
 * Geometry of caches, from the texts of sysfs or the registers of CPUID.
 *
 * A cache of S bytes in w ways of lines of l bytes has S / (w l) sets. Any of the four follows from
 * the others; what stays unknown is 0.
 *
 * CPUID has it in leaf 4 (Intel) or 0x8000001D (AMD), a subleaf a cache:
 *
 *     eax  4..0 type (0 none, 1 data, 2 instructions, 3 both), 7..5 level
 *     ebx  31..22 ways - 1, 21..12 partitions - 1, 11..0 line - 1        ecx  sets - 1
 *
 * Hypervisors may leave those empty and pass AMD's older leaves on, in which ways are a code:
 *
 *     0x80000005 ecx  31..24 KiB, 23..16 ways (255: all in one set), 7..0 line           (L1 data)
 *                ebx  23..16 entries of the first level TLB for data in 4 KiB pages
 *     0x80000006 ecx  31..16 KiB, 15..12 code of ways, 7..0 line                              (L2)
 *                edx  31..18 x 512 KiB, 15..12 code of ways, 7..0 line                        (L3)
 *
 * Intel's TLBs are in leaf 0x18: eax last subleaf; ebx bit 0 for 4 KiB pages, 31..16 ways; ecx
 * sets; edx 4..0 type (1 data, 3 both, 4 loads), 7..5 level.
 *
 * What CPUID says in a virtual machine is what its hypervisor wants it to say.
 */

#include "cache_geometry.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBLEAVES 32
#define INTEL_CACHES 4
#define INTEL_TLBS 0x18
#define AMD_CACHES 0x8000001d
#define AMD_L1 0x80000005
#define AMD_L2_L3 0x80000006
#define ALL_WAYS 255

enum { EAX, EBX, ECX, EDX, REGISTERS };

static unsigned bits(uint32_t value, unsigned high, unsigned low)
{
	return (unsigned)((uint64_t)value >> low & ((UINT64_C(1) << (high - low + 1)) - 1));
}

const char *cache_source_name(enum cache_source source)
{
	static const char *const names[] = {[CACHE_FROM_NOTHING] = "none",
	        [CACHE_FROM_SYSFS] = "sysfs",
	        [CACHE_FROM_CPUID] = "cpuid",
	        [CACHE_FROM_PROBE] = "probe"};

	return names[source];
}

static void complete(struct cache_level *level)
{
	double way = (double)level->sets * level->line_bytes;

	if (level->size_bytes == 0)
		level->size_bytes = way * level->ways;
	else if (level->sets == 0 && level->ways && level->line_bytes)
		level->sets = (unsigned)fmin(
		        level->size_bytes / level->ways / level->line_bytes, UINT_MAX);
	else if (level->ways == 0 && way > 0)
		level->ways = (unsigned)fmin(level->size_bytes / way, UINT_MAX);
}

bool cache_level_is_plausible(const struct cache_level *level)
{
	return level->level >= 1 && level->level <= CACHE_LEVELS_MAX &&
	       level->size_bytes >= CACHE_BYTES_MIN;
}

/* In its place among the others; the first of a level stays. */
static void add(struct cache_geometry *geometry, struct cache_level level)
{
	size_t at = 0;

	complete(&level);
	if (!cache_level_is_plausible(&level) || geometry->n == CACHE_LEVELS_MAX)
		return;
	while (at < geometry->n && geometry->levels[at].level < level.level)
		at++;
	if (at < geometry->n && geometry->levels[at].level == level.level)
		return;
	memmove(&geometry->levels[at + 1], &geometry->levels[at],
	        (geometry->n - at) * sizeof(level));
	geometry->levels[at] = level;
	geometry->n++;
}

static double size_of(const char *text)
{
	char unit = 0;
	double size = 0;

	if (sscanf(text, "%lf%c", &size, &unit) < 1 || !(size > 0 && size < 0x1p50))
		return 0;
	return size * (unit == 'K' ? 1024.0 : unit == 'M' ? 1048576.0 : 1.0);
}

static unsigned number_of(
        cache_text_function text, void *userdata, unsigned index, const char *name)
{
	unsigned long number;
	char word[32];

	if (!text(userdata, index, name, word, sizeof(word)))
		return 0;
	number = strtoul(word, NULL, 10);
	return number <= UINT_MAX ? (unsigned)number : 0;
}

int cache_geometry_from_sysfs(
        cache_text_function text, void *userdata, struct cache_geometry *ret_geometry)
{
	struct cache_geometry geometry = {.source = CACHE_FROM_SYSFS};

	for (unsigned i = 0; i < 2 * CACHE_LEVELS_MAX; i++) {
		struct cache_level level = {0};
		char size[32];

		if (!text(userdata, i, "type", level.type, sizeof(level.type)) ||
		        !strcmp(level.type, "Instruction") ||
		        !text(userdata, i, "size", size, sizeof(size)))
			continue;
		level.level = number_of(text, userdata, i, "level");
		level.size_bytes = size_of(size);
		level.ways = number_of(text, userdata, i, "ways_of_associativity");
		level.sets = number_of(text, userdata, i, "number_of_sets");
		level.line_bytes = number_of(text, userdata, i, "coherency_line_size");
		if (level.size_bytes > 0)
			add(&geometry, level);
	}
	if (geometry.n == 0)
		return -ENOENT;
	*ret_geometry = geometry;
	return 0;
}

static void add_leaf(
        struct cache_geometry *geometry, cpuid_function cpuid, void *userdata, uint32_t leaf)
{
	static const char *const types[] = {[1] = "Data", [3] = "Unified"};
	uint32_t r[REGISTERS];

	for (unsigned i = 0; i < SUBLEAVES && cpuid(userdata, leaf, i, r); i++) {
		unsigned type = bits(r[EAX], 4, 0), partitions = bits(r[EBX], 21, 12) + 1;
		struct cache_level level = {
		        .level = bits(r[EAX], 7, 5),
		        .ways = bits(r[EBX], 31, 22) + 1,
		        .sets = r[ECX] + 1,
		        .line_bytes = (bits(r[EBX], 11, 0) + 1) * partitions,
		};

		if (type == 0)
			return;
		if (type != 1 && type != 3)
			continue;
		strcpy(level.type, types[type]);
		add(geometry, level);
	}
}

/* 9: as leaf 0x8000001D says; 0: there is no such cache. */
static unsigned ways_of_code(unsigned code, double size_bytes, unsigned line_bytes)
{
	static const unsigned ways[16] = {[1] = 1,
	        [2] = 2,
	        [3] = 3,
	        [4] = 4,
	        [5] = 6,
	        [6] = 8,
	        [8] = 16,
	        [10] = 32,
	        [11] = 48,
	        [12] = 64,
	        [13] = 96,
	        [14] = 128};

	return code == 15 && line_bytes ? (unsigned)(size_bytes / line_bytes) : ways[code];
}

static void add_older(struct cache_geometry *geometry, cpuid_function cpuid, void *userdata)
{
	uint32_t r[REGISTERS];
	struct cache_level l1 = {.level = 1, .type = "Data"}, l2 = {.level = 2, .type = "Unified"},
	                   l3 = {.level = 3, .type = "Unified"};

	if (cpuid(userdata, AMD_L1, 0, r)) {
		l1.size_bytes = bits(r[ECX], 31, 24) * 1024.0;
		l1.line_bytes = bits(r[ECX], 7, 0);
		l1.ways = bits(r[ECX], 23, 16);
		if (l1.ways == ALL_WAYS)
			l1.ways = ways_of_code(15, l1.size_bytes, l1.line_bytes);
		add(geometry, l1);
	}
	if (!cpuid(userdata, AMD_L2_L3, 0, r))
		return;
	l2.size_bytes = bits(r[ECX], 31, 16) * 1024.0;
	l2.line_bytes = bits(r[ECX], 7, 0);
	l2.ways = ways_of_code(bits(r[ECX], 15, 12), l2.size_bytes, l2.line_bytes);
	l3.size_bytes = bits(r[EDX], 31, 18) * 524288.0;
	l3.line_bytes = bits(r[EDX], 7, 0);
	l3.ways = ways_of_code(bits(r[EDX], 15, 12), l3.size_bytes, l3.line_bytes);
	if (bits(r[ECX], 15, 12))
		add(geometry, l2);
	if (bits(r[EDX], 15, 12))
		add(geometry, l3);
}

static unsigned tlb_entries(cpuid_function cpuid, void *userdata)
{
	uint32_t r[REGISTERS];
	unsigned last = 0;

	if (cpuid(userdata, AMD_L1, 0, r) && bits(r[EBX], 23, 16))
		return bits(r[EBX], 23, 16);
	for (unsigned i = 0; i <= last && i < SUBLEAVES && cpuid(userdata, INTEL_TLBS, i, r); i++) {
		unsigned type = bits(r[EDX], 4, 0);

		if (i == 0)
			last = r[EAX];
		if ((type == 1 || type == 3 || type == 4) && bits(r[EDX], 7, 5) == 1 &&
		        bits(r[EBX], 0, 0))
			return bits(r[EBX], 31, 16) * r[ECX];
	}
	return 0;
}

int cache_geometry_from_cpuid(
        cpuid_function cpuid, void *userdata, struct cache_geometry *ret_geometry)
{
	struct cache_geometry geometry = {.source = CACHE_FROM_CPUID};

	add_leaf(&geometry, cpuid, userdata, INTEL_CACHES);
	add_leaf(&geometry, cpuid, userdata, AMD_CACHES);
	add_older(&geometry, cpuid, userdata);
	geometry.tlb_entries = tlb_entries(cpuid, userdata);
	if (geometry.n == 0)
		return -ENOENT;
	*ret_geometry = geometry;
	return 0;
}

const struct cache_level *cache_geometry_level(
        const struct cache_geometry *geometry, unsigned level)
{
	if (level == 0)
		return geometry->n ? &geometry->levels[geometry->n - 1] : NULL;
	for (size_t i = 0; i < geometry->n; i++)
		if (geometry->levels[i].level == level)
			return &geometry->levels[i];
	return NULL;
}

double cache_aliasing_stride(const struct cache_level *level)
{
	return (double)level->sets * level->line_bytes;
}

void cpu_identity_line(struct cpu_identity *identity, const char *line)
{
	const struct {
		const char *name;
		char *text;
		size_t size;
	} fields[] = {
	        {"model name", identity->name, sizeof(identity->name)},
	        {"vendor_id", identity->vendor, sizeof(identity->vendor)},
	        {"cpu family", identity->family, sizeof(identity->family)},
	        {"model", identity->model, sizeof(identity->model)},
	        {"stepping", identity->stepping, sizeof(identity->stepping)},
	        {"microcode", identity->microcode, sizeof(identity->microcode)},
	};
	size_t length = strcspn(line, "\t:");
	const char *value = line + strcspn(line, ":");

	value += strspn(value, ": \t");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strlen(fields[i].name) == length && !strncmp(line, fields[i].name, length) &&
		        !*fields[i].text)
			snprintf(fields[i].text, fields[i].size, "%.*s", (int)strcspn(value, "\n"),
			        value);
	if (!strncmp(line, "flags", length) && strstr(value, " hypervisor"))
		identity->hypervisor = true;
}
