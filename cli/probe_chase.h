/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PROBE_CHASE_H
#define MTL_CLI_PROBE_CHASE_H

#include <stddef.h>
#include <stdint.h>

/* A line holds the address of the next one to go to. */
struct probe_chain {
	unsigned short seed[3];
	void *at; /* where the chase is */
};

/* On one CPU from here on, the first that this may run on: the geometry is that of CPU 0. Negative
 * errno. */
int probe_chase_pin(void);

/* Links n lines into one cycle in random order (order: room for n numbers). */
void probe_chase_link(struct probe_chain *chain, char **lines, uint32_t *order, size_t n);

/* The same of lines at start + i x stride + shift x (i modulo turns). */
struct probe_spacing {
	char *start;
	size_t stride, shift, turns;
};
void probe_chase_link_spaced(
        struct probe_chain *chain, const struct probe_spacing *spacing, uint32_t *order, size_t n);

/* Goes on for so many accesses, each of which needs the one before. Returns nanoseconds of one. */
double probe_chase_run(struct probe_chain *chain, size_t accesses);

#endif
