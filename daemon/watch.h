/* SPDX-License-Identifier: MIT */
#ifndef MTLD_WATCH_H
#define MTLD_WATCH_H

/*
 * The debug registers of one process: up to four breakpoint events on each of its threads, set to
 * the same addresses, so that a touch by any thread is the touch.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "event.h"

enum watch_method {
	WATCH_OWN_CPU,  /* armed while the thread is off its CPU, turned off at the first trap */
	WATCH_ONE_SHOT, /* armed from afar, each event stops by itself at its first trap */
};

struct watch_thread {
	pid_t tid;
	int fd[MTL_SLOTS];
	bool spent[MTL_SLOTS];   /* one-shot: has fired; must be opened anew */
	bool primed[MTL_SLOTS];  /* one-shot: its single shot is still unused */
};

struct watch {
	struct watch_thread *threads;
	unsigned n_threads, n_allocated;
	unsigned slots;       /* events that could be opened on every thread, <= slots_wanted */
	unsigned slots_wanted;
	unsigned length;      /* bytes one slot covers: 8, or 64 where the CPU has range breakpoints */
	int program;          /* BPF program run at each trap */
	enum watch_method method;
	uint64_t address[MTL_SLOTS]; /* armed now; 0: off */
};

void watch_init(struct watch *watch, int program, enum watch_method method, unsigned slots,
	unsigned length);

/* Opens the events of one more thread; when a watch is armed they are armed too. -ENOSPC: no debug
 * register is free; -ESRCH: the thread has ended. Fewer free registers lower watch->slots. */
int watch_add_thread(struct watch *watch, pid_t tid);
void watch_remove_thread(struct watch *watch, pid_t tid);
bool watch_has_thread(const struct watch *watch, pid_t tid);

/* Closes every event: registers are free for a debugger from here on. */
void watch_close(struct watch *watch);

/* Sets and enables the first n slots on all threads; threads that have ended are skipped. Only
 * when every thread refuses, an error. */
int watch_arm(struct watch *watch, const uint64_t *addresses, unsigned n);
void watch_disarm_slot(struct watch *watch, unsigned slot);
void watch_disarm(struct watch *watch);

/* True when a breakpoint `length` bytes long can be opened here (on the calling thread). */
bool watch_length_works(unsigned length);

#endif
