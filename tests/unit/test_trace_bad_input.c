/* SPDX-License-Identifier: MIT */
/*
 * Traces that are not as they should be: each is refused with one sentence that names the file and
 * the line or byte, what is the matter and, where there is something to do, what. Nothing that was
 * cut off or altered is read as if it were whole.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>

#include "simulate.h"
#include "trace_fixture.h"

#define BLOCK ((size_t)256 * 1024)
#define LINE_MOST ((size_t)64 * 1024)

static void expect_refused(const struct trace_result *result, int r, const char *const *parts)
{
	assert_int_equal(result->r, r);
	for (; *parts; parts++)
		if (!strstr(result->error, *parts))
			fail_msg("'%s' is not in '%s'", *parts, result->error);
	assert_null(strchr(result->error, '\n'));
}

#define REFUSED(bytes, n, format, memory, r, ...)                                                  \
	do {                                                                                       \
		_cleanup_(trace_result_done) struct trace_result result =                          \
		        trace_result_of(bytes, n, format, memory, 4096);                           \
		expect_refused(&result, r, (const char *const[]){__VA_ARGS__, NULL});              \
	} while (0)

/* --- files */

static void test_files(void **state)
{
	static const struct {
		const char *path;
		int r;
		const char *sentence;
	} cases[] = {
	        {"/nowhere/to/be/found", -ENOENT,
	                "cannot read /nowhere/to/be/found: No such file or directory"},
	        {"/", -EISDIR, "cannot read /: Is a directory"},
	        {"/proc/self/mem", -EIO, "cannot read /proc/self/mem: Input/output error"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(trace_result_done) struct trace_result result =
		        trace_result_of_path(cases[i].path, TRACE_GUESS, 0, 4096);
		assert_int_equal(result.r, cases[i].r);
		assert_string_equal(result.error, cases[i].sentence);
	}
}

static void test_no_permission(void **state)
{
	char path[] = "/tmp/test-trace-XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	bool root = geteuid() == 0;
	_cleanup_(trace_result_done) struct trace_result result = {0};

	(void)state;
	fchmod(fd, 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	result = trace_result_of_path(path, TRACE_GUESS, 0, 4096);
	if (root)
		assert_int_equal(seteuid(0), 0);
	unlink(path);
	expect_refused(&result, -EACCES, (const char *const[]){path, "Permission denied", NULL});
}

static void test_closed_input(void **state)
{
	_cleanup_close_ int saved = dup(STDIN_FILENO);
	_cleanup_(trace_result_done) struct trace_result result = {0};

	(void)state;
	close(STDIN_FILENO);
	result = trace_result_of_path("-", TRACE_GUESS, 0, 4096);
	if (saved >= 0)
		dup2(saved, STDIN_FILENO);
	expect_refused(&result, -EBADF, (const char *const[]){"cannot read standard input", NULL});
}

static void test_unknown_format(void **state)
{
	static const char *const names[] = {"", "guess", "Lackey", "lackey ", "csv"};
	enum trace_format format = TRACE_U64;
	char error[200];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(
		        trace_format_parse(names[i], &format, error, sizeof(error)), -EINVAL);
		assert_int_equal(format, TRACE_U64);
		assert_non_null(strstr(error, "lackey, perf-script, tokens, u64 and oracle"));
	}
	assert_int_equal(trace_format_parse("12345678901234567890123456789012345678901234567890",
	                         &format, error, sizeof(error)),
	        -EINVAL);
}

/* The reason stays whole and the end of the name with it; nothing of it reaches a terminal raw. */
static void test_names_of_files(void **state)
{
	char path[4000], name[] = "/tmp/\x1b]0;caf\xc3\xa9\n", *shown;
	_cleanup_(trace_result_done) struct trace_result result = {0}, odd = {0};

	(void)state;
	memset(path, 'x', sizeof(path));
	for (size_t i = 0; i < sizeof(path); i += 100)
		path[i] = '/';
	strcpy(path + sizeof(path) - 20, "/the.end");
	result = trace_result_of_path(path, TRACE_GUESS, 0, 4096);
	assert_non_null(strstr(result.error, "/the.end: No such file or directory"));
	assert_non_null(strstr(result.error, "cannot read /xxxx"));
	assert_non_null(strstr(result.error, "..."));
	assert_true(strlen(result.error) < 200);
	odd = trace_result_of_path(name, TRACE_GUESS, 0, 4096);
	shown = strstr(odd.error, "/tmp/?]0;caf");
	assert_non_null(shown);
	assert_null(strpbrk(shown, "\x1b\n"));
}

/* --- lackey */

static void test_lackey_lines(void **state)
{
	static const struct {
		const char *line, *what;
	} cases[] = {
	        {"Hello, world", "no record of lackey: 'Hello, world'; if a program wrote it, keep "
	                         "its output apart "
	                         "with valgrind --log-file=FILE"},
	        {" L 1000,8Hello", "behind the address is no decimal size"},
	        {"Hello L 1000,8", "no record of lackey"},
	        {" L 0x1000,8", "the address is no hexadecimal number"},
	        {" S ,8", "the address is no hexadecimal number"},
	        {" S 1000", "behind the address is no decimal size"},
	        {" S 1000,", "behind the address is no decimal size"},
	        {" S 1000,-8", "behind the address is no decimal size"},
	        {" M 10g0,8", "the address is no hexadecimal number"},
	        {" M 00000000000001000,8", "the address is no hexadecimal number"},
	        {" M 1000,0", "the size is not 1 to 65536 or goes beyond the address space"},
	        {"I  1000,65537", "the size is not 1 to 65536"},
	        {"I  1000,18446744073709551617", "the size is not 1 to 65536"},
	        {"I1000,8", "no record of lackey"},
	        {"X 1000,8", "no record of lackey"},
	        {"I", "no record of lackey"},
	        {" L", "no record of lackey"},
	        {" L ,", "the address is no hexadecimal number"},
	        {" L ffffffffffffffff,2", "goes beyond the address space"},
	        {"L 1000,x\r", "behind the address is no decimal size"},
	        {"L 1000 ,8", "the address is no hexadecimal number"},
	        {"=1234", "no record of lackey"},
	        {"\x1b[31mred", "byte 0x1b is binary, not lackey; if a program wrote it, keep "},
	        {"caf\xc3\xa9", ": 'caf?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};

		trace_bytes_print(&bytes, "==1== x\n L 1000,8\n\n%s", cases[i].line);
		REFUSED(bytes.bytes, bytes.n, TRACE_LACKEY, 0, -EBADMSG,
		        ", line 4: ", cases[i].what);
		trace_bytes_print(&bytes, "\n L 1000,8\n L 1000,8\n L 1000,8\n");
		REFUSED(bytes.bytes, bytes.n, TRACE_GUESS, 0, -EBADMSG,
		        ", line 4: ", cases[i].what);
	}
}

/* The number of a line far behind, in another block than the first. */
static void test_lackey_line_number(void **state)
{
	_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};

	(void)state;
	for (int i = 0; i < 50000; i++)
		trace_bytes_print(&bytes, " M %x,8\n", 0x10000 + i);
	trace_bytes_print(&bytes, "%0*d\n", 200, 0);
	REFUSED(bytes.bytes, bytes.n, TRACE_GUESS, 0, -EBADMSG, "line 50001: no record of lackey",
	        "'000000000000000000000000000000000000000000000000000000000000...'");
}

/* --- long lines, binary text */

static void test_long(void **state)
{
	static const enum trace_format formats[] = {TRACE_LACKEY, TRACE_PERF_SCRIPT, TRACE_TOKENS};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		for (size_t length = LINE_MOST; length <= 2 * BLOCK; length *= 2) {
			_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
			char *word = malloc(length);

			memset(word, '7', length);
			trace_bytes_print(&bytes, "\n\n");
			trace_bytes_add(&bytes, word, length);
			trace_bytes_print(&bytes, "\n");
			REFUSED(bytes.bytes, bytes.n, formats[i], 0, -EBADMSG, "line 3: ",
			        i == 0 && length < 2 * LINE_MOST ? "no record of lackey" : "");
			if (i > 0)
				REFUSED(bytes.bytes, bytes.n, formats[i], 0, -EBADMSG,
				        "longer than 65536 bytes, so this is not ",
				        trace_format_name(formats[i]));
			free(word);
		}
	}
}

