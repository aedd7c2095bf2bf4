/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PEER_H
#define MTLD_PEER_H

#include <stdbool.h>
#include <sys/types.h>
#include "manager.h"

#define NO_GROUP ((gid_t)-1)

/* Who is at the other end of a connection, as the kernel recorded it at connect(). */
struct peer {
	pid_t pid;
	uid_t uid;
	bool privileged; /* root, or in the group that sees and tracks everything */
};

/* The group of that name, NO_GROUP when name is empty or there is none. May ask the network. */
gid_t peer_group(const char *name);

/* Credentials by SO_PEERCRED and SO_PEERGROUPS. Negative errno. */
int peer_from_socket(int fd, gid_t group, struct peer *ret_peer);

/* Owner of /proc/PID under root ("" or a directory). -ESRCH. A process that may not be dumped (a
 * set-user-ID program) belongs to root here, whoever started it. */
int process_owner(const char *root, pid_t pid, uid_t *ret_uid);

/* Whether this peer may see a tracked process, its owner being who it is now, not when tracked. */
bool peer_may_see(const struct peer *peer, const char *root, const struct manager_process *process);

#endif
