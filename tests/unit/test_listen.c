/* SPDX-License-Identifier: MIT */
/*
 * The socket at its path: fresh, stale, live, not a socket, passed by systemd, and gone afterwards
 * unless somebody else put something there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "listen.h"

static char directory[] = "/tmp/test_listen.XXXXXX";
static char path[64], lock[80], problem[512];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/socket", directory);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	return 0;
}

/* Nothing may be left in it. */
static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static int acquire(struct listen_socket **ret_socket)
{
	problem[0] = '\0';
	return listen_acquire(path, ret_socket, problem, sizeof(problem));
}

static bool exists(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	return fd;
}

static int connect_to(int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(address.sun_path, path);
	return connect(fd, (struct sockaddr *)&address, sizeof(address));
}

static int bind_at_path(int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void binds_and_cleans_up(void **state)
{
	struct listen_socket *ours = NULL;
	struct stat st;
	int client = open_socket();

	(void)state;
	umask(0077);
	assert_int_equal(acquire(&ours), 0);
	umask(0022);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0666);
	assert_true(fcntl(listen_fd(ours), F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(listen_fd(ours), F_GETFD) & FD_CLOEXEC);
	assert_int_equal(connect_to(client), 0);
	close(client);
	assert_null(listen_release(ours));
	assert_false(exists(path));
	assert_false(exists(lock));
}

static void takes_a_stale_socket(void **state)
{
	struct listen_socket *ours = NULL;

	(void)state;
	close(bind_at_path(SOCK_STREAM));
	assert_true(exists(path));
	assert_int_equal(acquire(&ours), 0);
	listen_release(ours);
	assert_false(exists(path));
}

static void takes_after_a_crash(void **state)
{
	struct listen_socket *ours = NULL;
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(listen_acquire(path, &ours, problem, sizeof(problem)) == 0 ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(exists(path));
	assert_true(exists(lock));
	assert_int_equal(acquire(&ours), 0);
	listen_release(ours);
	assert_false(exists(path));
	assert_false(exists(lock));
}

static void refuses_a_second_one(void **state)
{
	struct listen_socket *first = NULL, *second = NULL;
	char expected[64];

	(void)state;
	assert_int_equal(acquire(&first), 0);
	assert_int_equal(acquire(&second), -EADDRINUSE);
	assert_null(second);
	snprintf(expected, sizeof(expected), "another mtld (pid %d) already serves", (int)getpid());
	assert_non_null(strstr(problem, expected));
	assert_true(exists(path));
	listen_release(first);
}

/* Live, though without our lock: passed by systemd to another mtld, or another program. */
static void refuses_a_live_socket(void **state)
{
	struct listen_socket *ours = NULL;
	int other = bind_at_path(SOCK_STREAM);

	(void)state;
	assert_int_equal(listen(other, 1), 0);
	assert_int_equal(acquire(&ours), -EADDRINUSE);
	assert_non_null(strstr(problem, "already serves"));
	assert_true(exists(path));
	assert_false(exists(lock));
	close(other);
	unlink(path);
}

static void refuses_a_full_backlog(void **state)
{
	struct listen_socket *ours = NULL;
	int other = bind_at_path(SOCK_STREAM), client = open_socket();

	(void)state;
	assert_int_equal(listen(other, 0), 0);
	assert_int_equal(connect_to(client), 0);
	assert_int_equal(acquire(&ours), -EADDRINUSE);
	assert_true(exists(path));
	close(client);
	close(other);
	unlink(path);
}

static void leaves_other_sockets_alone(void **state)
{
	struct listen_socket *ours = NULL;
	int other = bind_at_path(SOCK_DGRAM);

	(void)state;
	assert_true(acquire(&ours) < 0);
	assert_non_null(strstr(problem, "cannot be probed"));
	assert_true(exists(path));
	close(other);
	unlink(path);
}

static void leaves_files_alone(void **state)
{
	struct listen_socket *ours = NULL;

	(void)state;
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(acquire(&ours), -EEXIST);
	assert_non_null(strstr(problem, "exists and is not a socket"));
	assert_true(exists(path));
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(acquire(&ours), -EEXIST);
	assert_true(exists(path));
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(acquire(&ours), -EEXIST);
	assert_int_equal(rmdir(path), 0);
}

static void does_not_follow_the_lock(void **state)
{
	struct listen_socket *ours = NULL;

	(void)state;
	assert_int_equal(symlink("/tmp/elsewhere", lock), 0);
	assert_true(acquire(&ours) < 0);
	assert_non_null(strstr(problem, ".lock"));
	unlink(lock);
}

static void leaves_a_successor_alone(void **state)
{
	struct listen_socket *ours = NULL;
	int other;

	(void)state;
	assert_int_equal(acquire(&ours), 0);
	unlink(path);
	other = bind_at_path(SOCK_STREAM);
	listen_release(ours);
	assert_true(exists(path));
	assert_false(exists(lock));
	close(other);
	unlink(path);
}

static void refuses_paths(void **state)
{
	struct listen_socket *ours = NULL;
	char longer[200];

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(listen_acquire(longer, &ours, problem, sizeof(problem)), -ENAMETOOLONG);
	assert_non_null(strstr(problem, "1 to 107 bytes"));
	assert_int_equal(listen_acquire("", &ours, problem, sizeof(problem)), -ENAMETOOLONG);
	assert_int_equal(
	        listen_acquire("/nonexistent/x", &ours, problem, sizeof(problem)), -ENOENT);
	assert_non_null(strstr(problem, "/nonexistent/x"));
	assert_non_null(strstr(problem, "make its directory"));
	assert_int_equal(
	        listen_acquire("/proc/self/exe/x", &ours, problem, sizeof(problem)), -ENOTDIR);
	assert_non_null(strstr(problem, "is a file where a directory must be"));
}

/* Run in a child with descriptors 3.. as systemd leaves them; its exit status is the result. */
static int passed(int fd, int n, const char *at)
{
	char pid[16], count[16];
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct listen_socket *ours = NULL;
		int r;

		dup2(fd, 3);
		dup2(fd, 4);
		snprintf(pid, sizeof(pid), "%d", (int)getpid());
		snprintf(count, sizeof(count), "%d", n);
		setenv("LISTEN_PID", pid, 1);
		setenv("LISTEN_FDS", count, 1);
		r = listen_acquire(at, &ours, problem, sizeof(problem));
		if (r == 0 && (listen_fd(ours) != 3 || getenv("LISTEN_FDS")))
			r = -1;
		listen_release(ours);
		_exit(-r);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status);
}

static void takes_what_systemd_passes(void **state)
{
	int fd = bind_at_path(SOCK_STREAM), file = open("/dev/null", O_RDONLY);

	(void)state;
	assert_int_equal(passed(fd, 1, NULL), EINVAL); /* not listening */
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(passed(fd, 1, NULL), 0);
	assert_int_equal(passed(fd, 1, path), 0);
	assert_int_equal(passed(fd, 1, "/elsewhere"), EINVAL);
	assert_int_equal(passed(fd, 2, NULL), EINVAL);
	assert_int_equal(passed(file, 1, NULL), EINVAL);
	assert_true(exists(path)); /* systemd's to remove */
	close(file);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(binds_and_cleans_up),
	        cmocka_unit_test(takes_a_stale_socket),
	        cmocka_unit_test(takes_after_a_crash),
	        cmocka_unit_test(refuses_a_second_one),
	        cmocka_unit_test(refuses_a_live_socket),
	        cmocka_unit_test(refuses_a_full_backlog),
	        cmocka_unit_test(leaves_other_sockets_alone),
	        cmocka_unit_test(leaves_files_alone),
	        cmocka_unit_test(does_not_follow_the_lock),
	        cmocka_unit_test(leaves_a_successor_alone),
	        cmocka_unit_test(refuses_paths),
	        cmocka_unit_test(takes_what_systemd_passes),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
