/* SPDX-License-Identifier: MIT */
/*
 * The files of resctrl and what goes wrong with them.
 *
 * Its programs agree on flock() of the directory; everything that changes something happens under
 * it. A refusal is an errno, and a few words in info/last_cmd_status that the next command of
 * anybody wipes out: they are read at once and belong into the message. A file is written by one
 * write(2), since stdio would split what the kernel wants whole and lose its error.
 */

#include "resctrl_session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define RESCTRL "/sys/fs/resctrl"

/* What to do about a refusal: by errno and by how the kernel's words begin; the first that fits. */
static const struct {
	int error;
	const char *words, *advice;
} advices[] = {
        {ENOSPC, "Out of CLOSIDs",
                "all classes of service of this processor are in use: remove groups below " RESCTRL
                " that nobody needs (other programs, like pqos, make them at their start)"},
        {ENOSPC, "Out of RMIDs",
                "all monitoring ids of this processor are in use: remove monitoring groups "
                "below " RESCTRL},
        {ENOSPC, "No space on", "groups in exclusive mode leave no bit for another group"},
        {EBUSY, "",
                "monitoring ids of removed groups are kept back while their lines are still in the "
                "cache: "
                "try again in a few seconds"},
        {EPERM, "No permission", "only root can move processes of other users"},
        {EPERM, "", "run as root"},
        {EACCES, "", "run as root"},
        {EROFS, "",
                "resctrl is mounted read-only here: in a systemd unit ReadWritePaths=" RESCTRL
                " makes it writable"},
        {EINVAL, "Overlaps with exclusive group",
                "a group in exclusive mode has taken these bits since the plan was made: plan "
                "again"},
};

static const char *advice_for(int error, const char *words)
{
	for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++)
		if (advices[i].error == error &&
		        !strncmp(words, advices[i].words, strlen(advices[i].words)))
			return advices[i].advice;
	return NULL;
}

int resctrl_rooted(const struct resctrl_place *place, const char *path, char ret_path[RESCTRL_PATH])
{
	int n = snprintf(ret_path, RESCTRL_PATH, "%s%s", place->root ?: "", path);

	return n < RESCTRL_PATH ? 0 : -ENAMETOOLONG;
}

int resctrl_fail(struct resctrl_session *session, int r, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(session->error, session->error_size, format, arguments);
	va_end(arguments);
	return r;
}

/* Several lines become one; "ok" says nothing. */
static char *last_words(int fd)
{
	_cleanup_free_ char *text = NULL;
	size_t length;

	if (resctrl_read(fd, "info/last_cmd_status", &text) < 0 || !strcmp(text, "ok\n"))
		return strdup("");
	for (length = strlen(text); length > 0 && text[length - 1] == '\n'; length--)
		text[length - 1] = '\0';
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ';';
	return TAKE_PTR(text);
}

int resctrl_refused(struct resctrl_session *session, int r, const char *format, ...)
{
	_cleanup_free_ char *words = last_words(session->fd);
	const char *advice = advice_for(-r, words ?: "");
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return resctrl_fail(session, r, "cannot %s: %s%s%s%s%s%s", what, strerror(-r),
	        words && *words ? " (the kernel says: " : "", words ?: "",
	        words && *words ? ")" : "", advice ? "; " : "", advice ?: "");
}

void resctrl_note(struct resctrl_session *session, const char *format, ...)
{
	char *notes = session->report ? session->report->notes : NULL;
	size_t length = notes ? strlen(notes) : 0;
	va_list arguments;
	int n;

	if (!notes)
		return;
	va_start(arguments, format);
	n = vsnprintf(notes + length, RESCTRL_NOTES - length, format, arguments);
	va_end(arguments);
	if (n < 0 || length + (size_t)n + 1 >= RESCTRL_NOTES)
		notes[length] = '\0';
	else
		strcpy(notes + length + n, "\n");
}

/* Why resctrl is not there: the file system type is registered where the processor can do it. */
static int missing(struct resctrl_session *session)
{
	_cleanup_free_ char *types = NULL;

	if (session->proc >= 0 && resctrl_read(session->proc, "filesystems", &types) == 0 &&
	        strstr(types, "\tresctrl\n"))
		return resctrl_fail(session, -ENOTCONN,
		        "resctrl is not mounted: mount -t resctrl resctrl " RESCTRL);
	return resctrl_fail(session, -EOPNOTSUPP,
	        "this machine cannot divide its caches: its kernel offers no resctrl, because the "
	        "processor has neither Intel CAT nor AMD L3 allocation (virtual machines hardly "
	        "ever "
	        "have), or because it was built without CONFIG_X86_CPU_RESCTRL");
}

