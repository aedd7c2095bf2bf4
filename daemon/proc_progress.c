// SPDX-License-Identifier: MIT
/*
 * Each parser has a sample of what it parses above it.
 */
#include "proc_progress.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "proc.h"
#include "regular_file.h"

#define THREADS_MOST 64

uint64_t proc_cpu_ns(pid_t pid)
{
	struct timespec now;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &now) < 0)
		return 0;
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/*
 * rchar: 323934931
 * wchar: 323929600
 * syscr: 632687
 * syscw: 632675
 */
static void read_io(const char *root, pid_t pid, struct check_reading *reading)
{
	_cleanup_fclose_ FILE *file = proc_file(root, pid, "io");
	double read, written, reads, writes;

	if (!file || fscanf(file, "rchar: %lf wchar: %lf syscr: %lf syscw: %lf", &read, &written,
	                     &reads, &writes) != 4)
		return;
	reading->value[CHECK_CALLS] = reads + writes;
	reading->value[CHECK_BYTES] = read + written;
}

/* 812 (a name) with ) in it) R 1 812 812 34816 812 4194304 831 0 0 0 ...      (the 8th after the
 * name: minor faults) */
static int read_faults(const char *root, pid_t pid, struct check_reading *reading)
{
	_cleanup_fclose_ FILE *file = proc_file(root, pid, "stat");
	char text[512], *end;

	if (!file)
		return -errno;
	if (!fgets(text, sizeof(text), file))
		return -ESRCH;
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %lf",
	                    &reading->value[CHECK_FAULTS]) != 1)
		return -ESRCH;
	return 0;
}

/* voluntary_ctxt_switches:	150           (of the main thread) */
static void read_sleeps(const char *root, pid_t pid, struct check_reading *reading)
{
	_cleanup_fclose_ FILE *file = proc_file(root, pid, "status");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %lf", &reading->value[CHECK_SLEEPS]) ==
		        1)
			return;
}

int proc_progress(const char *root, pid_t pid, struct check_reading *ret_reading)
{
	struct check_reading reading = {.cpu_seconds = proc_cpu_ns(pid) / 1e9};
	int r;

	for (int unit = 0; unit < N_CHECK_UNITS; unit++)
		reading.value[unit] = NAN;
	r = read_faults(root, pid, &reading);
	if (r < 0)
		return r;
	read_io(root, pid, &reading);
	read_sleeps(root, pid, &reading);
	*ret_reading = reading;
	return 0;
}

/* 18235910271 40817 1021          (ns on a CPU, ns waiting for one, time slices) */
static int add_thread(const char *root, pid_t pid, pid_t tid, double *ran, double *waited)
{
	char name[64];
	_cleanup_fclose_ FILE *file = NULL;
	double on, off;

	snprintf(name, sizeof(name), "task/%d/schedstat", tid);
	file = proc_file(root, pid, name);
	if (!file || fscanf(file, "%lf %lf", &on, &off) != 2)
		return -ESRCH;
	*ran += on / 1e9;
	*waited += off / 1e9;
	return 0;
}

int proc_waiting(const char *root, pid_t pid, double *ret_ran, double *ret_waited)
{
	_cleanup_free_ pid_t *tids = NULL;
	double ran = 0, waited = 0;
	unsigned n, told = 0;
	int r = proc_threads(root, pid, &tids, &n);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < n && i < THREADS_MOST; i++)
		told += add_thread(root, pid, tids[i], &ran, &waited) == 0;
	if (!told)
		return -ENOENT;
	*ret_ran = ran * n / told;
	*ret_waited = waited * n / told;
	return 0;
}

/* some avg10=12.10 avg60=3.41 avg300=0.78 total=49921023 */
static double pressure_in(const char *path)
{
	_cleanup_fclose_ FILE *file = regular_file_open(path);
	double percent;

	return file && fscanf(file, "some avg10=%lf", &percent) == 1 ? percent / 100 : NAN;
}

/* 0::/system.slice/redis.service */
static double pressure_of_group(const char *root, pid_t pid)
{
	_cleanup_fclose_ FILE *file = proc_file(root, pid, "cgroup");
	char line[PATH_MAX / 2], path[PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s/cpu.pressure", root, line + 3);
		return pressure_in(path);
	}
	return NAN;
}

double proc_pressure(const char *root, pid_t pid)
{
	double share = pressure_of_group(root, pid);
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/pressure/cpu", root);
	return isnan(share) ? pressure_in(path) : share;
}
