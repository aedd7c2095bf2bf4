/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a trace file, decompressed.
 *
 * Compression is recognised by the first bytes of the content and by nothing else, so a pipe will
 * do; exactly one layer is taken off. What does not begin with one of the patterns below goes
 * through untouched, whatever it is: nothing guesses further. The patterns are as long as their
 * formats allow, for a raw binary trace may begin with any bytes: gzip and lz4 claim one file of
 * random addresses in 2^27 and 2^34, zstd one in 2^33, the others fewer. Such a file does not
 * decompress, and the message then says how to have it read all the same.
 *
 * gzip is left to zlib, because libarchive does not verify a member's checksum and length; members
 * may follow each other, zeros may pad them. libarchive does zstd, xz, bzip2 and lz4, one filter
 * each, named by us. Anything behind the compressed data is an error: it may be half of a trace.
 */

#include "trace_source.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "archive_library.h"

#define RAW_BYTES ((size_t)256 * 1024)
#define PEEK_BYTES 16    /* no fewer than any pattern has */
#define PATTERN_BYTES 11 /* with the NUL of the string that says them */

struct trace_source {
	char *name;
	int fd;
	const struct compression *compression; /* NULL: none */
	const struct archive_library *library; /* NULL: not needed */
	struct archive *archive;
	z_stream inflater;
	bool inflating; /* inflater is initialised */
	bool between;   /* a gzip member has ended */
	bool at_start;  /* nothing has been decompressed yet */
	bool finished;
	double size;        /* of the file; NAN: not known */
	uint64_t raw_total; /* bytes read from fd */
	unsigned char *raw; /* the last of them */
	size_t raw_start, raw_end, raw_room;
};

struct compression {
	const char *name;
	int filter; /* of libarchive; ARCHIVE_FILTER_NONE: ours */
	size_t length;
	unsigned char bytes[PATTERN_BYTES], mask[PATTERN_BYTES];
};

#define ALL "\xff\xff\xff\xff\xff\xff\xff\xff"

static const struct compression compressions[] = {
        {"gzip", ARCHIVE_FILTER_NONE, 4, "\x1f\x8b\x08\x00", "\xff\xff\xff\xe0"},
        {"zstd", ARCHIVE_FILTER_ZSTD, 5, "\x28\xb5\x2f\xfd\x00", "\xff\xff\xff\xff\x08"},
        {"zstd", ARCHIVE_FILTER_ZSTD, 8, "\x50\x2a\x4d\x18\x04\x00\x00\x00", ALL}, /* pzstd */
        {"xz", ARCHIVE_FILTER_XZ, 6, "\xfd\x37zXZ\x00", ALL},
        {"bzip2", ARCHIVE_FILTER_BZIP2, 10, "BZh\x30\x31\x41\x59\x26\x53\x59",
                "\xff\xff\xff\xf0\xff\xff\xff\xff\xff\xff"},
        {"bzip2", ARCHIVE_FILTER_BZIP2, 10, "BZh\x30\x17\x72\x45\x38\x50\x90", /* of nothing */
                "\xff\xff\xff\xf0\xff\xff\xff\xff\xff\xff"},
        {"lz4", ARCHIVE_FILTER_LZ4, 5, "\x04\x22\x4d\x18\x40", "\xff\xff\xff\xff\xc0"},
};

#define N_COMPRESSIONS (sizeof(compressions) / sizeof(compressions[0]))

int trace_fail(int r, char *ret_error, size_t error_size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(ret_error, error_size, format, arguments);
	va_end(arguments);
	return r;
}

static bool matches(const struct compression *compression, const unsigned char *bytes, size_t size)
{
	bool same = size >= compression->length;

	for (size_t i = 0; same && i < compression->length; i++)
		same = (bytes[i] & compression->mask[i]) == compression->bytes[i];
	return same;
}

static const struct compression *recognise(const void *content, size_t size)
{
	for (size_t i = 0; i < N_COMPRESSIONS; i++)
		if (matches(&compressions[i], content, size))
			return &compressions[i];
	return NULL;
}

const char *trace_source_compression(const void *content, size_t size)
{
	const struct compression *compression = recognise(content, size);

	return compression ? compression->name : NULL;
}

