/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_FAKE_MACHINE_H
#define MTL_TEST_FAKE_MACHINE_H

/*
 * Machines that are not here: data/machines/NAME.tree, a line a file (PATH, tab, content with \n
 * and \t escaped), written out below the fake root. Their processor can be exchanged for another.
 */

#include <assert.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>

#include "fake_root.h"
#include "pmu.h"

static inline void fake_unescape(char *text)
{
	char *to = text;

	for (; *text; text++)
		*to++ = *text != '\\' ? *text : *++text == 'n' ? '\n' : *text == 't' ? '\t' : *text;
	*to = 0;
}

static inline void fake_machine(const char *name)
{
	char path[PATH_MAX], source[] = __FILE__, *line = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/data/machines/%s.tree", dirname(source), name);
	file = fopen(path, "re");
	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		char *content = strchr(line, '\t');

		if (*line == '#' || !content)
			continue;
		*content++ = 0;
		content[strcspn(content, "\n")] = 0;
		fake_unescape(content);
		assert_int_equal(fake_file(line, content), 0);
	}
	free(line);
	fclose(file);
}

static inline void fake_processor(
        const char *vendor, unsigned family, unsigned model, unsigned stepping)
{
	char text[512];

	snprintf(text, sizeof(text),
	        "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n"
	        "model name\t: a processor\nstepping\t: %u\nflags\t\t: fpu de\n\n",
	        vendor, family, model, stepping);
	assert_int_equal(fake_file("proc/cpuinfo", text), 0);
}

static inline struct pmu_machine *fake_discover(void)
{
	struct pmu_machine *machine;

	assert_int_equal(pmu_discover(fake_root, &machine), 0);
	return machine;
}

#endif
