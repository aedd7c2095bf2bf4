/* SPDX-License-Identifier: MIT */
/*
 * Traces of every format that are as they should be: what is written is what is read, whatever the
 * compression, however it is cut into blocks and batches, and the format is guessed. What perf
 * writes is printed here with perf's own formats; samples of real output are in data/traces.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <pthread.h>

#include "simulate.h"
#include "trace_fixture.h"
#include "trace_names.h"

#define BLOCK ((size_t)256 * 1024)
#define MANY 60000

static const char *sample(const char *name)
{
	static char path[512];
	char file[] = __FILE__;

	snprintf(path, sizeof(path), "%s/data/traces/%s", dirname(file), name);
	return path;
}

static void expect_same(const struct trace_result *result, const struct trace_access *accesses,
        size_t n, enum trace_format format)
{
	assert_string_equal(result->error, "");
	assert_int_equal(result->r, 0);
	assert_int_equal(result->format, format);
	assert_int_equal(result->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(result->accesses[i].address, accesses[i].address);
		assert_int_equal(result->accesses[i].size, accesses[i].size);
		assert_int_equal(result->accesses[i].kind, accesses[i].kind);
	}
}

/* --- lackey */

static size_t add_lackey(
        struct trace_bytes *bytes, struct trace_access *accesses, size_t n, uint64_t seed)
{
	static const char *const prefixes[] = {"I  ", " L ", " S ", " M "};
	static const uint32_t kinds[] = {TRACE_INSTRUCTION, TRACE_LOAD, TRACE_STORE, TRACE_LOAD};
	size_t done = 0;

	while (done < n) {
		unsigned which = trace_random(&seed) % 4;
		uint64_t address = (trace_random(&seed) ^ trace_random(&seed) << 30) >>
		                   trace_random(&seed) % 60;
		uint32_t size = (uint32_t)(1 + trace_random(&seed) % 512);

		if (which == 3 && done + 1 == n)
			continue;
		if (address > UINT64_MAX - size)
			continue;
		if (trace_random(&seed) % 50 == 0)
			trace_bytes_print(bytes, "==1234== said by valgrind\n\n--1234-- too\n");
		trace_bytes_print(
		        bytes, "%s%08llx,%u\n", prefixes[which], (unsigned long long)address, size);
		accesses[done++] = (struct trace_access){address, size, kinds[which]};
		if (which == 3)
			accesses[done++] = (struct trace_access){address, size, TRACE_STORE};
	}
	return done;
}

static const struct trace_access sample_accesses[] = {
        {0x0401ab70, 3, TRACE_INSTRUCTION},
        {0x0401ab73, 5, TRACE_INSTRUCTION},
        {0x1fff000608, 8, TRACE_STORE},
        {0x0401b770, 1, TRACE_INSTRUCTION},
        {0x1fff000600, 8, TRACE_STORE},
        {0x0401b771, 7, TRACE_INSTRUCTION},
        {0x0401b778, 7, TRACE_INSTRUCTION},
        {0x0401b77f, 5, TRACE_INSTRUCTION},
        {0x04033e06, 1, TRACE_LOAD},
        {0x04033e06, 1, TRACE_STORE},
        {0x0401b7b4, 4, TRACE_INSTRUCTION},
        {0x04032e58, 8, TRACE_LOAD},
        {0x04032e58, 8, TRACE_STORE},
        {0x0401b8a3, 7, TRACE_INSTRUCTION},
        {0x0401b7a7, 4, TRACE_INSTRUCTION},
        {0x1fff000580, 16, TRACE_STORE},
};

#define N_SAMPLE (sizeof(sample_accesses) / sizeof(sample_accesses[0]))

