/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/stat, and whether a process leaves its work to children.
 *
 * A child is a process of its own and is not observed with its parent: of `sh -c PROGRAM` a curve
 * is that of the shell. Children that have ended and were waited for count in the times of their
 * parent, those that live are found by their parents' numbers, since not every kernel lists them. A
 * child whose parent has ended is another's and not found.
 */

#include "process_stat.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "options.h"
#include "regular_file.h"
#include "size.h"
#include "terminal.h"

#define LEAST_SECONDS 0.05 /* of children; ticks are 0.01 s */

/* "12 (a) b) S 1 ...": the name may hold anything but ends with the last parenthesis. */
static int split_name(char *text, char **ret_name, char **ret_rest)
{
	char *begin = strchr(text, '('), *end = strrchr(text, ')');

	if (!begin || !end || end < begin)
		return -EBADMSG;
	*end = '\0';
	*ret_name = begin + 1;
	*ret_rest = end + 1;
	return 0;
}

/* Fields 4, 14 to 17 and 24 are the parent, user and system time in ticks, those of children
 * waited for, and resident pages. */
int process_stat_read(const char *root, pid_t pid, struct process_stat *ret_stat)
{
	double tick = 1 / (double)sysconf(_SC_CLK_TCK);
	_cleanup_fclose_ FILE *file = NULL;
	unsigned long long user, system, their_user, their_system, pages;
	char path[PATH_MAX], text[1024], *name, *rest;
	struct process_stat stat = {.pid = pid};

	snprintf(path, sizeof(path), "%s/proc/%d/stat", root ?: "", (int)pid);
	file = regular_file_open(path);
	if (!file || !fgets(text, sizeof(text), file))
		return -ESRCH;
	if (split_name(text, &name, &rest) < 0 ||
	        sscanf(rest,
	                " %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu %*s %*s "
	                "%*s %*s %*s %*s %llu",
	                &stat.parent, &user, &system, &their_user, &their_system, &pages) != 6)
		return -EBADMSG;
	printable(name, stat.comm, sizeof(stat.comm));
	stat.cpu_seconds = (double)(user + system) * tick;
	stat.children_seconds = (double)(their_user + their_system) * tick;
	stat.resident_bytes = (double)pages * (double)sysconf(_SC_PAGESIZE);
	*ret_stat = stat;
	return 0;
}

struct processes {
	struct process_stat *stats;
	size_t n, capacity;
};

static int add(struct processes *processes, const struct process_stat *stat)
{
	if (processes->n == processes->capacity) {
		size_t capacity = processes->capacity * 2 + 64;
		struct process_stat *larger =
		        reallocarray(processes->stats, capacity, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		processes->stats = larger;
		processes->capacity = capacity;
	}
	processes->stats[processes->n++] = *stat;
	return 0;
}

static int read_all(const char *root, struct processes *processes)
{
	_cleanup_closedir_ DIR *directory = NULL;
	struct process_stat stat;
	struct dirent *entry;
	char path[PATH_MAX];
	int r = 0;

	snprintf(path, sizeof(path), "%s/proc", root ?: "");
	directory = opendir(path);
	while (r == 0 && directory && (entry = readdir(directory))) {
		if (isdigit((unsigned char)entry->d_name[0]) &&
		        process_stat_read(root, atoi(entry->d_name), &stat) == 0)
			r = add(processes, &stat);
	}
	return directory ? r : -ESRCH;
}

/* Those below a process whose children are counted move to the front, n of them so far. */
static void gather(struct processes *processes, pid_t parent, size_t *n)
{
	for (size_t i = *n; i < processes->n; i++) {
		struct process_stat stat = processes->stats[i];

		if (stat.parent != parent || stat.pid == parent)
			continue;
		processes->stats[i] = processes->stats[*n];
		processes->stats[(*n)++] = stat;
	}
}

static void count(struct children *children, const struct process_stat *stat, double *most)
{
	children->alive++;
	children->seconds += stat->cpu_seconds + stat->children_seconds;
	if (stat->cpu_seconds <= *most)
		return;
	*most = stat->cpu_seconds;
	children->busiest = stat->pid;
	strcpy(children->busiest_comm, stat->comm);
}

int children_look(const char *root, pid_t pid, struct children *ret_children)
{
	struct processes processes = {0};
	struct children children = {0};
	struct process_stat own;
	double most = -1;
	size_t n = 0;
	int r = process_stat_read(root, pid, &own);

	r = r ?: read_all(root, &processes);
	if (r == 0) {
		children.own_seconds = own.cpu_seconds;
		children.seconds = own.children_seconds;
		gather(&processes, pid, &n);
		for (size_t i = 0; i < n; i++) {
			gather(&processes, processes.stats[i].pid, &n);
			count(&children, &processes.stats[i], &most);
		}
		*ret_children = children;
	}
	free(processes.stats);
	return r;
}

void children_complain(const struct children *children, bool again)
{
	char own[NUMBER_TEXT], theirs[NUMBER_TEXT], busiest[128] = "";

	if (children->seconds < LEAST_SECONDS || children->seconds < children->own_seconds)
		return;
	if (children->busiest && !again)
		snprintf(busiest, sizeof(busiest), "`mtl curve %d` (%s, the busiest), or ",
		        (int)children->busiest, children->busiest_comm);
	complain(MTL_DONE,
	        "its children used %s of CPU time, it itself %s: they are processes of their own "
	        "and "
	        "not observed with it; %s%s",
	        seconds_format(children->seconds, theirs),
	        seconds_format(children->own_seconds, own), busiest,
	        again ? "run the program itself, from a shell by `sh -c 'exec PROGRAM'`, or have a "
	                "mtld that "
	                "runs observe a control group: `mtl track cgroup:PATH`"
	              : "all of its control group: `mtl track cgroup:PATH`");
}
