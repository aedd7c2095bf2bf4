/* SPDX-License-Identifier: MIT */
#ifndef MTLD_LOG_H
#define MTLD_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <sys/types.h>
#include <systemd/sd-daemon.h>

/*
 * One line on standard error: what failed, the cause, the fix. The level is one of sd-daemon's
 * SD_ERR, SD_WARNING, SD_NOTICE, SD_INFO and goes in front of the line when standard error is the
 * journal, otherwise the line starts with "mtld: ".
 */
__attribute__((format(printf, 2, 3))) void log_line(const char *level, const char *format, ...);

/* What happens so that somebody may look for it: docs/SYSTEMD.md has the table. */
enum log_event {
	LOG_SAMPLING_IMPOSSIBLE,
	LOG_CONFIGURATION_READ,
	LOG_CONFIGURATION_REFUSED,
	LOG_CLIENT_DROPPED,
	LOG_TRACKED,
	LOG_UNTRACKED,
	LOG_BACKED_OFF,
	N_LOG_EVENTS
};

/* Whom it is about; 0 and NULL: nobody. */
struct log_about {
	pid_t pid; /* the watched process */
	const char *comm;
	pid_t client; /* the peer on the socket */
	uid_t client_uid;
};

/*
 * log_line(), which a journal gets as an entry with fields of its own: MESSAGE_ID, MTL_EVENT and
 * what is known of MTL_PID, MTL_COMM, MTL_CLIENT_PID, MTL_CLIENT_UID. about may be NULL. At SD_INFO
 * it is for a journal alone: nobody else asked.
 */
__attribute__((format(printf, 4, 5))) void log_event(enum log_event event, const char *level,
        const struct log_about *about, const char *format, ...);

enum { LOG_FIELDS = 9, LOG_FIELD_BYTES = 1100 };

/* The entry that log_event() sends: "NAME=value" each; how many. */
unsigned log_fields(enum log_event event, const char *level, const struct log_about *about,
        const char *message, char (*ret_fields)[LOG_FIELD_BYTES]);

enum { LOG_LIMIT_SECONDS = 10 };

/* Clients must not be able to flood the log. Starts as zeros. */
struct log_limit {
	time_t since; /* CLOCK_MONOTONIC, the first of a burst */
	unsigned lines;
	uint64_t unlogged;
};

/* Whether one more line may be written, of at most burst in LOG_LIMIT_SECONDS; then *ret_unlogged
 * is how many were refused before it. */
bool log_allowed(struct log_limit *limit, unsigned burst, uint64_t *ret_unlogged);

#endif
