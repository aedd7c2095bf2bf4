/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "trace_formats.h"
int trace_parse_perf(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n)
{
	(void)accesses, (void)most, (void)ret_n;
	return trace_fail(-ENOSYS, reader->error, reader->error_size,
	        "%s: perf script is not read yet", reader->name);
}
bool trace_line_is_perf(const unsigned char *line, size_t length)
{
	return length && line[0] == 0;
}
