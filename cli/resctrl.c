/* SPDX-License-Identifier: MIT */
/*
 * What the caches of this machine can be divided into, read from resctrl itself.
 *
 * The domains are those that the default group's schemata lists, with whatever ids they have. A bit
 * is worth size / (bits set in the mask), both of the default group: the kernel knows about halved
 * caches (sub-NUMA clusters), size / ways by hand does not. With code and data separated (cdp)
 * there are two lines a level with equal geometry, and a bit taken in either is taken in both, as
 * the kernel sees it. Kernels before 6.7 do not say whether masks may have holes (sparse_masks): a
 * processor that takes an empty mask (min_cbm_bits 0) is AMD's, where they may.
 */

#include "resctrl.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "resctrl_session.h"

/* A number from info/RESOURCE/NAME. */
static int info_number(struct resctrl_session *session, const char *resource, const char *name,
        int base, unsigned *ret_number)
{
	_cleanup_free_ char *text = NULL;
	char path[RESCTRL_PATH], *end;
	unsigned long number;
	int r;

	snprintf(path, sizeof(path), "info/%s/%s", resource, name);
	r = resctrl_read(session->fd, path, &text);
	if (r < 0)
		return r == -ENOENT ? r
		                    : resctrl_fail(session, r, "cannot read %s of resctrl: %s",
		                              path, strerror(-r));
	number = strtoul(text, &end, base);
	if (end == text || (*end != '\n' && *end) || number > UINT_MAX)
		return resctrl_fail(session, -EPROTO,
		        "%s of resctrl says \"%s\", which is no number", path, text);
	*ret_number = (unsigned)number;
	return 0;
}

static int read_limits(
        struct resctrl_session *session, const char *name, struct resctrl_cache *cache)
{
	unsigned sparse = 0;
	int r = info_number(session, name, "cbm_mask", 16, &cache->cbm_mask);

	r = r < 0 ? r : info_number(session, name, "min_cbm_bits", 10, &cache->min_cbm_bits);
	if (r == -ENOENT)
		return resctrl_fail(session, -EPROTO, "info/%s of resctrl is not complete", name);
	if (r < 0)
		return r;
	r = info_number(session, name, "shareable_bits", 16, &cache->shareable_bits);
	if (r < 0 && r != -ENOENT)
		return r;
	r = info_number(session, name, "sparse_masks", 10, &sparse);
	if (r < 0 && r != -ENOENT)
		return r;
	cache->sparse = r == -ENOENT ? cache->min_cbm_bits == 0 : sparse != 0;
	cache->bits = (unsigned)__builtin_popcount(cache->cbm_mask);
	return 0;
}

static struct resctrl_domain *domain_of(struct resctrl_cache *cache, int id)
{
	for (size_t i = 0; i < cache->n_domains; i++)
		if (cache->domains[i].id == id)
			return &cache->domains[i];
	return NULL;
}

static int add_domain(struct resctrl_cache *cache, int id)
{
	struct resctrl_domain *larger =
	        reallocarray(cache->domains, cache->n_domains + 1, sizeof(*cache->domains));

	if (!larger)
		return -ENOMEM;
	cache->domains = larger;
	larger[cache->n_domains] = (struct resctrl_domain){.id = id, .cpus = strdup("")};
	return larger[cache->n_domains++].cpus ? 0 : -ENOMEM;
}

/* Sizes are listed like masks, in the same order. */
static void read_sizes(struct resctrl_session *session, const char *name, const char *masks,
        struct resctrl_cache *cache)
{
	_cleanup_free_ char *text = NULL;
	unsigned long long mask, size;
	int id, r = resctrl_read(session->fd, "size", &text), mask_id;
	const char *at = r < 0 ? NULL : resctrl_line(text, name);

	while (at && resctrl_next(&masks, 16, &mask_id, &mask) &&
	        resctrl_next(&at, 10, &id, &size)) {
		struct resctrl_domain *domain = domain_of(cache, id);

		if (id == mask_id && domain && mask != 0)
			domain->bytes_per_bit = size / (unsigned)__builtin_popcountll(mask);
	}
}

