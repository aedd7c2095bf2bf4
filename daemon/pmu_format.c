// SPDX-License-Identifier: MIT
/*
 * Encodings as sysfs describes them. A field need not be contiguous: AMD's event number has eight
 * bits at 0 and four more at 32. The value's bits are dealt out to the mask's set bits from below,
 * which is how the kernel reads them.
 */
#include "pmu_format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

static int read_end(const char **text, unsigned most, unsigned *ret_end)
{
	char *rest;
	unsigned long end;

	if (**text < '0' || **text > '9')
		return -EINVAL;
	end = strtoul(*text, &rest, 10);
	if (end > most)
		return -EINVAL;
	*text = rest;
	*ret_end = (unsigned)end;
	return 0;
}

int pmu_ranges(const char *text, unsigned most,
        void (*each)(void *userdata, unsigned first, unsigned last), void *userdata)
{
	while (*text) {
		unsigned first, last;

		if (read_end(&text, most, &first) < 0)
			return -EINVAL;
		last = first;
		if (*text == '-' && (text++, read_end(&text, most, &last) < 0 || last < first))
			return -EINVAL;
		each(userdata, first, last);
		if (*text == ',' && text[1])
			text++;
		else if (*text)
			return -EINVAL;
	}
	return 0;
}

static void add_cpus(void *userdata, unsigned first, unsigned last)
{
	for (unsigned cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, (cpu_set_t *)userdata);
}

int pmu_cpu_list(const char *text, cpu_set_t *ret_cpus)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (pmu_ranges(text, CPU_SETSIZE - 1, add_cpus, &cpus) < 0)
		return -EINVAL;
	*ret_cpus = cpus;
	return 0;
}

/* config3 came with Linux 6.3: an older header has no such member, a newer kernel may name it. */
static __u64 *word_of(struct perf_event_attr *attr, unsigned word)
{
	__u64 *words[] = {
	        &attr->config,
	        &attr->config1,
	        &attr->config2,
#ifdef PERF_ATTR_SIZE_VER8
	        &attr->config3,
#endif
	};

	return word < sizeof(words) / sizeof(words[0]) ? words[word] : NULL;
}

static int word_named(const char *name, size_t length, unsigned *ret_word)
{
	static const char *const names[] = {"config", "config1", "config2", "config3"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && !strncmp(name, names[i], length))
			return *ret_word = i, 0;
	return -EINVAL;
}

static void add_bits(void *userdata, unsigned first, unsigned last)
{
	for (unsigned bit = first; bit <= last; bit++)
		*(uint64_t *)userdata |= UINT64_C(1) << bit;
}

int pmu_field_parse(const char *name, const char *text, struct pmu_field *ret_field)
{
	struct pmu_field field = {.mask = 0};
	const char *colon = strchr(text, ':');

	if (!colon || strlen(name) >= sizeof(field.name) ||
	        word_named(text, (size_t)(colon - text), &field.word) < 0 ||
	        pmu_ranges(colon + 1, 63, add_bits, &field.mask) < 0 || !field.mask)
		return -EINVAL;
	snprintf(field.name, sizeof(field.name), "%s", name);
	*ret_field = field;
	return 0;
}

int pmu_field_set(const struct pmu_field *field, uint64_t value, struct perf_event_attr *attr)
{
	__u64 *word = word_of(attr, field->word);
	uint64_t bits = 0;

	if (!word)
		return -ERANGE;
	for (uint64_t mask = field->mask; mask; mask &= mask - 1, value >>= 1)
		if (value & 1)
			bits |= mask & -mask;
	if (value)
		return -ERANGE;
	*word = (*word & ~field->mask) | bits;
	return 0;
}

static int encode_one(
        const struct pmu *pmu, const char *name, uint64_t value, struct perf_event_attr *attr)
{
	struct pmu_field whole = {.mask = UINT64_MAX};

	for (unsigned i = 0; i < pmu->n_fields; i++)
		if (!strcmp(pmu->fields[i].name, name))
			return pmu_field_set(&pmu->fields[i], value, attr);
	if (word_named(name, strlen(name), &whole.word) < 0)
		return -ENOENT;
	return pmu_field_set(&whole, value, attr);
}

int pmu_encode(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr)
{
	_cleanup_free_ char *copy = strdup(terms);
	struct perf_event_attr encoded = *attr;
	char *rest = copy, *term;

	if (!copy)
		return -ENOMEM;
	while ((term = strsep(&rest, ","))) {
		char *text = strchr(term, '='), *end = "";
		uint64_t value = 1;
		int r;

		if (text) {
			*text++ = 0;
			errno = 0;
			value = strtoull(text, &end, 0);
			if (errno || end == text || *text == '-')
				return -EINVAL;
		}
		if (!*term || *end)
			return -EINVAL;
		r = encode_one(pmu, term, value, &encoded);
		if (r < 0)
			return r;
	}
	*attr = encoded;
	return 0;
}
