/* SPDX-License-Identifier: MIT */
#ifndef MTLD_CONFIG_H
#define MTLD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

enum address_samples { ADDRESS_SAMPLES_OFF, ADDRESS_SAMPLES_AUTO, ADDRESS_SAMPLES_PAGE_FAULTS, ADDRESS_SAMPLES_TASK_CLOCK };

/*
 * Everything an operator can set, with its default. Filled by config_defaults(), then by
 * config_load() from an ini file ([mtld] section, every key commented in etc/mtld.conf).
 * An unknown key, a bad value or an unknown section is an error that names file, line, key, the
 * value, what is accepted, and is never half applied.
 */
struct config {
	double max_overhead;        /* fraction of a target's CPU time, 0.0001..0.1; default 0.01 */
	double max_daemon_cpu;      /* fraction of one core for mtld, 0.0001..0.5; default 0.01 */
	double window_seconds;      /* decay of observations, CPU time, 1..3600; default 60 */
	double longest_window;      /* cap of T_max, 0.01..10 s; default 2 */
	double keep_exited_seconds; /* the last curve of a dead process is kept; default 60 */
	unsigned max_exited;        /* dead processes whose curve is kept, 0..1023; default 256 */
	unsigned max_processes;     /* tracked at once, 1..1024; default 64 */
	unsigned top;               /* processes of most CPU time, tracked by themselves; default 0 */
	char cgroups[4096];         /* whose members are tracked, names with blanks between; "" */
	unsigned max_clients;       /* connections at once, 1..4096; default 128 */
	unsigned ring_bytes;      /* per-CPU event ring, power of two, 4096..16 MiB; default 64K */
	bool realtime;            /* arm from the target's own CPU, real-time; default yes */
	unsigned address_samples; /* enum address_samples; default auto: the PMU's, if any */
	char socket_group[32];    /* may see and track everything; default "mtl" */
	char rung[16];            /* of the ladder, to be used or none; default "auto": the best */
};

void config_defaults(struct config *ret_config);

/*
 * path NULL: the default file, which may be missing. An explicitly named file may not. 1: it was read;
 * 0: there is none, and nothing was changed.
 * On error: negative errno and a one-line message in ret_error (always NUL-terminated).
 */
int config_load(const char *path, struct config *config, char *ret_error, size_t error_size);

/* The same from an open file that messages call name. */
int config_read(
        FILE *file, const char *name, struct config *config, char *ret_error, size_t error_size);

/* The index'th key, NULL behind the last; and its value as the file would spell it. */
const char *config_key(unsigned index);
void config_value(const struct config *config, unsigned index, char *ret_value, size_t size);

/*
 * Take from next the values of all keys that may change while mtld runs. ret_waiting: the names of
 * the other keys that differ, "a, b" or ""; they count at the next start.
 */
void config_adopt(struct config *config, const struct config *next, char *ret_waiting, size_t size);

#endif
