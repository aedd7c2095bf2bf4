/* SPDX-License-Identifier: MIT */
/*
 * A byte queue in one growing buffer. The content is moved to the front only when the room behind
 * it does not suffice, and capacity doubles, so appending is O(1) amortised. An idle connection
 * holds at most KEEP_BYTES.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "byte_queue.h"

#define KEEP_BYTES 4096

static void move_to_front(struct byte_queue *queue)
{
	if (queue->start && queue->used)
		memmove(queue->bytes, queue->bytes + queue->start, queue->used);
	queue->start = 0;
}

char *byte_queue_reserve(struct byte_queue *queue, size_t size)
{
	if (queue->capacity - queue->start - queue->used < size)
		move_to_front(queue);
	if (queue->capacity - queue->used < size) {
		size_t capacity = queue->capacity ? queue->capacity : KEEP_BYTES;
		char *bytes;

		while (capacity - queue->used < size)
			capacity *= 2;
		bytes = realloc(queue->bytes, capacity);
		if (!bytes)
			return NULL;
		queue->bytes = bytes;
		queue->capacity = capacity;
	}
	return queue->bytes + queue->start + queue->used;
}

void byte_queue_added(struct byte_queue *queue, size_t size)
{
	queue->used += size;
}

int byte_queue_append(struct byte_queue *queue, const void *bytes, size_t size, size_t limit)
{
	char *room;

	if (size > limit || queue->used > limit - size)
		return -ENOBUFS;
	room = byte_queue_reserve(queue, size);
	if (!room)
		return -ENOMEM;
	memcpy(room, bytes, size);
	byte_queue_added(queue, size);
	return 0;
}

char *byte_queue_front(const struct byte_queue *queue)
{
	return queue->bytes ? queue->bytes + queue->start : NULL;
}

void byte_queue_consume(struct byte_queue *queue, size_t size)
{
	queue->start += size;
	queue->used -= size;
	if (queue->used)
		return;
	queue->start = 0;
	if (queue->capacity > KEEP_BYTES)
		byte_queue_clear(queue);
}

void byte_queue_clear(struct byte_queue *queue)
{
	free(queue->bytes);
	*queue = (struct byte_queue){0};
}
