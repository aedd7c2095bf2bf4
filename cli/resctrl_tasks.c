/* SPDX-License-Identifier: MIT */
/*
 * Moving threads between groups.
 *
 * A group takes threads one by one; new ones are in the group of the thread that made them. While a
 * process is moved it may start threads from ones not moved yet, so its list is read until all on
 * it are in the group. Where a thread is says /proc/PID/task/TID/cpu_resctrl_groups, and before it
 * is moved the journal on disk knows it. A thread that ends meanwhile (ESRCH, ENOENT) is no error.
 *
 * Back it is the other way round: who is in the group now is moved, so a number that has become
 * another task's since is left alone, and who was born in the group goes where its process was
 * from.
 */

#include "resctrl_tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define PASSES 100 /* that find threads outside; more means that somebody takes them out again */

struct moving {
	struct resctrl_session *session;
	struct resctrl_journal *journal;
	const struct resctrl_plan_group *group;
	int pid;
	int *tids; /* outside of the group */
	size_t n_tids;
};

static bool has_ended(int r)
{
	return r == -ENOENT || r == -ESRCH;
}

/* "res:A\nmon:m\n" -> "A/mon_groups/m"; the default group is "res:/". */
static int parse_groups(char *text, char *ret_group)
{
	char *control = strncmp(text, "res:", 4) ? NULL : text + 4, *monitor;

	monitor = control ? strstr(control, "\nmon:") : NULL;
	if (!monitor || monitor == control)
		return -EPROTO;
	*monitor = '\0';
	monitor += 5;
	monitor[strcspn(monitor, "\n")] = '\0';
	if (!strcmp(control, "/"))
		control = "";
	snprintf(ret_group, RESCTRL_PATH, "%s%s%s%s", control, *control && *monitor ? "/" : "",
	        *monitor ? "mon_groups/" : "", monitor);
	return 0;
}

int resctrl_group_of(
        struct resctrl_session *session, int pid, int tid, char ret_group[RESCTRL_PATH])
{
	_cleanup_free_ char *text = NULL;
	char path[RESCTRL_PATH];
	int r;

	snprintf(path, sizeof(path), "%d/task/%d/cpu_resctrl_groups", pid, tid);
	r = resctrl_read(session->proc, path, &text);
	if (has_ended(r)) {
		/* Gone with its thread, or a kernel before 5.6, which does not say. */
		snprintf(path, sizeof(path), "%d/task/%d", pid, tid);
		if (!resctrl_exists(session->proc, path))
			return -ESRCH;
	}
	r = r < 0 ? r : parse_groups(text, ret_group);
	return r < 0 ? resctrl_fail(session, r,
	                       "cannot tell which group thread %d of process %d is in: %s", tid,
	                       pid, strerror(-r))
	             : 0;
}

int resctrl_process_of(struct resctrl_session *session, int tid)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	const char *line;

	snprintf(path, sizeof(path), "%d/status", tid);
	if (resctrl_read(session->proc, path, &text) < 0)
		return 0;
	line = strstr(text, "\nTgid:");
	return line ? atoi(line + strlen("\nTgid:")) : 0;
}

bool resctrl_is_within(const char *path, const char *group)
{
	size_t length = strlen(group);

	if (!length)
		return !*path || strncmp(path, "mon_groups/", 11) == 0;
	return !strncmp(path, group, length) && (path[length] == '\0' || path[length] == '/');
}

/* That it is noted, or that there is nothing to note: it is in a group of ours already. */
static bool is_noted(const struct moving *moving, int tid, const char *group)
{
	const struct resctrl_journal *journal = moving->journal;

	for (size_t i = 0; i < journal->n_groups; i++)
		if (resctrl_is_within(group, journal->groups[i]))
			return true;
	for (size_t i = journal->n_formers; i-- > 0;)
		if (journal->formers[i].tid == tid && journal->formers[i].pid == moving->pid)
			return !strcmp(journal->formers[i].group, group);
	return false;
}

