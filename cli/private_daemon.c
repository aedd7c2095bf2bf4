/* SPDX-License-Identifier: MIT */
/*
 * The daemon of `mtl run`: the same program as the system's, as our child, on a socket in a fresh
 * directory of mode 0700. It is in a process group of its own, so that Ctrl-C at the terminal does
 * not end it before the curve has been fetched. What it writes to standard error is kept in memory
 * and shown only when it fails.
 */

#include "private_daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#ifndef MTL_SBINDIR
#define MTL_SBINDIR "/usr/local/sbin"
#endif

#define START_SECONDS 20.0
#define RETRY_MILLISECONDS 10

int daemon_program(char ret_path[static PATH_MAX])
{
	char own[PATH_MAX - sizeof("/mtld")];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (n > 0) {
		own[n] = '\0';
		snprintf(ret_path, PATH_MAX, "%.*s/mtld", (int)(strrchr(own, '/') - own), own);
		if (access(ret_path, X_OK) == 0)
			return 0;
	}
	strcpy(ret_path, MTL_SBINDIR "/mtld");
	return access(ret_path, X_OK) == 0 ? 0 : -errno;
}

void daemon_arguments(const struct options *options, const char **argv, int n)
{
	const char *given[][2] = {{"--root", options->root}, {"--rung", options->rung}};

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		if (!given[i][1])
			continue;
		argv[n++] = given[i][0];
		argv[n++] = given[i][1];
	}
	argv[n] = NULL;
}

static bool make_directory(struct private_daemon *daemon, const char *parent)
{
	int n;

	if (!parent || parent[0] != '/')
		return false;
	n = snprintf(daemon->directory, sizeof(daemon->directory), "%s/mtl-XXXXXX", parent);
	if (n < (int)sizeof(daemon->directory) && mkdtemp(daemon->directory))
		return true;
	daemon->directory[0] = '\0';
	return false;
}

static void remove_directory(struct private_daemon *daemon)
{
	_cleanup_closedir_ DIR *directory = NULL;
	struct dirent *entry;

	if (!daemon->directory[0])
		return;
	directory = opendir(daemon->directory);
	while (directory && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(directory), entry->d_name, 0);
	}
	rmdir(daemon->directory);
	daemon->directory[0] = '\0';
}

static void __attribute__((noreturn)) daemon_child(
        const char *program, const struct private_daemon *daemon, const struct options *options)
{
	const char *argv[DAEMON_ARGUMENTS_MAX] = {program, "--socket", daemon->socket};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(nothing, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO);
	if (daemon->messages >= 0)
		dup2(daemon->messages, STDERR_FILENO);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_PID");
	unsetenv("WATCHDOG_USEC");
	daemon_arguments(options, argv, 3);
	execv(program, (char *const *)argv);
	_exit(127);
}

static int launch(const struct options *options, struct private_daemon *daemon)
{
	char program[PATH_MAX];
	int r = daemon_program(program);

	if (r < 0)
		return complain(MTL_FAILED,
		        "the program mtld is neither beside mtl nor in %s: install it",
		        MTL_SBINDIR);
	if (!make_directory(daemon, getenv("XDG_RUNTIME_DIR")) && !make_directory(daemon, "/tmp"))
		return complain(MTL_FAILED, "cannot make a directory in /tmp: %s", strerror(errno));
	snprintf(daemon->socket, sizeof(daemon->socket), "%s/io.mtld", daemon->directory);
	daemon->messages = options->verbose ? -1 : memfd_create("mtld messages", MFD_CLOEXEC);
	r = process_fork(&daemon->process);
	if (r == 1)
		daemon_child(program, daemon, options);
	return r < 0 ? complain(MTL_FAILED, "cannot start %s: %s", program, strerror(-r))
	             : MTL_DONE;
}

/* 0 to go on, -ECANCELED, -ECHILD when the daemon has ended. */
static int pause_between_tries(struct private_daemon *daemon, int wake_fd)
{
	struct pollfd fds[] = {
	        {.fd = daemon->process.fd, .events = POLLIN},
	        {.fd = wake_fd, .events = POLLIN},
	};

	poll(fds, 2, RETRY_MILLISECONDS);
	if (fds[1].revents)
		return -ECANCELED;
	return fds[0].revents ? -ECHILD : 0;
}

static int connect_when_ready(
        struct private_daemon *daemon, int wake_fd, struct client **ret_client)
{
	int tries = (int)(START_SECONDS * 1000 / RETRY_MILLISECONDS);

	for (int i = 0; i < tries; i++) {
		int r = client_connect(daemon->socket, ret_client);

		if (r != -ENOENT && r != -ECONNREFUSED)
			return r;
		r = pause_between_tries(daemon, wake_fd);
		if (r < 0)
			return r;
	}
	return -ETIMEDOUT;
}

/* It may listen some time before it answers: costs are measured first. */
static int first_answer(struct client *client, int wake_fd)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	int r = client_send(client, "Status", NULL, false);

	return r < 0 ? r : client_receive(client, START_SECONDS, wake_fd, &reply);
}

static void show_messages(const struct private_daemon *daemon)
{
	char text[4096];
	off_t offset = 0;
	ssize_t n;

	if (daemon->messages < 0)
		return;
	while ((n = pread(daemon->messages, text, sizeof(text), offset)) > 0) {
		fwrite(text, 1, (size_t)n, stderr);
		offset += n;
	}
}

/* A mtld that ends with the status for "impossible here" has said what is missing, of itself; here
 * is what it means for a run. */
static int explain_impossible(void)
{
	if (geteuid() != 0)
		return complain(MTL_IMPOSSIBLE,
		        "the command was not started: you are not root, and `mtl run` starts a "
		        "mtld of its own, which needs root or the capabilities it asks for: `sudo "
		        "mtl run ...`, or `mtl curve PID` where root has started mtld; `mtl "
		        "doctor` says what else is missing");
	return complain(MTL_IMPOSSIBLE, "the command was not started; `mtl doctor` says what works "
	                                "here and what would help");
}

static int explain_end(const struct process *process)
{
	char fate[80];

	if (WIFEXITED(process->status) && WEXITSTATUS(process->status) == MTL_IMPOSSIBLE)
		return explain_impossible();
	process_fate(process, fate, sizeof(fate));
	return complain(MTL_FAILED, "the mtld started for this run %s", fate);
}

int private_daemon_explain(struct private_daemon *daemon, int error)
{
	bool ended = process_wait(&daemon->process, error == -ETIMEDOUT ? 0 : 1);

	show_messages(daemon);
	if (ended)
		return explain_end(&daemon->process);
	return complain(
	        MTL_FAILED, "the mtld started for this run does not answer: %s", strerror(-error));
}

int private_daemon_start(const struct options *options, int wake_fd, struct private_daemon *daemon,
        struct client **ret_client)
{
	_cleanup_(client_freep) struct client *client = NULL;
	int r = launch(options, daemon);

	if (r != MTL_DONE)
		return r;
	r = connect_when_ready(daemon, wake_fd, &client);
	if (r == 0)
		r = first_answer(client, wake_fd);
	if (r == -ECANCELED)
		return r;
	if (r < 0)
		return private_daemon_explain(daemon, r);
	*ret_client = TAKE_PTR(client);
	return MTL_DONE;
}

void private_daemon_done(struct private_daemon *daemon)
{
	process_end(&daemon->process, 2);
	remove_directory(daemon);
	if (daemon->messages >= 0)
		close(TAKE_FD(daemon->messages));
}
