/* SPDX-License-Identifier: MIT */
/*
 * Which processes are in a group of resctrl, and in which groups processes are.
 *
 * Groups have threads. A process is in a group when one of its threads is. The list of a control
 * group has the threads of its monitoring groups too, and so have its counters: a monitoring group
 * beside its control group adds nothing. Whoever asks for processes is told which of them are in
 * the group only in part, since what they do as a whole is not what the group does.
 */

#include "resctrl.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "resctrl_session.h"
#include "resctrl_tasks.h"

static int list_members(struct resctrl_session *session, const char *group, struct pid_set *set)
{
	_cleanup_free_ char *text = NULL;
	char path[RESCTRL_PATH], *at, *end;
	int r = resctrl_read(session->fd, resctrl_file(group, "tasks", path), &text);

	if (r == -ENOENT)
		return resctrl_fail(session, r, "there is no resctrl group \"%s\"", group);
	if (r < 0)
		return resctrl_fail(session, r, "cannot list the tasks of resctrl group \"%s\": %s",
		        group, strerror(-r));
	for (at = text; r == 0; at = end) {
		int pid, tid = (int)strtol(at, &end, 10);

		if (end == at)
			break;
		pid = resctrl_process_of(session, tid);
		r = pid ? pid_set_add(set, pid) : 0;
	}
	pid_set_sort(set);
	return r < 0 ? resctrl_fail(session, r, "out of memory") : 0;
}

/* --- the other way round */

static void drop(struct resctrl_home *homes, size_t i, size_t *n)
{
	free(homes[i].group);
	memmove(&homes[i], &homes[i + 1], (*n - i - 1) * sizeof(*homes));
	--*n;
}

/* Nothing where it is within one that is there; what is within it goes. */
static int add_home(struct resctrl_homes *homes, const char *group)
{
	struct resctrl_home *larger;

	for (size_t i = 0; i < homes->n; i++)
		if (resctrl_is_within(group, homes->homes[i].group))
			return 0;
	for (size_t i = homes->n; i-- > 0;)
		if (resctrl_is_within(homes->homes[i].group, group))
			drop(homes->homes, i, &homes->n);
	larger = reallocarray(homes->homes, homes->n + 1, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	homes->homes = larger;
	larger[homes->n] = (struct resctrl_home){.group = strdup(group)};
	return larger[homes->n++].group ? 0 : -ENOMEM;
}

static int add_homes(struct resctrl_session *session, int pid, struct resctrl_homes *homes)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[RESCTRL_PATH], group[RESCTRL_PATH];
	int fd, r = 0;

	snprintf(path, sizeof(path), "%d/task", pid);
	fd = openat(session->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	for (struct dirent *entry; r == 0 && dir && (entry = readdir(dir));) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		r = resctrl_group_of(session, pid, atoi(entry->d_name), group);
		if (r == 0 && add_home(homes, group) < 0)
			r = resctrl_fail(session, -ENOMEM, "out of memory");
		r = r == -ESRCH ? 0 : r;
	}
	return r;
}

static int count_others(
        struct resctrl_session *session, const struct pid_set *set, struct resctrl_home *home)
{
	_cleanup_(pid_set_done) struct pid_set members = {0};
	int r = list_members(session, home->group, &members);

	for (size_t i = 0; r == 0 && i < members.n; i++)
		home->others += !pid_set_has(set, members.pids[i]);
	return r;
}

int resctrl_homes_of(const struct resctrl_place *place, const struct pid_set *set,
        struct resctrl_homes *ret_homes, char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_session_done) struct resctrl_session session;
	_cleanup_(resctrl_homes_done) struct resctrl_homes homes = {0};
	int r = resctrl_session_begin(&session, place, false, ret_error, error_size);

	for (size_t i = 0; r == 0 && i < set->n; i++)
		r = add_homes(&session, set->pids[i], &homes);
	for (size_t i = 0; r == 0 && i < homes.n; i++)
		r = count_others(&session, set, &homes.homes[i]);
	if (r < 0)
		return r;
	*ret_homes = homes;
	homes = (struct resctrl_homes){0};
	return 0;
}

/* --- a group's processes */

/* What cannot be found out is not so. */
static bool is_partly(struct resctrl_session *session, int pid, const char *group)
{
	_cleanup_(resctrl_homes_done) struct resctrl_homes homes = {0};
	bool outside = false;

	if (add_homes(session, pid, &homes) < 0)
		return false;
	for (size_t i = 0; i < homes.n; i++)
		outside |= !resctrl_is_within(homes.homes[i].group, group);
	return outside;
}

int resctrl_members(const struct resctrl_place *place, const char *group, struct pid_set *ret_set,
        struct pid_set *ret_partly, char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_session_done) struct resctrl_session session;
	_cleanup_(pid_set_done) struct pid_set set = {0}, partly = {0};
	int r = resctrl_session_begin(&session, place, false, ret_error, error_size);

	r = r ?: list_members(&session, group, &set);
	for (size_t i = 0; r == 0 && i < set.n; i++)
		if (is_partly(&session, set.pids[i], group) &&
		        pid_set_add(&partly, set.pids[i]) < 0)
			r = resctrl_fail(&session, -ENOMEM, "out of memory");
	if (r < 0)
		return r;
	*ret_set = set;
	*ret_partly = partly;
	set = partly = (struct pid_set){0};
	return 0;
}

int resctrl_mode(const struct resctrl_place *place, const char *group, char ret_mode[RESCTRL_MODE],
        char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_session_done) struct resctrl_session session;
	_cleanup_free_ char *control = strdup(group), *text = NULL;
	char path[RESCTRL_PATH];
	int r = resctrl_session_begin(&session, place, false, ret_error, error_size);

	if (r == 0 && !control)
		r = resctrl_fail(&session, -ENOMEM, "out of memory");
	if (r < 0)
		return r;
	if (resctrl_is_within(control, ""))
		*control = '\0';
	control[strcspn(control, "/")] = '\0';
	r = resctrl_read(session.fd, resctrl_file(control, "mode", path), &text);
	if (r < 0)
		return resctrl_fail(
		        &session, r, "cannot read %s of resctrl: %s", path, strerror(-r));
	snprintf(ret_mode, RESCTRL_MODE, "%.*s", (int)strcspn(text, "\n"), text);
	return 0;
}

void resctrl_homes_done(struct resctrl_homes *homes)
{
	for (size_t i = 0; i < homes->n; i++)
		free(homes->homes[i].group);
	free(homes->homes);
	*homes = (struct resctrl_homes){0};
}
