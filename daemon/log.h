/* SPDX-License-Identifier: MIT */
#ifndef MTLD_LOG_H
#define MTLD_LOG_H

#include <systemd/sd-daemon.h>

/*
 * One line on standard error: what failed, the cause, the fix. The level is one of sd-daemon's
 * SD_ERR, SD_WARNING, SD_NOTICE, SD_INFO and goes in front of the line when standard error is the
 * journal, otherwise the line starts with "mtld: ".
 */
__attribute__((format(printf, 2, 3))) void log_line(const char *level, const char *format, ...);

#endif
