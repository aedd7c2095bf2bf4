/* SPDX-License-Identifier: MIT */
/*
 * Opening, arming and closing debug registers of this test's own threads. Traps are for the live
 * tests: but for one test, which needs them, nothing here touches what it watches.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "watch.h"

#define THREADS 9

static uint64_t watched[16] __attribute__((aligned(64)));
static struct watch watch;
static int fds_before;

static int count_fds(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

/* ---- a debugger, and threads to watch ---- */

/* Takes one debug register of a thread; -errno. */
static int take_register(pid_t tid)
{
	struct perf_event_attr attr = {
	        .type = PERF_TYPE_BREAKPOINT,
	        .size = sizeof(attr),
	        .sample_period = 1,
	        .disabled = 1,
	        .bp_type = HW_BREAKPOINT_W,
	        .bp_addr = (uintptr_t)&watched[8],
	        .bp_len = 8,
	};
	int fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, 0);

	return fd < 0 ? -errno : fd;
}

struct thread {
	pthread_t thread;
	pid_t tid;
	int wait[2]; /* the thread ends when this pipe is closed */
	int ready[2];
};

static struct thread threads[THREADS];

static void *live(void *argument)
{
	struct thread *thread = argument;
	pid_t tid = syscall(SYS_gettid);
	char byte;

	if (write(thread->ready[1], &tid, sizeof(tid)) == sizeof(tid))
		(void)!read(thread->wait[0], &byte, 1);
	return NULL;
}

static void begin_thread(struct thread *thread)
{
	assert_int_equal(pipe2(thread->wait, O_CLOEXEC), 0);
	assert_int_equal(pipe2(thread->ready, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&thread->thread, NULL, live, thread), 0);
	assert_int_equal(
	        read(thread->ready[0], &thread->tid, sizeof(thread->tid)), sizeof(thread->tid));
}

static void end_thread(struct thread *thread)
{
	close(thread->wait[1]);
	pthread_join(thread->thread, NULL);
	close(thread->wait[0]);
	close(thread->ready[0]);
	close(thread->ready[1]);
}

/* pthread_join() may return a moment before the kernel has let go of the thread. */
static void await_end(pid_t tid)
{
	while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
		usleep(1000);
}