/* All of size, unless the file ends. */
static ssize_t read_fd(struct trace_source *source, void *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(source->fd, (char *)buffer + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	source->raw_total += done;
	return (ssize_t)done;
}

/* The next raw block; 0 at the end. */
static ssize_t fill(struct trace_source *source)
{
	ssize_t n = read_fd(source, source->raw, source->raw_room);

	source->raw_start = 0;
	source->raw_end = n > 0 ? (size_t)n : 0;
	return n;
}

static int cannot_read(struct trace_source *source, int r, char *ret_error, size_t error_size)
{
	return trace_fail(
	        r, ret_error, error_size, "cannot read %s: %s", source->name, strerror(-r));
}

static int damaged(struct trace_source *source, const char *what, const char *reason,
        char *ret_error, size_t error_size)
{
	const char *advice = source->at_start
	                             ? "; if it is no such file but raw data that begin like one, "
	                               "give it as gzip <FILE | mtl trace --format FORMAT -"
	                             : "";

	return trace_fail(-EBADMSG, ret_error, error_size, "%s: its %s data %s%s%s%s%s",
	        source->name, source->compression->name, what, reason ? " (" : "", reason ?: "",
	        reason ? ")" : "", advice);
}

/* --- none */

static ssize_t read_plain(
        struct trace_source *source, void *buffer, size_t size, char *ret_error, size_t error_size)
{
	size_t kept = source->raw_end - source->raw_start;
	size_t copied = kept < size ? kept : size;
	ssize_t n;

	memcpy(buffer, source->raw + source->raw_start, copied);
	source->raw_start += copied;
	n = read_fd(source, (char *)buffer + copied, size - copied);
	return n < 0 ? cannot_read(source, (int)n, ret_error, error_size) : (ssize_t)copied + n;
}

/* --- gzip */

/* Past the zeros that may pad the end of a member. 1: another member begins, 0: the end. */
static int next_member(struct trace_source *source, char *ret_error, size_t error_size)
{
	for (;;) {
		while (source->raw_start < source->raw_end && !source->raw[source->raw_start])
			source->raw_start++;
		if (source->raw_start < source->raw_end)
			break;
		ssize_t n = fill(source);
		if (n <= 0)
			return n < 0 ? cannot_read(source, (int)n, ret_error, error_size) : 0;
	}
	if (source->raw[source->raw_start] != compressions[0].bytes[0])
		return damaged(
		        source, "are followed by something else", NULL, ret_error, error_size);
	inflateReset(&source->inflater);
	source->between = false;
	return 1;
}

static int inflate_some(struct trace_source *source, char *ret_error, size_t error_size)
{
	z_stream *z = &source->inflater;
	int status;

	if (source->raw_start == source->raw_end) {
		ssize_t n = fill(source);
		if (n < 0)
			return cannot_read(source, (int)n, ret_error, error_size);
		if (n == 0)
			return damaged(source, "are truncated", NULL, ret_error, error_size);
	}
	z->next_in = source->raw + source->raw_start;
	z->avail_in = (uInt)(source->raw_end - source->raw_start);
	status = inflate(z, Z_NO_FLUSH);
	source->raw_start = source->raw_end - z->avail_in;
	if (status == Z_MEM_ERROR)
		return cannot_read(source, -ENOMEM, ret_error, error_size);
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
		return damaged(source, "are corrupt", z->msg, ret_error, error_size);
	source->between = status == Z_STREAM_END;
	source->at_start &= z->total_out == 0;
	return 0;
}

static ssize_t read_gzip(
        struct trace_source *source, void *buffer, size_t size, char *ret_error, size_t error_size)
{
	z_stream *z = &source->inflater;
	int r;

	z->next_out = buffer;
	z->avail_out = (uInt)size;
	while (z->avail_out > 0) {
		if (source->between) {
			r = next_member(source, ret_error, error_size);
			if (r <= 0)
				return r < 0 ? r : (ssize_t)(size - z->avail_out);
		}
		r = inflate_some(source, ret_error, error_size);
		if (r < 0)
			return r;
	}
	return (ssize_t)size;
}

/* --- what libarchive does */

static ssize_t give_raw(struct archive *archive, void *data, const void **ret_buffer)
{
	struct trace_source *source = data;
	ssize_t n = source->raw_start < source->raw_end
	                    ? (ssize_t)(source->raw_end - source->raw_start)
	                    : fill(source);

	if (n < 0) {
		source->library->archive_set_error(archive, (int)-n, "%s", strerror((int)-n));
		return -1;
	}
	*ret_buffer = source->raw + source->raw_start;
	source->raw_start = source->raw_end;
	return n;
}

static int archive_failed(struct trace_source *source, char *ret_error, size_t error_size)
{
	return damaged(source, "are truncated or corrupt",
	        source->library->archive_error_string(source->archive), ret_error, error_size);
}

/* How much the filter left of what it was given, or never asked for. */
static int nothing_behind(struct trace_source *source, char *ret_error, size_t error_size)
{
	uint64_t used = (uint64_t)source->library->archive_filter_bytes(source->archive, -1);
	ssize_t n = source->raw_total == used ? fill(source) : 0;

	if (n < 0)
		return cannot_read(source, (int)n, ret_error, error_size);
	if (source->raw_total == used)
		return 0;
	return damaged(source,
	        source->at_start ? "are truncated or corrupt" : "are followed by something else",
	        NULL, ret_error, error_size);
}

static ssize_t read_archive(
        struct trace_source *source, void *buffer, size_t size, char *ret_error, size_t error_size)
{
	size_t done = 0;

	while (done < size && !source->finished) {
		la_ssize_t n = source->library->archive_read_data(
		        source->archive, (char *)buffer + done, size - done);
		if (n < 0)
			return archive_failed(source, ret_error, error_size);
		if (n == 0) {
			int r = nothing_behind(source, ret_error, error_size);
			source->finished = r == 0;
			return r < 0 ? r : (ssize_t)done;
		}
		done += (size_t)n;
		source->at_start = false;
	}
	return (ssize_t)done;
}

static int start_archive(struct trace_source *source, char *ret_error, size_t error_size)
{
	struct archive_entry *entry;
	struct archive *archive;
	int status;

	source->library = archive_library();
	if (!source->library)
		return damaged(source, "need libarchive", "apt-get install libarchive13", ret_error,
		        error_size);
	archive = source->library->archive_read_new();
	if (!archive)
		return cannot_read(source, -ENOMEM, ret_error, error_size);
	source->archive = archive;
	source->library->archive_read_support_format_raw(archive);
	source->library->archive_read_support_format_empty(archive);
	status = source->library->archive_read_append_filter(archive, source->compression->filter);
	if (status == ARCHIVE_OK)
		status = source->library->archive_read_open(archive, source, NULL, give_raw, NULL);
	/* Content that cannot be decompressed at all is "empty" to libarchive. */
	if (status == ARCHIVE_OK && source->library->archive_errno(archive))
		status = ARCHIVE_FATAL;
	if (status == ARCHIVE_OK)
		status = source->library->archive_read_next_header(archive, &entry);
	source->finished = status == ARCHIVE_EOF;
	if (source->finished)
		return nothing_behind(source, ret_error, error_size);
	return status == ARCHIVE_OK ? 0 : archive_failed(source, ret_error, error_size);
}

/* A few bytes are enough to tell; the rest goes to where it is wanted if nothing is compressed. */
static int peek(struct trace_source *source, char *ret_error, size_t error_size)
{
	unsigned char *raw;
	ssize_t n;

	source->raw = malloc(PEEK_BYTES);
	source->raw_room = PEEK_BYTES;
	n = source->raw ? fill(source) : -ENOMEM;
	if (n < 0)
		return cannot_read(source, (int)n, ret_error, error_size);
	source->compression = recognise(source->raw, source->raw_end);
	if (!source->compression)
		return 0;
	raw = realloc(source->raw, RAW_BYTES);
	if (!raw)
		return cannot_read(source, -ENOMEM, ret_error, error_size);
	source->raw = raw;
	source->raw_room = RAW_BYTES;
	n = read_fd(source, raw + source->raw_end, RAW_BYTES - source->raw_end);
	source->raw_end += n > 0 ? (size_t)n : 0;
	return n < 0 ? cannot_read(source, (int)n, ret_error, error_size) : 0;
}

static int start(struct trace_source *source, char *ret_error, size_t error_size)
{
	int r = peek(source, ret_error, error_size);

	if (r < 0 || !source->compression)
		return r;
	source->at_start = true;
	if (source->compression->filter != ARCHIVE_FILTER_NONE)
		return start_archive(source, ret_error, error_size);
	source->inflating = inflateInit2(&source->inflater, 16 + MAX_WBITS) == Z_OK;
	return source->inflating ? 0 : cannot_read(source, -ENOMEM, ret_error, error_size);
}

int trace_source_open(int fd, const char *name, struct trace_source **ret_source, char *ret_error,
        size_t error_size)
{
	_cleanup_close_ int owned = fd;
	_cleanup_(trace_source_closep) struct trace_source *source = calloc(1, sizeof(*source));
	off_t position = lseek(fd, 0, SEEK_CUR);
	struct stat status;
	int r;

	if (source) {
		source->name = strdup(name);
		source->fd = TAKE_FD(owned);
	}
	if (!source || !source->name)
		return trace_fail(-ENOMEM, ret_error, error_size, "cannot read %s: %s", name,
		        strerror(ENOMEM));
	r = fstat(source->fd, &status) < 0 ? -errno : S_ISDIR(status.st_mode) ? -EISDIR : 0;
	if (r < 0)
		return cannot_read(source, r, ret_error, error_size);
	source->size = S_ISREG(status.st_mode) && position >= 0
	                       ? fmax(0, (double)(status.st_size - position))
	                       : NAN;
	r = start(source, ret_error, error_size);
	if (r < 0)
		return r;
	*ret_source = TAKE_PTR(source);
	return 0;
}

struct trace_source *trace_source_close(struct trace_source *source)
{
	if (!source)
		return NULL;
	if (source->library)
		source->library->archive_read_free(source->archive);
	if (source->inflating)
		inflateEnd(&source->inflater);
	close(source->fd);
	free(source->raw);
	free(source->name);
	free(source);
	return NULL;
}

ssize_t trace_source_read(struct trace_source *source, void *ret_buffer, size_t size,
        char *ret_error, size_t error_size)
{
	if (!source->compression)
		return read_plain(source, ret_buffer, size, ret_error, error_size);
	if (!source->archive)
		return read_gzip(source, ret_buffer, size, ret_error, error_size);
	return read_archive(source, ret_buffer, size, ret_error, error_size);
}

double trace_source_progress(const struct trace_source *source)
{
	double read = (double)source->raw_total;

	return source->size > 0 ? fmin(1, read / source->size) : source->size == 0 ? 1 : NAN;
}
