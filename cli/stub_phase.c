/* SPDX-License-Identifier: MIT */
/*
 * Access phases: loops that read a working set and hardly anything else.
 *
 * Each pattern is written once, over what is done with an access: it is read, or told of. Words are
 * read through volatile pointers and folded into a hash, so that none can be left out. A pass of
 * `random` is as many draws as there are lines; of `chase` one round of a single cycle through all
 * lines, which each hold the number of the next (Sattolo's shuffle), so every pass has the same
 * order.
 */

#include "stub_phase.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#define WORD_BYTES 8
#define LINE_WORDS (STUB_LINE_BYTES / WORD_BYTES)
#define PAGE_WORDS (4096 / WORD_BYTES)

/* xorshift64 */
static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

static uint64_t lines_of(const struct stub_phase *phase)
{
	return phase->working_set_bytes / STUB_LINE_BYTES;
}

static void make_cycle(struct stub_phase *phase)
{
	volatile uint64_t *memory = phase->memory;

	for (uint64_t i = 0; i < lines_of(phase); i++)
		memory[i * LINE_WORDS] = i;
	for (uint64_t i = lines_of(phase) - 1; i > 0; i--) {
		uint64_t j = random_next(&phase->random) % i, kept = memory[i * LINE_WORDS];

		memory[i * LINE_WORDS] = memory[j * LINE_WORDS];
		memory[j * LINE_WORDS] = kept;
	}
}

int stub_phase_new(const struct stub_row *row, uint64_t seed, struct stub_phase *ret_phase)
{
	struct stub_phase phase = {row->pattern, row->working_set_bytes, row->stride_bytes,
	        row->repeats, NULL, (seed + 1) * 0x9e3779b97f4a7c15, 0};

	phase.memory = mmap(NULL, phase.working_set_bytes, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (phase.memory == MAP_FAILED)
		return -ENOMEM;
	for (uint64_t i = 0; i < phase.working_set_bytes / WORD_BYTES; i += PAGE_WORDS)
		((volatile uint64_t *)phase.memory)[i] = 0;
	if (phase.pattern == STUB_CHASE)
		make_cycle(&phase);
	*ret_phase = phase;
	return 0;
}

void stub_phase_done(struct stub_phase *phase)
{
	if (phase->memory)
		munmap(phase->memory, phase->working_set_bytes);
	phase->memory = NULL;
}

/* What becomes of an access; returns the word. */
typedef uint64_t visit_function(void *context, const volatile uint64_t *word);

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE uint64_t fold(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * 0x100000001b3;
}

ALWAYS_INLINE void pass_in_order(struct stub_phase *phase, visit_function *visit, void *context)
{
	const volatile uint64_t *memory = phase->memory;
	uint64_t words = phase->working_set_bytes / WORD_BYTES, hash = phase->hash;
	uint64_t step = phase->stride_bytes / WORD_BYTES;

	for (uint64_t i = 0; i < words; i += step)
		hash = fold(hash, visit(context, memory + i));
	phase->hash = hash;
}

ALWAYS_INLINE void pass_at_random(struct stub_phase *phase, visit_function *visit, void *context)
{
	const volatile uint64_t *memory = phase->memory;
	uint64_t lines = lines_of(phase), random = phase->random, hash = phase->hash;

	for (uint64_t i = 0; i < lines; i++) {
		uint64_t x = random_next(&random);
		uint64_t line = (uint64_t)((unsigned __int128)x * lines >> 64);

		hash = fold(
		        hash, visit(context, memory + line * LINE_WORDS + (x & (LINE_WORDS - 1))));
	}
	phase->random = random;
	phase->hash = hash;
}

ALWAYS_INLINE void pass_along(struct stub_phase *phase, visit_function *visit, void *context)
{
	const volatile uint64_t *memory = phase->memory;
	uint64_t lines = lines_of(phase), line = 0;

	for (uint64_t i = 0; i < lines; i++)
		line = visit(context, memory + line * LINE_WORDS);
	phase->hash = fold(phase->hash, line);
}

ALWAYS_INLINE void all_passes(struct stub_phase *phase, visit_function *visit, void *context)
{
	for (uint64_t i = 0; i < phase->repeats; i++)
		switch (phase->pattern) {
		case STUB_SCAN:
		case STUB_STRIDE:
			pass_in_order(phase, visit, context);
			break;
		case STUB_RANDOM:
			pass_at_random(phase, visit, context);
			break;
		case STUB_CHASE:
			pass_along(phase, visit, context);
			break;
		case STUB_REST:
			break;
		}
}

ALWAYS_INLINE uint64_t visit_read(void *context, const volatile uint64_t *word)
{
	(void)context;
	return *word;
}

void stub_phase_run(struct stub_phase *phase)
{
	all_passes(phase, visit_read, NULL);
}

struct teller {
	void (*access)(void *context, const volatile uint64_t *word);
	void *context;
};

static uint64_t visit_tell(void *context, const volatile uint64_t *word)
{
	struct teller *teller = context;

	teller->access(teller->context, word);
	return *word;
}

void stub_phase_tell(struct stub_phase *phase,
        void (*access)(void *context, const volatile uint64_t *word), void *context)
{
	struct teller teller = {access, context};

	all_passes(phase, visit_tell, &teller);
}