/* Packed by the programs people use, not by libarchive. */
static void test_samples(void **state)
{
	static const char *const names[] = {"lackey", "lackey.gz", "lackey.members.gz",
	        "lackey.zst", "lackey.pzstd", "lackey.xz", "lackey.bz2", "lackey.lz4"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		_cleanup_(trace_result_done) struct trace_result result =
		        trace_result_of_path(sample(names[i]), TRACE_GUESS, 0, 5);
		expect_same(&result, sample_accesses, N_SAMPLE, TRACE_LACKEY);
		assert_true(result.progress == 1);
	}
}

/* Records in every position relative to the end of a block, batches that cut an M in two. */
static void test_lackey_boundaries(void **state)
{
	static struct trace_access accesses[MANY];
	_cleanup_(trace_bytes_done) struct trace_bytes records = {0};
	size_t n = add_lackey(&records, accesses, MANY / 2, 7);

	(void)state;
	assert_true(records.n > BLOCK);
	for (size_t shift = 0; shift < (RUNNING_ON_VALGRIND ? 3 : 40); shift++) {
		_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
		_cleanup_(trace_result_done) struct trace_result result = {0};

		trace_bytes_print(&bytes, "==%0*d\n", (int)shift + 1, 0);
		trace_bytes_add(&bytes, records.bytes, records.n);
		result = trace_result_of(bytes.bytes, bytes.n, TRACE_LACKEY, 0, 1 + shift * 7);
		expect_same(&result, accesses, n, TRACE_LACKEY);
	}
}

static void test_lackey_extremes(void **state)
{
	static const char text[] = " L 0,1\n S ffffffffffffffff,1\n M ffffffffffff0000,65536\n"
	                           "I  0000000000000001,65536\n**1** note\n L ABCdef,1";
	static const struct trace_access accesses[] = {
	        {0, 1, TRACE_LOAD},
	        {UINT64_MAX, 1, TRACE_STORE},
	        {UINT64_MAX - 65535, 65536, TRACE_LOAD},
	        {UINT64_MAX - 65535, 65536, TRACE_STORE},
	        {1, 65536, TRACE_INSTRUCTION},
	        {0xabcdef, 1, TRACE_LOAD},
	};
	_cleanup_(trace_result_done) struct trace_result result =
	        trace_result_of(text, strlen(text), TRACE_GUESS, 0, 1);

	(void)state;
	expect_same(&result, accesses, 6, TRACE_LACKEY);
}

/* --- compression */

static const int filters[] = {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_XZ,
        ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_LZ4};

#define N_FILTERS (sizeof(filters) / sizeof(filters[0]))

static void test_compressions(void **state)
{
	static struct trace_access accesses[MANY];
	size_t count = RUNNING_ON_VALGRIND ? 2000 : MANY;
	_cleanup_(trace_bytes_done) struct trace_bytes records = {0};
	size_t n = add_lackey(&records, accesses, count, 11);

	(void)state;
	for (size_t i = 0; i < N_FILTERS; i++) {
		_cleanup_(trace_bytes_done) struct trace_bytes packed = {0};
		_cleanup_(trace_result_done) struct trace_result result = {0};

		trace_bytes_compress(&packed, records.bytes, records.n, filters[i]);
		assert_true(packed.n < records.n);
		result = trace_result_of(packed.bytes, packed.n, TRACE_GUESS, 0, 4096);
		expect_same(&result, accesses, n, TRACE_LACKEY);
		assert_true(result.progress == 1);
	}
}

/* No accesses and no error. libarchive cannot write an empty lz4 frame. */
static void test_compressed_nothing(void **state)
{
	static const char empty_lz4[] = "\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02";

	(void)state;
	for (size_t i = 0; i < N_FILTERS; i++) {
		_cleanup_(trace_bytes_done) struct trace_bytes packed = {0};
		_cleanup_(trace_result_done) struct trace_result result = {0};

		if (filters[i] == ARCHIVE_FILTER_LZ4)
			trace_bytes_add(&packed, empty_lz4, sizeof(empty_lz4) - 1);
		else
			trace_bytes_compress(&packed, "", 0, filters[i]);
		result = trace_result_of(packed.bytes, packed.n, TRACE_U64, 0, 4096);
		expect_same(&result, NULL, 0, TRACE_U64);
	}
}

