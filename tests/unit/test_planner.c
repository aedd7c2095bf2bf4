/* SPDX-License-Identifier: MIT */
/* What the planner surveys, where its draws land, and their deadlines. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "planner_fixture.h"

/* ---- surveys ---- */

static void a_survey_counts_what_is_resident(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(1);

	(void)state;
	assert_true(planner_resident_bytes(planner) == resident_pages() * PAGE);
	assert_true(planner_unseen_bytes(planner) == 0);
}

/* 40 regions of heap, and 3 that the library's 700 pages begin in the middle of. */
static void a_survey_in_parts(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(1);
	double before = resident_pages() * PAGE;

	(void)state;
	set_heap(3, 0, 1, true);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(planner_survey(planner, 5), 0);
		assert_true(planner_resident_bytes(planner) == before);
		draw(planner, 4, false);
	}
	assert_int_equal(planner_survey(planner, 1), 0);
	assert_int_equal(planner_survey(planner, 1), 1);
	assert_true(planner_resident_bytes(planner) == before + REGION * PAGE);
	assert_true(planner_resident_bytes(planner) == resident_pages() * PAGE);
}

static void more_than_can_be_surveyed_is_told(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = NULL;
	const double gib = 1 << 30;

	(void)state;
	new_process("100000000000-104b00000000 rw-p 00000000 00:00 0\n" /* 300 GiB */
	            "200000000000-200040000000 ---p 00000000 00:00 0\n"
	            "300000000000-300040000000 rw-p 00000000 00:00 0\n");
	planner = surveyed(1);
	assert_true(planner_unseen_bytes(planner) == 45 * gib);
	new_process("100000000000-100000001000 rw-p 00000000 00:00 0\n");
	assert_int_equal(planner_survey(planner, 10), 1);
	assert_true(planner_unseen_bytes(planner) == 0);
}

/* ---- where draws land ---- */

struct kind {
	const char *permissions, *name;
	bool drawn;
};

static const struct kind kinds[] = {
        {"rw-p", "", true},
        {"rw-p", "[heap]", true},
        {"rw-p", "[stack]", true},
        {"rw-p", "[anon: pool]", true},
        {"r--p", "/usr/lib/libc.so.6", true},
        {"rw-p", "/usr/lib/libc.so.6", true},
        {"rwxp", "", true},
        {"-w-p", "", true},
        {"rw-s", "/dev/shm/pool", true},
        {"rw-s", "/dev/zero (deleted)", true},
        {"rw-s", "/dev/hugepages/pool", true},
        {"rw-s", "/memfd:pool (deleted)", true},
        {"rw-s", "/SYSV00000000 (deleted)", true},
        {"---p", "", false},
        {"---s", "/usr/lib/libc.so.6", false},
        {"--xp", "/usr/bin/secret", false},
        {"r-xp", "/usr/lib/libc.so.6", false},
        {"r-xp", "[vdso]", false},
        {"rw-p", "[vsyscall]", false},
        {"r--p", "[vvar]", false},
        {"r--p", "[vvar_vclock]", false},
        {"rw-p", "[uprobes]", false},
        {"rw-s", "/dev/mem", false},
        {"rw-s", "/dev/dri/renderD128", false},
        {"rw-s", "/dev/nvidia0", false},
        {"rw-s", "/dev/infiniband/uverbs0", false},
        {"rw-s", "/dev/vfio/3", false},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* A mapping of two pages of each kind, the first one resident. */
static void process_of_all_kinds(void)
{
	char maps[KINDS * 128];
	size_t n = 0;

	for (unsigned i = 0; i < KINDS; i++)
		n += snprintf(maps + n, sizeof(maps) - n, "%x000-%x000 %s 00000000 00:00 0 %s\n",
		        0x1000 + 2 * i, 0x1000 + 2 * i + 2, kinds[i].permissions, kinds[i].name);
	new_process(maps);
	for (unsigned i = 0; i < KINDS; i++)
		set_entry(0x1000 + 2 * i, PRESENT | i);
}

static void draws_only_what_data_accesses_reach(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = NULL;
	unsigned seen[KINDS] = {0};

	(void)state;
	process_of_all_kinds();
	planner = surveyed(2);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t page = draw(planner, 4, false).address[0] / PAGE;

		assert_in_range(page, 0x1000, 0x1000 + 2 * KINDS - 1);
		assert_int_equal(page % 2, 0);
		seen[(page - 0x1000) / 2]++;
	}
	for (unsigned i = 0; i < KINDS; i++)
		if ((seen[i] > 0) != kinds[i].drawn)
			fail_msg("%s '%s' was drawn %u times", kinds[i].permissions, kinds[i].name,
			        seen[i]);
}

static void draws_only_resident_pages(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(3);

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 5000; i++)
			assert_true(is_resident(draw(planner, 4, false).address[0] / PAGE));
		set_heap(0, 0, 1, false); /* and again when pages have gone and come */
		set_heap(3, 0, 2, true);
	}
}

