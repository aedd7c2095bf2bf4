/* SPDX-License-Identifier: MIT */
/*
 * The configuration read again while clients are connected: what a right file changes, that a wrong
 * one changes nothing, and that systemd is told about both.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "reload.h"
#include "server_fixture.h"

static char path[] = "/tmp/test_reload.XXXXXX";
static struct reload reload;

static int begin(void **state)
{
	sigset_t mask;
	int fd;

	start(state);
	serve();
	strcpy(path, "/tmp/test_reload.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	sigemptyset(&mask);
	sigaddset(&mask, SIGHUP);
	assert_int_equal(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
	reload = (struct reload){path, NULL, &config, server};
	return 0;
}

static int end(void **state)
{
	unlink(path);
	return stop(state);
}

static void file_says(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void right_file_counts(void **state)
{
	int first, second;

	(void)state;
	config.max_clients = 1;
	first = dial();
	assert_int_equal(put(first, STATUS, sizeof(STATUS)), 0);
	assert_answered(first);
	file_says("[mtld]\nmax_clients = 300\nmax_overhead = 5%\n");
	assert_int_equal(reload_now(&reload), 0);
	assert_int_equal(config.max_clients, 300);
	assert_true(config.max_overhead == 0.05);
	second = dial();
	assert_int_equal(put(second, STATUS, sizeof(STATUS)), 0);
	assert_answered(second);
	file_says("");
	assert_int_equal(reload_now(&reload), 0);
	assert_true(config.max_overhead == 0.01);
	close(first);
	close(second);
	assert_clients(0);
}

static void wrong_file_changes_nothing(void **state)
{
	struct config before = config;

	(void)state;
	file_says("[mtld]\nmax_overhead = 5%\nmax_clients = many\n");
	assert_int_equal(reload_now(&reload), -EINVAL);
	assert_memory_equal(&config, &before, sizeof(config));
	unlink(path);
	assert_int_equal(reload_now(&reload), -ENOENT);
	assert_memory_equal(&config, &before, sizeof(config));
}

static void rung_of_the_command_line_stays(void **state)
{
	(void)state;
	strcpy(config.rung, "counters");
	reload.rung = "counters";
	file_says("[mtld]\nrung = watchpoints\n");
	assert_int_equal(reload_now(&reload), 0);
	assert_string_equal(config.rung, "counters");
}

/* an abstract socket in systemd's place */
static int systemd(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t size = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	address.sun_path[0] = '@';
	address.sun_path[size - sizeof(sa_family_t)] = '\0';
	setenv("NOTIFY_SOCKET", address.sun_path, 1);
	return fd;
}

static void assert_told(int fd, const char *what)
{
	char said[256];
	ssize_t n = recv(fd, said, sizeof(said) - 1, 0);

	assert_true(n > 0);
	said[n] = '\0';
	assert_non_null(strstr(said, what));
}

static void hangup_tells_systemd(void **state)
{
	static const char *const texts[] = {"[mtld]\nmax_clients = 9\n", "[mtld]\nwrong\n"};
	int fd = systemd();

	(void)state;
	assert_true(reload_at_hangup(event, &reload) >= 0);
	for (size_t i = 0; i < 2; i++) {
		file_says(texts[i]);
		kill(getpid(), SIGHUP);
		turn(0.01);
		assert_told(fd, "RELOADING=1\nMONOTONIC_USEC=");
		assert_told(fd, "READY=1");
		assert_int_equal(config.max_clients, 9);
	}
	unsetenv("NOTIFY_SOCKET");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(right_file_counts, begin, end),
	        cmocka_unit_test_setup_teardown(wrong_file_changes_nothing, begin, end),
	        cmocka_unit_test_setup_teardown(rung_of_the_command_line_stays, begin, end),
	        cmocka_unit_test_setup_teardown(hangup_tells_systemd, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
