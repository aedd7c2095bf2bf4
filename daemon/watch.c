// SPDX-License-Identifier: MIT
/*
 * Arming and disarming debug registers through perf breakpoint events.
 *
 * Events are opened once, off, and armed by MODIFY_ATTRIBUTES, which sets the address and enables
 * in one call. Method own-cpu: the caller is on the thread's CPU at real-time priority, so the
 * thread is off it; the calls send no interrupt and all slots go live at its next switch-in.
 * Method one-shot: the event's limit of one trap (REFRESH) turns it off in the trap itself. A
 * one-shot event that fired stays dead on some kernels whatever one asks of it, so it is opened
 * anew; one that did not fire still holds its shot and must be enabled, not refreshed. Which of them
 * it is, its count tells: a trap just before the deadline may not have been reported yet.
 */
#include "watch.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"

static char parking[64] __attribute__((aligned(64)));

static struct perf_event_attr breakpoint_attr(uint64_t address, unsigned length, bool disabled)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(struct perf_event_attr),
		.sample_period = 1,
		.disabled = disabled,
		.exclude_hv = 1,
		.bp_type = HW_BREAKPOINT_RW,
		.bp_addr = address,
		.bp_len = length,
	};
}

static int open_event(pid_t tid, unsigned length, int program)
{
	struct perf_event_attr attr =
		breakpoint_attr((uint64_t)(uintptr_t)parking, length, true);
	_cleanup_close_ int fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (program >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) < 0)
		return -errno;
	return TAKE_FD(fd);
}

bool watch_length_works(unsigned length)
{
	int fd = open_event(0, length, -1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void watch_init(struct watch *watch, int program, enum watch_method method, unsigned slots,
	unsigned length)
{
	*watch = (struct watch){
		.program = program,
		.method = method,
		.slots = slots,
		.slots_wanted = slots,
		.length = length,
	};
}

static int enable_own_cpu(const struct watch *watch, struct watch_thread *thread, unsigned slot)
{
	struct perf_event_attr attr = breakpoint_attr(watch->address[slot], watch->length, false);

	return ioctl(thread->fd[slot], PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) < 0 ? -errno : 0;
}

static bool has_fired(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) == sizeof(count) && count > 0;
}

static int enable_one_shot(const struct watch *watch, struct watch_thread *thread, unsigned slot)
{
	struct perf_event_attr attr = breakpoint_attr(watch->address[slot], watch->length, true);
	int fd;

	if (thread->spent[slot] || has_fired(thread->fd[slot])) {
		close(thread->fd[slot]);
		thread->fd[slot] = open_event(thread->tid, watch->length, watch->program);
		if (thread->fd[slot] < 0)
			return thread->fd[slot];
		thread->spent[slot] = thread->primed[slot] = false;
	}
	fd = thread->fd[slot];
	if (ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) < 0)
		return -errno;
	if (thread->primed[slot])
		return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
	thread->primed[slot] = true;
	return ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) < 0 ? -errno : 0;
}

static int enable(const struct watch *watch, struct watch_thread *thread, unsigned slot)
{
	static int (*const by_method[])(const struct watch *, struct watch_thread *, unsigned) = {
		[WATCH_OWN_CPU] = enable_own_cpu,
		[WATCH_ONE_SHOT] = enable_one_shot,
	};

	return by_method[watch->method](watch, thread, slot);
}

static void close_thread(struct watch_thread *thread)
{
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		if (thread->fd[slot] >= 0)
			close(thread->fd[slot]);
}

static int grow(struct watch *watch)
{
	unsigned n = watch->n_allocated ? watch->n_allocated * 2 : 4;
	struct watch_thread *threads;

	if (watch->n_threads < watch->n_allocated)
		return 0;
	threads = realloc(watch->threads, n * sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	watch->threads = threads;
	watch->n_allocated = n;
	return 0;
}

int watch_add_thread(struct watch *watch, pid_t tid)
{
	struct watch_thread thread = {.tid = tid, .fd = {-1, -1, -1, -1}};
	unsigned opened = 0;
	int r = grow(watch);

	for (; r >= 0 && opened < watch->slots; opened++) {
		r = open_event(tid, watch->length, watch->program);
		if (r < 0)
			break;
		thread.fd[opened] = r;
	}
	if (r == -ENOSPC && opened > 0) { /* a debugger holds some: use the rest */
		watch->slots = opened;
		r = 0;
	}
	if (r < 0) {
		close_thread(&thread);
		return r;
	}
	watch->threads[watch->n_threads++] = thread;
	for (unsigned slot = 0; slot < opened; slot++)
		if (watch->address[slot])
			enable(watch, &watch->threads[watch->n_threads - 1], slot);
	return 0;
}

void watch_remove_thread(struct watch *watch, pid_t tid)
{
	for (unsigned i = 0; i < watch->n_threads; i++) {
		if (watch->threads[i].tid != tid)
			continue;
		close_thread(&watch->threads[i]);
		watch->threads[i] = watch->threads[--watch->n_threads];
		return;
	}
}

bool watch_has_thread(const struct watch *watch, pid_t tid)
{
	for (unsigned i = 0; i < watch->n_threads; i++)
		if (watch->threads[i].tid == tid)
			return true;
	return false;
}

void watch_close(struct watch *watch)
{
	for (unsigned i = 0; i < watch->n_threads; i++)
		close_thread(&watch->threads[i]);
	free(watch->threads);
	watch->threads = NULL;
	watch->n_threads = watch->n_allocated = 0;
	watch->slots = watch->slots_wanted;
	memset(watch->address, 0, sizeof(watch->address));
}

int watch_arm(struct watch *watch, const uint64_t *addresses, unsigned n)
{
	unsigned armed = 0;
	int error = -ESRCH;

	for (unsigned slot = 0; slot < n; slot++)
		watch->address[slot] = addresses[slot];
	for (unsigned i = 0; i < watch->n_threads; i++)
		for (unsigned slot = 0; slot < n; slot++) {
			int r = enable(watch, &watch->threads[i], slot);

			if (r < 0)
				error = r;
			else
				armed++;
		}
	return armed ? 0 : error;
}

void watch_disarm_slot(struct watch *watch, unsigned slot)
{
	watch->address[slot] = 0;
	for (unsigned i = 0; i < watch->n_threads; i++) {
		struct watch_thread *thread = &watch->threads[i];

		if (thread->fd[slot] >= 0)
			ioctl(thread->fd[slot], PERF_EVENT_IOC_DISABLE, 0);
		if (watch->method == WATCH_ONE_SHOT)
			thread->spent[slot] = true;
	}
}

void watch_disarm(struct watch *watch)
{
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++) {
		if (!watch->address[slot])
			continue;
		watch->address[slot] = 0;
		for (unsigned i = 0; i < watch->n_threads; i++)
			ioctl(watch->threads[i].fd[slot], PERF_EVENT_IOC_DISABLE, 0);
	}
}
