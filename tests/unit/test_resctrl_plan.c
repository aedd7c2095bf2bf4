/* SPDX-License-Identifier: MIT */
/*
 * Geometry and plans against a fake resctrl that checks what Linux checks: every plan is taken,
 * those that cannot be are refused with the reason, and the fake itself refuses as Linux does.
 */
#include "resctrl_fixture.h"

#define N(array) (sizeof(array) / sizeof(*(array)))

/* --- geometry */

static void geometry_of_a_plain_machine(void **state)
{
	struct resctrl_geometry geometry;
	const struct resctrl_cache *l3;

	(void)state;
	machine(11, 1, false);
	fake->resources[0].shareable = 0x600;
	fake->resources[0].num_closids = 16;
	fake_resource_add("MB", FAKE_BANDWIDTH, 0)->num_closids = 8;
	fake_machine_ready();
	fake_group_add("theirs", -1);
	fake_group_add("mtl.old", -1);
	assert_int_equal(resctrl_geometry_read(&place, &geometry, error, sizeof(error)), 0);
	assert_int_equal(geometry.n_caches, 1);
	assert_int_equal(geometry.num_closids, 8);
	assert_int_equal(geometry.groups, 2);
	assert_true(geometry.monitoring);
	l3 = resctrl_cache(&geometry, 3);
	assert_null(resctrl_cache(&geometry, 2));
	assert_int_equal(l3->cbm_mask, 0x7ff);
	assert_int_equal(l3->shareable_bits, 0x600);
	assert_int_equal(l3->bits, 11);
	assert_int_equal(l3->min_cbm_bits, 1);
	assert_false(l3->sparse);
	assert_false(l3->code_and_data);
	assert_int_equal(l3->n_domains, 2);
	assert_int_equal(l3->domains[1].id, 1);
	assert_int_equal(l3->domains[1].bytes_per_bit, 1 << 20);
	assert_string_equal(l3->domains[1].cpus, "2-3");
	resctrl_geometry_done(&geometry);
}

static void geometry_with_gaps_and_both_levels(void **state)
{
	static const int ids[] = {0, 1, 16, 23};
	struct resctrl_geometry geometry;
	const struct resctrl_cache *l3, *l2;

	(void)state;
	machine(16, 0, true);
	fake_resource_add("L2CODE", FAKE_CODE, 2)->mask = 0xff;
	fake_resource_add("L2DATA", FAKE_DATA, 2)->mask = 0xff;
	for (int r = 0; r < 3; r++) {
		fake->resources[r].n_domains = 4;
		memcpy(fake->resources[r].ids, ids, sizeof(ids));
	}
	fake_machine_ready();
	assert_int_equal(resctrl_geometry_read(&place, &geometry, error, sizeof(error)), 0);
	assert_int_equal(geometry.n_caches, 2);
	l3 = resctrl_cache(&geometry, 3);
	l2 = resctrl_cache(&geometry, 2);
	assert_true(l3->sparse); /* AMD, although no file says so */
	assert_int_equal(l3->min_cbm_bits, 0);
	for (int d = 0; d < 4; d++)
		assert_int_equal(l3->domains[d].id, ids[d]);
	assert_string_equal(l3->domains[2].cpus, "4-5");
	assert_true(l2->code_and_data);
	assert_int_equal(l2->bits, 8);
	resctrl_geometry_done(&geometry);
}

static void what_is_missing_is_said(void **state)
{
	static const struct {
		bool absent, unmounted, only_bandwidth;
		int r;
		const char *words;
	} cases[] = {
	        {true, false, false, -EOPNOTSUPP, "offers no resctrl"},
	        {false, true, false, -ENOTCONN, "mount -t resctrl resctrl /sys/fs/resctrl"},
	        {false, false, true, -EOPNOTSUPP, "only for monitoring"},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct resctrl_geometry geometry;

		machine(11, 1, false);
		fake->absent = cases[i].absent;
		fake->unmounted = cases[i].unmounted;
		if (cases[i].only_bandwidth) {
			strcpy(fake->resources[0].name, "MB");
			fake->resources[0].kind = FAKE_BANDWIDTH;
		}
		assert_int_equal(
		        resctrl_geometry_read(&place, &geometry, error, sizeof(error)), cases[i].r);
		said(cases[i].words);
	}
}

