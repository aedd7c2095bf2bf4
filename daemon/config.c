/* SPDX-License-Identifier: MIT */
/*
 * The configuration file: inih reads lines, one table knows the keys. A row says how a value is
 * read and printed, where it goes and what range it may have, so that defaults, checks, messages
 * and etc/mtld.conf (tests/unit/test_config.c) cannot disagree.
 *
 * inih does not tell a handler its line, cuts lines at 200 bytes and takes an indented line for a
 * continuation; so lines come through our own reader, which counts them and refuses what would be
 * misread, and continuation is off. The first problem is the one reported; nothing is applied
 * unless everything is right.
 */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cgroup.h"
#include "cleanup.h"
#include "config.h"
#include "ladder.h"
#include "regular_file.h"

#ifndef MTL_SYSCONFDIR
#define MTL_SYSCONFDIR "/etc"
#endif
#define DEFAULT_PATH MTL_SYSCONFDIR "/mtld/mtld.conf"
#define SECTION "mtld"
#define MEBIBYTE 1048576.0

struct key {
	const char *name;
	int (*read)(const struct key *key, const char *text, void *member);
	void (*print)(const void *member, char *ret_text, size_t size);
	size_t offset, size;
	enum { AT_START, AT_ONCE } counts; /* a new value */
	double low, high;
	const char *accepted;
};

/* --- values */

/* A plain decimal number and what follows it. */
static int read_number(const char *text, double *ret_value, const char **ret_rest)
{
	size_t length = strspn(text, "0123456789.");
	char *end;
	double value;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	value = strtod(text, &end);
	if (end != text + length)
		return -EINVAL;
	*ret_value = value;
	*ret_rest = end;
	return 0;
}

static int in_range(const struct key *key, double value)
{
	return value >= key->low && value <= key->high ? 0 : -ERANGE;
}

static int read_fraction(const struct key *key, const char *text, void *member)
{
	double value;
	const char *rest;
	int r = read_number(text, &value, &rest);

	if (r == 0 && !strcmp(rest, "%"))
		value /= 100;
	else if (r == 0 && *rest)
		r = -EINVAL;
	if (r == 0)
		r = in_range(key, value);
	if (r == 0)
		*(double *)member = value;
	return r;
}

static int read_seconds(const struct key *key, const char *text, void *member)
{
	double value;
	const char *rest;
	int r = read_number(text, &value, &rest);

	if (r == 0 && *rest && strcmp(rest, "s") != 0)
		r = -EINVAL;
	if (r == 0)
		r = in_range(key, value);
	if (r == 0)
		*(double *)member = value;
	return r;
}

static int read_count(const struct key *key, const char *text, void *member)
{
	double value;
	const char *rest;
	int r = read_number(text, &value, &rest);

	if (r == 0 && (*rest || value != floor(value)))
		r = -EINVAL;
	if (r == 0)
		r = in_range(key, value);
	if (r == 0)
		*(unsigned *)member = (unsigned)value;
	return r;
}

static double unit(const char *text)
{
	static const struct {
		const char *name;
		double bytes;
	} units[] = {{"", 1}, {"K", 1024}, {"M", MEBIBYTE}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(text, units[i].name))
			return units[i].bytes;
	return NAN;
}

static int read_power_of_two(const struct key *key, const char *text, void *member)
{
	double value;
	const char *rest;
	int exponent, r = read_number(text, &value, &rest);

	if (r == 0)
		value *= unit(rest);
	if (r == 0 && (isnan(value) || frexp(value, &exponent) != 0.5))
		r = -EINVAL;
	if (r == 0)
		r = in_range(key, value);
	if (r == 0)
		*(unsigned *)member = (unsigned)value;
	return r;
}

static int read_switch(const struct key *key, const char *text, void *member)
{
	static const char *const words[] = {"no", "yes", "off", "on", "false", "true", "0", "1"};

	(void)key;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(text, words[i])) {
			*(bool *)member = i % 2;
			return 0;
		}
	return -EINVAL;
}

