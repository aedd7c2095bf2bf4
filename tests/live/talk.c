/* SPDX-License-Identifier: MIT */
/*
 * talk SOCKET SECONDS [deaf]: sends its standard input over a unix socket and prints what comes
 * back; deaf: sends it again and again and never reads. `\0` in what comes back is printed as a
 * newline.
 *
 * Exit status: 0 the peer closed the connection, 3 it was still open after SECONDS, 1 trouble.
 */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { CLOSED = 0, TROUBLE = 1, OPEN = 3 };

static char input[4 << 20];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		return -1;
	strcpy(address.sun_path, path);
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -1 : fd;
}

static size_t read_input(void)
{
	size_t size = 0;
	ssize_t n;

	while ((n = read(STDIN_FILENO, input + size, sizeof(input) - size)) > 0)
		size += (size_t)n;
	return size;
}

/* 1: the peer has closed. */
static int print_answer(int fd)
{
	char text[4096];
	ssize_t n = read(fd, text, sizeof(text));

	if (n < 0)
		return errno != EAGAIN;
	for (ssize_t i = 0; i < n; i++)
		putchar(text[i] ? text[i] : '\n');
	fflush(stdout);
	return n == 0;
}

static int is_over(int error)
{
	return error == EPIPE || error == ECONNRESET;
}

static int talk(int fd, size_t size, double end, int deaf)
{
	size_t sent = 0;

	while (now() < end) {
		struct pollfd poll_fd = {.fd = fd, .events = deaf ? 0 : POLLIN};
		ssize_t n = 0;

		if (sent < size)
			poll_fd.events |= POLLOUT;
		poll(&poll_fd, 1, 100);
		if (deaf && poll_fd.revents & POLLHUP)
			return CLOSED;
		if (!deaf && poll_fd.revents & (POLLIN | POLLHUP) && print_answer(fd))
			return CLOSED;
		if (poll_fd.revents & POLLOUT)
			n = send(fd, input + sent, size - sent, MSG_NOSIGNAL);
		if (n < 0 && is_over(errno) && deaf)
			return CLOSED;
		if (n > 0)
			sent += (size_t)n;
		if (deaf && sent == size)
			sent = 0;
	}
	return OPEN;
}

int main(int argc, char **argv)
{
	int fd = argc < 3 ? -1 : connect_to(argv[1]);

	if (fd < 0) {
		perror("talk");
		return TROUBLE;
	}
	return talk(fd, read_input(), now() + atof(argv[2]), argc > 3);
}