static void words_of_one_line(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(4);

	(void)state;
	for (unsigned i = 0; i < 4000; i++) {
		unsigned slots = 1 + i % MTL_SLOTS, words = 0;
		struct candidate c = draw(planner, slots, false);

		assert_int_equal(c.slots, slots);
		assert_false(c.whole_line);
		for (unsigned k = 0; k < slots; k++) {
			assert_int_equal(c.address[k] % 8, 0);
			assert_int_equal(c.address[k] / 64, c.address[0] / 64);
			words |= 1U << c.address[k] / 8 % 8;
		}
		assert_int_equal(__builtin_popcount(words), slots);
	}
}

static void whole_lines(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(5);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		struct candidate c = draw(planner, 4, true);

		assert_int_equal(c.slots, 1);
		assert_true(c.whole_line);
		assert_int_equal(c.address[0] % 64, 0);
		assert_true(is_resident(c.address[0] / PAGE));
	}
}

/* Pearson's statistic against the bound that chance passes once in 10,000 (Wilson-Hilferty). */
static void assert_uniform(const unsigned *counts, unsigned n, double total)
{
	double statistic = 0, expected = total / n, freedom = n - 1, spread = 2 / (9 * freedom);

	for (unsigned i = 0; i < n; i++)
		statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
	assert_true(statistic < freedom * pow(1 - spread + 3.72 * sqrt(spread), 3));
}

/* Lines of a page, and words of a line in each slot, are all alike. */
static void lines_and_words_are_uniform(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(6);
	unsigned lines[LINES] = {0}, words[MTL_SLOTS][8] = {{0}}, n = 20000;

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct candidate c = draw(planner, 4, false);

		lines[c.address[0] / 64 % LINES]++;
		for (unsigned k = 0; k < MTL_SLOTS; k++)
			words[k][c.address[k] / 8 % 8]++;
	}
	assert_uniform(lines, LINES, n);
	for (unsigned k = 0; k < MTL_SLOTS; k++)
		assert_uniform(words[k], 8, n);
}

/* ---- deadlines ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The part of deadlines of density D^-(1 + lean) between low and high that is no longer. */
static double part_up_to(double deadline, double low, double high, double lean)
{
	if (lean == 0)
		return log(deadline / low) / log(high / low);
	return (1 - pow(low / deadline, lean)) / (1 - pow(low / high, lean));
}

/* Kolmogorov-Smirnov; chance passes the bound once in 10,000. */
static void assert_law(double *values, unsigned n, double low, double high, double lean)
{
	double distance = 0;

	qsort(values, n, sizeof(*values), by_value);
	for (unsigned i = 0; i < n; i++) {
		double at = part_up_to(values[i], low, high, lean);

		distance = fmax(distance, fmax(at - (double)i / n, (i + 1.0) / n - at));
	}
	assert_true(distance * sqrt(n) < 2.23);
}

static void assert_deadlines_of(struct planner *planner, double lean)
{
	enum { N = 20000 };
	static double body[N], tail[N];
	struct planner_deadlines wanted = deadlines;
	unsigned n_body = 0, n_tail = 0;

	wanted.lean = lean;
	for (unsigned i = 0; i < N; i++) {
		struct candidate c;

		assert_int_equal(planner_draw(planner, &wanted, 4, false, &c), 0);
		double deadline = c.deadline_ns / 1e9;

		assert_true(deadline >= wanted.shortest - 1e-9 && deadline <= wanted.limit);
		if (deadline <= wanted.longest)
			body[n_body++] = deadline;
		else
			tail[n_tail++] = deadline;
	}
	assert_true(
	        fabs(n_tail - PLANNER_TAIL * N) < 4 * sqrt(PLANNER_TAIL * (1 - PLANNER_TAIL) * N));
	assert_law(body, n_body, wanted.shortest, wanted.longest, lean);
	assert_law(tail, n_tail, wanted.longest, wanted.limit, 1);
}

static void deadlines_have_their_law_and_a_tail(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(12);
	static const double leans[] = {0, 0.3, 1};

	(void)state;
	for (unsigned i = 0; i < sizeof(leans) / sizeof(*leans); i++)
		assert_deadlines_of(planner, leans[i]);
}

static void no_tail_where_the_limit_is_the_longest(void **state)
{
	enum { N = 5000 };
	static double body[N];
	const struct planner_deadlines few = {0.5, 2, 2, 0};
	_cleanup_(planner_freep) struct planner *planner = surveyed(13);

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		struct candidate c;

		assert_int_equal(planner_draw(planner, &few, 4, false, &c), 0);
		body[i] = c.deadline_ns / 1e9;
		assert_true(body[i] >= 0.5 - 1e-9 && body[i] <= 2);
	}
	assert_law(body, N, 0.5, 2, 0);
}

/* The mean log deadline of lines in full regions is that of all others. */
static void deadlines_are_blind_to_the_line(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(14);
	double n[2] = {0}, sum[2] = {0}, square[2] = {0}, variance = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct candidate c = draw(planner, 4, false);
		unsigned k = c.address[0] / PAGE / REGION % 4 == 0;
		double value = log(c.deadline_ns);

		n[k]++;
		sum[k] += value;
		square[k] += value * value;
	}
	for (unsigned k = 0; k < 2; k++) {
		assert_true(n[k] > 1000);
		variance += (square[k] / n[k] - sum[k] / n[k] * sum[k] / n[k]) / n[k];
	}
	assert_true(fabs(sum[0] / n[0] - sum[1] / n[1]) < 4 * sqrt(variance));
}