static int open_tree(struct resctrl_session *session)
{
	char path[RESCTRL_PATH];
	int r = resctrl_rooted(session->place, "/proc", path);

	if (r < 0)
		return resctrl_fail(session, r, "the root's name is too long");
	session->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = resctrl_rooted(session->place, RESCTRL, path);
	if (r < 0)
		return resctrl_fail(session, r, "the root's name is too long");
	session->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (session->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return missing(session);
	if (session->fd < 0)
		return resctrl_fail(
		        session, -errno, "cannot open %s: %s; run as root", path, strerror(errno));
	if (faccessat(session->fd, "info", F_OK, 0) < 0)
		return errno == ENOENT ? missing(session)
		                       : resctrl_fail(session, -errno,
		                                 "cannot look into %s: %s; run as root", path,
		                                 strerror(errno));
	return 0;
}

static int take_lock(struct resctrl_session *session)
{
	double patience = session->place->patience > 0 ? session->place->patience : 10;
	const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};

	for (double waited = 0; flock(session->fd, LOCK_EX | LOCK_NB) < 0; waited += 0.02) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return resctrl_fail(
			        session, -errno, "cannot lock resctrl: %s", strerror(errno));
		if (waited >= patience)
			return resctrl_fail(session, -EWOULDBLOCK,
			        "another program has held the lock of resctrl for %g seconds: "
			        "lslocks "
			        "shows which",
			        patience);
		nanosleep(&pause, NULL);
	}
	return 0;
}

int resctrl_session_begin(struct resctrl_session *session, const struct resctrl_place *place,
        bool lock, char *ret_error, size_t error_size)
{
	int r;

	*session = (struct resctrl_session){
	        .place = place, .fd = -1, .proc = -1, .error = ret_error, .error_size = error_size};
	r = open_tree(session);
	return r < 0 || !lock ? r : take_lock(session);
}

void resctrl_session_done(struct resctrl_session *session)
{
	closep(&session->fd);
	closep(&session->proc);
}

int resctrl_read(int fd, const char *path, char **ret_text)
{
	_cleanup_close_ int file = openat(fd, path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t length = 0, size = 0;
	ssize_t n = 1;

	if (file < 0)
		return -errno;
	while (n > 0) {
		if (size - length < 2) {
			char *larger = realloc(text, size = 2 * size + 4096);

			if (!larger)
				return -ENOMEM;
			text = larger;
		}
		n = read(file, text + length, size - length - 1);
		if (n < 0)
			return -errno;
		length += (size_t)n;
	}
	text[length] = '\0';
	*ret_text = TAKE_PTR(text);
	return 0;
}

int resctrl_write(int fd, const char *path, const char *text)
{
	_cleanup_close_ int file = openat(fd, path, O_WRONLY | O_CLOEXEC);
	size_t length = strlen(text);
	ssize_t n;

	if (file < 0)
		return -errno;
	n = write(file, text, length);
	return n < 0 ? -errno : (size_t)n < length ? -EIO : 0;
}

bool resctrl_exists(int fd, const char *path)
{
	return faccessat(fd, path, F_OK, 0) == 0;
}

char *resctrl_file(const char *group, const char *file, char ret_path[RESCTRL_PATH])
{
	snprintf(ret_path, RESCTRL_PATH, "%s%s%s", group, *group ? "/" : "", file);
	return ret_path;
}

int resctrl_each_group(struct resctrl_session *session,
        int (*visit)(struct resctrl_session *session, const char *name, void *data), void *data)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int fd = openat(session->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[RESCTRL_PATH];
	int r = 0;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return resctrl_fail(session, -errno, "cannot list the groups: %s", strerror(errno));
	/* A group is a directory with a schemata file: info and mon_groups are none. */
	for (struct dirent *entry; r == 0 && (entry = readdir(dir));)
		if (entry->d_name[0] != '.' &&
		        resctrl_exists(session->fd, resctrl_file(entry->d_name, "schemata", path)))
			r = visit(session, entry->d_name, data);
	return r;
}
