/* SPDX-License-Identifier: MIT */
/*
 * A table of RECENT_MAX places, looked through from end to end: that is quicker than one estimate
 * by a factor of a thousand.
 */
#include "recent_curves.h"

#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "cleanup.h"

struct recent {
	struct json_object *curve; /* NULL: the place is free */
	double known;              /* so old by the process's own clock */
	double reference;
	pid_t pid;
	size_t n_sizes, n_windows;
	double *numbers; /* sizes, then windows; NULL: there are none */
};

struct recent_curves {
	struct recent places[RECENT_MAX];
	unsigned next; /* to be used */
};

static void drop(struct recent *recent)
{
	json_object_put(recent->curve);
	free(recent->numbers);
	*recent = (struct recent){0};
}

struct recent_curves *recent_curves_new(void)
{
	return calloc(1, sizeof(struct recent_curves));
}

struct recent_curves *recent_curves_free(struct recent_curves *recent)
{
	for (size_t i = 0; recent && i < RECENT_MAX; i++)
		drop(&recent->places[i]);
	free(recent);
	return NULL;
}

static bool same_numbers(const double *kept, const struct numbers *asked)
{
	return asked->n == 0 || memcmp(kept, asked->values, asked->n * sizeof(*kept)) == 0;
}

static bool is_of(const struct recent *recent, const struct arguments *arguments)
{
	return recent->curve && recent->pid == arguments->pid &&
	       recent->reference == arguments->reference && recent->n_sizes == arguments->sizes.n &&
	       recent->n_windows == arguments->windows.n &&
	       same_numbers(recent->numbers, &arguments->sizes) &&
	       same_numbers(recent->numbers + recent->n_sizes, &arguments->windows);
}

struct json_object *recent_curves_find(
        struct recent_curves *recent, const struct arguments *arguments, double known)
{
	struct json_object *found = NULL;

	for (size_t i = 0; recent && i < RECENT_MAX; i++) {
		struct recent *place = &recent->places[i];

		if (!is_of(place, arguments))
			continue;
		if (known >= place->known && known - place->known <= RECENT_SECONDS)
			found = json_object_get(place->curve);
		else
			drop(place);
	}
	return found;
}

/* By turns: at most RECENT_MAX are kept, however many are asked for. */
static struct recent *next_place(struct recent_curves *recent)
{
	struct recent *place = &recent->places[recent->next++ % RECENT_MAX];

	drop(place);
	return place;
}

void recent_curves_keep(struct recent_curves *recent, const struct arguments *arguments,
        double known, struct json_object *curve)
{
	size_t n_sizes = arguments->sizes.n, n_windows = arguments->windows.n;
	_cleanup_free_ double *numbers = calloc(n_sizes + n_windows + 1, sizeof(*numbers));
	struct recent *place;

	if (!recent || !numbers)
		return;
	memcpy(numbers, arguments->sizes.values, n_sizes * sizeof(*numbers));
	memcpy(numbers + n_sizes, arguments->windows.values, n_windows * sizeof(*numbers));
	place = next_place(recent);
	*place = (struct recent){
	        .curve = json_object_get(curve),
	        .known = known,
	        .reference = arguments->reference,
	        .pid = arguments->pid,
	        .n_sizes = n_sizes,
	        .n_windows = n_windows,
	        .numbers = TAKE_PTR(numbers),
	};
}
