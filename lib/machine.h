/* SPDX-License-Identifier: MIT */
#ifndef MTL_MACHINE_H
#define MTL_MACHINE_H

/*
 * Reading a machine's caches: header-only like cleanup.h, so that both programs read them in one
 * way and the library itself stays pure. root "" or NULL is this machine; of another one below a
 * directory only files are read, not the CPU that runs this.
 *
 * What counts, in this order: a saved answer of `mtl probe` of this very CPU; sysfs; CPUID.
 */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "cache_geometry.h"
#include "cleanup.h"
#include "json_fields.h"
#include "regular_file.h"

#define MACHINE_STATE "/var/lib/mtl"

static inline bool machine_line(const char *path, char *ret_text, size_t size)
{
	_cleanup_fclose_ FILE *file = regular_file_open(path);

	if (!file || !fgets(ret_text, (int)size, file))
		return false;
	ret_text[strcspn(ret_text, "\n")] = '\0';
	return true;
}

static inline bool machine_cache_text(
        void *root, unsigned index, const char *name, char *ret_text, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu0/cache/index%u/%s",
	        (const char *)root, index, name);
	return machine_line(path, ret_text, size);
}

static inline bool machine_cpuid(
        void *userdata, uint32_t leaf, uint32_t subleaf, uint32_t ret_registers[4])
{
	(void)userdata;
#if defined(__x86_64__) || defined(__i386__)
	return __get_cpuid_count(leaf, subleaf, &ret_registers[0], &ret_registers[1],
	        &ret_registers[2], &ret_registers[3]);
#else
	(void)leaf, (void)subleaf, (void)ret_registers;
	return false;
#endif
}

/* Also without the file: then nothing is known of the CPU. */
static inline struct cpu_identity machine_identity(const char *root)
{
	struct cpu_identity identity = {0};
	_cleanup_fclose_ FILE *file = NULL;
	char path[PATH_MAX], line[4096];

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root ?: "");
	file = regular_file_open(path);
	while (file && fgets(line, sizeof(line), file) && *line != '\n')
		cpu_identity_line(&identity, line);
	return identity;
}

/*
 * Where mtl keeps what it found out about this machine: $STATE_DIRECTORY (systemd), for root
 * /var/lib/mtl, for others $XDG_STATE_HOME/mtl or ~/.local/state/mtl; below a root always
 * var/lib/mtl. -ENOENT: there is no home. -ENAMETOOLONG.
 */
static inline int machine_state_directory(const char *root, char *ret_path, size_t size)
{
	const char *given = getenv("STATE_DIRECTORY"), *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	int n;

	if (root && *root)
		n = snprintf(ret_path, size, "%s%s", root, MACHINE_STATE);
	else if (given && *given == '/')
		n = snprintf(ret_path, size, "%.*s", (int)strcspn(given, ":"), given);
	else if (geteuid() == 0)
		n = snprintf(ret_path, size, "%s", MACHINE_STATE);
	else if (state && *state == '/')
		n = snprintf(ret_path, size, "%s/mtl", state);
	else if (home && *home == '/')
		n = snprintf(ret_path, size, "%s/.local/state/mtl", home);
	else
		return -ENOENT;
	return (size_t)n < size ? 0 : -ENAMETOOLONG;
}

static inline int machine_caches_probed_in(const char *directory,
        const struct cpu_identity *identity, struct cache_geometry *ret_geometry)
{
	_cleanup_json_ struct json_object *object = NULL;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/probe.json", directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (access(path, R_OK) < 0)
		return -errno;
	if (!regular_file_is(path))
		return -EBADMSG;
	object = json_object_from_file(path);
	return object ? cache_geometry_from_probe(object, identity, ret_geometry) : -EBADMSG;
}

/* What was measured, by whoever asks or by root. Negative errno: nothing of this CPU. */
static inline int machine_caches_probed(const char *root, struct cache_geometry *ret_geometry)
{
	struct cpu_identity identity = machine_identity(root);
	char path[PATH_MAX];
	int r = machine_state_directory(root, path, sizeof(path));

	r = r < 0 ? r : machine_caches_probed_in(path, &identity, ret_geometry);
	if (r < 0 && !(root && *root))
		r = machine_caches_probed_in(MACHINE_STATE, &identity, ret_geometry);
	return r;
}

/* What the machine says of itself. -ENOENT: nothing. */
static inline int machine_caches_said(const char *root, struct cache_geometry *ret_geometry)
{
	struct cache_geometry cpuid;
	int r = cache_geometry_from_sysfs(machine_cache_text, (void *)(root ?: ""), ret_geometry);

	if (root && *root)
		return r;
	if (cache_geometry_from_cpuid(machine_cpuid, NULL, &cpuid) < 0)
		return r;
	if (r < 0)
		*ret_geometry = cpuid;
	ret_geometry->tlb_entries = cpuid.tlb_entries;
	return 0;
}

static inline int machine_caches(const char *root, struct cache_geometry *ret_geometry)
{
	return machine_caches_probed(root, ret_geometry) < 0
	               ? machine_caches_said(root, ret_geometry)
	               : 0;
}

#endif
