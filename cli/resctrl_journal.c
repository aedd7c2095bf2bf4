/* SPDX-License-Identifier: MIT */
/*
 * The journal of a partition: a text file that says, before anything of it is done, what is to be
 * undone.
 *
 *     mtl partition 1
 *     group mtl.redis
 *     task 4711 4700 web/mon_groups/x         thread, process, the group it is in (nothing:
 * default)
 *
 * Lines are only ever appended, and synced before what they are about happens. So whenever it all
 * stops, every group of ours is named here and every task in one is, too, except those that were
 * born in it. A line that was cut off is of something that did not happen. Removing the file is the
 * last step of undoing.
 */

#include "resctrl_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define JOURNAL "/run/mtl/partition.journal"
#define HEAD "mtl partition 1\n"

static int journal_path(struct resctrl_session *session, char *ret_path)
{
	if (resctrl_rooted(session->place, session->place->journal ?: JOURNAL, ret_path) == 0)
		return 0;
	return resctrl_fail(session, -ENAMETOOLONG, "the journal's name is too long");
}

bool resctrl_journal_there(struct resctrl_session *session)
{
	char path[RESCTRL_PATH];

	return journal_path(session, path) == 0 && access(path, F_OK) == 0;
}

static int no_memory(struct resctrl_session *session)
{
	return resctrl_fail(session, -ENOMEM, "out of memory");
}

int resctrl_journal_group(
        struct resctrl_session *session, struct resctrl_journal *journal, const char *group)
{
	char **larger =
	        reallocarray(journal->groups, journal->n_groups + 1, sizeof(*journal->groups));

	if (!larger)
		return no_memory(session);
	journal->groups = larger;
	larger[journal->n_groups] = strdup(group);
	if (!larger[journal->n_groups])
		return no_memory(session);
	journal->n_groups++;
	return 0;
}

int resctrl_journal_task(struct resctrl_session *session, struct resctrl_journal *journal, int tid,
        int pid, const char *group)
{
	struct resctrl_former *larger =
	        reallocarray(journal->formers, journal->n_formers + 1, sizeof(*journal->formers));

	if (!larger)
		return no_memory(session);
	journal->formers = larger;
	larger[journal->n_formers] = (struct resctrl_former){tid, pid, strdup(group)};
	if (!larger[journal->n_formers].group)
		return no_memory(session);
	journal->n_formers++;
	return 0;
}

static int parse_line(
        struct resctrl_session *session, struct resctrl_journal *journal, const char *line)
{
	int tid, pid, at = 0;

	/* A name of ours has nothing else in it: what is said here is removed as a directory. */
	if (!strncmp(line, "group " RESCTRL_PREFIX, strlen("group " RESCTRL_PREFIX)) &&
	        !strchr(line, '/'))
		return resctrl_journal_group(session, journal, line + strlen("group "));
	if (sscanf(line, "task %d %d%n", &tid, &pid, &at) == 2 && at > 0 && line[at] == ' ')
		return resctrl_journal_task(session, journal, tid, pid, line + at + 1);
	return resctrl_fail(
	        session, -EPROTO, "the journal has a line \"%s\", which mtl does not write", line);
}