static void need_registers(void)
{
	int fds[MTL_SLOTS], n = 0;

	while (n < MTL_SLOTS && (fds[n] = take_register(0)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		close(fds[i]);
	if (n < MTL_SLOTS) {
		print_message("only %d debug registers here: %s\n", n, strerror(-fds[n]));
		skip();
	}
}

static int setup(void **state)
{
	(void)state;
	fds_before = count_fds();
	watch_init(&watch, -1, WATCH_OWN_CPU, MTL_SLOTS, 8);
	return 0;
}

/* Whatever a test did, closing gives every descriptor back. */
static int teardown(void **state)
{
	(void)state;
	watch_close(&watch);
	return count_fds() == fds_before ? 0 : -1;
}

static pid_t self(void)
{
	return syscall(SYS_gettid);
}

/* ---- threads come and go ---- */

static void no_thread_no_watch(void **state)
{
	const uint64_t address = (uintptr_t)watched;

	(void)state;
	assert_int_equal(watch.slots, MTL_SLOTS);
	assert_false(watch_has_thread(&watch, self()));
	watch_remove_thread(&watch, self());
	assert_int_equal(watch_arm(&watch, &address, 1), -ESRCH);
	watch_disarm_slot(&watch, 0);
	watch_disarm(&watch);
	watch_close(&watch);
	assert_int_equal(watch.n_threads, 0);
}

static void a_thread_has_four_events(void **state)
{
	(void)state;
	need_registers();
	assert_false(watch_has_thread(&watch, self()));
	assert_int_equal(watch_add_thread(&watch, self()), 0);
	assert_true(watch_has_thread(&watch, self()));
	assert_int_equal(watch.n_threads, 1);
	assert_int_equal(watch.slots, 4);
	assert_int_equal(count_fds(), fds_before + 4);
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		assert_int_equal(fcntl(watch.threads[0].fd[slot], F_GETFD), FD_CLOEXEC);
	assert_int_equal(take_register(0), -ENOSPC); /* off, they hold the registers nevertheless */
	watch_close(&watch);
	assert_int_equal(count_fds(), fds_before);
	need_registers();
	assert_int_equal(watch.n_threads, 0);
	assert_false(watch_has_thread(&watch, self()));
}

static void fewer_slots_leave_registers_free(void **state)
{
	int fd;

	(void)state;
	need_registers();
	watch_init(&watch, -1, WATCH_OWN_CPU, 1, 8);
	assert_int_equal(watch_add_thread(&watch, self()), 0);
	assert_int_equal(count_fds(), fds_before + 1);
	fd = take_register(0);
	assert_true(fd >= 0);
	close(fd);
}

static void assert_watched(unsigned from, unsigned to, int fds)
{
	assert_int_equal(watch.n_threads, to - from);
	assert_int_equal(count_fds(), fds + 4 * (int)(to - from));
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(watch_has_thread(&watch, threads[i].tid), i >= from && i < to);
}

static void threads_come_and_go(void **state)
{
	int fds;

	(void)state;
	need_registers();
	for (unsigned i = 0; i < THREADS; i++)
		begin_thread(&threads[i]);
	fds = count_fds();
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(watch_add_thread(&watch, threads[i].tid), 0);
		assert_watched(0, i + 1, fds);
	}
	watch_remove_thread(&watch, self()); /* not watched: nothing happens */
	for (unsigned i = 0; i < THREADS; i++) {
		assert_watched(i, THREADS, fds);
		watch_remove_thread(&watch, threads[i].tid);
	}
	assert_watched(0, 0, fds);
	assert_int_equal(watch_add_thread(&watch, threads[3].tid), 0);
	assert_watched(3, 4, fds);
	watch_close(&watch);
	for (unsigned i = 0; i < THREADS; i++)
		end_thread(&threads[i]);
}

static void a_dead_thread_is_not_there(void **state)
{
	(void)state;
	need_registers();
	begin_thread(&threads[0]);
	end_thread(&threads[0]);
	await_end(threads[0].tid);
	assert_int_equal(watch_add_thread(&watch, threads[0].tid), -ESRCH);
	assert_int_equal(watch.n_threads, 0);
	assert_int_equal(count_fds(), fds_before);
}

static void a_program_that_is_none(void **state)
{
	int none = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	need_registers();
	watch_init(&watch, none, WATCH_OWN_CPU, MTL_SLOTS, 8);
	assert_int_equal(watch_add_thread(&watch, self()), -EINVAL);
	assert_int_equal(watch.n_threads, 0);
	close(none);
	assert_int_equal(count_fds(), fds_before);
	need_registers();
}

/* ---- beside a debugger ---- */

static void three_slots_beside_a_debugger(void **state)
{
	int debugger;

	(void)state;
	need_registers();
	debugger = take_register(0);
	assert_int_equal(watch_add_thread(&watch, self()), 0);
	assert_int_equal(watch.slots, 3);
	assert_int_equal(count_fds(), fds_before + 1 + 3);
	assert_true(watch.threads[0].fd[2] >= 0);
	assert_int_equal(watch.threads[0].fd[3], -1);
	close(debugger);
	watch_close(&watch); /* and begin again: all are free */
	assert_int_equal(watch.slots, 4);
	assert_int_equal(watch_add_thread(&watch, self()), 0);
	assert_int_equal(watch.slots, 4);
}

/* A register taken on one thread only: the others watch no more than that thread can. */
static void the_poorest_thread_decides(void **state)
{
	int debugger, fds;

	(void)state;
	need_registers();
	for (unsigned i = 0; i < 3; i++)
		begin_thread(&threads[i]);
	fds = count_fds();
	debugger = take_register(threads[1].tid);
	assert_true(debugger >= 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(watch_add_thread(&watch, threads[i].tid), 0);
		assert_int_equal(watch.slots, i < 1 ? 4 : 3);
	}
	assert_int_equal(count_fds(), fds + 1 + 4 + 3 + 3);
	close(debugger);
	watch_close(&watch);
	assert_int_equal(count_fds(), fds);
	for (unsigned i = 0; i < 3; i++)
		end_thread(&threads[i]);
}

static void no_slot_where_all_are_taken(void **state)
{
	int debugger[MTL_SLOTS];

	(void)state;
	need_registers();
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		debugger[slot] = take_register(0);
	assert_int_equal(watch_add_thread(&watch, self()), -ENOSPC);
	assert_int_equal(watch.n_threads, 0);
	assert_int_equal(watch.slots, 4);
	assert_int_equal(count_fds(), fds_before + 4);
	close(debugger[3]);
	assert_int_equal(watch_add_thread(&watch, self()), 0);
	assert_int_equal(watch.slots, 1);
	for (unsigned slot = 0; slot < 3; slot++)
		close(debugger[slot]);
}

/* ---- arming ---- */

static const uint64_t *addresses(unsigned round)
{
	static uint64_t chosen[MTL_SLOTS];

	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		chosen[slot] = (uintptr_t)&watched[(round + slot) % 8];
	return chosen;
}

static void assert_off(void)
{
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		assert_int_equal(watch.address[slot], 0);
}

/* In turn: off by deadline, and off slot by slot as when traps are reported. */
static void arm_and_disarm(enum watch_method method)
{
	int fds;

	begin_thread(&threads[0]);
	watch_init(&watch, -1, method, MTL_SLOTS, 8);
	assert_int_equal(watch_add_thread(&watch, self()), 0);
	assert_int_equal(watch_add_thread(&watch, threads[0].tid), 0);
	fds = count_fds();
	for (unsigned round = 0; round < 40; round++) {
		unsigned n = 1 + round % 4;

		assert_int_equal(watch_arm(&watch, addresses(round), n), 0);
		for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
			assert_int_equal(
			        watch.address[slot], slot < n ? addresses(round)[slot] : 0);
		for (unsigned slot = 0; slot < n && round % 3 == 0; slot++)
			watch_disarm_slot(&watch, slot);
		watch_disarm(&watch);
		assert_off();
		assert_int_equal(count_fds(), fds);
	}
	watch_close(&watch);
	end_thread(&threads[0]);
}

static void arms_from_its_own_cpu(void **state)
{
	(void)state;
	need_registers();
	arm_and_disarm(WATCH_OWN_CPU);
}

static void arms_one_shot(void **state)
{
	(void)state;
	need_registers();
	arm_and_disarm(WATCH_ONE_SHOT);
}

static void one_shot_events_keep_an_unused_shot(void **state)
{
	const struct watch_thread *thread;

	(void)state;
	need_registers();
	watch_init(&watch, -1, WATCH_ONE_SHOT, MTL_SLOTS, 8);
	assert_int_equal(watch_add_thread(&watch, self()), 0);
	thread = &watch.threads[0];
	assert_false(thread->primed[0]);
	assert_int_equal(watch_arm(&watch, addresses(0), 2), 0);
	assert_true(thread->primed[0] && thread->primed[1] && !thread->primed[2]);
	watch_disarm_slot(&watch, 0); /* it fired */
	watch_disarm(&watch);
	assert_true(thread->spent[0] && !thread->spent[1]);
	assert_int_equal(watch_arm(&watch, addresses(1), 2), 0);
	assert_true(!thread->spent[0] && thread->primed[0] && thread->primed[1]);
}

static uint64_t traps_of(int fd)
{
	uint64_t count = 77;

	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	return count;
}

/* The deadline came before the report of the trap: the next watch must have its shot nevertheless.
 */
static void a_shot_used_unnoticed_is_replaced(void **state)
{
	volatile uint64_t *word = watched;

	(void)state;
	need_registers();
	watch_init(&watch, -1, WATCH_ONE_SHOT, 1, 8);
	assert_int_equal(watch_add_thread(&watch, self()), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(watch_arm(&watch, addresses(0), 1), 0);
		assert_int_equal(traps_of(watch.threads[0].fd[0]), 0);
		*word = i;
		if (i == 0 && traps_of(watch.threads[0].fd[0]) == 0) {
			print_message("watchpoints do not fire on this machine\n");
			skip();
		}
		*word = i;
		assert_int_equal(traps_of(watch.threads[0].fd[0]), 1);
		watch_disarm(&watch);
	}
}

static void a_new_thread_joins_the_watch_under_way(void **state)
{
	(void)state;
	need_registers();
	begin_thread(&threads[0]);
	watch_init(&watch, -1, WATCH_ONE_SHOT, MTL_SLOTS, 8);
	assert_int_equal(watch_add_thread(&watch, self()), 0);
	assert_int_equal(watch_arm(&watch, addresses(0), 3), 0);
	watch_disarm_slot(&watch, 1);
	assert_int_equal(watch_add_thread(&watch, threads[0].tid), 0);
	assert_true(watch.threads[1].primed[0] && watch.threads[1].primed[2]);
	assert_false(watch.threads[1].primed[1]);
	assert_false(watch.threads[1].primed[3]);
	watch_close(&watch);
	end_thread(&threads[0]);
	assert_off();
}

static void addresses_that_cannot_be(void **state)
{
	const uint64_t odd[] = {(uintptr_t)watched + 3};
	const enum watch_method methods[] = {WATCH_OWN_CPU, WATCH_ONE_SHOT};

	(void)state;
	need_registers();
	for (unsigned i = 0; i < 2; i++) {
		watch_init(&watch, -1, methods[i], MTL_SLOTS, 8);
		assert_int_equal(watch_add_thread(&watch, self()), 0);
		assert_int_equal(watch_arm(&watch, odd, 1), -EINVAL);
		watch_disarm(&watch);
		assert_int_equal(watch_arm(&watch, addresses(0), 4), 0); /* no harm was done */
		watch_close(&watch);
	}
}

/* A thread that ends is passed over; the others are watched. */
static void threads_may_end_while_watched(void **state)
{
	const enum watch_method methods[] = {WATCH_OWN_CPU, WATCH_ONE_SHOT};

	(void)state;
	need_registers();
	for (unsigned i = 0; i < 2; i++) {
		watch_init(&watch, -1, methods[i], MTL_SLOTS, 8);
		begin_thread(&threads[0]);
		assert_int_equal(watch_add_thread(&watch, threads[0].tid), 0);
		assert_int_equal(watch_add_thread(&watch, self()), 0);
		assert_int_equal(watch_arm(&watch, addresses(0), 4), 0);
		end_thread(&threads[0]);
		await_end(threads[0].tid);
		watch_disarm_slot(&watch, 0);
		watch_disarm(&watch);
		assert_int_equal(watch_arm(&watch, addresses(1), 4), 0);
		watch_disarm(&watch);
		watch_close(&watch);
	}
}

static void lengths(void **state)
{
	(void)state;
	need_registers();
	assert_true(watch_length_works(8));
	assert_false(watch_length_works(3));
	watch_length_works(64); /* as the CPU has it */
	assert_int_equal(count_fds(), fds_before);
}

#define watching(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        watching(no_thread_no_watch),
	        watching(a_thread_has_four_events),
	        watching(fewer_slots_leave_registers_free),
	        watching(threads_come_and_go),
	        watching(a_dead_thread_is_not_there),
	        watching(a_program_that_is_none),
	        watching(three_slots_beside_a_debugger),
	        watching(the_poorest_thread_decides),
	        watching(no_slot_where_all_are_taken),
	        watching(arms_from_its_own_cpu),
	        watching(arms_one_shot),
	        watching(one_shot_events_keep_an_unused_shot),
	        watching(a_shot_used_unnoticed_is_replaced),
	        watching(a_new_thread_joins_the_watch_under_way),
	        watching(addresses_that_cannot_be),
	        watching(threads_may_end_while_watched),
	        watching(lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
