/* SPDX-License-Identifier: MIT */
/*
 * What the processor counts of a group: lines in each L3, and bytes from memory.
 *
 * mon_data has a directory mon_L3_ID for each L3, with a file for each event. A counter that cannot
 * be read now says "Unavailable", "Unassigned" or "Error" in place of a number, and one that the
 * processor does not have has no file: all are unknown, which is not nothing.
 */

#include "resctrl.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "resctrl_session.h"

static struct resctrl_count read_count(int fd, const char *domain, const char *event)
{
	_cleanup_free_ char *text = NULL;
	struct resctrl_count count = {0};
	char path[RESCTRL_PATH], *end;

	resctrl_file(domain, event, path);
	if (resctrl_read(fd, path, &text) < 0)
		return count;
	errno = 0;
	count.bytes = strtoull(text, &end, 10);
	count.known = isdigit((unsigned char)*text) && errno == 0 && (*end == '\n' || !*end);
	snprintf(count.words, sizeof(count.words), "%.*s",
	        count.known ? 0 : (int)strcspn(text, "\n"), text);
	return count;
}

static int by_domain(const void *a, const void *b)
{
	const struct resctrl_reading *left = a, *right = b;

	return (left->domain > right->domain) - (left->domain < right->domain);
}

static int read_all(
        struct resctrl_session *session, DIR *dir, struct resctrl_reading **readings, size_t *n)
{
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct resctrl_reading *larger;
		int id, fd = dirfd(dir);

		if (sscanf(entry->d_name, "mon_L3_%d", &id) != 1)
			continue;
		larger = reallocarray(*readings, *n + 1, sizeof(**readings));
		if (!larger)
			return resctrl_fail(session, -ENOMEM, "out of memory");
		*readings = larger;
		larger[(*n)++] =
		        (struct resctrl_reading){id, read_count(fd, entry->d_name, "llc_occupancy"),
		                read_count(fd, entry->d_name, "mbm_total_bytes"),
		                read_count(fd, entry->d_name, "mbm_local_bytes")};
	}
	return 0;
}

static int no_data(struct resctrl_session *session, const char *group, int r)
{
	char path[RESCTRL_PATH];

	if (r != -ENOENT)
		return resctrl_fail(session, r, "cannot read mon_data of group \"%s\": %s", group,
		        strerror(-r));
	if (*group && !resctrl_exists(session->fd, resctrl_file(group, "tasks", path)))
		return resctrl_fail(session, r, "there is no resctrl group \"%s\"", group);
	return resctrl_fail(session, -EOPNOTSUPP,
	        "this processor cannot count what a group occupies (neither Intel CMT or MBM nor "
	        "AMD's)");
}

int resctrl_monitor(const struct resctrl_place *place, const char *group,
        struct resctrl_reading **ret_readings, size_t *ret_n, char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_session_done) struct resctrl_session session;
	_cleanup_closedir_ DIR *dir = NULL;
	_cleanup_free_ struct resctrl_reading *readings = NULL;
	char path[RESCTRL_PATH];
	size_t n = 0;
	int fd, r = resctrl_session_begin(&session, place, false, ret_error, error_size);

	if (r < 0)
		return r;
	fd = openat(session.fd, resctrl_file(group, "mon_data", path),
	        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return no_data(&session, group, -errno);
	r = read_all(&session, dir, &readings, &n);
	if (r < 0)
		return r;
	if (n == 0)
		return no_data(&session, group, -ENOENT);
	qsort(readings, n, sizeof(*readings), by_domain);
	*ret_readings = TAKE_PTR(readings);
	*ret_n = n;
	return 0;
}
