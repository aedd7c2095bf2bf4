/* SPDX-License-Identifier: MIT */
/*
 * Binary traces, both little-endian.
 *
 *     u64:    8 bytes, an address
 *     oracle: 24 bytes without gaps: uint32 time, uint64 object, uint32 size of the object, int64
 *             number of the request that asks for it next (counted from 1, or from 0), -1 or the
 *             greatest number if none does. The object is the datum; nothing else is used.
 *
 * Nothing marks an oracle file as one, but what it says of the future can be checked against what
 * comes. Any content is a u64 file, so records are taken for oracle's only if times never fall, no
 * request is announced for the past, at least half of what is said of the records in hand comes
 * true, and something speaks for it: one that comes at the announced time, or two objects that are
 * said never to come again and do not.
 */

#include <endian.h>
#include <string.h>

#include "trace_formats.h"

#define ORACLE_BYTES 24
#define NEVER_CHECKED 1000 /* records among which an object must not come again */

static uint64_t u64_at(const unsigned char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

static uint32_t u32_at(const unsigned char *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

/* Records of which address_offset bytes come before the address. */
static inline __attribute__((always_inline)) int parse(struct trace_reader *reader,
        struct trace_access *accesses, size_t most, size_t *ret_n, size_t record_bytes,
        size_t address_offset)
{
	size_t there = (size_t)(reader->end - reader->next) / record_bytes;
	size_t n = there < most - *ret_n ? there : most - *ret_n;
	const unsigned char *address = reader->next + address_offset;

	accesses += *ret_n;
	for (size_t i = 0; i < n; i++) {
		accesses[i].address = u64_at(address + i * record_bytes);
		accesses[i].size = 1;
		accesses[i].kind = TRACE_LOAD;
	}
	reader->next += n * record_bytes;
	reader->offset += n * record_bytes;
	*ret_n += n;
	return 0;
}

int trace_parse_u64(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n)
{
	return parse(reader, accesses, most, ret_n, sizeof(uint64_t), 0);
}

int trace_parse_oracle(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n)
{
	return parse(reader, accesses, most, ret_n, ORACLE_BYTES, 4);
}

static uint64_t object_of(const unsigned char *records, size_t i)
{
	return u64_at(records + i * ORACLE_BYTES + 4);
}

/* Does the object of record i come again? */
static bool comes_again(const unsigned char *records, size_t n, size_t i)
{
	uint64_t object = object_of(records, i);

	n = n < NEVER_CHECKED ? n : NEVER_CHECKED;
	for (i++; i < n; i++)
		if (object_of(records, i) == object)
			return true;
	return false;
}

/* With requests counted from first. Objects announced never again say nothing of how they are
 * counted, so that alone they speak for 1. */
static bool keeps_promises(const unsigned char *records, size_t n, uint64_t first)
{
	size_t never = 0, come_true = 0, failed = 0;
	uint32_t before = 0;

	for (size_t i = 0; i < n; i++) {
		const unsigned char *record = records + i * ORACLE_BYTES;
		uint64_t announced = u64_at(record + 16);

		if (u32_at(record) < before)
			return false;
		before = u32_at(record);
		if (announced == UINT64_MAX || announced == INT64_MAX)
			comes_again(records, n, i) ? failed++ : never++;
		else if (announced > INT64_MAX || announced <= i + first)
			return false;
		else if (announced - first >= n)
			continue;
		else if (object_of(records, i) == object_of(records, announced - first))
			come_true++;
		else
			failed++;
	}
	return (come_true > 0 || (first && never > 1)) && come_true >= failed;
}

bool trace_records_are_oracle(const unsigned char *records, size_t size)
{
	size_t n = size / ORACLE_BYTES;

	return keeps_promises(records, n, 1) || keeps_promises(records, n, 0);
}