static const char *const address_samples[] = {
        [ADDRESS_SAMPLES_OFF] = "off",
        [ADDRESS_SAMPLES_AUTO] = "auto",
        [ADDRESS_SAMPLES_PAGE_FAULTS] = "page-faults",
        [ADDRESS_SAMPLES_TASK_CLOCK] = "task-clock",
};

static int read_address_samples(const struct key *key, const char *text, void *member)
{
	(void)key;
	for (size_t i = 0; i < sizeof(address_samples) / sizeof(*address_samples); i++)
		if (!strcasecmp(text, address_samples[i])) {
			*(unsigned *)member = i;
			return 0;
		}
	return -EINVAL;
}

/* high is the size of the member. */
static int read_group(const struct key *key, const char *text, void *member)
{
	size_t length = strlen(text);

	if (length >= (size_t)key->high)
		return -ERANGE;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && (!i || !strchr("_-.", text[i])) &&
		        text[i] != '_')
			return -EINVAL;
	memcpy(member, text, length + 1);
	return 0;
}

static bool are_groups(const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *word, name[PATH_MAX];
	bool right = copy;

	while (right && (word = strsep(&rest, " \t")))
		right = !*word || cgroup_name(word, name, sizeof(name)) == 0;
	return right;
}

/* More of them come to those of lines before. high is the size of the member. */
static int read_groups(const struct key *key, const char *text, void *member)
{
	char *words = member;
	size_t before = strlen(words), length = strlen(text);

	if (before + 1 + length >= (size_t)key->high)
		return -ERANGE;
	if (!are_groups(text))
		return -EINVAL;
	if (before && length)
		words[before++] = ' ';
	memcpy(words + before, text, length + 1);
	return 0;
}

static int read_rung(const struct key *key, const char *text, void *member)
{
	if (strcmp(text, "auto") != 0 && ladder_rung_named(text) == N_RUNGS)
		return -EINVAL;
	snprintf(member, (size_t)key->high, "%s", text);
	return 0;
}

static void print_fraction(const void *member, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "%.10g%%", *(const double *)member * 100);
}

static void print_number(const void *member, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "%.10g", *(const double *)member);
}

static void print_count(const void *member, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "%u", *(const unsigned *)member);
}

static void print_switch(const void *member, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "%s", *(const bool *)member ? "yes" : "no");
}

static void print_address_samples(const void *member, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "%s", address_samples[*(const unsigned *)member]);
}

static void print_text(const void *member, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "%s", (const char *)member);
}

/* --- the table */

#define KEY(member, counts, read, print, low, high, accepted)                                      \
	{                                                                                          \
#member, read, print, offsetof(struct config, member),                             \
		        sizeof(((struct config *)0)->member), counts, low, high, accepted          \
	}

static const struct key keys[] = {
        KEY(max_overhead, AT_ONCE, read_fraction, print_fraction, 0.0001, 0.1,
                "0.01% to 10% (or 0.0001 to 0.1)"),
        KEY(max_daemon_cpu, AT_ONCE, read_fraction, print_fraction, 0.0001, 0.5,
                "0.01% to 50% (or 0.0001 to 0.5)"),
        KEY(window_seconds, AT_ONCE, read_seconds, print_number, 1, 3600, "1 to 3600 seconds"),
        KEY(longest_window, AT_ONCE, read_seconds, print_number, 0.01, 10, "0.01 to 10 seconds"),
        KEY(keep_exited_seconds, AT_ONCE, read_seconds, print_number, 0, 86400,
                "0 to 86400 seconds"),
        KEY(max_exited, AT_ONCE, read_count, print_count, 0, 1023, "a whole number, 0 to 1023"),
        KEY(max_processes, AT_ONCE, read_count, print_count, 1, 1024, "a whole number, 1 to 1024"),
        KEY(top, AT_START, read_count, print_count, 0, 1000, "a whole number, 0 to 1000"),
        KEY(cgroups, AT_START, read_groups, print_text, 0,
                sizeof(((struct config *)0)->cgroups),
                "control groups without .. and with blanks between them, at most 4094 bytes in all"),
        KEY(max_clients, AT_ONCE, read_count, print_count, 1, 4096, "a whole number, 1 to 4096"),
        KEY(ring_bytes, AT_START, read_power_of_two, print_count, 4096, 16 * MEBIBYTE,
                "a power of two, 4096 to 16M (bytes, or with K or M)"),
        KEY(realtime, AT_START, read_switch, print_switch, 0, 0, "yes or no"),
        KEY(address_samples, AT_START, read_address_samples, print_address_samples, 0, 0,
                "off, auto, task-clock or page-faults"),
        KEY(socket_group, AT_ONCE, read_group, print_text, 0,
                sizeof(((struct config *)0)->socket_group),
                "the name of a group, at most 31 letters, digits, _ - . (empty: root only)"),
        KEY(rung, AT_START, read_rung, print_text, 0, sizeof(((struct config *)0)->rung),
                "auto, pebs, ibs, counters or watchpoints"),
};

