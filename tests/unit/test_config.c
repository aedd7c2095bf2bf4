/* SPDX-License-Identifier: MIT */
/*
 * Configuration: every key's accepted spellings and bounds, messages that name place, key, value
 * and what is accepted, nothing half applied; and etc/mtld.conf agrees with the table.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "config.h"

#define N(array) (sizeof(array) / sizeof(*(array)))

static char problem[512];

static int read_bytes(const char *text, size_t size, struct config *config)
{
	FILE *file = tmpfile();
	int r;

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	rewind(file);
	problem[0] = '\0';
	r = config_read(file, "x.conf", config, problem, sizeof(problem));
	fclose(file);
	return r;
}

static int read_text(const char *text, struct config *config)
{
	return read_bytes(text, strlen(text), config);
}

static unsigned index_of(const char *key)
{
	for (unsigned i = 0; config_key(i); i++)
		if (!strcmp(config_key(i), key))
			return i;
	fail_msg("no key %s", key);
	return 0;
}

static void has_defaults(void **state)
{
	static const char *const defaults[][2] = {
	        {"max_overhead", "1%"},
	        {"max_daemon_cpu", "1%"},
	        {"window_seconds", "60"},
	        {"longest_window", "2"},
	        {"keep_exited_seconds", "60"},
	        {"max_exited", "256"},
	        {"max_processes", "64"},
	        {"top", "0"},
	        {"cgroups", ""},
	        {"max_clients", "128"},
	        {"ring_bytes", "65536"},
	        {"realtime", "yes"},
	        {"address_samples", "auto"},
	        {"socket_group", "mtl"},
	        {"rung", "auto"},
	};
	struct config config;
	char value[64];

	(void)state;
	config_defaults(&config);
	for (size_t i = 0; i < N(defaults); i++) {
		config_value(&config, index_of(defaults[i][0]), value, sizeof(value));
		assert_string_equal(value, defaults[i][1]);
	}
	assert_null(config_key(N(defaults)));
}

static void accepts(void **state)
{
	static const char *const values[][3] = {
	        {"max_overhead", "0.5%", "0.5%"},
	        {"max_overhead", "0.005", "0.5%"},
	        {"max_overhead", "0.01%", "0.01%"},
	        {"max_overhead", "10%", "10%"},
	        {"max_daemon_cpu", "50%", "50%"},
	        {"window_seconds", "1", "1"},
	        {"window_seconds", "3600s", "3600"},
	        {"longest_window", "0.01", "0.01"},
	        {"longest_window", "10", "10"},
	        {"keep_exited_seconds", "0", "0"},
	        {"max_processes", "1024", "1024"},
	        {"top", "10", "10"},
	        {"cgroups", "/a.slice b.slice/c.service", "/a.slice b.slice/c.service"},
	        {"max_clients", "1", "1"},
	        {"ring_bytes", "4096", "4096"},
	        {"ring_bytes", "4K", "4096"},
	        {"ring_bytes", "16M", "16777216"},
	        {"realtime", "no", "no"},
	        {"realtime", "OFF", "no"},
	        {"realtime", "true", "yes"},
	        {"address_samples", "page-faults", "page-faults"},
	        {"address_samples", "OFF", "off"},
	        {"socket_group", "adm", "adm"},
	        {"socket_group", "", ""},
	        {"rung", "auto", "auto"},
	        {"rung", "counters", "counters"},
	        {"socket_group", "cache-people_2", "cache-people_2"},
	};

	(void)state;
	for (size_t i = 0; i < N(values); i++) {
		struct config config;
		char text[128], value[64];

		config_defaults(&config);
		snprintf(text, sizeof(text), "# c\n\n[mtld]\n  %s = %s  ; comment\n", values[i][0],
		        values[i][1]);
		if (read_text(text, &config) != 0)
			fail_msg("%s: %s", text, problem);
		config_value(&config, index_of(values[i][0]), value, sizeof(value));
		assert_string_equal(value, values[i][2]);
	}
}

static void refuses_values(void **state)
{
	static const char *const values[][2] = {
	        {"max_overhead", "0.009%"},
	        {"max_overhead", "11%"},
	        {"max_overhead", "1"},
	        {"max_overhead", "-1%"},
	        {"max_overhead", "nan"},
	        {"max_overhead", "inf"},
	        {"max_overhead", "0x1p-7"},
	        {"max_overhead", "1e-2"},
	        {"max_overhead", "1%%"},
	        {"max_overhead", "1 percent"},
	        {"max_overhead", ""},
	        {"max_overhead", "."},
	        {"max_overhead", "0.0.1"},
	        {"max_daemon_cpu", "51%"},
	        {"window_seconds", "0.5"},
	        {"window_seconds", "1h"},
	        {"window_seconds", "3601"},
	        {"longest_window", "0.001"},
	        {"longest_window", "11"},
	        {"keep_exited_seconds", "-1"},
	        {"max_processes", "0"},
	        {"max_processes", "1025"},
	        {"max_processes", "1.5"},
	        {"max_processes", "64K"},
	        {"top", "1001"},
	        {"top", "-1"},
	        {"max_clients", "4097"},
	        {"max_clients", "99999999999999999999"},
	        {"ring_bytes", "2048"},
	        {"ring_bytes", "5000"},
	        {"ring_bytes", "32M"},
	        {"ring_bytes", "64KB"},
	        {"ring_bytes", "0"},
	        {"realtime", "maybe"},
	        {"address_samples", "pebs"},
	        {"address_samples", ""},
	        {"realtime", ""},
	        {"cgroups", "/a /b/../c"},
	        {"socket_group", "a b"},
	        {"rung", ""},
	        {"rung", "none"},
	        {"rung", "PEBS"},
	        {"socket_group", "-a"},
	        {"socket_group", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
	};

	(void)state;
	for (size_t i = 0; i < N(values); i++) {
		struct config config;
		char text[128], expected[128];

		config_defaults(&config);
		snprintf(text, sizeof(text), "[mtld]\n%s = %s\n", values[i][0], values[i][1]);
		snprintf(expected, sizeof(expected),
		        "x.conf:2: %s = \"%s\" is not accepted; it must be", values[i][0],
		        values[i][1]);
		if (read_text(text, &config) != -EINVAL ||
		        strncmp(problem, expected, strlen(expected)))
			fail_msg("%s: \"%s\"", text, problem);
	}
}

static void refuses_lines(void **state)
{
	static const char *const texts[][2] = {
	        {"[mtld]\nmax_overheads = 1%\n",
	                "x.conf:2: unknown key \"max_overheads\"; known are max_ov"},
	        {"max_clients = 1\n", "x.conf:1: key \"max_clients\" before the line [mtld]"},
	        {"[mtl]\n", "x.conf:1: unknown section [mtl]; the only one is [mtld]"},
	        {"[mtld]\n[other]\nx = 1\n", "x.conf:2: unknown section [other]"},
	        {"[mtld\n", "x.conf:1: unknown section [mtld;"},
	        {"[mtld]\nmax_clients\n", "x.conf:2: \"max_clients\" is neither key = value"},
	        {"[mtld]\nmax_clients: 5\n", "x.conf:2: \"max_clients: 5\" is neither key = value"},
	        {"[mtld]\n = 5\n", "x.conf:2: unknown key \"\""},
	        {"[mtld]\nmax_clients = 5\n  max_clients = 6\n",
	                "x.conf:3: key \"max_clients\" occurs twice"},
	        {"[mtld]\nmax_clients = 5 # five\n",
	                "x.conf:2: max_clients = \"5 # five\" is not accepted"},
	        {"[mtld]\nmax_clients = 5\nrealtime = maybe\nfoo = 1\n",
	                "x.conf:3: realtime = \"maybe\""},
	};

	(void)state;
	for (size_t i = 0; i < N(texts); i++) {
		struct config config, untouched;

		memset(&config, 0, sizeof(config));
		config_defaults(&config);
		memcpy(&untouched, &config, sizeof(config));
		if (read_text(texts[i][0], &config) != -EINVAL ||
		        strncmp(problem, texts[i][1], strlen(texts[i][1])))
			fail_msg("%s: \"%s\"", texts[i][0], problem);
		assert_memory_equal(&config, &untouched, sizeof(config));
	}
}

static void refuses_what_is_no_text(void **state)
{
	static const char nul[] = "[mtld]\nmax_clients = 1\0 0\n";
	struct config config;
	char line[400];

	(void)state;
	config_defaults(&config);
	assert_int_equal(read_bytes(nul, sizeof(nul) - 1, &config), -EINVAL);
	assert_non_null(strstr(problem, "x.conf:2: a NUL byte"));
	assert_int_equal(config.max_clients, 128);
	memset(line, 'x', sizeof(line));
	line[0] = '#';
	assert_int_equal(read_bytes(line, sizeof(line), &config), -EINVAL);
	assert_non_null(strstr(problem, "x.conf:1: longer than"));
}

static void accepts_odd_endings(void **state)
{
	struct config config;

	(void)state;
	config_defaults(&config);
	assert_int_equal(read_text("", &config), 0);
	assert_int_equal(read_text("\n\n;\n#\n", &config), 0);
	assert_int_equal(read_text("[mtld]\r\nmax_clients = 7\r\n", &config), 0);
	assert_int_equal(config.max_clients, 7);
	assert_int_equal(read_text("[mtld]\nmax_clients=9", &config), 0);
	assert_int_equal(config.max_clients, 9);
}

static void groups_add_up(void **state)
{
	struct config config;

	(void)state;
	config_defaults(&config);
	read_text("[mtld]\ncgroups = /a b\ncgroups =\ncgroups = /c\n", &config);
	assert_string_equal(config.cgroups, "/a b /c");
}

static void loads_files(void **state)
{
	struct config config;
	char fifo[64];

	(void)state;
	snprintf(fifo, sizeof(fifo), "/tmp/mtld-test-%d.conf", getpid());
	config_defaults(&config);
	assert_int_equal(
	        config_load("/nonexistent/mtld.conf", &config, problem, sizeof(problem)), -ENOENT);
	assert_string_equal(problem, "/nonexistent/mtld.conf: No such file or directory");
	assert_true(config_load("/", &config, problem, sizeof(problem)) < 0);
	assert_string_equal(problem, "/: this is not a regular file");
	assert_true(config_load("/dev/zero", &config, problem, sizeof(problem)) < 0);
	assert_int_equal(mkfifo(fifo, 0600), 0); /* nobody writes */
	assert_int_equal(config_load(fifo, &config, problem, sizeof(problem)), -EINVAL);
	unlink(fifo);
	assert_int_equal(config_load("etc/mtld.conf", &config, problem, sizeof(problem)), 1);
}

