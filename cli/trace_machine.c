/* SPDX-License-Identifier: MIT */
/*
 * --cache auto: the caches of this machine, as lib/machine.h finds them, each as if the trace had
 * it alone. A level of which ways, sets or line are not known is left out, and that is said.
 */

#include "trace_caches.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cleanup.h"
#include "machine.h"
#include "size.h"
#include "terminal.h"

static int append(struct trace_cache_list *list, const struct cache_level *level)
{
	struct trace_cache *more = reallocarray(list->caches, list->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	list->caches = more;
	list->caches[list->n++] = (struct trace_cache){
	        .size_bytes = (double)level->sets * level->ways * level->line_bytes,
	        .sets = level->sets,
	        .ways = level->ways,
	        .line_bytes = level->line_bytes,
	};
	return 0;
}

int trace_caches_of_machine(struct trace_cache_list *list, const char *root)
{
	struct cache_geometry geometry;
	size_t before = list->n;
	char text[NUMBER_TEXT], doubt[192];

	if (machine_caches(root, &geometry) < 0) {
		snprintf(list->note, sizeof(list->note),
		        "neither sysfs nor the CPU names any cache: give SIZE:WAYS:LINE");
		return -ENOENT;
	}
	snprintf(list->note, sizeof(list->note),
	        "caches as %s says:", cache_source_name(geometry.source));
	for (size_t i = 0; i < geometry.n; i++) {
		const struct cache_level *level = &geometry.levels[i];
		bool known = level->sets && level->ways && level->line_bytes &&
		             level->ways <= TRACE_WAYS_MOST;

		if (known && append(list, level) < 0)
			return -ENOMEM;
		text_append(list->note, sizeof(list->note), " L%u %s%s", level->level,
		        size_format(level->size_bytes, text), known ? "" : " (ways not known)");
		if (cache_level_doubt(level, doubt, sizeof(doubt)))
			text_append(list->note, sizeof(list->note), " (%s)", doubt);
	}
	if (list->n > before)
		return 0;
	text_append(list->note, sizeof(list->note), ": give SIZE:WAYS:LINE");
	return -ENOENT;
}
