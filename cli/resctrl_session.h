/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_RESCTRL_SESSION_H
#define MTL_CLI_RESCTRL_SESSION_H

/* The files of resctrl, its lock and its words, for the parts of resctrl.h. */

#include <stdbool.h>
#include <stddef.h>

#include "cleanup.h"
#include "resctrl.h"

#define RESCTRL_PATH 512

struct resctrl_session {
	const struct resctrl_place *place;
	int fd;                        /* ROOT/sys/fs/resctrl */
	int proc;                      /* ROOT/proc */
	struct resctrl_report *report; /* may be NULL */
	char *error;                   /* the sentence of the first failure */
	size_t error_size;
};

/*
 * Opens resctrl; with lock takes the lock that its programs share, waiting for it. Says why it
 * cannot, like resctrl_geometry_read(). Closed, and so unlocked, by resctrl_session_done().
 */
int resctrl_session_begin(struct resctrl_session *session, const struct resctrl_place *place,
        bool lock, char *ret_error, size_t error_size);
void resctrl_session_done(struct resctrl_session *session);

/* "ROOT" + path. -ENAMETOOLONG. */
int resctrl_rooted(
        const struct resctrl_place *place, const char *path, char ret_path[RESCTRL_PATH]);

/* Writes the sentence and returns r. */
int resctrl_fail(struct resctrl_session *session, int r, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/*
 * The same for a thing that the kernel refused with r: adds what errno means, what
 * info/last_cmd_status says (so this has to be the very next thing that is done under the lock) and
 * what can be done about it.
 */
int resctrl_refused(struct resctrl_session *session, int r, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* One more line in the report; what does not fit any more is dropped. */
void resctrl_note(struct resctrl_session *session, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* A whole file below a directory, with a terminating NUL. Negative errno. */
int resctrl_read(int fd, const char *path, char **ret_text);

/* One write(2), as resctrl wants it. Negative errno; -EIO when not all was taken. */
int resctrl_write(int fd, const char *path, const char *text);

bool resctrl_exists(int fd, const char *path);

/* "GROUP/file"; GROUP may be "". Returns ret_path. */
char *resctrl_file(const char *group, const char *file, char ret_path[RESCTRL_PATH]);

/*
 * schemata and size files. resctrl_line() finds "L3:" and returns what follows, NULL without such a
 * line; resctrl_next() takes "id=value" after "id=value" from there, false at the end of the line.
 */
const char *resctrl_line(const char *text, const char *resource);
bool resctrl_next(const char **at, int base, int *ret_id, unsigned long long *ret_value);

/* Names of schemata lines that a cache has: 1, or 2 with code and data. */
size_t resctrl_lines(const struct resctrl_cache *cache, char ret_names[2][16]);

/* The lines that set these masks, to be freed; NULL: out of memory. */
char *resctrl_print(
        const struct resctrl_geometry *geometry, const struct resctrl_mask *masks, size_t n_masks);

/* Calls for each group directory below resctrl, until it returns other than 0; returns that. */
int resctrl_each_group(struct resctrl_session *session,
        int (*visit)(struct resctrl_session *session, const char *name, void *data), void *data);

#endif