/* "#key = value" becomes "key = value"; prose starts with "# ". */
static char *uncomment(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = NULL, line[256];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		fputs(line + (line[0] == '#' && line[1] != ' ' && line[1] != '\n'), out);
	fclose(in);
	fclose(out);
	return text;
}

static void file_agrees_with_table(void **state)
{
	/* other than the defaults, so that a key missing in the file shows */
	struct config config = {
	        .max_overhead = 0.05,
	        .max_daemon_cpu = 0.05,
	        .window_seconds = 7,
	        .longest_window = 7,
	        .keep_exited_seconds = 7,
	        .max_exited = 7,
	        .max_processes = 7,
	        .top = 7,
	        .cgroups = "other",
	        .max_clients = 7,
	        .ring_bytes = 8192,
	        .realtime = false,
	        .address_samples = ADDRESS_SAMPLES_PAGE_FAULTS,
	        .socket_group = "other",
	        .rung = "pebs",
	};
	struct config defaults;
	char *text = uncomment("etc/mtld.conf"), value[64], expected[64];

	(void)state;
	config_defaults(&defaults);
	if (read_text(text, &config) != 0)
		fail_msg("%s", problem);
	for (unsigned i = 0; config_key(i); i++) {
		config_value(&defaults, i, expected, sizeof(expected));
		config_value(&config, i, value, sizeof(value));
		if (strcmp(value, expected) != 0)
			fail_msg("etc/mtld.conf: %s is %s, the default %s", config_key(i), value,
			        expected);
	}
	free(text);
}

