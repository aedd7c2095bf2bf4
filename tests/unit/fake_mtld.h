/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_FAKE_MTLD_H
#define MTL_TEST_FAKE_MTLD_H

/* A daemon of one client after another whose answers a test makes up. Include cmocka.h first. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cleanup.h"

/* A whole reply to a question, both as text; "": it hangs up. */
typedef void fake_mtld_answer(const char *question, char *ret_reply, size_t size);

static struct {
	int listener;
	pthread_t thread;
	fake_mtld_answer *answer;
	struct sockaddr_un address;
} fake_mtld;

static inline void fake_mtld_client(int fd)
{
	static char question[65536], reply[32768];

	for (size_t n = 0; n < sizeof(question) && read(fd, question + n, 1) == 1;) {
		if (question[n++])
			continue;
		fake_mtld.answer(question, reply, sizeof(reply));
		if (!*reply || send(fd, reply, strlen(reply) + 1, MSG_NOSIGNAL) < 0)
			break;
		n = 0;
	}
}

static inline void *fake_mtld_serve(void *nothing)
{
	int fd;

	while ((fd = accept(fake_mtld.listener, NULL, NULL)) >= 0) {
		fake_mtld_client(fd);
		close(fd);
	}
	return nothing;
}

/* Listens at directory/io.mtld; the option that says so. */
static inline const char *fake_mtld_start(const char *directory, fake_mtld_answer *answer)
{
	static char option[160];

	fake_mtld.address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(fake_mtld.address.sun_path, sizeof(fake_mtld.address.sun_path), "%s/io.mtld",
	        directory);
	snprintf(option, sizeof(option), "--socket=%s", fake_mtld.address.sun_path);
	fake_mtld.answer = answer;
	fake_mtld.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fake_mtld.listener, (struct sockaddr *)&fake_mtld.address,
	                         sizeof(fake_mtld.address)),
	        0);
	assert_int_equal(listen(fake_mtld.listener, 1), 0);
	assert_int_equal(pthread_create(&fake_mtld.thread, NULL, fake_mtld_serve, NULL), 0);
	return option;
}

static inline void fake_mtld_stop(void)
{
	shutdown(fake_mtld.listener, SHUT_RDWR); /* ends accept() */
	pthread_join(fake_mtld.thread, NULL);
	close(fake_mtld.listener);
	unlink(fake_mtld.address.sun_path);
}

#endif