static void seeds_decide(void **state)
{
	_cleanup_(planner_freep) struct planner *a = surveyed(15), *b = surveyed(15),
	                                        *c = surveyed(16);
	unsigned same = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		struct candidate of_a = draw(a, 4, false), of_b = draw(b, 4, false);

		assert_memory_equal(of_a.address, of_b.address, sizeof(of_a.address));
		assert_int_equal(of_a.deadline_ns, of_b.deadline_ns);
		same += draw(c, 4, false).deadline_ns == of_a.deadline_ns;
	}
	assert_true(same < 5);
}

/* ---- nothing to draw ---- */

static void nothing_resident_is_no_data(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = NULL;
	struct candidate candidate;

	(void)state;
	new_process("1000000-2000000 rw-p 00000000 00:00 0\n");
	assert_int_equal(planner_new(fake_root, PID, 1, &planner), 0);
	assert_int_equal(planner_draw(planner, &deadlines, 4, false, &candidate), -ENODATA);
	assert_int_equal(planner_survey(planner, 100), 1);
	assert_true(planner_resident_bytes(planner) == 0);
	assert_int_equal(planner_draw(planner, &deadlines, 4, false, &candidate), -ENODATA);
	set_entry(0x1234, PRESENT | 1); /* what comes later is found nevertheless, if rarely */
	while (planner_draw(planner, &deadlines, 1, false, &candidate) == -ENODATA)
		;
	assert_int_equal(candidate.address[0] / PAGE, 0x1234);
}

static void an_ended_process_is_no_such_process(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(17), *other = NULL;

	(void)state;
	unlink(fake_path("proc/5/maps"));
	assert_int_equal(planner_survey(planner, 100), -ESRCH);
	assert_true(is_resident(draw(planner, 4, false).address[0] / PAGE)); /* by the old survey */
	assert_int_equal(fake_file("proc/5/maps", ""), 0);
	assert_int_equal(planner_survey(planner, 100), -ESRCH);
	unlink(fake_path("proc/5/pagemap"));
	assert_int_equal(planner_new(fake_root, PID, 1, &other), -ESRCH);
	assert_null(other);
}

/* ---- births ---- */

static unsigned fresh_lines(struct planner *planner, uint64_t page)
{
	unsigned lines = 77;

	assert_int_equal(planner_fresh_lines(planner, page * PAGE + 123, &lines), 0);
	return lines;
}

static void fresh_pages(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = NULL;
	int flags = fake_open("proc/kpageflags");
	uint64_t huge = HUGE_FLAG, small = ~HUGE_FLAG;
	unsigned lines = 77;

	(void)state;
	assert_int_equal(pwrite(flags, &small, 8, 3 * 8), 8);
	assert_int_equal(pwrite(flags, &huge, 8, 4 * 8), 8);
	close(flags);
	planner = surveyed(18);
	set_entry(HEAP_PAGE, PRESENT | 3);
	assert_int_equal(fresh_lines(planner, HEAP_PAGE), 64);
	set_entry(HEAP_PAGE, PRESENT | 4);
	assert_int_equal(fresh_lines(planner, HEAP_PAGE), 64 * 512);
	set_entry(HEAP_PAGE, PRESENT | 5); /* beyond the end of kpageflags */
	assert_int_equal(fresh_lines(planner, HEAP_PAGE), 64);
	set_entry(HEAP_PAGE, PRESENT); /* page frames are hidden from us */
	assert_int_equal(fresh_lines(planner, HEAP_PAGE), 64);
	set_entry(HEAP_PAGE, PRESENT | FILE_PAGE | 4);
	assert_int_equal(fresh_lines(planner, HEAP_PAGE), 0);
	set_entry(HEAP_PAGE, SWAPPED | 4);
	assert_int_equal(planner_fresh_lines(planner, HEAP_PAGE * PAGE, &lines), -ESRCH);
	assert_int_equal(planner_fresh_lines(planner, UINT64_MAX, &lines), -ESRCH);
	assert_int_equal(lines, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        on_process(a_survey_counts_what_is_resident),
	        on_process(a_survey_in_parts),
	        on_process(more_than_can_be_surveyed_is_told),
	        on_process(draws_only_what_data_accesses_reach),
	        on_process(draws_only_resident_pages),
	        on_process(words_of_one_line),
	        on_process(whole_lines),
	        on_process(lines_and_words_are_uniform),
	        on_process(deadlines_have_their_law_and_a_tail),
	        on_process(no_tail_where_the_limit_is_the_longest),
	        on_process(deadlines_are_blind_to_the_line),
	        on_process(seeds_decide),
	        on_process(nothing_resident_is_no_data),
	        on_process(an_ended_process_is_no_such_process),
	        on_process(fresh_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
