/* SPDX-License-Identifier: MIT */
/*
 * Once a second, less often where they are many, the members of each followed control group are
 * read; who is new there is tracked, who has left is not any more. Every other look the CPU time of
 * all processes is read, and busiest.c says which to track. Only what was tracked on account of a
 * group, or of its CPU time, is untracked on that account: a process somebody named stays.
 *
 * Neither sees a process that lives for less than a second. mtld itself is left out, and kernel
 * threads, which have no memory to watch. A group that is removed has no members; a configured one
 * that comes back is followed again.
 */
#include "follow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "cleanup.h"
#include "manager_parts.h"
#include "proc.h"
#include "busiest.h"

#define LOOK_USEC 1000000
#define LOOK_MEMBERS 500 /* of more it is looked at as many times less often */
#define TOP_LOOKS 2      /* looks at groups from one look at CPU times to the next */

struct followed {
	char name[MANAGER_CGROUP_NAME];
	char path[PATH_MAX]; /* "": it is not there */
	bool configured;
	unsigned members, hidden, tracked;
	int error; /* negative errno of the latest member that could not be tracked; 0 */
};

struct follow {
	struct manager *manager;
	pid_t own; /* mtld */
	struct followed *groups[MANAGER_CGROUPS_MAX];
	unsigned n_groups, looks;
	struct busiest top;
	uint64_t top_ns;
	sd_event_source *timer;
};

/* ---- control groups ---- */

static void track_member(struct follow *follow, struct followed *group, pid_t pid)
{
	struct entry *entry = manager_find(follow->manager, pid);
	int r = 0;

	if (pid == follow->own)
		return;
	if (!entry || !manager_is_alive(entry))
		r = manager_track_for(follow->manager, pid, BY_CGROUP, group->name);
	if (r == 0)
		group->tracked++;
	else if (r != -ESRCH && r != -ENOTSUP)
		group->error = r;
}

static bool has_left(
        const struct entry *entry, const struct followed *group, const struct pid_set *set)
{
	return entry->by == BY_CGROUP && manager_is_alive(entry) &&
	       !strcmp(entry->cgroup, group->name) && !pid_set_has(set, entry->tracked->pid);
}

/* It has ended, or is about to: its pidfd tells, and its curve is kept. */
static bool has_ended(const struct follow *follow, const struct entry *entry)
{
	pid_t tid;

	return proc_living_thread(follow->manager->root, entry->tracked->pid, &tid) < 0;
}

static int members_of(struct follow *follow, struct followed *group, struct pid_set *ret_set)
{
	size_t hidden = 0;
	int r = 0;

	if (*group->path && !cgroup_is_group(group->path))
		*group->path = '\0';
	if (!*group->path)
		r = cgroup_find(follow->manager->root, group->name, group->path);
	if (r < 0)
		*group->path = '\0';
	else
		r = cgroup_processes(group->path, ret_set, &hidden);
	if (r < 0)
		return r;
	group->hidden = hidden;
	return 0;
}

static void belongs_to(struct entry *entry, enum tracked_by by, const char *cgroup)
{
	char *name = cgroup ? strdup(cgroup) : NULL;

	if (cgroup && !name)
		return;
	free(entry->cgroup);
	entry->cgroup = name;
	entry->by = by;
}

static bool is_chosen(const struct follow *follow, pid_t pid)
{
	for (size_t i = 0; i < follow->top.n; i++)
		if ((pid_t)follow->top.processes[i].pid == pid)
			return follow->top.processes[i].chosen;
	return false;
}

/* Those of `entries` that a group has, or the top, are tracked on that account from now on; the
 * others on nobody's. */
static void pass_on(struct follow *follow, struct entry **entries, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		entries[i]->by = BY_PID;
	for (unsigned g = 0; n > 0 && g < follow->n_groups; g++) {
		_cleanup_(pid_set_done) struct pid_set set = {0};

		if (members_of(follow, follow->groups[g], &set) < 0)
			continue;
		for (unsigned i = 0; i < n; i++)
			if (pid_set_has(&set, entries[i]->tracked->pid))
				belongs_to(entries[i], BY_CGROUP, follow->groups[g]->name);
	}
	for (unsigned i = 0; i < n; i++)
		if (is_chosen(follow, entries[i]->tracked->pid))
			belongs_to(entries[i], BY_TOP, NULL);
}

bool follow_takes(struct follow *follow, struct entry *entry)
{
	pass_on(follow, &entry, 1);
	return entry->by != BY_PID;
}