/* --- plans, each of which the kernel takes */

static const struct {
	unsigned bits, min_bits;
	bool sparse;
	uint32_t shareable, exclusive;
	enum resctrl_shareable policy;
	struct wish wishes[4];
	const char *schemata[4];
} plans[] = {
        /* contiguous, lowest bits first */
        {11, 1, false, 0, 0, RESCTRL_SHAREABLE_LAST, {{"a", 4, 0, {0}}, {"b", 7, 0, {0}}},
                {"L3:0=00f;1=00f\n", "L3:0=7f0;1=7f0\n"}},
        {12, 2, false, 0, 0, RESCTRL_SHAREABLE_LAST, {{"a", 2, 0, {0}}, {"b", 3, 0, {0}}},
                {"L3:0=003;1=003\n", "L3:0=01c;1=01c\n"}},
        /* I/O's bits on top go to the last group, or to nobody, or count as others */
        {11, 1, false, 0x600, 0, RESCTRL_SHAREABLE_LAST, {{"a", 4, 0, {0}}, {"b", 7, 0, {0}}},
                {"L3:0=00f;1=00f\n", "L3:0=7f0;1=7f0\n"}},
        {11, 1, false, 0x600, 0, RESCTRL_SHAREABLE_NEVER, {{"a", 4, 0, {0}}, {"b", 5, 0, {0}}},
                {"L3:0=00f;1=00f\n", "L3:0=1f0;1=1f0\n"}},
        /* below: from the top down */
        {11, 1, false, 0x003, 0, RESCTRL_SHAREABLE_LAST, {{"a", 4, 0, {0}}, {"b", 6, 0, {0}}},
                {"L3:0=780;1=780\n", "L3:0=07e;1=07e\n"}},
        {11, 1, false, 0x003, 0, RESCTRL_SHAREABLE_ANY, {{"a", 4, 0, {0}}, {"b", 6, 0, {0}}},
                {"L3:0=00f;1=00f\n", "L3:0=3f0;1=3f0\n"}},
        /* in the middle: around them as long as that is possible */
        {12, 1, false, 0x0c0, 0, RESCTRL_SHAREABLE_LAST, {{"a", 4, 0, {0}}, {"b", 5, 0, {0}}},
                {"L3:0=f00;1=f00\n", "L3:0=01f;1=01f\n"}},
        /* exact masks; ways around them */
        {11, 1, false, 0, 0, RESCTRL_SHAREABLE_LAST,
                {{"a", 0, 0x7, {0}}, {"b", 8, 0, {0}}, {"c", 0, 0x3, {0}}},
                {"L3:0=007;1=007\n", "L3:0=7f8;1=7f8\n", "L3:0=003;1=003\n"}},
        /* what others have for themselves alone */
        {12, 1, false, 0, 0x0f0, RESCTRL_SHAREABLE_LAST,
                {{"a", 2, 0, {0}}, {"b", 4, 0, {0}}, {"c", 2, 0, {0}}},
                {"L3:0=300;1=300\n", "L3:0=00f;1=00f\n", "L3:0=c00;1=c00\n"}},
        /* with holes where nothing else is left: Intel since Granite Rapids */
        {12, 1, true, 0, 0x0f0, RESCTRL_SHAREABLE_LAST, {{"a", 6, 0, {0}}, {"b", 2, 0, {0}}},
                {"L3:0=30f;1=30f\n", "L3:0=c00;1=c00\n"}},
        /* AMD: also nothing at all */
        {16, 0, true, 0, 0, RESCTRL_SHAREABLE_LAST,
                {{"a", 0, 0, {0}}, {"b", 16, 0, {0}}, {"c", 0, 0x8421, {0}}}, {NULL}},
        {16, 0, true, 0, 0, RESCTRL_SHAREABLE_LAST,
                {{"a", 0, 0, {0}}, {"b", 12, 0, {0}}, {"c", 0, 0x8421, {0}}},
                {"L3:0=0000;1=0000\n", "L3:0=7bde;1=7bde\n", "L3:0=8421;1=8421\n"}},
};

