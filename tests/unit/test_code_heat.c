// SPDX-License-Identifier: MIT
/*
 * Samples of the clock through the real kernel: a child works on memory that is known, and the
 * addresses decoded from where it is lie in that memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "code_heat.h"
#include "live_fixture.h"

#define LINES (1UL << 17) /* 8 MiB */
#define WORDS (LINES * 8)
#define INDEX 11
#define RATE 2000 /* samples a second */
#define MILLISECONDS 300
#ifdef __SANITIZE_ADDRESS__
#define PRECISION 0.1 /* its own accesses are among them */
#else
#define PRECISION 0.9
#endif

static volatile uint64_t *memory; /* the same in the child */

/* ---- what the child does: each a while, at least a million accesses ---- */

static uint64_t scan(uint64_t hash)
{
	for (size_t i = 0; i < WORDS; i++)
		hash = (hash ^ memory[i]) * 0x100000001b3;
	return hash;
}

static uint64_t at_random(uint64_t x)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < 1000000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		hash = (hash ^ memory[(uint64_t)((unsigned __int128)x * LINES >> 64) * 8]) *
		       0x100000001b3;
	}
	return hash ^ x;
}

static uint64_t copy(uint64_t count)
{
	memcpy((void *)memory, (const char *)memory + LINES * 32, LINES * 32);
	return count + 1;
}

/* As a compiler writes it that is not asked to think: every variable on the stack. */
static uint64_t unoptimised(uint64_t seed)
{
	volatile uint64_t x = seed, sum = 0;

	for (volatile unsigned i = 0; i < 1000000; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		sum = sum + memory[x >> 44];
	}
	return sum + x;
}

__attribute__((noinline)) static uint64_t at(uint64_t word)
{
	return memory[word % WORDS];
}

/* Small functions that call each other. */
static uint64_t calls(uint64_t x)
{
	for (unsigned i = 0; i < 1000000; i++)
		x = x * 6364136223846793005 + 1442695040888963407 + at(x >> 20);
	return x;
}

static uint64_t (*const kinds[])(uint64_t seed) = {scan, at_random, copy, unoptimised, calls};
static const char *const names[] = {"scan", "random", "copy", "unoptimised", "calls"};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static uint64_t act(uint64_t kind)
{
	uint64_t until = source_now() + MILLISECONDS * 1000000ULL, seed = 88172645463325252;

	while (source_now() < until)
		seed = kinds[kind](seed | 1);
	return seed;
}

/* ---- what is seen of it ---- */

struct seen {
	pid_t pid;
	unsigned samples, with_address, off_stack, inside;
};

/* What a child touches besides its stack: the memory, and where that is noted. */
static bool is_touched(uint64_t address)
{
	return address - (uintptr_t)memory < WORDS * 8 ||
	       address / 4096 == (uintptr_t)&memory / 4096;
}

static enum code_outcome on_code(void *userdata, const struct mtl_instruction *sample)
{
	struct seen *seen = userdata;
	struct code_walk walk;
	enum code_outcome outcome = code_addresses("", seen->pid, sample, &walk);
	bool any = false;

	for (unsigned i = 0; i < walk.n; i++) {
		if (walk.found[i].stack)
			continue;
		any = true;
		seen->off_stack++;
		seen->inside += is_touched(walk.found[i].address);
	}
	seen->samples++;
	seen->with_address += any;
	return outcome;
}

static void no_address(void *userdata, const struct mtl_address *sample)
{
	(void)userdata, (void)sample;
}

struct bench {
	struct live_child child;
	struct source *source;
	struct address_source *addresses;
	struct seen seen;
};

static void begin(struct bench *bench)
{
	struct pmu_event event = pmu_task_clock(RATE);
	char error[256] = "";
	uint32_t tgid;

	*bench = (struct bench){.child = live_start(act)};
	bench->seen.pid = bench->child.pid;
	if (source_new(65536, &bench->source, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	assert_int_equal(source_attach(bench->source), 0);
	assert_int_equal(source_resolve(bench->source, bench->child.pid, &tgid), 0);
	assert_int_equal(source_track(bench->source, tgid, INDEX), 0);
	assert_int_equal(address_source_new(bench->source, &event, 1, 65536, no_address,
	                         &bench->seen, &bench->addresses),
	        0);
	address_source_on_code(bench->addresses, on_code);
	assert_int_equal(address_source_start(bench->addresses), 0);
}

static void end(struct bench *bench)
{
	live_stop(&bench->child);
	address_source_free(bench->addresses);
	source_free(bench->source);
}

static struct seen work(struct bench *bench, unsigned kind)
{
	bench->seen = (struct seen){.pid = bench->child.pid};
	live_order(&bench->child, kind);
	for (struct pollfd answer = {.fd = bench->child.answers, .events = POLLIN};
	        poll(&answer, 1, 5) == 0;)
		address_source_consume(bench->addresses);
	live_answer(&bench->child);
	address_source_consume(bench->addresses);
	return bench->seen;
}

/* Most samples give an address, and nearly all of these are right. */
static void addresses_are_those_of_the_program(void **state)
{
	struct address_counts counts;
	struct bench bench;

	(void)state;
	if (!live_possible())
		skip();
	begin(&bench);
	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct seen seen = work(&bench, kind);

		print_message("%s: %u samples, %u with an address, %u of %u addresses inside\n",
		        names[kind], seen.samples, seen.with_address, seen.inside, seen.off_stack);
		assert_true(seen.samples >= 20);
		assert_true(seen.with_address * 2 >= seen.samples);
		assert_true(seen.inside >= seen.off_stack * PRECISION);
	}
	address_source_counts(bench.addresses, 0, &counts);
	assert_int_equal(counts.seen, counts.foreign + counts.zero + counts.kernel +
	                                      counts.filtered + counts.unreadable +
	                                      counts.delivered + counts.lost);
	assert_true(counts.delivered > 100);
	assert_int_equal(counts.unseen, 0);
	end(&bench);
}

/* A process that has ended, and code that is not there. */
static void what_cannot_be_read(void **state)
{
	struct mtl_instruction sample = {.ip = 0x10};
	struct code_walk walk;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(code_addresses("", getpid(), &sample, &walk), CODE_UNREADABLE);
	sample.ip = UINT64_MAX - 2;
	assert_int_equal(code_addresses("", getpid(), &sample, &walk), CODE_UNREADABLE);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	sample.ip = (uintptr_t)scan;
	assert_int_equal(code_addresses("", pid, &sample, &walk), CODE_UNREADABLE);
	assert_int_equal(walk.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(addresses_are_those_of_the_program),
	        cmocka_unit_test(what_cannot_be_read),
	};

	memory = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE,
	        MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return memory == MAP_FAILED || cmocka_run_group_tests(tests, NULL, NULL);
}
