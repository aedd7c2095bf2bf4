/* SPDX-License-Identifier: MIT */
/*
 * Log lines: a priority prefix only when standard error really is the journal's stream, and always
 * one line.
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(prefixes_for_the_journal_only),
	        cmocka_unit_test(is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