static void untrack_others(
        struct follow *follow, const struct followed *group, const struct pid_set *set)
{
	struct manager *manager = follow->manager;
	struct entry *leaving[INDEX_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < manager->n_entries; i++)
		if (has_left(manager->entries[i], group, set) &&
		        !has_ended(follow, manager->entries[i]))
			leaving[n++] = manager->entries[i];
	pass_on(follow, leaving, n);
	for (unsigned i = 0; i < n; i++)
		if (leaving[i]->by == BY_PID)
			manager_forget(manager, leaving[i]);
}

static void look_at_group(struct follow *follow, struct followed *group)
{
	_cleanup_(pid_set_done) struct pid_set set = {0};

	group->members = group->hidden = group->tracked = 0;
	group->error = members_of(follow, group, &set);
	group->members = set.n + group->hidden;
	for (size_t i = 0; i < set.n; i++)
		track_member(follow, group, set.pids[i]);
	untrack_others(follow, group, &set);
}

/* ---- CPU time ---- */

static int read_samples(struct follow *follow, struct busiest_sample **ret_samples, size_t *ret_n)
{
	_cleanup_free_ struct mtl_task_time *times = NULL;
	struct busiest_sample *samples;
	size_t n, kept = 0;
	int r = source_task_times(follow->manager->instrument->source, &times, &n);

	if (r < 0)
		return r;
	samples = calloc(n + 1, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (times[i].pid && (pid_t)times[i].pid != follow->own)
			samples[kept++] = (struct busiest_sample){
			        times[i].pid, times[i].start_ns, times[i].cpu_ns};
	*ret_samples = samples;
	*ret_n = kept;
	return 0;
}

static void obey(struct follow *follow, struct busiest_process *process)
{
	struct entry *entry = manager_find(follow->manager, process->pid);
	bool alive = entry && manager_is_alive(entry);

	if (process->chosen && !alive) {
		int r = manager_track_for(follow->manager, process->pid, BY_TOP, NULL);

		process->chosen = r == 0;
		process->refused = r == -ENOTSUP || r == -EACCES;
	} else if (!process->chosen && alive && entry->by == BY_TOP &&
	           !follow_takes(follow, entry)) {
		manager_forget(follow->manager, entry);
	}
}

static void look_at_top(struct follow *follow)
{
	_cleanup_free_ struct busiest_sample *samples = NULL;
	uint64_t now = source_now();
	double seconds = follow->top_ns ? (now - follow->top_ns) / 1e9 : 0;
	size_t n;

	if (read_samples(follow, &samples, &n) < 0)
		return;
	if (busiest_update(&follow->top, samples, n, seconds, follow->manager->config->top) < 0)
		return;
	follow->top_ns = now;
	for (size_t i = 0; i < follow->top.n; i++) /* who leaves makes room for who comes */
		if (!follow->top.processes[i].chosen)
			obey(follow, &follow->top.processes[i]);
	for (size_t i = 0; i < follow->top.n; i++)
		if (follow->top.processes[i].chosen)
			obey(follow, &follow->top.processes[i]);
}

/* ---- begin and end ---- */

static struct followed *take_group(struct follow *follow, unsigned i)
{
	struct followed *group = follow->groups[i];

	follow->groups[i] = follow->groups[--follow->n_groups];
	return group;
}

static bool has_something(const struct follow *follow)
{
	return follow->n_groups > 0 || follow->manager->config->top > 0;
}

static int on_look(sd_event_source *timer, uint64_t usec, void *userdata)
{
	struct follow *follow = userdata;
	unsigned members = 0;

	(void)usec;
	for (unsigned i = follow->n_groups; i-- > 0;) {
		look_at_group(follow, follow->groups[i]);
		members += follow->groups[i]->members;
		if (follow->groups[i]->error == -ENOENT && !follow->groups[i]->configured)
			free(take_group(follow, i));
	}
	if ((follow->manager->config->top > 0 || follow->top.n > 0) &&
	        follow->looks++ % TOP_LOOKS == 0)
		look_at_top(follow);
	if (follow->manager->config->top == 0)
		busiest_done(&follow->top);
	sd_event_source_set_time_relative(
	        timer, LOOK_USEC * fmax(1, members / (double)LOOK_MEMBERS));
	sd_event_source_set_enabled(timer, has_something(follow) ? SD_EVENT_ON : SD_EVENT_OFF);
	return 0;
}

/* What a text names: path "" and -ENOENT where it is not there. Other errors: it can be no group.
 */
struct called {
	char name[MANAGER_CGROUP_NAME];
	char path[PATH_MAX];
};

static int resolve(const struct follow *follow, const char *text, struct called *ret_called)
{
	int r = cgroup_name(text, ret_called->name, sizeof(ret_called->name));

	if (r >= 0)
		r = cgroup_find(follow->manager->root, ret_called->name, ret_called->path);
	if (r < 0)
		*ret_called->path = '\0';
	return r;
}

/* By name, or by the directory it is. */
static unsigned find_group(const struct follow *follow, const struct called *called)
{
	unsigned i = 0;

	while (i < follow->n_groups && strcmp(follow->groups[i]->name, called->name) != 0 &&
	        !(*called->path && strcmp(follow->groups[i]->path, called->path) == 0))
		i++;
	return i;
}

static int add_group(struct follow *follow, const struct called *called, bool configured,
        struct followed **ret_group)
{
	unsigned i = find_group(follow, called);
	struct followed *group;

	if (i == MANAGER_CGROUPS_MAX)
		return -E2BIG;
	if (i == follow->n_groups) {
		group = calloc(1, sizeof(*group));
		if (!group)
			return -ENOMEM;
		strcpy(group->name, called->name);
		group->configured = configured;
		follow->groups[follow->n_groups++] = group;
	}
	*ret_group = follow->groups[i];
	return 0;
}

int follow_cgroup(struct follow *follow, const char *text)
{
	_cleanup_(pid_set_done) struct pid_set set = {0};
	struct followed *group;
	struct called called;
	size_t hidden;
	int r = resolve(follow, text, &called);

	if (r >= 0)
		r = cgroup_processes(called.path, &set, &hidden);
	if (r >= 0)
		r = add_group(follow, &called, false, &group);
	if (r < 0)
		return r;
	look_at_group(follow, group);
	sd_event_source_set_time_relative(follow->timer, LOOK_USEC);
	return sd_event_source_set_enabled(follow->timer, SD_EVENT_ON);
}

int follow_no_more(struct follow *follow, const char *text)
{
	static const struct pid_set none;
	_cleanup_free_ struct followed *group = NULL;
	struct called called;
	int r = resolve(follow, text, &called);
	unsigned i;

	if (r < 0 && r != -ENOENT)
		return r;
	i = find_group(follow, &called);
	if (i == follow->n_groups)
		return -ENOENT;
	group = take_group(follow, i);
	untrack_others(follow, group, &none);
	return 0;
}

int follow_describe(const struct follow *follow, unsigned index, struct manager_cgroup *ret_cgroup)
{
	const struct followed *group = index < follow->n_groups ? follow->groups[index] : NULL;

	if (!group)
		return -ENOENT;
	*ret_cgroup = (struct manager_cgroup){
	        .members = group->members,
	        .tracked = group->tracked,
	        .error = group->error,
	        .elsewhere = group->hidden,
	};
	strcpy(ret_cgroup->name, group->name);
	return 0;
}

static int add_configured(struct follow *follow)
{
	_cleanup_free_ char *names = strdup(follow->manager->config->cgroups);
	char *rest = names, *text;
	int r = names ? 0 : -ENOMEM;

	while (r >= 0 && (text = strsep(&rest, " \t"))) {
		struct followed *group;
		struct called called;

		if (!*text)
			continue;
		r = resolve(follow, text, &called);
		if (r >= 0 || r == -ENOENT)
			r = add_group(follow, &called, true, &group);
	}
	return r;
}

DEFINE_CLEANUP(struct follow, follow_free)

int follow_new(struct manager *manager, struct follow **ret_follow)
{
	_cleanup_(follow_freep) struct follow *follow = calloc(1, sizeof(*follow));
	int r;

	if (!follow)
		return -ENOMEM;
	follow->manager = manager;
	follow->own = getpid();
	r = add_configured(follow);
	if (r >= 0)
		r = sd_event_add_time_relative(manager->event, &follow->timer, CLOCK_MONOTONIC,
		        LOOK_USEC / 10, 100000, on_look, follow);
	if (r >= 0)
		r = sd_event_source_set_enabled(
		        follow->timer, has_something(follow) ? SD_EVENT_ON : SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret_follow = TAKE_PTR(follow);
	return 0;
}

struct follow *follow_free(struct follow *follow)
{
	if (!follow)
		return NULL;
	sd_event_source_disable_unref(follow->timer);
	while (follow->n_groups > 0)
		free(follow->groups[--follow->n_groups]);
	busiest_done(&follow->top);
	free(follow);
	return NULL;
}
