/* SPDX-License-Identifier: MIT */
/*
 * The byte queue against a plain array, over random appends and consumptions; and its bound.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "byte_queue.h"

#define LIMIT 50000

static void behaves_like_an_array(void **state)
{
	static char model[LIMIT], bytes[9000];
	struct byte_queue queue = {0};
	size_t used = 0;

	(void)state;
	srand(1);
	assert_null(byte_queue_front(&queue));
	for (int step = 0; step < 20000; step++) {
		size_t size = (size_t)rand() % (rand() % 8 ? 300 : sizeof(bytes));

		if (rand() % 2) {
			int r;

			for (size_t i = 0; i < size; i++)
				bytes[i] = (char)rand();
			r = byte_queue_append(&queue, bytes, size, LIMIT);
			assert_int_equal(r, used + size > LIMIT ? -ENOBUFS : 0);
			if (r == 0) {
				memcpy(model + used, bytes, size);
				used += size;
			}
		} else {
			size = size < used ? size : used;
			byte_queue_consume(&queue, size);
			memmove(model, model + size, used - size);
			used -= size;
		}
		assert_int_equal(queue.used, used);
		if (used)
			assert_memory_equal(byte_queue_front(&queue), model, used);
	}
	byte_queue_clear(&queue);
	assert_null(byte_queue_front(&queue));
}

static void gives_back_large_buffers(void **state)
{
	static char bytes[LIMIT];
	struct byte_queue queue = {0};

	(void)state;
	assert_int_equal(byte_queue_append(&queue, bytes, LIMIT, LIMIT), 0);
	assert_int_equal(byte_queue_append(&queue, bytes, 1, LIMIT), -ENOBUFS);
	assert_int_equal(byte_queue_append(&queue, bytes, SIZE_MAX, LIMIT), -ENOBUFS);
	byte_queue_consume(&queue, LIMIT - 1);
	assert_true(queue.capacity >= LIMIT);
	byte_queue_consume(&queue, 1);
	assert_int_equal(queue.capacity, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(behaves_like_an_array),
	        cmocka_unit_test(gives_back_large_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
