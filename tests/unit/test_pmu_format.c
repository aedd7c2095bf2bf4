/* SPDX-License-Identifier: MIT */
/* How sysfs writes encodings down, and what no kernel should write. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "pmu_format.h"

/* AMD's event number has a part above bit 31 (arch/x86/events/amd/core.c: "config:0-7,32-35"). */
static void split_field(void **state)
{
	struct perf_event_attr attr = {.config = ~0ull};
	struct pmu_field field;

	(void)state;
	assert_int_equal(pmu_field_parse("event", "config:0-7,32-35", &field), 0);
	assert_int_equal(field.word, 0);
	assert_int_equal(field.mask, 0xf000000ffull);
	assert_int_equal(pmu_field_set(&field, 0x1a7, &attr), 0);
	assert_int_equal(attr.config, (~0ull & ~0xf000000ffull) | 0x1000000a7ull);
	assert_int_equal(pmu_field_set(&field, 0x1000, &attr), -ERANGE);
	assert_int_equal(attr.config, (~0ull & ~0xf000000ffull) | 0x1000000a7ull);
}

static void words(void **state)
{
	struct perf_event_attr attr = {0};
	struct pmu_field field;

	(void)state;
	assert_int_equal(pmu_field_parse("ldlat", "config1:0-15", &field), 0);
	assert_int_equal(pmu_field_set(&field, 30, &attr), 0);
	assert_int_equal(attr.config1, 30);
	assert_int_equal(pmu_field_parse("swfilt", "config2:0", &field), 0);
	assert_int_equal(pmu_field_set(&field, 1, &attr), 0);
	assert_int_equal(attr.config2, 1);
	assert_int_equal(pmu_field_set(&field, 2, &attr), -ERANGE);
	assert_int_equal(pmu_field_parse("all", "config:0-63", &field), 0);
	assert_int_equal(pmu_field_set(&field, UINT64_MAX, &attr), 0);
	assert_int_equal(attr.config, UINT64_MAX);
}

static void bad_fields(void **state)
{
	static const char *const texts[] = {"", "config", "config:", "config:64", "config:7-0",
	        "config:0-", "config:-1", "config:a", "config:0,", "config:,1", "config:0 ",
	        "config4:0", "conf:0", "config:0x1", "config1 :0", "config:99999999999999999999"};
	struct pmu_field field = {.name = "kept", .mask = 1};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(pmu_field_parse("x", texts[i], &field), -EINVAL);
	assert_int_equal(
	        pmu_field_parse("a_name_that_is_longer_than_any", "config:0", &field), -EINVAL);
	assert_string_equal(field.name, "kept");
}

static struct pmu intel(void)
{
	static const char *const formats[][2] = {{"event", "config:0-7"}, {"umask", "config:8-15"},
	        {"edge", "config:18"}, {"inv", "config:23"}, {"cmask", "config:24-31"},
	        {"ldlat", "config1:0-15"}};
	struct pmu pmu = {.name = "cpu"};

	for (size_t i = 0; i < 6; i++, pmu.n_fields++)
		assert_int_equal(pmu_field_parse(formats[i][0], formats[i][1], &pmu.fields[i]), 0);
	return pmu;
}

static void terms(void **state)
{
	struct pmu pmu = intel();
	struct perf_event_attr attr = {0};

	(void)state;
	assert_int_equal(pmu_encode(&pmu, "event=0xcd,umask=0x1,ldlat=3", &attr), 0);
	assert_int_equal(attr.config, 0x1cd);
	assert_int_equal(attr.config1, 3);
	attr = (struct perf_event_attr){0};
	assert_int_equal(pmu_encode(&pmu, "event=0xd,umask=1,cmask=16,edge,inv", &attr), 0);
	assert_int_equal(attr.config, 0x1084010d);
	assert_int_equal(pmu_encode(&pmu, "config=0x81d0,config1=7", &attr), 0);
	assert_int_equal(attr.config, 0x81d0);
	assert_int_equal(attr.config1, 7);
}

static void bad_terms(void **state)
{
	static const struct {
		const char *terms;
		int error;
	} cases[] = {
	        {"", -EINVAL},
	        {"event=", -EINVAL},
	        {"event=x", -EINVAL},
	        {"event=1,", -EINVAL},
	        {"event=1,,umask=2", -EINVAL},
	        {"event=-1", -EINVAL},
	        {"event=1x", -EINVAL},
	        {"event=0x10000000000000000", -EINVAL},
	        {"event=0x100", -ERANGE},
	        {"event=1,frontend=2", -ENOENT},
	        {"event=1,umask=?", -EINVAL},
	};
	struct pmu pmu = intel();
	struct perf_event_attr attr = {.config = 42, .config1 = 43};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(pmu_encode(&pmu, cases[i].terms, &attr), cases[i].error);
		assert_int_equal(attr.config, 42);
		assert_int_equal(attr.config1, 43);
	}
}

static void cpu_lists(void **state)
{
	static const char *const bad[] = {"0-", "-1", "1-0", "a", "0,", "0;1", "0-1024", "0 1"};
	cpu_set_t cpus;

	(void)state;
	assert_int_equal(pmu_cpu_list("0-2,7,10-11", &cpus), 0);
	assert_int_equal(CPU_COUNT(&cpus), 6);
	assert_true(CPU_ISSET(7, &cpus) && CPU_ISSET(11, &cpus) && !CPU_ISSET(3, &cpus));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(pmu_cpu_list(bad[i], &cpus), -EINVAL);
	assert_int_equal(CPU_COUNT(&cpus), 6);
	assert_int_equal(pmu_cpu_list("", &cpus), 0);
	assert_int_equal(CPU_COUNT(&cpus), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(split_field),
	        cmocka_unit_test(words),
	        cmocka_unit_test(bad_fields),
	        cmocka_unit_test(terms),
	        cmocka_unit_test(bad_terms),
	        cmocka_unit_test(cpu_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
