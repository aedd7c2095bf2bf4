/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_TRACE_FIXTURE_H
#define MTL_TEST_TRACE_FIXTURE_H

/*
 * Traces in files that live in memory: made of bytes, compressed by libarchive, read back whole.
 */

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"
#include "trace_reader.h"

struct trace_bytes {
	unsigned char *bytes;
	size_t n, room;
};

/* What a whole trace came to. */
struct trace_result {
	int r;
	char error[512];
	struct trace_access *accesses;
	size_t n;
	enum trace_format format; /* valid if it opened */
	uint64_t skipped;
	double progress;
};

static inline void trace_bytes_done(struct trace_bytes *bytes)
{
	free(bytes->bytes);
	*bytes = (struct trace_bytes){0};
}

static inline void trace_result_done(struct trace_result *result)
{
	free(result->accesses);
	*result = (struct trace_result){0};
}

static inline void trace_bytes_add(struct trace_bytes *bytes, const void *more, size_t n)
{
	if (bytes->n + n > bytes->room) {
		bytes->room = 2 * (bytes->n + n);
		bytes->bytes = realloc(bytes->bytes, bytes->room);
		if (!bytes->bytes)
			abort();
	}
	memcpy(bytes->bytes + bytes->n, more, n);
	bytes->n += n;
}

__attribute__((format(printf, 2, 3))) static inline void trace_bytes_print(
        struct trace_bytes *bytes, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	trace_bytes_add(bytes, text, strlen(text));
}

static inline la_ssize_t trace_fixture_write(
        struct archive *archive, void *data, const void *bytes, size_t n)
{
	(void)archive;
	trace_bytes_add(data, bytes, n);
	return (la_ssize_t)n;
}

/* filter: ARCHIVE_FILTER_GZIP, … */
static inline void trace_bytes_compress(
        struct trace_bytes *ret, const void *bytes, size_t n, int filter)
{
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();

	archive_write_set_format_raw(archive);
	archive_write_add_filter(archive, filter);
	archive_write_set_bytes_in_last_block(archive, 1);
	archive_entry_set_filetype(entry, AE_IFREG);
	if (archive_write_open(archive, ret, NULL, trace_fixture_write, NULL) != ARCHIVE_OK ||
	        archive_write_header(archive, entry) != ARCHIVE_OK ||
	        archive_write_data(archive, bytes, n) != (la_ssize_t)n ||
	        archive_write_close(archive) != ARCHIVE_OK)
		abort();
	archive_entry_free(entry);
	archive_write_free(archive);
}

static inline void trace_read_whole(
        struct trace_reader *reader, size_t batch, struct trace_result *ret)
{
	size_t n, room = 0;

	for (;;) {
		if (ret->n + batch > room) {
			room = 2 * (ret->n + batch);
			ret->accesses = realloc(ret->accesses, room * sizeof(*ret->accesses));
			if (!ret->accesses)
				abort();
		}
		ret->r = trace_read(
		        reader, ret->accesses + ret->n, batch, &n, ret->error, sizeof(ret->error));
		if (ret->r < 0 || n == 0)
			return;
		ret->n += n;
	}
}

static inline struct trace_result trace_result_of_path(
        const char *path, enum trace_format format, uint64_t memory, size_t batch)
{
	_cleanup_(trace_closep) struct trace_reader *reader = NULL;
	struct trace_result result = {0};

	result.r = trace_open(path, format, memory, &reader, result.error, sizeof(result.error));
	if (result.r < 0)
		return result;
	trace_read_whole(reader, batch, &result);
	result.format = trace_reader_format(reader);
	result.skipped = trace_reader_skipped(reader);
	result.progress = trace_reader_progress(reader);
	return result;
}

static inline struct trace_result trace_result_of(
        const void *bytes, size_t n, enum trace_format format, uint64_t memory, size_t batch)
{
	_cleanup_close_ int fd = memfd_create("trace", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return trace_result_of_path(path, format, memory, batch);
}

static inline uint64_t trace_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 20;
}

#endif
