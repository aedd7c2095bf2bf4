/* SPDX-License-Identifier: MIT */
/*
 * Lines of the schemata and size files: "    L3:0=fffff;1=fffff", names padded on the left, domains
 * in the kernel's order with gaps between their ids, masks in hexadecimal, sizes in decimal.
 */

#include "resctrl_session.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *resctrl_line(const char *text, const char *resource)
{
	size_t length = strlen(resource);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += strspn(line, " \n");
		if (!strncmp(line, resource, length) && line[length] == ':')
			return line + length + 1;
	}
	return NULL;
}

bool resctrl_next(const char **at, int base, int *ret_id, unsigned long long *ret_value)
{
	char *end;
	long id;

	*at += strspn(*at, " ;");
	if (!isdigit((unsigned char)**at))
		return false;
	id = strtol(*at, &end, 10);
	if (*end != '=' || !isxdigit((unsigned char)end[1]))
		return false;
	*ret_id = (int)id;
	*ret_value = strtoull(end + 1, &end, base);
	*at = end;
	return true;
}

size_t resctrl_lines(const struct resctrl_cache *cache, char ret_names[2][16])
{
	static const char *const suffixes[] = {"CODE", "DATA"};

	for (size_t i = 0; i < 2; i++)
		snprintf(ret_names[i], 16, "L%d%s", cache->level,
		        cache->code_and_data ? suffixes[i] : "");
	return cache->code_and_data ? 2 : 1;
}

static void print_line(FILE *file, const char *name, const struct resctrl_cache *cache,
        const struct resctrl_mask *masks, size_t n)
{
	int digits = (35 - __builtin_clz(cache->cbm_mask | 1)) / 4;
	const char *before = ":";

	for (size_t i = 0; i < n; i++) {
		if (masks[i].level != cache->level)
			continue;
		if (*before == ':')
			fputs(name, file);
		fprintf(file, "%s%d=%0*x", before, masks[i].domain, digits, masks[i].mask);
		before = ";";
	}
	if (*before == ';')
		fputc('\n', file);
}

char *resctrl_print(
        const struct resctrl_geometry *geometry, const struct resctrl_mask *masks, size_t n_masks)
{
	char *text = NULL, names[2][16];
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	for (size_t i = 0; i < geometry->n_caches; i++) {
		const struct resctrl_cache *cache = &geometry->caches[i];
		size_t n = resctrl_lines(cache, names);

		for (size_t j = 0; j < n; j++)
			print_line(file, names[j], cache, masks, n_masks);
	}
	if (fclose(file) == 0)
		return text;
	free(text);
	return NULL;
}