static int note_thread(struct moving *moving, int tid)
{
	char group[RESCTRL_PATH];
	int *larger, r = resctrl_group_of(moving->session, moving->pid, tid, group);

	if (r == -ESRCH || (r == 0 && resctrl_is_within(group, moving->group->name)))
		return 0;
	if (r < 0)
		return r;
	larger = reallocarray(moving->tids, moving->n_tids + 1, sizeof(int));
	if (!larger)
		return resctrl_fail(moving->session, -ENOMEM, "out of memory");
	moving->tids = larger;
	larger[moving->n_tids++] = tid;
	if (is_noted(moving, tid, group))
		return 0;
	return resctrl_journal_task(moving->session, moving->journal, tid, moving->pid, group);
}

static int note_process(struct moving *moving)
{
	struct resctrl_session *session = moving->session;
	_cleanup_closedir_ DIR *dir = NULL;
	char path[RESCTRL_PATH];
	int fd, r = 0;

	moving->n_tids = 0;
	snprintf(path, sizeof(path), "%d/task", moving->pid);
	fd = openat(session->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return has_ended(-errno) ? -ESRCH
		                         : resctrl_fail(session, -errno,
		                                   "cannot list the threads of process %d: %s",
		                                   moving->pid, strerror(errno));
	for (struct dirent *entry; r == 0 && (entry = readdir(dir));)
		if (isdigit((unsigned char)entry->d_name[0]))
			r = note_thread(moving, atoi(entry->d_name));
	return r;
}

int resctrl_move_task(struct resctrl_session *session, const char *group, int tid)
{
	char path[RESCTRL_PATH], text[16];

	snprintf(text, sizeof(text), "%d\n", tid);
	return resctrl_write(session->fd, resctrl_file(group, "tasks", path), text);
}

static int move_noted(struct moving *moving)
{
	struct resctrl_session *session = moving->session;

	for (size_t i = 0; i < moving->n_tids; i++) {
		int r = resctrl_move_task(session, moving->group->name, moving->tids[i]);

		/* ENOENT would be the group, which somebody has removed. */
		if (r < 0 && r != -ESRCH)
			return resctrl_refused(session, r, "move thread %d of process %d into %s",
			        moving->tids[i], moving->pid, moving->group->name);
		if (session->report && r == 0)
			session->report->moved++;
		if (session->report && r < 0)
			session->report->ended++;
	}
	return 0;
}

/* One pass over all processes; counts the threads that were outside. */
static int pass(struct resctrl_session *session, struct resctrl_journal *journal,
        const struct resctrl_plan *plan, bool move, bool first, size_t *ret_outside)
{
	*ret_outside = 0;
	for (size_t i = 0; i < plan->n_groups; i++) {
		const struct resctrl_plan_group *group = &plan->groups[i];

		for (size_t k = 0; k < group->n_pids; k++) {
			struct moving moving = {session, journal, group, group->pids[k], NULL, 0};
			_cleanup_free_ int *tids = NULL;
			int r = note_process(&moving);

			tids = moving.tids;
			if (r == -ESRCH && first)
				resctrl_note(session, "%s: process %d has ended", group->name,
				        group->pids[k]);
			if (r == -ESRCH)
				continue;
			if (r == 0 && journal->n_formers > journal->written_formers && move)
				r = resctrl_journal_sync(session, journal);
			r = r == 0 && move ? move_noted(&moving) : r;
			if (r < 0)
				return r;
			*ret_outside += moving.n_tids;
		}
	}
	return 0;
}

int resctrl_tasks_note(struct resctrl_session *session, struct resctrl_journal *journal,
        const struct resctrl_plan *plan)
{
	size_t outside;
	int r = pass(session, journal, plan, false, true, &outside);

	return r < 0 ? r : resctrl_journal_sync(session, journal);
}

int resctrl_tasks_move(struct resctrl_session *session, struct resctrl_journal *journal,
        const struct resctrl_plan *plan)
{
	for (int i = 0; i < PASSES; i++) {
		size_t outside;
		int r = pass(session, journal, plan, true, false, &outside);

		if (r < 0 || outside == 0)
			return r;
	}
	return resctrl_fail(session, -EBUSY,
	        "threads keep leaving their group: another program moves them, too");
}
