/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_OPTIONS_H
#define MTL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "http_address.h"
#include "partition_options.h"
#include "trace_caches.h"
#include "trace_emit.h"
#include "trace_methods.h"
#include "trace_reader.h"

/* What the program's exit status says; scripts rely on it. */
enum exit_code {
	MTL_DONE = 0,
	MTL_FAILED = 1,
	MTL_USAGE = 2,
	MTL_NOT_ENOUGH = 3,
	MTL_IMPOSSIBLE = 4,
};

/* Which commands an option belongs to. */
enum command_bit {
	COMMAND_GLOBAL = 1 << 0,
	COMMAND_RUN = 1 << 1,
	COMMAND_CURVE = 1 << 2,
	COMMAND_LIST = 1 << 3,
	COMMAND_STATUS = 1 << 4,
	COMMAND_DOCTOR = 1 << 5,
	COMMAND_TRACK = 1 << 6,
	COMMAND_UNTRACK = 1 << 7,
	COMMAND_TRACE = 1 << 8,
	COMMAND_SHARE = 1 << 9,
	COMMAND_PARTITION = 1 << 10,
	COMMAND_PROBE = 1 << 11,
	COMMAND_STUB = 1 << 12,
	COMMAND_TOP = 1 << 13,
	COMMAND_EXPORT = 1 << 14,
	COMMAND_ANY = -1,
};

struct number_list {
	double *values; /* ascending, without repeats */
	size_t n;
};

/* Every option of every command; numbers that were not given are NAN. */
struct options {
	const char *socket, *root;
	bool help, version, json, csv, watch, history, verbose;
	const char *record, *from;
	const char *rung; /* NULL: as mtld is configured */
	struct number_list sizes, windows;
	double reference, duration, wait, idle;
	/* of mtl trace */
	enum trace_format format;
	uint32_t line_size; /* 0: not given, like a method without kind and an emission of NULL */
	bool instructions, compare;
	struct trace_method method;
	struct trace_cache_list caches;
	const struct trace_emission *emission;
	const char *plot;
	double memory;
	/* of mtl share and mtl partition; 0 where not given */
	double size, miss_cost, measure;
	unsigned ways, least;
	enum mtl_objective objective;
	struct weight_list weights;
	struct number_list domains; /* ids of caches; none: all */
	bool clusters, apply, revert;
	double interval; /* of mtl partition --watch, mtl stub --from and mtl top */
	const char *sort, *filter; /* of mtl top */
	/* of mtl partition --watch */
	double gain, pause;
	unsigned rounds; /* 0: not given */
	bool keep;
	/* of mtl stub */
	bool verify, calibrate, no_calibration;
	const char *emit_truth; /* "-": standard output */
	uint64_t repeat;        /* 1 or more */
	unsigned level;         /* of mtl probe; 0: all */
	/* of mtl export */
	struct http_address listen;
	unsigned top;           /* 0: not given */
	const char *allow_host; /* NULL: none */
	uint64_t given;         /* one bit per row of the option table */
};

struct command {
	const char *name;
	int (*run)(const struct options *options, int n_operands, char **operands);
	const char *operands; /* as usage shows them */
	int min_operands, max_operands;
	const char *help;
	enum command_bit bit;
};

/* Defaults: the socket from MTL_SOCKET or the usual place, nothing given. */
void options_init(struct options *ret_options);
void options_done(struct options *options);

/*
 * Reads the options of one command (argv[0] is its name) on top of what is set already.
 * Returns the index of the first operand, or -EINVAL with one sentence in ret_error.
 */
int options_parse(enum command_bit command, int argc, char **argv, struct options *options,
        char *ret_error, size_t error_size);

/* The options of a command, one a line, as its --help shows them. */
void options_print(FILE *file, enum command_bit command);

/* Of --domain: it is named, or none is. */
bool domain_is_chosen(const struct options *options, int id);

/* One line on stderr, "mtl: …", of what a terminal can show, and code back. */
int complain(enum exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From here on what complain() says of failures is put together in this text instead, to be said in
 * another way; NULL: not any more. */
void complain_into(char *ret_text, size_t size);

/* The commands; each returns an exit code and has said on stderr what went wrong, but for standard
 * output that takes no more: of that main() speaks, once. */
int command_run(const struct options *options, int n_operands, char **operands);
int command_curve(const struct options *options, int n_operands, char **operands);
int command_list(const struct options *options, int n_operands, char **operands);
int command_status(const struct options *options, int n_operands, char **operands);
int command_doctor(const struct options *options, int n_operands, char **operands);
int command_track(const struct options *options, int n_operands, char **operands);
int command_untrack(const struct options *options, int n_operands, char **operands);
int command_trace(const struct options *options, int n_operands, char **operands);
int command_share(const struct options *options, int n_operands, char **operands);
int command_partition(const struct options *options, int n_operands, char **operands);
int command_stub(const struct options *options, int n_operands, char **operands);
int command_top(const struct options *options, int n_operands, char **operands);
int command_probe(const struct options *options, int n_operands, char **operands);
int command_export(const struct options *options, int n_operands, char **operands);

/* Of a control group, %s, that is not there: one sentence, whoever looked for it. */
#define NO_SUCH_CGROUP                                                                             \
	"there is no control group %s below a mount of cgroup: `systemd-cgls` and "                \
	"/proc/PID/cgroup show what they are called"

#endif