#define N_KEYS (sizeof(keys) / sizeof(*keys))

void config_defaults(struct config *ret_config)
{
	*ret_config = (struct config){
	        .max_overhead = 0.01,
	        .max_daemon_cpu = 0.01,
	        .window_seconds = 60,
	        .longest_window = 2,
	        .keep_exited_seconds = 60,
	        .max_exited = 256,
	        .max_processes = 64,
	        .max_clients = 128,
	        .ring_bytes = 65536,
	        .realtime = true,
	        .address_samples = ADDRESS_SAMPLES_AUTO,
	        .socket_group = "mtl",
	        .rung = "auto",
	};
}

const char *config_key(unsigned index)
{
	return index < N_KEYS ? keys[index].name : NULL;
}

void config_value(const struct config *config, unsigned index, char *ret_value, size_t size)
{
	keys[index].print((const char *)config + keys[index].offset, ret_value, size);
}

static bool differ(const struct key *key, const struct config *a, const struct config *b)
{
	char texts[2][sizeof(struct config)];

	key->print((const char *)a + key->offset, texts[0], sizeof(texts[0]));
	key->print((const char *)b + key->offset, texts[1], sizeof(texts[1]));
	return strcmp(texts[0], texts[1]) != 0;
}

void config_adopt(struct config *config, const struct config *next, char *ret_waiting, size_t size)
{
	size_t used = 0;

	*ret_waiting = '\0';
	for (const struct key *key = keys; key < keys + N_KEYS; key++) {
		if (key->counts == AT_ONCE)
			memcpy((char *)config + key->offset, (const char *)next + key->offset,
			        key->size);
		else if (differ(key, config, next) && used < size)
			used += (size_t)snprintf(ret_waiting + used, size - used, "%s%s",
			        used ? ", " : "", key->name);
	}
}

/* --- reading */

struct reading {
	FILE *file;
	const char *name;
	unsigned line;
	unsigned seen; /* a bit per key */
	bool failed;
	struct config config;
	char *error;
	size_t error_size;
};

__attribute__((format(printf, 2, 3))) static void fail(
        struct reading *reading, const char *format, ...)
{
	va_list arguments;
	int length;

	if (reading->failed)
		return;
	reading->failed = true;
	length = snprintf(
	        reading->error, reading->error_size, "%s:%u: ", reading->name, reading->line);
	if (length < 0 || (size_t)length >= reading->error_size)
		return;
	va_start(arguments, format);
	vsnprintf(reading->error + length, reading->error_size - (size_t)length, format, arguments);
	va_end(arguments);
}

static void list_keys(char *ret_text, size_t size)
{
	size_t used = 0;

	*ret_text = '\0';
	for (size_t i = 0; i < N_KEYS && used < size; i++)
		used += (size_t)snprintf(
		        ret_text + used, size - used, "%s%s", i ? ", " : "", keys[i].name);
}

static void unknown_key(struct reading *reading, const char *name)
{
	char known[512];

	list_keys(known, sizeof(known));
	fail(reading, "unknown key \"%s\"; known are %s", name, known);
}

