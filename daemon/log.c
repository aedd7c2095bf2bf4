/* SPDX-License-Identifier: MIT */
/*
 * Messages for the operator. systemd sets JOURNAL_STREAM to the device and inode of the stream it
 * gave the service as standard error; only when that is really our standard error may a line carry
 * a "<3>" priority prefix, since everybody else would see it as dirt. A line is formatted whole and
 * written by one call, with anything that could break it in two replaced by a space.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "log.h"

#define LINE_BYTES 1024

static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

void log_line(const char *level, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	for (char *p = line; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	fprintf(stderr, "%s%s\n", stderr_is_journal() ? level : "mtld: ", line);
}