static void test_concatenated(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FILTERS; i++) {
		static const struct trace_access accesses[] = {{1, 1, 0}, {2, 1, 0}, {1, 1, 0}};
		_cleanup_(trace_bytes_done) struct trace_bytes packed = {0};
		_cleanup_(trace_result_done) struct trace_result result = {0};

		trace_bytes_compress(&packed, "one two ", 8, filters[i]);
		trace_bytes_compress(&packed, "one", 3, filters[i]);
		result = trace_result_of(packed.bytes, packed.n, TRACE_GUESS, 0, 4096);
		expect_same(&result, accesses, 3, TRACE_TOKENS);
	}
}

/* Zeros behind a gzip member, as tapes leave them; they may reach into another raw block. */
static void test_padded_gzip(void **state)
{
	static const struct trace_access accesses[] = {{1, 1, 0}};
	static const unsigned char zeros[BLOCK];
	_cleanup_(trace_bytes_done) struct trace_bytes packed = {0};
	_cleanup_(trace_result_done) struct trace_result result = {0};

	(void)state;
	trace_bytes_compress(&packed, "a", 1, ARCHIVE_FILTER_GZIP);
	trace_bytes_add(&packed, zeros, sizeof(zeros));
	result = trace_result_of(packed.bytes, packed.n, TRACE_GUESS, 0, 4096);
	expect_same(&result, accesses, 1, TRACE_TOKENS);
}

/* --- pipes */

struct feeding {
	int fd;
	const struct trace_bytes *bytes;
};

static void *feed(void *data)
{
	struct feeding *feeding = data;
	uint64_t seed = 3;

	for (size_t done = 0; done < feeding->bytes->n;) {
		size_t n = 1 + trace_random(&seed) % 5003, rest = feeding->bytes->n - done;
		ssize_t written =
		        write(feeding->fd, feeding->bytes->bytes + done, n < rest ? n : rest);
		if (written <= 0)
			break;
		done += (size_t)written;
	}
	close(feeding->fd);
	return NULL;
}

static struct trace_result result_of_pipe(const struct trace_bytes *bytes)
{
	struct trace_result result;
	struct feeding feeding = {.bytes = bytes};
	pthread_t thread;
	int ends[2], saved = dup(STDIN_FILENO);

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	feeding.fd = ends[1];
	assert_int_equal(pthread_create(&thread, NULL, feed, &feeding), 0);
	result = trace_result_of_path("-", TRACE_GUESS, 0, 1000);
	if (saved >= 0)
		dup2(saved, STDIN_FILENO);
	else
		close(STDIN_FILENO);
	close(saved);
	pthread_join(thread, NULL);
	return result;
}

static void test_pipes(void **state)
{
	static struct trace_access accesses[MANY];
	size_t count = RUNNING_ON_VALGRIND ? 2000 : MANY;
	_cleanup_(trace_bytes_done) struct trace_bytes records = {0};
	size_t n = add_lackey(&records, accesses, count, 13);

	(void)state;
	for (size_t i = 0; i <= N_FILTERS; i++) {
		_cleanup_(trace_bytes_done) struct trace_bytes packed = {0};
		_cleanup_(trace_result_done) struct trace_result result = {0};

		trace_bytes_compress(&packed, records.bytes, records.n,
		        i < N_FILTERS ? filters[i] : ARCHIVE_FILTER_NONE);
		result = result_of_pipe(&packed);
		expect_same(&result, accesses, n, TRACE_LACKEY);
		assert_true(isnan(result.progress));
	}
}

/* --- tokens */

