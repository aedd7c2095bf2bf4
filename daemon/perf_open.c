// SPDX-License-Identifier: MIT
/*
 * One event on one CPU.
 *
 * The precise level is tried downwards, for what a machine promises in sysfs and what a kernel or a
 * hypervisor grants differ; 0 is not tried, since a sample that is not precise has no data address.
 * An event that works only beside another (load latency since Sapphire Rapids) is opened in a group
 * led by that one; the leader only counts, and turning it on and off moves both.
 */
#include "perf_open.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "perf_syscall.h"

#define READING (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static int open_leader(const struct pmu_event *event, int cpu)
{
	struct perf_event_attr attr = event->leader;

	if (!event->needs_aux_leader)
		return -1;
	attr.size = sizeof(attr);
	attr.disabled = 1;
	return perf_syscall(&attr, -1, cpu, -1);
}

static int open_member(const struct pmu_event *event, int cpu, int leader, unsigned precise)
{
	struct perf_event_attr attr = event->attr;

	attr.size = sizeof(attr);
	attr.read_format = READING;
	attr.precise_ip = precise;
	attr.disabled = leader < 0; /* a member follows its leader */
	return perf_syscall(&attr, -1, cpu, leader);
}

int perf_open(const struct pmu_event *event, int cpu, struct perf_opened *ret_opened)
{
	_cleanup_close_ int leader = open_leader(event, cpu);
	unsigned precise = event->attr.precise_ip;
	int fd;

	if (leader < 0 && event->needs_aux_leader)
		return leader;
	fd = open_member(event, cpu, leader, precise);
	while (fd == -EOPNOTSUPP && precise > 1)
		fd = open_member(event, cpu, leader, --precise);
	if (fd < 0)
		return fd;
	*ret_opened = (struct perf_opened){.fd = fd, .leader = TAKE_FD(leader), .precise = precise};
	return 0;
}

void perf_close(struct perf_opened *opened)
{
	if (opened->fd >= 0)
		close(opened->fd);
	if (opened->leader >= 0)
		close(opened->leader);
	*opened = PERF_OPENED_NONE;
}

int perf_read(int fd, struct perf_reading *ret_reading)
{
	struct perf_reading reading;
	ssize_t n = read(fd, &reading, sizeof(reading));

	if (n != sizeof(reading))
		return n < 0 ? -errno : -EIO;
	*ret_reading = reading;
	return 0;
}
