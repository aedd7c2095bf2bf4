/* SPDX-License-Identifier: MIT */
/*
 * Children of `mtl run`: the private daemon and the command.
 *
 * A child never outlives us: it asks for SIGTERM at our end right after the fork. The command is
 * held on a socket pair between fork and exec. The other direction of the same pair, closed by a
 * successful exec, carries the errno of one that failed.
 */

#include "process.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

int process_fork(struct process *ret_process)
{
	pid_t parent = getpid();
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(127);
		return 1;
	}
	fd = pidfd_open(pid, 0);
	if (fd < 0) {
		int r = -errno;

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return r;
	}
	*ret_process = (struct process){.pid = pid, .fd = fd};
	return 0;
}

bool process_wait(struct process *process, double seconds)
{
	struct pollfd poll_fd = {.fd = process->fd, .events = POLLIN};
	int n;

	if (process->pid == 0)
		return true;
	do
		n = poll(&poll_fd, 1, (int)(seconds * 1000));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	waitpid(process->pid, &process->status, 0);
	close(process->fd);
	process->pid = 0;
	return true;
}

void process_end(struct process *process, double patience)
{
	if (process->pid == 0 || process_wait(process, 0))
		return;
	kill(process->pid, SIGTERM);
	if (process_wait(process, patience))
		return;
	kill(process->pid, SIGKILL);
	process_wait(process, 3600);
}

void process_fate(const struct process *process, char *ret_text, size_t size)
{
	if (WIFSIGNALED(process->status))
		snprintf(ret_text, size, "was ended by signal %d (%s)", WTERMSIG(process->status),
		        strsignal(WTERMSIG(process->status)));
	else
		snprintf(ret_text, size, "ended with status %d", WEXITSTATUS(process->status));
}

static void __attribute__((noreturn))
held_child(int hold, char *const *argv, const sigset_t *signal_mask, bool quiet)
{
	char start;
	int error;

	if (recv(hold, &start, 1, 0) != 1)
		_exit(127);
	if (quiet)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	sigprocmask(SIG_SETMASK, signal_mask, NULL);
	execvp(argv[0], argv);
	error = errno;
	send(hold, &error, sizeof(error), MSG_NOSIGNAL);
	_exit(127);
}

int held_command_new(char *const *argv, const sigset_t *signal_mask, bool quiet,
        struct held_command *ret_command)
{
	_cleanup_close_ int ours = -1, theirs = -1;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ours = pair[0];
	theirs = pair[1];
	r = process_fork(&ret_command->process);
	if (r == 1) {
		close(ours);
		held_child(theirs, argv, signal_mask, quiet);
	}
	if (r == 0)
		ret_command->hold = TAKE_FD(ours);
	return r;
}

int held_command_start(struct held_command *command)
{
	_cleanup_close_ int hold = TAKE_FD(command->hold);
	int error;
	ssize_t n;

	if (send(hold, "", 1, MSG_NOSIGNAL) != 1)
		return -errno;
	do
		n = recv(hold, &error, sizeof(error), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(error) ? -error : 0;
}

void held_command_done(struct held_command *command)
{
	if (command->hold >= 0)
		close(TAKE_FD(command->hold));
	process_end(&command->process, 2);
}