static void test_tokens(void **state)
{
	static const char text[] =
	        "  abc \t a\nabc\r\n\n\f\xc3\xa9\v=b #a 0 00 abcabcabcabc abcabcabcabd"
	        "\n1,2;3 abcabcabcabc A";
	static const uint64_t numbers[] = {1, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 8, 11};
	_cleanup_(trace_result_done) struct trace_result result =
	        trace_result_of(text, strlen(text), TRACE_GUESS, 0, 2);

	(void)state;
	assert_int_equal(result.r, 0);
	assert_int_equal(result.format, TRACE_TOKENS);
	assert_false(trace_format_has_addresses(result.format));
	assert_int_equal(result.n, 13);
	for (size_t i = 0; i < 13; i++)
		assert_int_equal(result.accesses[i].address, numbers[i]);
}

/* Words of length 1 ... 40 across the ends of blocks: each names its number. */
static void test_many_tokens(void **state)
{
	size_t n = RUNNING_ON_VALGRIND ? 10000 : MANY;
	_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
	_cleanup_(trace_result_done) struct trace_result result = {0};
	uint64_t seed = 5, state_before = seed, *first = calloc(n, sizeof(*first)), appeared = 0;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		unsigned value = (unsigned)(trace_random(&seed) % (n / 3));
		trace_bytes_print(&bytes, "%0*u%c", (int)(value % 40), value, "\n \t"[i % 3]);
	}
	result = trace_result_of(bytes.bytes, bytes.n, TRACE_TOKENS, 0, 4096);
	assert_int_equal(result.r, 0);
	assert_int_equal(result.n, n);
	for (size_t i = 0; i < n; i++) {
		unsigned value = (unsigned)(trace_random(&state_before) % (n / 3));
		if (!first[value])
			first[value] = ++appeared;
		assert_int_equal(result.accesses[i].address, first[value]);
	}
	free(first);
}

static void test_long_token(void **state)
{
	_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
	_cleanup_(trace_result_done) struct trace_result result = {0};
	char word[65535];

	(void)state;
	memset(word, 'w', sizeof(word));
	trace_bytes_add(&bytes, word, sizeof(word));
	for (size_t i = 0; i < 8; i++) {
		trace_bytes_add(&bytes, " ", 1);
		trace_bytes_add(&bytes, word, sizeof(word) - i);
	}
	result = trace_result_of(bytes.bytes, bytes.n, TRACE_GUESS, 0, 4096);
	assert_int_equal(result.r, 0);
	assert_int_equal(result.n, 9);
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(result.accesses[i].address, i < 1 ? 1 : i);
}

/* Texts that begin alike or are part of each other, NUL bytes included; few hash bits in use. */
static void test_names(void **state)
{
	_cleanup_(trace_names_freep) struct trace_names *names = NULL;
	static const char text[64];
	size_t n = RUNNING_ON_VALGRIND ? 3000 : 50000;

	(void)state;
	assert_int_equal(trace_names_new(0, &names), 0);
	for (uint32_t length = 0; length < sizeof(text); length++)
		assert_int_equal(trace_names_number(names, text, length), length + 1);
	for (int again = 0; again < 2; again++)
		for (uint32_t i = 0; i < n; i++) {
			uint64_t word[2] = {i, UINT64_C(1) << 63 | i};
			assert_int_equal(trace_names_number(names, word, 16), sizeof(text) + 1 + i);
		}
	assert_int_equal(trace_names_count(names), sizeof(text) + n);
}

/* --- binary */

static void add_le(struct trace_bytes *bytes, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)(value >> 8 * i);
		trace_bytes_add(bytes, &byte, 1);
	}
}

static void test_u64(void **state)
{
	static struct trace_access accesses[MANY];
	_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
	uint64_t seed = 17;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		accesses[i] = (struct trace_access){trace_random(&seed) << 20, 1, TRACE_LOAD};
		accesses[i].address = i == 5 ? UINT64_MAX : i == 6 ? 0 : accesses[i].address;
		add_le(&bytes, accesses[i].address, 8);
	}
	for (unsigned i = 0; i < 4; i++) {
		size_t batch = (size_t[]){1, 7, 4096, MANY + 1}[i];
		_cleanup_(trace_result_done) struct trace_result result =
		        trace_result_of(bytes.bytes, bytes.n, TRACE_GUESS, 0, batch);
		expect_same(&result, accesses, MANY, TRACE_U64);
	}
}