static void plans_are_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(plans); i++) {
		struct resctrl_plan *plan = NULL;
		size_t n = 0;
		int r;

		machine_in_memory(plans[i].bits, plans[i].min_bits, plans[i].sparse);
		fake->resources[0].shareable = plans[i].shareable;
		if (plans[i].exclusive) {
			struct fake_group *group = &fake->groups[fake_group_add("theirs", -1)];

			for (int d = 0; d < 2; d++) {
				group->values[0][d] = plans[i].exclusive;
				fake->groups[0].values[0][d] &= ~plans[i].exclusive;
			}
			group->exclusive = true;
		}
		while (n < 4 && plans[i].wishes[n].name)
			n++;
		r = plan_of(plans[i].wishes, n, plans[i].policy, &plan);
		if (!plans[i].schemata[0]) {
			assert_int_equal(r, -ENOSPC);
			continue;
		}
		if (r < 0)
			fail_msg("case %zu: %s", i, error);
		for (size_t k = 0; k < n; k++)
			assert_string_equal(plan->groups[k].schemata, plans[i].schemata[k]);
		taken_and_undone(plan);
		resctrl_plan_free(plan);
	}
}

static void code_and_data(void **state)
{
	static const struct wish wishes[] = {{"a", 4, 0, {100}}, {"b", 7, 0, {200}}};
	struct resctrl_plan *plan;

	(void)state;
	machine(11, 1, false);
	strcpy(fake->resources[0].name, "L3CODE");
	fake->resources[0].kind = FAKE_CODE;
	*fake_resource_add("L3DATA", FAKE_DATA, 3) = fake->resources[0];
	strcpy(fake->resources[1].name, "L3DATA");
	fake->resources[1].kind = FAKE_DATA;
	fake_machine_ready();
	plan = plan_for(wishes, 2);
	assert_string_equal(plan->groups[1].schemata, "L3CODE:0=7f0;1=7f0\nL3DATA:0=7f0;1=7f0\n");
	taken_and_undone(plan);
	resctrl_plan_free(plan);
}

static void different_ways_by_domain(void **state)
{
	static const struct resctrl_share shares[] = {
	        {3, RESCTRL_EVERY_DOMAIN, 2, 0}, {3, 16, 9, 0}, {2, 23, 1, 0}};
	const struct resctrl_request request = {"a b/c\xc3\xa9", NULL, 0, shares, N(shares)};
	struct resctrl_geometry geometry;
	struct resctrl_plan *plan;

	(void)state;
	machine(20, 1, false);
	fake_resource_add("L2", FAKE_CACHE, 2)->mask = 0xff;
	for (int r = 0; r < 2; r++) {
		fake->resources[r].ids[0] = 16;
		fake->resources[r].ids[1] = 23;
	}
	fake_machine_ready();
	assert_int_equal(resctrl_geometry_read(&place, &geometry, error, sizeof(error)), 0);
	assert_int_equal(resctrl_plan_new(&geometry, &request, 1, RESCTRL_SHAREABLE_LAST, &plan,
	                         error, sizeof(error)),
	        0);
	assert_string_equal(plan->groups[0].name, "mtl.a_b_c__");
	assert_string_equal(plan->groups[0].schemata, "L3:16=001ff;23=00003\nL2:23=01\n");
	taken_and_undone(plan);
	resctrl_plan_free(plan);
	resctrl_geometry_done(&geometry);
}

/* Whatever fits at all is found, and the kernel takes it. */
static void random_plans(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < (RUNNING_ON_VALGRIND ? 5 : 40); round++) {
		static const char *const names[] = {"a", "b", "c", "d", "e"};
		unsigned bits = 3 + (unsigned)rand_r(&seed) % 18, left;
		struct wish wishes[5] = {0};
		struct resctrl_plan *plan;
		size_t n = 0;

		machine(bits, 1, rand_r(&seed) % 2);
		fake->resources[0].shareable = (uint32_t)rand_r(&seed) & fake->resources[0].mask;
		for (left = bits; n < 5 && left > 0; n++) {
			wishes[n].name = names[n];
			wishes[n].ways = 1 + (unsigned)rand_r(&seed) % left;
			left -= wishes[n].ways;
		}
		plan = plan_for(wishes, n);
		must_apply(plan);
		assert_string_equal(report.notes, "");
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < i; k++)
				assert_int_equal(plan->groups[i].masks[0].mask &
				                         plan->groups[k].masks[0].mask,
				        0);
		resctrl_plan_free(plan);
	}
}

