/* SPDX-License-Identifier: MIT */
/*
 * Children of `mtl run`: a held command starts only when told, says why it cannot, and is gone when
 * it should be, whatever it thinks of SIGTERM.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../../cli/process.h"

/* valgrind of Debian 12 does not know pidfd_open(); every kernel mtld runs on does. */
static void need_pidfd(void)
{
	int fd = pidfd_open(getpid(), 0);

	if (fd < 0 && errno == ENOSYS)
		skip();
	assert_true(fd >= 0);
	close(fd);
}

static struct held_command hold(char *const *argv)
{
	struct held_command command = {.hold = -1};
	sigset_t none;

	need_pidfd();
	sigemptyset(&none);
	assert_int_equal(held_command_new(argv, &none, false, &command), 0);
	return command;
}

static void a_held_command_waits_for_its_start(void **state)
{
	char path[] = "/tmp/test-process-XXXXXX";
	char *argv[] = {"rm", path, NULL};
	struct held_command command;
	struct stat status;

	(void)state;
	need_pidfd();
	close(mkstemp(path));
	command = hold(argv);
	assert_false(process_wait(&command.process, 0.05));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(held_command_start(&command), 0);
	assert_true(process_wait(&command.process, 10));
	assert_true(WIFEXITED(command.process.status));
	assert_int_equal(stat(path, &status), -1);
	held_command_done(&command);
}

static void a_command_given_up_never_starts(void **state)
{
	char path[] = "/tmp/test-process-XXXXXX";
	char *argv[] = {"rm", path, NULL};
	struct held_command command;

	(void)state;
	need_pidfd();
	close(mkstemp(path));
	command = hold(argv);
	held_command_done(&command);
	assert_int_equal(command.process.pid, 0);
	assert_int_equal(unlink(path), 0);
}

static void a_command_that_is_not_there_says_so(void **state)
{
	char *missing[] = {"/nonexistent/program", NULL}, *directory[] = {"/tmp", NULL};
	struct held_command command;

	(void)state;
	command = hold(missing);
	assert_int_equal(held_command_start(&command), -ENOENT);
	held_command_done(&command);
	command = hold(directory);
	assert_int_equal(held_command_start(&command), -EACCES);
	held_command_done(&command);
}

static void sigterm_is_enough_for_most(void **state)
{
	char *argv[] = {"sleep", "1000", NULL};
	struct held_command command = hold(argv);
	char fate[80];

	(void)state;
	assert_int_equal(held_command_start(&command), 0);
	process_end(&command.process, 10);
	assert_true(WIFSIGNALED(command.process.status));
	assert_int_equal(WTERMSIG(command.process.status), SIGTERM);
	process_fate(&command.process, fate, sizeof(fate));
	assert_string_equal(fate, "was ended by signal 15 (Terminated)");
	held_command_done(&command);
}

static void what_ignores_sigterm_is_killed(void **state)
{
	char *argv[] = {"sh", "-c", "trap '' TERM; while :; do sleep 0.01; done", NULL};
	struct held_command command = hold(argv);

	(void)state;
	assert_int_equal(held_command_start(&command), 0);
	usleep(200000); /* for the trap */
	process_end(&command.process, 0.1);
	assert_true(WIFSIGNALED(command.process.status));
	assert_int_equal(WTERMSIG(command.process.status), SIGKILL);
	held_command_done(&command);
}

static void what_has_ended_is_not_signalled(void **state)
{
	char *argv[] = {"sh", "-c", "exit 3", NULL};
	struct held_command command = hold(argv);
	char fate[80];

	(void)state;
	assert_int_equal(held_command_start(&command), 0);
	assert_true(process_wait(&command.process, 10));
	process_end(&command.process, 10);
	process_fate(&command.process, fate, sizeof(fate));
	assert_string_equal(fate, "ended with status 3");
	held_command_done(&command);
}

static void fates_are_told(void **state)
{
	struct process ended = {.status = 3 << 8}, killed = {.status = SIGKILL};
	char fate[80];

	(void)state;
	process_fate(&ended, fate, sizeof(fate));
	assert_string_equal(fate, "ended with status 3");
	process_fate(&killed, fate, sizeof(fate));
	assert_string_equal(fate, "was ended by signal 9 (Killed)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_held_command_waits_for_its_start),
	        cmocka_unit_test(a_command_given_up_never_starts),
	        cmocka_unit_test(a_command_that_is_not_there_says_so),
	        cmocka_unit_test(sigterm_is_enough_for_most),
	        cmocka_unit_test(what_ignores_sigterm_is_killed),
	        cmocka_unit_test(what_has_ended_is_not_signalled),
	        cmocka_unit_test(fates_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