static void adopts_what_may_change(void **state)
{
	struct config config, next;
	char waiting[64];

	(void)state;
	config_defaults(&config);
	next = config;
	config_adopt(&config, &next, waiting, sizeof(waiting));
	assert_string_equal(waiting, "");
	assert_int_equal(read_text("[mtld]\nmax_overhead = 2%\nmax_clients = 7\nsocket_group = x\n"
	                           "realtime = no\nring_bytes = 8192\nwindow_seconds = 60\n",
	                         &next),
	        0);
	config_adopt(&config, &next, waiting, sizeof(waiting));
	assert_string_equal(waiting, "ring_bytes, realtime");
	assert_true(config.max_overhead == 0.02 && config.window_seconds == 60);
	assert_int_equal(config.max_clients, 7);
	assert_string_equal(config.socket_group, "x");
	assert_true(config.realtime);
	assert_int_equal(config.ring_bytes, 65536);
	config_adopt(&config, &next, waiting, 8);
	assert_string_equal(waiting, "ring_by");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(has_defaults),
	        cmocka_unit_test(accepts),
	        cmocka_unit_test(refuses_values),
	        cmocka_unit_test(refuses_lines),
	        cmocka_unit_test(refuses_what_is_no_text),
	        cmocka_unit_test(accepts_odd_endings),
	        cmocka_unit_test(groups_add_up),
	        cmocka_unit_test(loads_files),
	        cmocka_unit_test(file_agrees_with_table),
	        cmocka_unit_test(adopts_what_may_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
