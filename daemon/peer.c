/* SPDX-License-Identifier: MIT */
/*
 * Who may see what. Root and members of one group see and track every process, everybody else the
 * processes they own. Group membership comes from the credentials the kernel kept of the peer
 * (SO_PEERCRED's group and SO_PEERGROUPS): the same groups a socket of mode 0660 would have been
 * judged by, and no user database, possibly a remote one, is asked while clients wait.
 *
 * A cache curve is a side channel, so ownership is judged by what the kernel lets a user trace: the
 * owner of /proc/PID, which turns to root when the process executes a set-user-ID program.
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "cleanup.h"
#include "peer.h"

gid_t peer_group(const char *name)
{
	struct group *group = *name ? getgrnam(name) : NULL;

	return group ? group->gr_gid : NO_GROUP;
}

/* Supplementary groups only. */
static int peer_in_group(int fd, gid_t group, bool *ret_member)
{
	_cleanup_free_ gid_t *groups = NULL;
	socklen_t size = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) < 0 && errno != ERANGE)
		return -errno;
	groups = malloc(size ? size : 1);
	if (!groups)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return -errno;
	*ret_member = false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		*ret_member = *ret_member || groups[i] == group;
	return 0;
}

int peer_from_socket(int fd, gid_t group, struct peer *ret_peer)
{
	struct ucred credentials;
	socklen_t size = sizeof(credentials);
	bool privileged;
	int r;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
		return -errno;
	privileged = credentials.uid == 0 || (group != NO_GROUP && credentials.gid == group);
	if (!privileged && group != NO_GROUP) {
		r = peer_in_group(fd, group, &privileged);
		if (r < 0)
			return r;
	}
	*ret_peer = (struct peer){credentials.pid, credentials.uid, privileged};
	return 0;
}

int process_owner(const char *root, pid_t pid, uid_t *ret_uid)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	if (asprintf(&path, "%s/proc/%d", root, (int)pid) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (stat(path, &st) < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	*ret_uid = st.st_uid;
	return 0;
}

bool peer_may_see(const struct peer *peer, const char *root, const struct manager_process *process)
{
	uid_t owner;
	int r;

	if (peer->privileged)
		return true;
	if (process->uid != peer->uid)
		return false;
	if (manager_has_ended(process))
		return true;
	r = process_owner(root, process->pid, &owner);
	return r == -ESRCH || (r == 0 && owner == peer->uid);
}