/* Addresses that look like text, when it is said what they are. */
static void test_u64_of_text(void **state)
{
	static const struct trace_access accesses[] = {{UINT64_C(0x6867666564636261), 1, 0}};
	_cleanup_(trace_result_done) struct trace_result result =
	        trace_result_of("abcdefgh", 8, TRACE_U64, 0, 4096);

	(void)state;
	expect_same(&result, accesses, 1, TRACE_U64);
}

/* Requests for objects 0 ... 99 at random, with what is asked for next as it will be. */
static void add_oracle(
        struct trace_bytes *bytes, struct trace_access *accesses, size_t n, uint64_t first)
{
	int64_t next[100], *announced = calloc(n, sizeof(*announced));
	uint64_t seed = 23;

	memset(next, 0xff, sizeof(next));
	for (size_t i = 0; i < n; i++)
		accesses[i] = (struct trace_access){trace_random(&seed) % 100, 1, TRACE_LOAD};
	for (size_t i = n; i-- > 0;) {
		announced[i] = next[accesses[i].address];
		next[accesses[i].address] = (int64_t)(i + first);
	}
	for (size_t i = 0; i < n; i++) {
		add_le(bytes, 1000 + i / 10, 4);
		add_le(bytes, accesses[i].address, 8);
		add_le(bytes, 512, 4);
		add_le(bytes, (uint64_t)announced[i], 8);
	}
	free(announced);
}

static void test_oracle(void **state)
{
	static struct trace_access accesses[MANY];

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		size_t n = (size_t[]){3, 4, 3000, MANY}[i / 2];
		_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
		_cleanup_(trace_result_done) struct trace_result result = {0};

		add_oracle(&bytes, accesses, n, i % 2);
		result = trace_result_of(bytes.bytes, bytes.n, TRACE_GUESS, 0, 4096);
		expect_same(&result, accesses, n, TRACE_ORACLE);
		assert_false(trace_format_has_addresses(TRACE_ORACLE));
	}
}

/* Scans forth and back, at low and high addresses, have much of an oracle's form. */
static void test_scan_is_no_oracle(void **state)
{
	static const uint64_t bases[] = {
	        0, 0x400000, UINT64_C(0x100000000), UINT64_C(0x7f0000000000)};

	(void)state;
	for (size_t b = 0; b < sizeof(bases) / sizeof(bases[0]); b++) {
		for (uint64_t step = 1; step <= 64; step *= 4) {
			_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
			_cleanup_(trace_result_done) struct trace_result result = {0};

			for (uint64_t i = 0; i < 300; i++)
				add_le(&bytes, bases[b] + i * step, 8);
			result = trace_result_of(bytes.bytes, bytes.n, TRACE_GUESS, 0, 4096);
			assert_int_equal(result.r, 0);
			assert_int_equal(result.format, TRACE_U64);
		}
	}
}

/* Times that never fall and an object that is said to come never again, but promises broken. */
static void test_promises(void **state)
{
	_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
	_cleanup_(trace_result_done) struct trace_result result = {0};

	(void)state;
	for (uint64_t i = 0; i < 9; i++) {
		add_le(&bytes, i, 4);
		add_le(&bytes, 100 + i, 8);
		add_le(&bytes, 1, 4);
		add_le(&bytes, i == 8 ? UINT64_MAX : 9, 8);
	}
	result = trace_result_of(bytes.bytes, bytes.n, TRACE_GUESS, 0, 4096);
	assert_int_equal(result.r, 0);
	assert_int_equal(result.format, TRACE_U64);
}

/* --- perf script */