static void test_binary_as_text(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *what;
	} cases[] = {
	        {"a b\nc\0d\n", 8, "line 2: byte 0x00 is binary"},
	        {"a b\n\n\x01", 7, "line 3: byte 0x01 is binary"},
	        {"a\x7f", 2, "line 1: byte 0x7f is binary"},
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		REFUSED(cases[i].text, cases[i].n, TRACE_TOKENS, 0, -EBADMSG, cases[i].what,
		        "not tokens");
		REFUSED(cases[i].text, cases[i].n, TRACE_PERF_SCRIPT, 0, -EBADMSG, cases[i].what,
		        "not perf-script");
	}
}

/* --- binary */

static void test_truncated_records(void **state)
{
	_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
	static const unsigned char zeros[2 * BLOCK];

	(void)state;
	trace_bytes_add(&bytes, zeros, sizeof(zeros));
	for (size_t n = 1; n < 8; n++) {
		REFUSED(bytes.bytes, n, TRACE_U64, 0, -EBADMSG, "is truncated",
		        "begins at byte 1 ");
		REFUSED(bytes.bytes, BLOCK + n, TRACE_U64, 0, -EBADMSG, "is truncated",
		        "begins at byte 262145 ", "of 8 bytes");
		REFUSED(bytes.bytes, BLOCK + n, TRACE_GUESS, 0, -EBADMSG, "is truncated",
		        "of 8 bytes");
	}
	for (size_t n = 1; n < 24; n++)
		REFUSED(bytes.bytes, 24 * 20000 + n, TRACE_ORACLE, 0, -EBADMSG, "is truncated",
		        "begins at byte 480001 ", "of 24 bytes");
}