/* From the default group: which domains there are, and what a bit of each is worth. */
static int read_domains(
        struct resctrl_session *session, const char *name, struct resctrl_cache *cache)
{
	_cleanup_free_ char *schemata = NULL;
	unsigned long long mask;
	const char *line, *at;
	int r = resctrl_read(session->fd, "schemata", &schemata), id;

	if (r < 0)
		return resctrl_fail(
		        session, r, "cannot read schemata of resctrl: %s", strerror(-r));
	line = resctrl_line(schemata, name);
	for (at = line; r == 0 && at && resctrl_next(&at, 16, &id, &mask);)
		r = add_domain(cache, id);
	if (r < 0)
		return resctrl_fail(session, r, "out of memory");
	if (cache->n_domains == 0)
		return resctrl_fail(
		        session, -EPROTO, "schemata of resctrl lists no cache for %s", name);
	read_sizes(session, name, line, cache);
	return 0;
}

/* bit_usage, "0=00XXSSEE;1=...", highest bit first: E is another group's alone, P locked. */
static void read_taken(
        struct resctrl_session *session, const char *name, struct resctrl_cache *cache)
{
	_cleanup_free_ char *text = NULL;
	struct resctrl_domain *domain;
	char path[RESCTRL_PATH], *end;

	snprintf(path, sizeof(path), "info/%s/bit_usage", name);
	if (resctrl_read(session->fd, path, &text) < 0)
		return;
	for (char *at = text; isdigit((unsigned char)*at); at = *end == ';' ? end + 1 : end) {
		uint32_t taken = 0;

		domain = domain_of(cache, (int)strtol(at, &end, 10));
		if (*end == '=')
			end++;
		for (; isalnum((unsigned char)*end); end++)
			taken = taken << 1 | (*end == 'E' || *end == 'P');
		if (domain)
			domain->taken |= taken;
	}
}

/* The CPUs of each domain, from sysfs; without it the geometry is good all the same. */
static void note_cpus(struct resctrl_geometry *geometry, int level, int id, const char *cpus)
{
	for (size_t i = 0; i < geometry->n_caches; i++) {
		struct resctrl_cache *cache = &geometry->caches[i];
		struct resctrl_domain *domain = cache->level == level ? domain_of(cache, id) : NULL;
		char *list = domain && !*domain->cpus ? strndup(cpus, strcspn(cpus, "\n")) : NULL;

		if (list) {
			free(domain->cpus);
			domain->cpus = list;
		}
	}
}

/* false: the CPU has no cache of that index. */
static bool read_cpus_of(int cpus, const char *cpu, int index, struct resctrl_geometry *geometry)
{
	_cleanup_free_ char *level = NULL, *id = NULL, *list = NULL;
	char path[RESCTRL_PATH];

	snprintf(path, sizeof(path), "%s/cache/index%d/level", cpu, index);
	if (resctrl_read(cpus, path, &level) < 0)
		return false;
	snprintf(path, sizeof(path), "%s/cache/index%d/id", cpu, index);
	if (resctrl_read(cpus, path, &id) < 0)
		return true;
	snprintf(path, sizeof(path), "%s/cache/index%d/shared_cpu_list", cpu, index);
	if (resctrl_read(cpus, path, &list) == 0)
		note_cpus(geometry, atoi(level), atoi(id), list);
	return true;
}

static void read_cpus(struct resctrl_session *session, struct resctrl_geometry *geometry)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[RESCTRL_PATH];

	if (resctrl_rooted(session->place, "/sys/devices/system/cpu", path) < 0)
		return;
	dir = opendir(path);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (!strncmp(entry->d_name, "cpu", 3) && isdigit((unsigned char)entry->d_name[3]))
			for (int i = 0; read_cpus_of(dirfd(dir), entry->d_name, i, geometry);)
				i++;
}

