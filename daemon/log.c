/* SPDX-License-Identifier: MIT */
/*
 * Messages for the operator. systemd sets JOURNAL_STREAM to the device and inode of the stream it
 * gave the service as standard error; only when that is really our standard error may a line carry
 * a "<3>" priority prefix, since everybody else would see it as dirt. A line is formatted whole and
 * written by one call, with anything that could break it in two replaced by a space.
 *
 * What an operator may want to find again is an event: to a journal it goes by its own protocol,
 * with a MESSAGE_ID and fields (`journalctl MTL_PID=1234`), and as a line where that fails.
 */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>
#include "log.h"

#define LINE_BYTES 1024
#define JOURNAL_SOCKET "/run/systemd/journal/socket"

static const struct {
	const char *name, *id;
} events[N_LOG_EVENTS] = {
        [LOG_SAMPLING_IMPOSSIBLE] = {"sampling-impossible", "59a755dd7e3640e7abb7a67d6156099c"},
        [LOG_CONFIGURATION_READ] = {"configuration-read", "ab582f0c0cdd4bbe9a30aa293ef5253a"},
        [LOG_CONFIGURATION_REFUSED] = {"configuration-refused", "fa3b46b5bd89448ca86a46d6a59968c1"},
        [LOG_CLIENT_DROPPED] = {"client-dropped", "e4fddc6858924b63ad1f05240a6b418e"},
        [LOG_TRACKED] = {"tracked", "5e853b306a1c4eccb0786a9df4a58596"},
        [LOG_BACKED_OFF] = {"backed-off", "c02e6ff4f1a94d3b9a0bb1c9f3f54b6e"},
        [LOG_UNTRACKED] = {"untracked", "a5db3b4506f64b048dd691404cc46feb"},
};

static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

static void format_line(char *ret_line, const char *format, va_list arguments)
{
	vsnprintf(ret_line, LINE_BYTES, format, arguments);
	for (char *p = ret_line; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
}

void log_line(const char *level, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	format_line(line, format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s%s\n", stderr_is_journal() ? level : "mtld: ", line);
}

/* --- events */

unsigned log_fields(enum log_event event, const char *level, const struct log_about *about,
        const char *message, char (*ret_fields)[LOG_FIELD_BYTES])
{
	unsigned n = 0;

	snprintf(ret_fields[n++], LOG_FIELD_BYTES, "MESSAGE=%s", message);
	snprintf(ret_fields[n++], LOG_FIELD_BYTES, "PRIORITY=%c", level[1]);
	snprintf(ret_fields[n++], LOG_FIELD_BYTES, "SYSLOG_IDENTIFIER=mtld");
	snprintf(ret_fields[n++], LOG_FIELD_BYTES, "MESSAGE_ID=%s", events[event].id);
	snprintf(ret_fields[n++], LOG_FIELD_BYTES, "MTL_EVENT=%s", events[event].name);
	if (about && about->pid)
		snprintf(ret_fields[n++], LOG_FIELD_BYTES, "MTL_PID=%d", (int)about->pid);
	if (about && about->comm)
		snprintf(ret_fields[n++], LOG_FIELD_BYTES, "MTL_COMM=%s", about->comm);
	if (about && about->client) {
		snprintf(ret_fields[n++], LOG_FIELD_BYTES, "MTL_CLIENT_PID=%d", (int)about->client);
		snprintf(ret_fields[n++], LOG_FIELD_BYTES, "MTL_CLIENT_UID=%u",
		        (unsigned)about->client_uid);
	}
	return n;
}

/* sd_journal_sendv() takes a socket that is not there for success. */
static bool send_entry(
        enum log_event event, const char *level, const struct log_about *about, const char *message)
{
	char fields[LOG_FIELDS][LOG_FIELD_BYTES];
	struct iovec parts[LOG_FIELDS];
	unsigned n = log_fields(event, level, about, message, fields);

	for (unsigned i = 0; i < n; i++)
		parts[i] = (struct iovec){fields[i], strlen(fields[i])};
	return access(JOURNAL_SOCKET, W_OK) == 0 && sd_journal_sendv(parts, (int)n) == 0;
}

void log_event(enum log_event event, const char *level, const struct log_about *about,
        const char *format, ...)
{
	bool journal = stderr_is_journal();
	char line[LINE_BYTES];
	va_list arguments;

	if (!journal && !strcmp(level, SD_INFO))
		return;
	va_start(arguments, format);
	format_line(line, format, arguments);
	va_end(arguments);
	if (!journal || !send_entry(event, level, about, line))
		log_line(level, "%s", line);
}

bool log_allowed(struct log_limit *limit, unsigned burst, uint64_t *ret_unlogged)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!limit->lines || now.tv_sec - limit->since >= LOG_LIMIT_SECONDS) {
		limit->since = now.tv_sec;
		limit->lines = 0;
	}
	if (limit->lines >= burst) {
		limit->unlogged++;
		return false;
	}
	limit->lines++;
	*ret_unlogged = limit->unlogged;
	limit->unlogged = 0;
	return true;
}
