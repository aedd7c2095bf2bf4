/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_DEMAND_FIXTURE_H
#define MTL_TEST_DEMAND_FIXTURE_H

/* Demands from text: what a test writes down, and any that could be. Include cmocka.h first. */

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "mtl.h"
#include "simulate.h"

DEFINE_CLEANUP(struct mtl_demand, mtl_demand_free)

#define DEMAND_TEXT 8192

static inline int demand_read(
        const char *text, double miss_cost, struct mtl_demand **ret_demand, char error[128])
{
	struct json_object *object = json_tokener_parse(text);
	int r;

	assert_non_null(object);
	*error = '\0';
	r = mtl_demand_from_json(object, "it", miss_cost, ret_demand, error, 128);
	json_object_put(object);
	return r;
}

static inline struct mtl_demand *demand_of(const char *text, double miss_cost)
{
	struct mtl_demand *demand = NULL;
	char error[128];
	int r = demand_read(text, miss_cost, &demand, error);

	if (r < 0)
		print_message("%s\n%s\n", error, text);
	assert_int_equal(r, 0);
	return demand;
}

/* As from a trace: concave or not, with cliffs, in some tens of points, lines of 1 byte. */
static inline struct mtl_demand *demand_random(uint64_t *random)
{
	char text[DEMAND_TEXT];
	unsigned points = 1 + (unsigned)(sim_uniform(random) * 20);
	double size = 0, time = 0, ratio = sim_uniform(random), accesses = 0;
	int n = 0;

	for (unsigned i = 0; i < points; i++) {
		size += 1 + floor(sim_uniform(random) * 100);
		time += 1000 * sim_uniform(random) * sim_uniform(random);
		if (sim_uniform(random) < 0.3)
			ratio *= sim_uniform(random);
		n += snprintf(text + n, sizeof(text) - (size_t)n,
		        "%s{\"size_bytes\":%.0f,\"fill_time_accesses\":%.17g,\"miss_ratio\":%.17g}",
		        i ? "," : "", size, time, ratio);
	}
	accesses = ceil(time + 1 + 1000 * sim_uniform(random));
	char whole[DEMAND_TEXT + 200];
	snprintf(whole, sizeof(whole),
	        "{\"accesses\":%.0f,\"distinct\":%.0f,\"line_bytes\":1,\"points\":[%s]}", accesses,
	        size + floor(sim_uniform(random) * 100), text);
	return demand_of(whole, 1 + 100 * sim_uniform(random));
}

#endif
