/* SPDX-License-Identifier: MIT */
/*
 * The socket's way into the world. Under socket activation it is simply taken over. Otherwise the
 * dance that survives crashes and races:
 *
 *   1. flock PATH.lock, and make sure the locked file still is the one at that name (a leaving
 *      mtld unlinks it while holding the lock);
 *   2. probe by connect(): only ECONNREFUSED on a socket proves a leftover, which is unlinked;
 *   3. bind, chmod 0666, listen; remember device and inode, and on the way out unlink only those.
 *
 * The mode is 0666 because everyone may ask for their own processes; who may see what is judged by
 * the peer's credentials (peer.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include "cleanup.h"
#include "listen.h"

#define DEFAULT_DIRECTORY "/run/mtld"
#define LOCK_ATTEMPTS 16

struct listen_socket {
	int fd;
	int lock; /* -1: the socket is not ours to remove */
	char *path, *lock_path;
	dev_t device;
	ino_t inode;
};

static void listen_releasep(struct listen_socket **socket)
{
	listen_release(*socket);
}

struct report {
	char *text;
	size_t size;
};

/* Returns r. */
__attribute__((format(printf, 3, 4))) static int say(
        const struct report *report, int r, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(report->text, report->size, format, arguments);
	va_end(arguments);
	return r;
}

static int make_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

/* --- from systemd */

/* 1: taken over; 0: none was passed. */
static int take_passed(struct listen_socket *socket, const char *path, const struct report *report)
{
	int n = sd_listen_fds(1), fd = SD_LISTEN_FDS_START, r;

	if (n <= 0)
		return n;
	if (n > 1)
		return say(report, -EINVAL,
		        "systemd passed %d sockets; mtld.socket must have one ListenStream=", n);
	if (sd_is_socket_unix(fd, SOCK_STREAM, 1, path, 0) <= 0)
		return say(report, -EINVAL,
		        "the descriptor systemd passed is not a listening unix stream socket%s%s; "
		        "see "
		        "ListenStream= in mtld.socket",
		        path ? " at " : "", path ? path : "");
	r = make_nonblocking(fd);
	if (r < 0)
		return r;
	socket->fd = fd;
	return 1;
}

/* --- our own */

static int fill_address(
        const char *path, struct sockaddr_un *ret_address, const struct report *report)
{
	*ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!*path || strlen(path) >= sizeof(ret_address->sun_path))
		return say(report, -ENAMETOOLONG, "socket path \"%s\" must have 1 to %zu bytes",
		        path, sizeof(ret_address->sun_path) - 1);
	memcpy(ret_address->sun_path, path, strlen(path) + 1);
	return 0;
}

static int same_file(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

/* The lock's descriptor; -EWOULDBLOCK: held by another process. */
static int take_lock(const char *path)
{
	for (int i = 0; i < LOCK_ATTEMPTS; i++) {
		_cleanup_close_ int fd =
		        open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
			return -errno;
		if (same_file(fd, path))
			return TAKE_FD(fd);
	}
	return -EAGAIN;
}

/* 0: somebody listens, and his pid; -ECONNREFUSED: nobody does; else what connect() said. */
static int probe(const struct sockaddr_un *address, pid_t *ret_pid)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct ucred credentials = {0};
	socklen_t size = sizeof(credentials);

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 && errno != EAGAIN)
		return -errno;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
	*ret_pid = credentials.pid;
	return 0;
}

static int say_served(const struct report *report, const char *path, pid_t pid)
{
	if (pid <= 0)
		return say(report, -EADDRINUSE,
		        "another mtld already serves or starts to serve %s; stop it or use "
		        "--socket",
		        path);
	return say(report, -EADDRINUSE,
	        "another mtld (pid %d) already serves %s; stop it or use --socket", (int)pid, path);
}

