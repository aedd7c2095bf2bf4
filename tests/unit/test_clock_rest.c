// SPDX-License-Identifier: MIT
/*
 * The process clock through a rest of the programs that keep it, in the real kernel: it must agree
 * with the kernel's own CPU time before, during and after, and no switch may be counted meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "live_fixture.h"
#include "proc_progress.h"
#include "tracked.h"

#define INDEX 5

/* Spins for so many ns of CPU time, with a pause every 0.2 ms of it. (Of much shorter slices the
 * kernel's clock counts a larger part, since it begins a little sooner.) */
static uint64_t spin(uint64_t ns)
{
	uint64_t begin = proc_cpu_ns(getpid()), paused = begin, now;

	while ((now = proc_cpu_ns(getpid())) - begin < ns)
		if (now - paused > 200000) {
			usleep(1);
			paused = now;
		}
	return 0;
}

struct bench {
	struct instrument instrument;
	struct live_child child;
	struct tracked tracked;
	uint64_t kernel_ns;
};

static void done(struct bench *bench, uint64_t ns)
{
	live_order(&bench->child, ns);
	live_answer(&bench->child);
}

/* Of what the kernel says since the first call, what the clock says; some slices are under way at
 * either end. */
static void assert_agrees(struct bench *bench)
{
	uint64_t kernel = proc_cpu_ns(bench->child.pid) - bench->kernel_ns;
	double clock = source_clock(bench->instrument.source, INDEX);

	if (fabs(clock - kernel) > 3e6 + 0.05 * kernel)
		fail_msg("the clock says %.1f ms, the kernel %.1f ms", clock / 1e6, kernel / 1e6);
}

static void begin(struct bench *bench)
{
	char error[256] = "";

	bench->child = live_start(spin); /* before there are descriptors that it would keep open */
	assert_int_equal(source_new(4096, &bench->instrument.source, error, sizeof(error)), 0);
	assert_int_equal(source_attach(bench->instrument.source), 0);
	done(bench, 1000000);
	bench->tracked = (struct tracked){
	        .instrument = &bench->instrument, .pid = bench->child.pid, .index = INDEX};
	assert_int_equal(
	        source_resolve(bench->instrument.source, bench->child.pid, &bench->tracked.tgid),
	        0);
	bench->kernel_ns = proc_cpu_ns(bench->child.pid);
	assert_int_equal(source_track(bench->instrument.source, bench->tracked.tgid, INDEX), 0);
}

static void the_clock_goes_on_while_it_rests(void **state)
{
	struct bench bench = {0};
	struct source *source;
	uint64_t switches;

	(void)state;
	if (!live_possible())
		skip();
	begin(&bench);
	source = bench.instrument.source;
	done(&bench, 30000000);
	assert_agrees(&bench);
	live_order(&bench.child, 60000000); /* in the middle of what it does */
	usleep(20000);
	source_clock_stop(source);
	tracked_rest(&bench.tracked);
	switches = source_process(source, INDEX)->switches;
	assert_true(switches > 50);
	live_answer(&bench.child);
	done(&bench, 30000000);
	tracked_rest_on(&bench.tracked);
	assert_int_equal(source_process(source, INDEX)->switches, switches);
	assert_int_equal(source_process(source, INDEX)->clock & MTL_CLOCK_RUNNING, 0);
	assert_true(bench.tracked.rest.rested_ns >= 30000000);
	assert_agrees(&bench);
	assert_int_equal(source_clock_start(source), 0);
	done(&bench, 30000000);
	assert_true(source_process(source, INDEX)->switches > switches);
	assert_agrees(&bench);
	live_stop(&bench.child);
	source_free(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_clock_goes_on_while_it_rests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
