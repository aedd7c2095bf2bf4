/* SPDX-License-Identifier: MIT */
/*
 * usage: what a command takes.
 *
 *     usage FILE COMMAND...
 *
 * Runs it and adds a line to FILE: seconds of processor time (its own and the kernel's for it),
 * seconds by the clock, and the most memory it had resident, in bytes. The exit status is the
 * command's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "usage: %s: %s\n", what, strerror(errno));
	return 127;
}

static double now_seconds(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static double seconds_of(struct timeval time)
{
	return time.tv_sec + time.tv_usec / 1e6;
}

static int note(const char *path, const struct rusage *usage, double wall)
{
	FILE *file = fopen(path, "a");

	if (!file)
		return fail(path);
	fprintf(file, "%.6f %.6f %ld\n", seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime),
	        wall, usage->ru_maxrss * 1024);
	return fclose(file) ? fail(path) : 0;
}

int main(int argc, char **argv)
{
	struct rusage usage = {0};
	double start = now_seconds();
	int status, r;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: usage FILE COMMAND...\n");
		return 2;
	}
	pid = fork();
	if (pid < 0)
		return fail("fork");
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(fail(argv[2]));
	}
	if (wait4(pid, &status, 0, &usage) < 0)
		return fail("wait");
	r = note(argv[1], &usage, now_seconds() - start);
	if (r)
		return r;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