static void expect_addresses(const char *file, const uint64_t *addresses, size_t n)
{
	_cleanup_(trace_result_done) struct trace_result result =
	        trace_result_of_path(sample(file), TRACE_GUESS, 0, 4096);

	assert_string_equal(result.error, "");
	assert_int_equal(result.format, TRACE_PERF_SCRIPT);
	assert_int_equal(result.n, n);
	assert_int_equal(result.skipped, 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(result.accesses[i].address, addresses[i]);
}

static void test_perf_samples(void **state)
{
	static const uint64_t addresses[] = {0x557f7ec6e5c0, 0x7f2e8f867110, 0x7ffefbf7d069,
	        0x7ffefbf7cd60, 0x7f2e8f84db70, 0x7f2e8f866e06};
	static const uint64_t chains[] = {0x5612f02695c0, 0x7fede0dc2110, 0x7ffcb5715919};

	(void)state;
	expect_addresses("perf.addresses", addresses, 6);
	expect_addresses("perf.events", addresses, 6);
	expect_addresses("perf.chains", chains, 3);
}

/* The fields of tools/perf/builtin-script.c, in its order and with its formats. */
enum {
	COMM = 1,
	PID = 2,
	CPU = 4,
	TIME = 8,
	PERIOD = 16,
	EVENT = 32,
	ADDR = 64,
	ADDR_SYM = 128,
	DATA_SRC = 256,
	WEIGHT = 512,
	IP = 1024,
	SYM = 2048,
	PHYS_ADDR = 4096,
	FIELDS = 8192,
};

struct perf_sample {
	const char *comm, *event, *data_src;
	int pid;
	uint64_t address, ip;
};

static void add_perf(struct trace_bytes *bytes, const struct perf_sample *sample, unsigned fields)
{
	if (fields & COMM)
		trace_bytes_print(bytes, "%16s ", sample->comm);
	if (fields & PID)
		trace_bytes_print(bytes, "%5d/%-5d ", sample->pid, sample->pid + 1);
	if (fields & CPU)
		trace_bytes_print(bytes, "[%03d] ", 3);
	if (fields & TIME)
		trace_bytes_print(bytes, "%12s: ", "13085.932861");
	if (fields & PERIOD)
		trace_bytes_print(bytes, "%10u ", 4001);
	if (fields & EVENT)
		trace_bytes_print(bytes, "%*s: ", 24, sample->event);
	if (fields & ADDR)
		trace_bytes_print(bytes, "%16llx", (unsigned long long)sample->address);
	if (fields & ADDR_SYM)
		trace_bytes_print(bytes, " %s (%s)", "std::add(int, long)", "/tmp/a|b");
	if (fields & DATA_SRC)
		trace_bytes_print(bytes, "%16x %-60s", 0x68100142, sample->data_src);
	if (fields & WEIGHT)
		trace_bytes_print(bytes, "%16u", 47);
	if (fields & IP)
		trace_bytes_print(bytes, " %16llx", (unsigned long long)sample->ip);
	if (fields & SYM)
		trace_bytes_print(bytes, " %s (%s)", "feed+0x28", "[kernel.kallsyms]");
	if (fields & PHYS_ADDR)
		trace_bytes_print(bytes, "%16x", 0x123450);
	trace_bytes_print(bytes, "\n");
}

static const struct perf_sample perf_samples[] = {
        {"ls", "page-faults", "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A", 7,
                0x557f7ec6e5c0, 0xffffffff81775b9a},
        {"tmux: server", "cpu/mem-loads,ldlat=30/P", "L1 hit|SNP None|TLB L1 hit|LCK No", 24269,
                0xffff8881003f2a40, 0x7f2e8f84db70},
        {"dd", "mem:0x401000:rw:u", "|OP STORE|LVL L1 miss|SNP N/A|TLB Walker hit|LCK No", 4194303,
                0x10000, 0x401000},
        {"gnome-control-c", "cafe", "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A", 100, 0x123456789,
                0xffffffffffffffff},
};

#define N_PERF_SAMPLES (sizeof(perf_samples) / sizeof(perf_samples[0]))

/* Every set of fields: with ADDR its value, without it nothing, never another number. */
static void test_perf_fields(void **state)
{
	(void)state;
	for (unsigned fields = 0; fields < FIELDS; fields += RUNNING_ON_VALGRIND ? 121 : 1) {
		_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
		_cleanup_(trace_result_done) struct trace_result result = {0};

		if ((fields & ADDR_SYM && !(fields & ADDR)) || (fields & SYM && !(fields & IP)))
			continue;
		/* the first number of all, where an address would be */
		if (fields & PHYS_ADDR && !(fields & (ADDR | DATA_SRC | WEIGHT | IP)))
			continue;
		for (size_t i = 0; i < N_PERF_SAMPLES; i++)
			add_perf(&bytes, &perf_samples[i], fields);
		result = trace_result_of(bytes.bytes, bytes.n, TRACE_PERF_SCRIPT, 0, 4096);
		assert_int_equal(result.n, fields & ADDR ? N_PERF_SAMPLES : 0);
		for (size_t i = 0; i < result.n; i++)
			assert_int_equal(result.accesses[i].address, perf_samples[i].address);
		for (size_t i = 0; i < result.n; i++)
			assert_int_equal(result.accesses[i].kind,
			        i == 2 && fields & DATA_SRC ? TRACE_STORE : TRACE_LOAD);
		if (result.n == 0 && bytes.n > N_PERF_SAMPLES)
			assert_int_equal(result.skipped, N_PERF_SAMPLES);
	}
}

/* Unknown addresses are left out and counted; what is no sample is not counted. */
static void test_perf_skipped(void **state)
{
	struct perf_sample unknown = perf_samples[0];
	_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
	_cleanup_(trace_result_done) struct trace_result result = {0};

	(void)state;
	unknown.address = 0;
	trace_bytes_print(&bytes, "# comment\n\n");
	add_perf(&bytes, &unknown, COMM | PID | TIME | EVENT | ADDR | IP);
	add_perf(&bytes, &unknown, COMM | PID | TIME | EVENT | IP);
	trace_bytes_print(&bytes, "\t    7f3c35af2ad7 main\n\n");
	trace_bytes_print(&bytes, "ls 1 1.0: PERF_RECORD_MMAP2 1/1: [0x7ffcb56f6000(0x21000)]\n");
	add_perf(&bytes, &perf_samples[0], COMM | PID | TIME | EVENT | ADDR | IP);
	result = trace_result_of(bytes.bytes, bytes.n, TRACE_GUESS, 0, 4096);
	assert_int_equal(result.r, 0);
	assert_int_equal(result.format, TRACE_PERF_SCRIPT);
	assert_int_equal(result.n, 1);
	assert_int_equal(result.skipped, 2);
}

/* --- the rest */

static void test_empty(void **state)
{
	(void)state;
	for (int format = TRACE_GUESS; format <= TRACE_ORACLE; format++) {
		_cleanup_(trace_result_done) struct trace_result result =
		        trace_result_of("", 0, (enum trace_format)format, 0, 4096);
		assert_int_equal(result.r, 0);
		assert_int_equal(result.n, 0);
		assert_true(result.progress == 1);
		assert_non_null(trace_format_name(result.format));
	}
}

static void test_format_names(void **state)
{
	(void)state;
	for (int i = TRACE_LACKEY; i <= TRACE_ORACLE; i++) {
		enum trace_format format;
		char error[100];

		assert_int_equal(trace_format_parse(trace_format_name((enum trace_format)i),
		                         &format, error, sizeof(error)),
		        0);
		assert_int_equal(format, i);
	}
	assert_true(trace_format_has_addresses(TRACE_LACKEY));
	assert_true(trace_format_has_addresses(TRACE_PERF_SCRIPT));
	assert_true(trace_format_has_addresses(TRACE_U64));
}

static void test_guesses(void **state)
{
	static const struct {
		const char *text;
		enum trace_format format;
	} cases[] = {
	        {" L 1000,8\n", TRACE_LACKEY},
	        {"==1== Lackey\n==1== \n", TRACE_LACKEY},
	        {"Hello\n L 1000,8\n S 1000,8\n", TRACE_LACKEY},
	        {"L 1000,8\nS 1000,8\n", TRACE_LACKEY},
	        {" L 1000,8\r\n S 1000,8\r\n", TRACE_LACKEY},
	        {"\tL\t1000,8\n\tS  1000,8\n", TRACE_LACKEY},
	        {"L1000,8\nS1000,8\n", TRACE_TOKENS},
	        {"a b c a b c", TRACE_TOKENS},
	        {"0x7f001000\n0x7f001040\n", TRACE_TOKENS},
	        {"557f7ec6e5c0\n7f2e8f867110\n", TRACE_TOKENS},
	        {"ffffffff81775b9a\nffffffff81775b9b\n", TRACE_TOKENS},
	        {"    557f7ec6e5c0\n    7f2e8f867110\n", TRACE_PERF_SCRIPT},
	        {"ratio 1.5: good\n1\n2\n3\n", TRACE_TOKENS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(trace_result_done) struct trace_result result =
		        trace_result_of(cases[i].text, strlen(cases[i].text), TRACE_GUESS, 0, 4096);
		if (result.r == 0)
			assert_int_equal(result.format, cases[i].format);
		else
			assert_int_equal(cases[i].format, TRACE_LACKEY);
	}
}

/* Half of a file has been read when half of it has been read. */
static void test_progress(void **state)
{
	_cleanup_close_ int fd = memfd_create("trace", MFD_CLOEXEC);
	_cleanup_(trace_closep) struct trace_reader *reader = NULL;
	struct trace_access accesses[BLOCK / 8];
	char path[64], error[100];
	double before = 0;
	size_t n = 1;

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)(8 * BLOCK)), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(trace_open(path, TRACE_U64, 0, &reader, error, sizeof(error)), 0);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(
		        trace_read(reader, accesses, BLOCK / 8, &n, error, sizeof(error)), 0);
		assert_int_equal(n, BLOCK / 8);
		assert_true(trace_reader_progress(reader) >= before);
		before = trace_reader_progress(reader);
		assert_true(fabs(before - (i + 1) / 8.0) <= 1 / 8.0);
	}
	assert_int_equal(trace_read(reader, accesses, 1, &n, error, sizeof(error)), 0);
	assert_int_equal(n, 0);
	assert_true(trace_reader_progress(reader) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_samples),
	        cmocka_unit_test(test_lackey_boundaries),
	        cmocka_unit_test(test_lackey_extremes),
	        cmocka_unit_test(test_compressions),
	        cmocka_unit_test(test_compressed_nothing),
	        cmocka_unit_test(test_concatenated),
	        cmocka_unit_test(test_padded_gzip),
	        cmocka_unit_test(test_pipes),
	        cmocka_unit_test(test_tokens),
	        cmocka_unit_test(test_many_tokens),
	        cmocka_unit_test(test_long_token),
	        cmocka_unit_test(test_names),
	        cmocka_unit_test(test_u64),
	        cmocka_unit_test(test_u64_of_text),
	        cmocka_unit_test(test_oracle),
	        cmocka_unit_test(test_scan_is_no_oracle),
	        cmocka_unit_test(test_promises),
	        cmocka_unit_test(test_perf_samples),
	        cmocka_unit_test(test_perf_fields),
	        cmocka_unit_test(test_perf_skipped),
	        cmocka_unit_test(test_empty),
	        cmocka_unit_test(test_format_names),
	        cmocka_unit_test(test_guesses),
	        cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
