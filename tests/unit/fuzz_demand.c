/* SPDX-License-Identifier: MIT */
/*
 * Any JSON as a curve: refused with a place, or a demand that keeps what lib/mtl.h says of one, and
 * whose share of any cache beside itself is a number.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "mtl.h"

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_points(const struct mtl_demand *d)
{
	bool filled = true;
	double last = 0;

	require(d->n >= 2 && d->points[0].size_bytes == 0 && d->points[0].fill_time == 0);
	for (size_t i = 0; i < d->n; i++) {
		const struct mtl_demand_point *p = &d->points[i], *before = i ? p - 1 : p;

		require(isfinite(p->misses) && isfinite(p->high) && p->low >= 0);
		require(p->low <= p->misses && p->misses <= p->high);
		require(i == 0 || p->size_bytes > before->size_bytes);
		require(i == 0 || p->fill_time > before->fill_time || isinf(p->fill_time));
		require(p->misses <= before->misses && p->low <= before->low &&
		        p->high <= before->high);
		require(filled || isinf(p->fill_time));
		filled = isfinite(p->fill_time);
		last = filled ? p->size_bytes : last;
	}
	require(d->footprint_bytes == last && last > 0);
	require(d->longest_time > 0 && isfinite(d->longest_time));
	require(d->work >= 0 && isfinite(d->work));
}

static void check_share(const struct mtl_demand *d, double size)
{
	const struct mtl_demand *both[] = {d, d};
	double time, occupancy[2], misses[2];

	require(mtl_demands_share(both, 2, size, &time, occupancy, misses) == 0);
	require(time >= 0);
	for (int i = 0; i < 2; i++) {
		require(occupancy[i] >= 0 && occupancy[i] <= d->footprint_bytes * (1 + 1e-9));
		require(misses[i] >= 0 && misses[i] <= d->points[0].misses * (1 + 1e-9));
	}
	double sum = occupancy[0] + occupancy[1];
	require(fabs(sum - fmin(size, 2 * d->footprint_bytes)) <= 1e-9 * d->footprint_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object = json_tokener_parse_ex(tokener, (const char *)data, (int)size);
	struct mtl_demand *demand = NULL;
	char error[128] = "";
	int r = mtl_demand_from_json(object, "fuzz", 10, &demand, error, sizeof(error));

	require(r == 0 || (r == -EBADMSG && *error && !demand));
	if (r == 0) {
		check_points(demand);
		for (size_t i = 0; i < demand->n && i < 100; i++)
			check_share(demand, demand->points[i].size_bytes * 1.3);
		check_share(demand, 2 * demand->footprint_bytes);
	}
	mtl_demand_free(demand);
	json_object_put(object);
	json_tokener_free(tokener);
	return 0;
}