/* inih's handler; its return value only makes inih report a line we know already. */
static int take_value(void *user, const char *section, const char *name, const char *value)
{
	struct reading *reading = user;
	size_t i = 0;
	bool several, again;

	while (i < N_KEYS && strcmp(keys[i].name, name) != 0)
		i++;
	several = i < N_KEYS && keys[i].read == read_groups;
	again = i < N_KEYS && reading->seen & 1u << i;
	if (several && !again)
		*((char *)&reading->config + keys[i].offset) = '\0';
	if (!*section)
		fail(reading, "key \"%s\" before the line [" SECTION "]", name);
	else if (i == N_KEYS)
		unknown_key(reading, name);
	else if (again && !several)
		fail(reading, "key \"%s\" occurs twice; keep one", name);
	else if (keys[i].read(&keys[i], value, (char *)&reading->config + keys[i].offset) < 0)
		fail(reading, "%s = \"%s\" is not accepted; it must be %s", name, value,
		        keys[i].accepted);
	else
		reading->seen |= 1u << i;
	return 1;
}

/* A line inih would misread. */
static void check_line(struct reading *reading, const char *line, size_t length, size_t room)
{
	const char *text = line + strspn(line, " \t\r");
	size_t used = strcspn(text, " \t\r\n");

	if (strlen(line) != length)
		fail(reading, "a NUL byte; this is not a text file");
	else if (length == room && line[length - 1] != '\n')
		fail(reading, "longer than %zu bytes", room);
	else if (*text == '[' &&
	         (used != strlen("[" SECTION "]") || memcmp(text, "[" SECTION "]", used)))
		fail(reading, "unknown section %.*s; the only one is [" SECTION "]", (int)used,
		        text);
	else if (used && !strchr("[;#", *text) && !strchr(text, '='))
		fail(reading, "\"%.*s\" is neither key = value, a comment nor [" SECTION "]",
		        (int)strcspn(text, "\r\n"), text);
}

/* Up to room bytes of a line, its newline included; the count. */
static size_t read_line(FILE *file, char *ret_line, size_t room)
{
	size_t length = 0;
	int c;

	while (length < room && (c = getc(file)) != EOF) {
		ret_line[length++] = (char)c;
		if (c == '\n')
			break;
	}
	ret_line[length] = '\0';
	return length;
}

/* inih's reader, in place of fgets(). */
static char *next_line(char *ret_line, int size, void *stream)
{
	struct reading *reading = stream;
	size_t length, room = (size_t)size - 1;

	if (reading->failed)
		return NULL;
	length = read_line(reading->file, ret_line, room);
	if (!length)
		return NULL;
	reading->line++;
	check_line(reading, ret_line, length, room);
	return reading->failed ? NULL : ret_line;
}

int config_read(
        FILE *file, const char *name, struct config *config, char *ret_error, size_t error_size)
{
	struct reading reading = {
	        .file = file,
	        .name = name,
	        .config = *config,
	        .error = ret_error,
	        .error_size = error_size,
	};
	int line;

	ini_allow_multiline = false;
	line = ini_parse_stream(next_line, &reading, take_value, &reading);
	if (ferror(file)) {
		snprintf(ret_error, error_size, "%s: %s", name, strerror(errno));
		return -EIO;
	}
	if (line)
		fail(&reading, "this line cannot be understood; write key = value");
	if (reading.failed)
		return -EINVAL;
	*config = reading.config;
	return 0;
}

int config_load(const char *path, struct config *config, char *ret_error, size_t error_size)
{
	const char *name = path ? path : DEFAULT_PATH;
	_cleanup_fclose_ FILE *file = regular_file_open(name);

	int r;

	if (!file && !path && errno == ENOENT)
		return 0;
	if (!file) {
		r = -errno;
		snprintf(ret_error, error_size, "%s: %s", name,
		        r == -EINVAL ? "this is not a regular file" : strerror(-r));
		return r;
	}
	r = config_read(file, name, config, ret_error, error_size);
	return r < 0 ? r : 1;
}
