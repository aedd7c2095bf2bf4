/* SPDX-License-Identifier: MIT */
/*
 * How much memory a trace may take: what the kernel has available, and what control groups allow.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../cli/trace_memory.h"
#include "../../cli/trace_shortage.h"
#include "fake_root.h"

static void half_of_what_is_available(void **state)
{
	(void)state;
	assert_int_equal(trace_memory_default(fake_root), 0);
	fake_file("proc/meminfo", "MemTotal: 8000 kB\nMemFree: 100 kB\nMemAvailable:    4000 kB\n");
	assert_int_equal(trace_memory_default(fake_root), 2000 * 1024);
}

static void a_group_limits(void **state)
{
	(void)state;
	fake_file("proc/meminfo", "MemAvailable:    4000 kB\n");
	fake_file("proc/self/cgroup", "1:name=systemd:/x\n0::/a/b\n");
	fake_file("sys/fs/cgroup/a/b/memory.max", "max\n");
	assert_int_equal(trace_memory_default(fake_root), 2000 * 1024);
	fake_file("sys/fs/cgroup/a/memory.max", "1024000\n");
	assert_int_equal(trace_memory_default(fake_root), 512000);
	fake_file("sys/fs/cgroup/a/b/memory.max", "1000\n");
	assert_int_equal(trace_memory_default(fake_root), 500);
	fake_file("sys/fs/cgroup/memory.max", "600\n");
	assert_int_equal(trace_memory_default(fake_root), 300);
}

static void the_outermost_group_of_a_container_limits(void **state)
{
	(void)state;
	fake_file("proc/self/cgroup", "0::/\n");
	fake_file("sys/fs/cgroup/memory.max", "600\n");
	assert_int_equal(trace_memory_default(fake_root), 300);
}

static void what_a_group_uses_is_gone(void **state)
{
	(void)state;
	fake_file("proc/self/cgroup", "0::/a\n");
	fake_file("sys/fs/cgroup/a/memory.max", "1000\n");
	fake_file("sys/fs/cgroup/a/memory.current", "700\n");
	assert_int_equal(trace_memory_default(fake_root), 150);
	fake_file("sys/fs/cgroup/a/memory.stat",
	        "anon 300\nfile 400\ninactive_anon 300\ninactive_file 150\nactive_file 250\n");
	assert_int_equal(trace_memory_default(fake_root), 350);
	fake_file("sys/fs/cgroup/a/memory.current", "300\n");
	assert_int_equal(trace_memory_default(fake_root), 500);
}

static void hardly_any_is_not_no_limit(void **state)
{
	(void)state;
	fake_file("proc/meminfo", "MemAvailable: 0 kB\n");
	assert_int_equal(trace_memory_default(fake_root), 1);
	fake_file("proc/meminfo", "MemAvailable: 4000 kB\n");
	fake_file("proc/self/cgroup", "0::/a\n");
	fake_file("sys/fs/cgroup/a/memory.max", "0\n");
	assert_int_equal(trace_memory_default(fake_root), 1);
	fake_file("sys/fs/cgroup/a/memory.max", "1\n");
	assert_int_equal(trace_memory_default(fake_root), 1);
	fake_file("sys/fs/cgroup/a/memory.max", "1000\n");
	fake_file("sys/fs/cgroup/a/memory.current", "2000\n");
	assert_int_equal(trace_memory_default(fake_root), 1);
}

static void this_machine_has_some(void **state)
{
	(void)state;
	assert_true(trace_memory_default(NULL) > 1 << 20);
}

/* What the machine does not give is not laid at the door of --memory. */
static void limit_and_machine_are_told_apart(void **state)
{
	static const struct {
		uint64_t memory;
		bool limited;
	} cases[] = {{0, false}, {1 << 22, true}, {UINT64_C(1) << 60, false}};
	const struct engine_wish sets = {
	        .type = ENGINE_SETS, .line_bytes = 64, .sets = UINT64_C(1) << 50, .ways = 14};
	char error[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int type = ENGINE_PROFILE; type <= ENGINE_LINES; type++) {
			_cleanup_(trace_engine_freep) struct trace_engine *engine = NULL;
			struct engine_wish wish = {.type = (enum engine_type)type, .rate = 1};

			if (type == ENGINE_SETS)
				continue;
			assert_int_equal(trace_engine_new(&wish, cases[i].memory, &engine), 0);
			assert_int_equal(trace_engine_limited(engine), cases[i].limited);
		}
	}
	trace_shortage(&sets, 1, UINT64_C(1) << 62, 1, error, sizeof(error));
	assert_non_null(strstr(error, "the machine has not enough memory even to begin: --cache "));
	trace_shortage(&sets, 1, 0, 1, error, sizeof(error));
	assert_non_null(strstr(error, "the machine has not enough memory even to begin: --cache "));
	trace_shortage(&sets, 1, 1 << 20, 1, error, sizeof(error));
	assert_non_null(strstr(error, "and 1M may be used; --memory "));
}

#define ROOTED(name) cmocka_unit_test_setup_teardown(name, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        ROOTED(half_of_what_is_available),
	        ROOTED(a_group_limits),
	        ROOTED(the_outermost_group_of_a_container_limits),
	        ROOTED(what_a_group_uses_is_gone),
	        ROOTED(hardly_any_is_not_no_limit),
	        cmocka_unit_test(limit_and_machine_are_told_apart),
	        ROOTED(this_machine_has_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