static int read_cache(struct resctrl_session *session, int level, struct resctrl_geometry *geometry)
{
	struct resctrl_cache *cache = &geometry->caches[geometry->n_caches];
	char names[2][16], path[RESCTRL_PATH];
	size_t n;
	int r;

	*cache = (struct resctrl_cache){.level = level};
	snprintf(path, sizeof(path), "info/L%dCODE", level);
	cache->code_and_data = resctrl_exists(session->fd, path);
	n = resctrl_lines(cache, names);
	snprintf(path, sizeof(path), "info/%s", names[0]);
	if (!resctrl_exists(session->fd, path))
		return 0;
	geometry->n_caches++;
	r = read_limits(session, names[0], cache);
	r = r < 0 ? r : read_domains(session, names[0], cache);
	for (size_t i = 0; r == 0 && i < n; i++)
		read_taken(session, names[i], cache);
	return r;
}

/* A group needs a class of service of every resource, bandwidth included: the fewest count. */
static int read_closids(struct resctrl_session *session, struct resctrl_geometry *geometry)
{
	static const char *const resources[] = {
	        "L3", "L3CODE", "L3DATA", "L2", "L2CODE", "L2DATA", "MB", "SMBA"};

	geometry->num_closids = UINT_MAX;
	for (size_t i = 0; i < sizeof(resources) / sizeof(*resources); i++) {
		unsigned closids;
		int r = info_number(session, resources[i], "num_closids", 10, &closids);

		if (r < 0 && r != -ENOENT)
			return r;
		if (r == 0 && closids < geometry->num_closids)
			geometry->num_closids = closids;
	}
	return 0;
}

static int count_group(struct resctrl_session *session, const char *name, void *data)
{
	struct resctrl_geometry *geometry = data;

	(void)session;
	geometry->groups += strncmp(name, RESCTRL_PREFIX, strlen(RESCTRL_PREFIX)) != 0;
	return 0;
}

static int read_all(struct resctrl_session *session, struct resctrl_geometry *geometry)
{
	int r = read_cache(session, 3, geometry);

	r = r < 0 ? r : read_cache(session, 2, geometry);
	if (r < 0)
		return r;
	geometry->monitoring = resctrl_exists(session->fd, "info/L3_MON");
	if (geometry->n_caches == 0)
		return resctrl_fail(session, -EOPNOTSUPP,
		        "this processor cannot divide its caches: resctrl is there, but only for "
		        "%s",
		        geometry->monitoring ? "monitoring" : "memory bandwidth");
	geometry->groups = 1;
	r = read_closids(session, geometry);
	r = r < 0 ? r : resctrl_each_group(session, count_group, geometry);
	if (r == 0)
		read_cpus(session, geometry);
	return r;
}

int resctrl_geometry_read(const struct resctrl_place *place, struct resctrl_geometry *ret_geometry,
        char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_session_done) struct resctrl_session session;
	_cleanup_(resctrl_geometry_done) struct resctrl_geometry geometry = {0};
	int r = resctrl_session_begin(&session, place, false, ret_error, error_size);

	r = r < 0 ? r : read_all(&session, &geometry);
	if (r < 0)
		return r;
	*ret_geometry = geometry;
	geometry.n_caches = 0;
	return 0;
}

void resctrl_geometry_done(struct resctrl_geometry *geometry)
{
	for (size_t i = 0; i < geometry->n_caches; i++) {
		for (size_t j = 0; j < geometry->caches[i].n_domains; j++)
			free(geometry->caches[i].domains[j].cpus);
		free(geometry->caches[i].domains);
	}
	geometry->n_caches = 0;
}

const struct resctrl_cache *resctrl_cache(const struct resctrl_geometry *geometry, int level)
{
	for (size_t i = 0; i < geometry->n_caches; i++)
		if (geometry->caches[i].level == level)
			return &geometry->caches[i];
	return NULL;
}