static void test_no_guess(void **state)
{
	static const char *const magics[] = {"PERFILE2", "\177ELF\2\1\1"};

	(void)state;
	REFUSED("\1\2\3\4\5", 5, TRACE_GUESS, 0, -EINVAL, "cannot tell the format of ",
	        "--format (lackey, perf-script, tokens, u64 or oracle)");
	REFUSED("PERFILE2\0\0\0\0\0\0\0", 16, TRACE_GUESS, 0, -EINVAL, "perf script -F ip,addr");
	REFUSED("\177ELF\2\1\1\0\0\0\0\0\0\0\0", 16, TRACE_GUESS, 0, -EINVAL, "is a program");
	REFUSED("PK\3\4\0\0\0\0", 8, TRACE_GUESS, 0, -EINVAL, "is a zip archive");
	for (size_t i = 0; i < 2; i++) {
		_cleanup_(trace_result_done) struct trace_result result =
		        trace_result_of(magics[i], 8, TRACE_U64, 0, 4096);
		assert_int_equal(result.r, 0);
		assert_int_equal(result.n, 1);
	}
}

static void test_perf_without_addresses(void **state)
{
	static const char text[] =
	        "ls 24269 13085.932861:          1 page-faults:  ffffffff81775b9a elf_load+0x28a\n"
	        "ls 24269 13085.933182:          1 page-faults:  ffffffff81775b9a elf_load+0x28a\n";

	(void)state;
	REFUSED(text, strlen(text), TRACE_GUESS, 0, -EBADMSG,
	        "none of its 2 lines has a data address", "perf record -d",
	        "perf script -F ip,addr");
}

/* --- memory */

static void test_names_limit(void **state)
{
	_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};

	(void)state;
	for (int i = 0; i < 3000; i++)
		trace_bytes_print(&bytes, "word%d\n", i);
	REFUSED(bytes.bytes, bytes.n, TRACE_TOKENS, 100000, -ENOMEM, ", line ",
	        "more than the 97.7K of memory that names of tokens may use", " after 1.",
	        "--memory SIZE allows more");
	REFUSED(bytes.bytes, bytes.n, TRACE_TOKENS, 1, -ENOMEM, "line 1: ", " after 0 different");
	for (uint64_t limit = 1; limit < 400000; limit += RUNNING_ON_VALGRIND ? 39999 : 3999) {
		_cleanup_(trace_result_done) struct trace_result result =
		        trace_result_of(bytes.bytes, bytes.n, TRACE_TOKENS, limit, 4096);
		assert_true(result.r == -ENOMEM || (limit > 3000 * 32 && result.n == 3000));
	}
	for (int again = 0; again < 2; again++) {
		_cleanup_(trace_result_done) struct trace_result result = trace_result_of(
		        bytes.bytes, bytes.n, TRACE_TOKENS, again ? 0 : 250000, 4096);
		assert_int_equal(result.r, 0);
	}
}

/* --- compressed */

static const char *sample(const char *name)
{
	static char path[512];
	char file[] = __FILE__;

	snprintf(path, sizeof(path), "%s/data/traces/%s", dirname(file), name);
	return path;
}

static void load(struct trace_bytes *ret, const char *name)
{
	_cleanup_close_ int fd = open(sample(name), O_RDONLY | O_CLOEXEC);
	char buffer[4096];
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		trace_bytes_add(ret, buffer, (size_t)n);
	assert_true(ret->n > 0);
}

/* Written with checksums, as the programs do by default. */
static const struct packed {
	const char *file, *name;
} packed[] = {
        {"lackey.gz", "gzip"},
        {"lackey.members.gz", "gzip"},
        {"lackey.zst", "zstd"},
        {"lackey.xz", "xz"},
        {"lackey.bz2", "bzip2"},
        {"lackey.lz4", "lz4"},
};

#define N_PACKED (sizeof(packed) / sizeof(packed[0]))
#define ACCESSES 16

