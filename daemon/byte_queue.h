/* SPDX-License-Identifier: MIT */
#ifndef MTLD_BYTE_QUEUE_H
#define MTLD_BYTE_QUEUE_H

#include <stddef.h>

/*
 * Bytes in at the end, out at the front: what a connection has read and not yet understood, and
 * what it has said and not yet sent. Zero-initialised is empty. Memory follows the content.
 */
struct byte_queue {
	char *bytes; /* the content is bytes[start .. start + used) */
	size_t start, used, capacity;
};

/* Room for at least size more bytes at the end, or NULL when memory is short. Write there, then
 * byte_queue_added(). */
char *byte_queue_reserve(struct byte_queue *queue, size_t size);
void byte_queue_added(struct byte_queue *queue, size_t size);

/* 0, -ENOMEM, or -ENOBUFS when the queue would hold more than limit. */
int byte_queue_append(struct byte_queue *queue, const void *bytes, size_t size, size_t limit);

/* The content; NULL only when there never was any. */
char *byte_queue_front(const struct byte_queue *queue);

/* Drop size bytes at the front; an emptied queue gives back a large buffer. */
void byte_queue_consume(struct byte_queue *queue, size_t size);

void byte_queue_clear(struct byte_queue *queue);

#endif