static void impossible_plans(void **state)
{
	static const struct {
		unsigned min_bits;
		struct wish wishes[3];
		int r;
		const char *words;
	} cases[] = {
	        {1, {{"a", 6, 0, {0}}, {"b", 6, 0, {0}}}, -ENOSPC,
	                "L3 cache 0: the groups want 12 ways together, and 11 of the 11"},
	        {2, {{"a", 1, 0, {0}}}, -EINVAL,
	                "\"a\": 1 way of L3, and this processor gives out no fewer than 2"},
	        {1, {{"a", 0, 0, {0}}}, -EINVAL, "\"a\": 0 ways"},
	        {1, {{"a", 0, 0x5, {0}}}, -EINVAL, "\"a\": the mask 5 has holes"},
	        {2, {{"a", 0, 0x4, {0}}}, -EINVAL, "fewer than 2 consecutive bits"},
	        {1, {{"a", 0, 0x800, {0}}}, -EINVAL, "the mask 800 is outside of 7ff"},
	        {1, {{"a", 5, 0, {0}}, {"b", 0, 0x20, {0}}, {"c", 4, 0, {0}}}, 0, NULL},
	        {1, {{"a", 7, 0, {0}}, {"b", 0, 0x20, {0}}}, -ENOSPC, "in pieces of 5, 5"},
	        {1, {{"a/b", 1, 0, {0}}, {"a:b", 1, 0, {0}}}, -EINVAL,
	                "would both be called mtl.a_b"},
	        {1, {{"", 1, 0, {0}}}, -EINVAL, "without a name"},
	        {1, {{"a", 1, 0, {7}}, {"b", 1, 0, {9, 7}}}, -EINVAL,
	                "process 7 is in group \"a\" and in \"b\""},
	        {1, {{"a", 1, 0, {-7}}}, -EINVAL, "-7 is no process"},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct resctrl_plan *plan = NULL;
		size_t n = 0;

		machine_in_memory(11, cases[i].min_bits, false);
		while (n < 3 && cases[i].wishes[n].name)
			n++;
		assert_int_equal(
		        plan_of(cases[i].wishes, n, RESCTRL_SHAREABLE_LAST, &plan), cases[i].r);
		if (cases[i].words)
			said(cases[i].words);
		resctrl_plan_free(plan);
	}
}

static void more_groups_than_classes(void **state)
{
	static const struct wish wishes[] = {{"a", 1, 0, {0}}, {"b", 1, 0, {0}}, {"c", 1, 0, {0}}};
	struct resctrl_plan *plan = NULL;

	(void)state;
	machine_in_memory(11, 1, false);
	fake->resources[0].num_closids = 4;
	fake_group_add("theirs", -1);
	assert_int_equal(plan_of(wishes, 3, RESCTRL_SHAREABLE_LAST, &plan), -ENOSPC);
	said("3 groups are wanted, and 2 of 4 classes of service (CLOSIDs) are left");
	plan = plan_for(wishes, 2);
	taken_and_undone(plan);
	resctrl_plan_free(plan);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(geometry_of_a_plain_machine),
	        cmocka_unit_test(geometry_with_gaps_and_both_levels),
	        cmocka_unit_test(what_is_missing_is_said),
	        cmocka_unit_test(plans_are_taken),
	        cmocka_unit_test(code_and_data),
	        cmocka_unit_test(different_ways_by_domain),
	        cmocka_unit_test(random_plans),
	        cmocka_unit_test(impossible_plans),
	        cmocka_unit_test(more_groups_than_classes),
	};

	fake_resctrl_serve(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}