static void test_truncated(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PACKED; i++) {
		_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};

		load(&bytes, packed[i].file);
		for (size_t n = 12; n < bytes.n; n += RUNNING_ON_VALGRIND ? 37 : 3) {
			_cleanup_(trace_result_done) struct trace_result result =
			        trace_result_of(bytes.bytes, n, TRACE_GUESS, 0, 4096);
			/* a member that is whole, and another that is not there yet */
			if (result.r == 0 && i == 1 && result.n == 0)
				continue;
			if (result.r != -EBADMSG)
				fail_msg("%s cut after %zu bytes", packed[i].file, n);
			expect_refused(&result, -EBADMSG,
			        (const char *const[]){packed[i].name, "truncated", NULL});
		}
	}
}

/* A flipped bit may do no harm (in a time stamp), but never go unseen where it does. */
static void test_corrupt(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PACKED; i++) {
		_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
		_cleanup_(trace_result_done) struct trace_result whole = {0};
		size_t unseen = 0;

		load(&bytes, packed[i].file);
		whole = trace_result_of(bytes.bytes, bytes.n, TRACE_LACKEY, 0, 4096);
		assert_int_equal(whole.n, ACCESSES);
		for (size_t bit = 0; bit < 8 * bytes.n; bit += RUNNING_ON_VALGRIND ? 307 : 13) {
			_cleanup_(trace_result_done) struct trace_result result = {0};

			bytes.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			result = trace_result_of(bytes.bytes, bytes.n, TRACE_LACKEY, 0, 4096);
			bytes.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			if (result.r < 0)
				continue;
			unseen++;
			if (result.n != ACCESSES || memcmp(result.accesses, whole.accesses,
			                                    ACCESSES * sizeof(*whole.accesses)))
				fail_msg("%s: bit %zu", packed[i].file, bit);
		}
		assert_true(unseen < bytes.n);
	}
}

/* What comes behind is not passed over in silence. */
static void test_something_behind(void **state)
{
	static const char *const tails[] = {
	        "x", "\x1f\x8bgarbage", "\0\0\0 L 1000,8\n", " L 1000,8\n"};

	(void)state;
	for (size_t i = 0; i < N_PACKED; i++) {
		for (size_t t = 0; t < 4; t++) {
			_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
			_cleanup_(trace_result_done) struct trace_result result = {0};

			load(&bytes, packed[i].file);
			trace_bytes_add(&bytes, tails[t], t == 2 ? 13 : strlen(tails[t]));
			result = trace_result_of(bytes.bytes, bytes.n, TRACE_GUESS, 0, 4096);
			if (result.r != -EBADMSG)
				fail_msg("%s and behind it number %zu", packed[i].file, t);
			expect_refused(
			        &result, -EBADMSG, (const char *const[]){packed[i].name, NULL});
		}
	}
}

/* Raw addresses whose first one has a compressed file's first bytes: the way out is shown. */
static void test_raw_that_looks_compressed(void **state)
{
	static const struct {
		unsigned char bytes[16];
		const char *name;
	} cases[] = {
	        {"\x1f\x8b\x08\x00\x00\x7f\0\0\x40\x8b\x08\x00\x00\x7f\0", "gzip"},
	        {"\x28\xb5\x2f\xfd\x00\x7f\0\0\x40\xb5\x2f\xfd\x00\x7f\0", "zstd"},
	        {"\x04\x22\x4d\x18\x40\x7f\0\0\x40\x22\x4d\x18\x40\x7f\0", "lz4"},
	        {"\xfd\x37zXZ\0\0\0\xfd\x37zXZ\0\0", "xz"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
		_cleanup_(trace_result_done) struct trace_result result = {0};

		REFUSED(cases[i].bytes, 16, TRACE_U64, 0, -EBADMSG, cases[i].name,
		        "gzip <FILE | mtl trace --format FORMAT -");
		trace_bytes_compress(&bytes, cases[i].bytes, 16, ARCHIVE_FILTER_GZIP);
		result = trace_result_of(bytes.bytes, bytes.n, TRACE_U64, 0, 4096);
		assert_int_equal(result.r, 0);
		assert_int_equal(result.n, 2);
		REFUSED(bytes.bytes, bytes.n, TRACE_GUESS, 0, -EINVAL, "is compressed twice",
		        cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_files),
	        cmocka_unit_test(test_no_permission),
	        cmocka_unit_test(test_closed_input),
	        cmocka_unit_test(test_unknown_format),
	        cmocka_unit_test(test_names_of_files),
	        cmocka_unit_test(test_lackey_lines),
	        cmocka_unit_test(test_lackey_line_number),
	        cmocka_unit_test(test_long),
	        cmocka_unit_test(test_binary_as_text),
	        cmocka_unit_test(test_truncated_records),
	        cmocka_unit_test(test_no_guess),
	        cmocka_unit_test(test_perf_without_addresses),
	        cmocka_unit_test(test_names_limit),
	        cmocka_unit_test(test_truncated),
	        cmocka_unit_test(test_corrupt),
	        cmocka_unit_test(test_something_behind),
	        cmocka_unit_test(test_raw_that_looks_compressed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