static int parse(struct resctrl_session *session, struct resctrl_journal *journal, char *text)
{
	char *end;
	int r = 0;

	if (strncmp(text, HEAD, strlen(HEAD)) != 0) {
		if (!strncmp(text, HEAD, strlen(text)))
			return 0; /* cut off before anything was done */
		return resctrl_fail(session, -EPROTO, "the journal is not one of mtl's");
	}
	for (text += strlen(HEAD); r == 0 && (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		r = parse_line(session, journal, text);
	}
	return r;
}

int resctrl_journal_read(struct resctrl_session *session, struct resctrl_journal *ret_journal)
{
	_cleanup_(resctrl_journal_done) struct resctrl_journal journal = {.fd = -1};
	_cleanup_free_ char *text = NULL;
	char path[RESCTRL_PATH], *last;
	int r = journal_path(session, path);

	r = r < 0 ? r : resctrl_read(AT_FDCWD, path, &text);
	if (r == -ENOENT)
		return r;
	if (r < 0)
		return resctrl_fail(
		        session, r, "cannot read the journal %s: %s", path, strerror(-r));
	/* Where an incomplete line begins is where the next one goes. */
	last = strrchr(text, '\n');
	journal.end = last ? last + 1 - text : 0;
	r = parse(session, &journal, text);
	if (r < 0)
		return r;
	journal.written_groups = journal.n_groups;
	journal.written_formers = journal.n_formers;
	*ret_journal = journal;
	journal = (struct resctrl_journal){.fd = -1};
	return 0;
}

static int sync_directory(const char *path)
{
	char directory[RESCTRL_PATH];
	_cleanup_close_ int fd = -1;

	snprintf(directory, sizeof(directory), "%s", path);
	*strrchr(directory, '/') = '\0';
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Some file systems have nothing to sync in a directory. */
	return fd < 0 || (fsync(fd) < 0 && errno != EINVAL && errno != ENOSYS) ? -errno : 0;
}

/* Its directory is made when missing, not that one's parents. */
static int open_file(struct resctrl_journal *journal, const char *path)
{
	char directory[RESCTRL_PATH];

	snprintf(directory, sizeof(directory), "%s", path);
	*strrchr(directory, '/') = '\0';
	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return -errno;
	journal->fd = open(path,
	        O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (journal->end == 0 ? O_CREAT | O_EXCL : 0),
	        0600);
	return journal->fd < 0 ? -errno : 0;
}

static char *new_lines(const struct resctrl_journal *journal, size_t *ret_length)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, ret_length);

	if (!file)
		return NULL;
	fputs(journal->end == 0 ? HEAD : "", file);
	for (size_t i = journal->written_groups; i < journal->n_groups; i++)
		fprintf(file, "group %s\n", journal->groups[i]);
	for (size_t i = journal->written_formers; i < journal->n_formers; i++)
		fprintf(file, "task %d %d %s\n", journal->formers[i].tid, journal->formers[i].pid,
		        journal->formers[i].group);
	if (fclose(file) == 0)
		return text;
	free(text);
	return NULL;
}

static int append(struct resctrl_journal *journal, const char *path)
{
	size_t length;
	_cleanup_free_ char *text = new_lines(journal, &length);
	bool first = journal->end == 0;
	int r = !text ? -ENOMEM : journal->fd < 0 ? open_file(journal, path) : 0;

	for (size_t done = 0; r == 0 && done < length;) {
		ssize_t n =
		        pwrite(journal->fd, text + done, length - done, journal->end + (off_t)done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	if (r == 0 && fsync(journal->fd) < 0)
		r = -errno;
	if (r == 0)
		journal->end += (off_t)length;
	return r == 0 && first ? sync_directory(path) : r;
}

int resctrl_journal_sync(struct resctrl_session *session, struct resctrl_journal *journal)
{
	char path[RESCTRL_PATH];
	int r = journal_path(session, path);

	if (r < 0)
		return r;
	r = append(journal, path);
	if (r < 0)
		return resctrl_fail(session, r, "cannot write the journal %s: %s%s", path,
		        strerror(-r), r == -EACCES || r == -EPERM ? "; run as root" : "");
	journal->written_groups = journal->n_groups;
	journal->written_formers = journal->n_formers;
	return 0;
}

int resctrl_journal_remove(struct resctrl_session *session)
{
	char path[RESCTRL_PATH];
	int r = journal_path(session, path);

	if (r == 0 && unlink(path) < 0 && errno != ENOENT)
		return resctrl_fail(
		        session, -errno, "cannot remove the journal %s: %s", path, strerror(errno));
	return r;
}

const char *resctrl_journal_former(const struct resctrl_journal *journal, int tid, int pid)
{
	const char *of_process = NULL;

	for (size_t i = journal->n_formers; i-- > 0;) {
		const struct resctrl_former *former = &journal->formers[i];

		if (former->tid == tid && former->pid == pid)
			return former->group;
		if (former->pid == pid && (!of_process || former->tid == pid))
			of_process = former->group;
	}
	return of_process;
}

void resctrl_journal_done(struct resctrl_journal *journal)
{
	for (size_t i = 0; i < journal->n_groups; i++)
		free(journal->groups[i]);
	for (size_t i = 0; i < journal->n_formers; i++)
		free(journal->formers[i].group);
	free(journal->groups);
	free(journal->formers);
	closep(&journal->fd);
	*journal = (struct resctrl_journal){.fd = -1};
}
