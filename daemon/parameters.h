/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PARAMETERS_H
#define MTLD_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define NUMBERS_MAX 256

#define PIDS_MAX 64

struct json_call;
struct json_object;

struct pids {
	pid_t values[PIDS_MAX];
	size_t n; /* 0: not given */
};

struct numbers {
	double values[NUMBERS_MAX];
	size_t n; /* 0: not given */
};

/* The parameters of every method; a method reads the ones its table names. */
struct arguments {
	pid_t pid;
	double idle_seconds; /* 0: not given */
	double reference;    /* 0: not given */
	struct numbers sizes, windows;
	/* borrowed from the message; NULL: not given */
	const char *interface, *objective, *name, *cgroup;
	struct json_object *curves, *weights, *curve;
	struct pids pids;
	double size, miss_cost, weight; /* 0: not given */
	unsigned ways, least_ways;      /* 0: not given */
	bool clusters, aside;
	struct json_call *call; /* that they are of */
};

/* Where a parameter goes in struct arguments, what it may be. Not required: may be left out or
 * null. Numbers lie in low..high, ends included. */
struct parameter {
	const char *name;
	int (*read)(const struct parameter *parameter, struct json_object *value, void *member,
	        char *ret_reason, size_t reason_size);
	size_t offset;
	bool required;
	double low, high;
};

/* Readers: a pid, an array of 1..PIDS_MAX pids, a number, an array of 1..NUMBERS_MAX numbers, an
 * unsigned integer, a string, a truth, an object, an array of objects, low..high of them. */
int parameter_pid(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size);
int parameter_number(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size);
int parameter_numbers(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size);
int parameter_pids(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size);
int parameter_unsigned(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size);
int parameter_bool(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size);
int parameter_object(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size);
int parameter_objects(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size);
int parameter_string(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size);

/* Which parameter was wrong and how. */
struct parameter_problem {
	char name[64];
	char reason[256];
};

/*
 * The object (NULL: none) into arguments, which is left alone on failure. -EBADMSG: a parameter is
 * unknown, missing or of the wrong type; -ERANGE: its value is not acceptable.
 */
int parameters_read(const struct parameter *table, size_t n, struct json_object *object,
        struct arguments *arguments, struct parameter_problem *ret_problem);

#endif
