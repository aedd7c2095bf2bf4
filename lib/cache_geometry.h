/* SPDX-License-Identifier: MIT */
#ifndef MTL_CACHE_GEOMETRY_H
#define MTL_CACHE_GEOMETRY_H

/* What a machine says its data caches are, and what `mtl probe` found them to be. For the programs;
 * not part of the library's contract. lib/machine.h has what reads the machine for it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_LEVELS_MAX 8     /* numbered from 1 to it */
#define CACHE_BYTES_MIN 1024.0 /* what is smaller is no data cache but a mistake, or made up */
#define CACHE_TYPE_SIZE 16

struct json_object;

enum cache_source { CACHE_FROM_NOTHING, CACHE_FROM_SYSFS, CACHE_FROM_CPUID, CACHE_FROM_PROBE };

/* 0: not known. */
struct cache_level {
	unsigned level;
	char type[CACHE_TYPE_SIZE]; /* "Data", "Unified" */
	double size_bytes;
	double named_bytes; /* that the machine names, where what could be had counts instead; else 0 */
	unsigned ways, sets, line_bytes;
};

/* Levels ascending, one of each, none for instructions only. */
struct cache_geometry {
	enum cache_source source;
	struct cache_level levels[CACHE_LEVELS_MAX];
	size_t n;
	unsigned tlb_entries; /* first level, for data in 4 KiB pages; 0: not known */
};

/* What the CPU is, as /proc/cpuinfo has it; "" where it does not say. */
struct cpu_identity {
	char name[96]; /* "model name" */
	char vendor[32], family[16], model[16], stepping[16], microcode[32];
	bool hypervisor;
};

/* The first line of cpu0/cache/index<index>/<name>, without its end; false: there is none. */
typedef bool (*cache_text_function)(
        void *userdata, unsigned index, const char *name, char *ret_text, size_t size);

/* eax, ebx, ecx, edx of a leaf; false: there is no such leaf. */
typedef bool (*cpuid_function)(
        void *userdata, uint32_t leaf, uint32_t subleaf, uint32_t ret_registers[4]);

/* "sysfs", "cpuid", "probe", "none". */
const char *cache_source_name(enum cache_source source);

/* -ENOENT: it names no level with a size. */
int cache_geometry_from_sysfs(
        cache_text_function text, void *userdata, struct cache_geometry *ret_geometry);
int cache_geometry_from_cpuid(
        cpuid_function cpuid, void *userdata, struct cache_geometry *ret_geometry);

/* What a saved answer of `mtl probe` (docs/PROTOCOL.md, Probe) says: measured where it differs from
 * the prediction. -ESTALE: of another CPU; -EBADMSG: no such answer. */
int cache_geometry_from_probe(struct json_object *object, const struct cpu_identity *identity,
        struct cache_geometry *ret_geometry);

/* That level, 0: the last; NULL: there is none. */
const struct cache_level *cache_geometry_level(
        const struct cache_geometry *geometry, unsigned level);

/* Of a level whose size is what could be had: a sentence on that; false: it is what it is. */
bool cache_level_doubt(const struct cache_level *level, char *ret_text, size_t size);

/* A level from 1 to CACHE_LEVELS_MAX of CACHE_BYTES_MIN or more: others are ignored, whoever says
 * them. */
bool cache_level_is_plausible(const struct cache_level *level);

/* sets x line: lines so far apart share a set. 0: not known. */
double cache_aliasing_stride(const struct cache_level *level);

/* One line of /proc/cpuinfo. */
void cpu_identity_line(struct cpu_identity *identity, const char *line);

#endif
