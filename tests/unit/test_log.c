/* SPDX-License-Identifier: MIT */
/*
 * Log lines: a priority prefix only when standard error really is the journal's stream, and always
 * one line; fields of events; how many lines strangers may cause.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "log.h"

static char line[2048];

/* What a line looks like with standard error being a fresh file that JOURNAL_STREAM names, shifted.
 */
static const char *logged(long shift, const char *text)
{
	int kept = dup(STDERR_FILENO);
	FILE *file = tmpfile();
	char stream[64];
	struct stat st;
	size_t n;

	assert_int_equal(fstat(fileno(file), &st), 0);
	snprintf(stream, sizeof(stream), "%lu:%lu", (unsigned long)st.st_dev,
	        (unsigned long)st.st_ino + (unsigned long)shift);
	setenv("JOURNAL_STREAM", stream, 1);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	log_line(SD_ERR, "%s", text);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	unsetenv("JOURNAL_STREAM");
	rewind(file);
	n = fread(line, 1, sizeof(line) - 1, file);
	line[n] = '\0';
	fclose(file);
	return line;
}

static void prefixes_for_the_journal_only(void **state)
{
	(void)state;
	assert_string_equal(logged(0, "x failed"), "<3>x failed\n");
	assert_string_equal(logged(1, "x failed"), "mtld: x failed\n");
}

static void is_one_line(void **state)
{
	char text[4096];

	(void)state;
	assert_string_equal(logged(0, "a\n<0>b\x1b[1m"), "<3>a <0>b [1m\n");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	logged(0, text);
	assert_int_equal(strcspn(line, "\n"), strlen(line) - 1);
}

static char fields[LOG_FIELDS][LOG_FIELD_BYTES];

static void events_have_fields(void **state)
{
	static const char *const wanted[] = {"MESSAGE=tracking", "PRIORITY=6",
	        "SYSLOG_IDENTIFIER=mtld", "MESSAGE_ID=5e853b306a1c4eccb0786a9df4a58596",
	        "MTL_EVENT=tracked", "MTL_PID=12", "MTL_COMM=redis", "MTL_CLIENT_PID=34",
	        "MTL_CLIENT_UID=0"};
	const struct log_about about = {12, "redis", 34, 0};

	(void)state;
	assert_int_equal(log_fields(LOG_TRACKED, SD_INFO, &about, "tracking", fields), LOG_FIELDS);
	for (unsigned i = 0; i < LOG_FIELDS; i++)
		assert_string_equal(fields[i], wanted[i]);
	assert_int_equal(
	        log_fields(LOG_CLIENT_DROPPED, SD_NOTICE, &(struct log_about){0}, "", fields), 5);
	assert_int_equal(log_fields(LOG_CONFIGURATION_READ, SD_NOTICE, NULL, "x", fields), 5);
	assert_string_equal(fields[1], "PRIORITY=5");
}

static void every_event_has_its_id(void **state)
{
	char ids[N_LOG_EVENTS][LOG_FIELD_BYTES];

	(void)state;
	for (unsigned i = 0; i < N_LOG_EVENTS; i++) {
		log_fields(i, SD_ERR, NULL, "", fields);
		strcpy(ids[i], fields[3]);
		assert_int_equal(strlen(ids[i]), strlen("MESSAGE_ID=") + 32);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(ids[i], ids[j]);
	}
}

static void bursts_are_bounded(void **state)
{
	struct log_limit limit = {0};
	uint64_t unlogged = 99;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(log_allowed(&limit, 2, &unlogged), i < 2);
	assert_int_equal(unlogged, 0);
	limit.since -= LOG_LIMIT_SECONDS;
	assert_true(log_allowed(&limit, 2, &unlogged));
	assert_int_equal(unlogged, 3);
	assert_true(log_allowed(&limit, 2, &unlogged));
	assert_int_equal(unlogged, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(prefixes_for_the_journal_only),
	        cmocka_unit_test(is_one_line),
	        cmocka_unit_test(events_have_fields),
	        cmocka_unit_test(every_event_has_its_id),
	        cmocka_unit_test(bursts_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