/* After this nothing is at path, or we failed. Called with the lock held. */
static int clear_path(const struct sockaddr_un *address, const struct report *report)
{
	const char *path = address->sun_path;
	struct stat st;
	pid_t pid;
	int r;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : say(report, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return say(report, -EEXIST,
		        "%s exists and is not a socket; move it away or use --socket", path);
	r = probe(address, &pid);
	if (r == 0)
		return say_served(report, path, pid);
	if (r != -ECONNREFUSED)
		return say(report, r, "%s exists and cannot be probed: %s", path, strerror(-r));
	if (unlink(path) < 0)
		return say(report, -errno, "stale socket %s: %s", path, strerror(errno));
	return 0;
}

static const char *fix_for(int r)
{
	static const struct {
		int error;
		const char *fix;
	} fixes[] = {
	        {-EACCES, "; run as root, or use --socket in a directory of yours"},
	        {-ENOENT, "; make its directory, or use --socket"},
	        {-ENOTDIR, "; a part of the path is a file where a directory must be: move it away, "
	                   "or use --socket"},
	};

	for (size_t i = 0; i < sizeof(fixes) / sizeof(fixes[0]); i++) {
		if (fixes[i].error == r)
			return fixes[i].fix;
	}
	return "";
}

static int lock_path(struct listen_socket *socket, const struct sockaddr_un *address,
        const struct report *report)
{
	pid_t pid = 0;
	int r = take_lock(socket->lock_path);

	if (r == -EWOULDBLOCK) {
		probe(address, &pid);
		return say_served(report, socket->path, pid);
	}
	if (r < 0)
		return say(report, r, "%s: %s%s", socket->lock_path, strerror(-r), fix_for(r));
	socket->lock = r;
	return 0;
}

static int bind_and_listen(struct listen_socket *socket, const struct sockaddr_un *address,
        const struct report *report)
{
	struct stat st;

	if (bind(socket->fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return say(report, -errno, "cannot bind %s: %s", socket->path, strerror(errno));
	if (lstat(socket->path, &st) < 0)
		return say(report, -errno, "%s: %s", socket->path, strerror(errno));
	socket->device = st.st_dev;
	socket->inode = st.st_ino;
	if (chmod(socket->path, 0666) < 0 || listen(socket->fd, SOMAXCONN) < 0)
		return say(report, -errno, "%s: %s", socket->path, strerror(errno));
	return 0;
}

static int bind_own(struct listen_socket *ours, const char *path, const struct report *report)
{
	struct sockaddr_un address;
	int r = fill_address(path, &address, report);

	if (r < 0)
		return r;
	if (!strcmp(path, DEFAULT_SOCKET) && mkdir(DEFAULT_DIRECTORY, 0755) < 0 && errno != EEXIST)
		return say(report, -errno, DEFAULT_DIRECTORY ": %s; run as root, or use --socket",
		        strerror(errno));
	ours->path = strdup(path);
	if (!ours->path || asprintf(&ours->lock_path, "%s.lock", path) < 0) {
		ours->lock_path = NULL;
		return say(report, -ENOMEM, "out of memory");
	}
	ours->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (ours->fd < 0)
		return say(report, -errno, "no unix socket: %s", strerror(errno));
	r = lock_path(ours, &address, report);
	if (r == 0)
		r = clear_path(&address, report);
	if (r == 0)
		r = bind_and_listen(ours, &address, report);
	return r;
}

int listen_acquire(
        const char *path, struct listen_socket **ret_socket, char *ret_error, size_t error_size)
{
	_cleanup_(listen_releasep) struct listen_socket *socket = calloc(1, sizeof(*socket));
	const struct report report = {ret_error, error_size};
	int r;

	if (!socket)
		return say(&report, -ENOMEM, "out of memory");
	socket->fd = socket->lock = -1;
	say(&report, 0, "no listening socket");
	r = take_passed(socket, path, &report);
	if (r == 0)
		r = bind_own(socket, path ? path : DEFAULT_SOCKET, &report);
	if (r < 0)
		return r;
	*ret_socket = TAKE_PTR(socket);
	return 0;
}

int listen_fd(const struct listen_socket *socket)
{
	return socket->fd;
}

static void remove_ours(const struct listen_socket *socket)
{
	struct stat st;

	if (socket->inode && lstat(socket->path, &st) == 0 && st.st_dev == socket->device &&
	        st.st_ino == socket->inode)
		unlink(socket->path);
	if (same_file(socket->lock, socket->lock_path))
		unlink(socket->lock_path);
}

struct listen_socket *listen_release(struct listen_socket *socket)
{
	if (!socket)
		return NULL;
	if (socket->lock >= 0) {
		remove_ours(socket);
		close(socket->lock);
	}
	if (socket->fd >= 0)
		close(socket->fd);
	free(socket->path);
	free(socket->lock_path);
	free(socket);
	return NULL;
}
