/* SPDX-License-Identifier: MIT */
/*
 * --emit ai|rt|rd|pd-rt|pd-rd: the sequences of a trace, by the conversions of the library.
 *
 * Everything comes by way of AI. At the most there are, 8 bytes an access each: lines, AI and the
 * table that made it from them; or AI, a reuse sequence and what orders it by datum. That is five
 * times the lines.
 *
 * Text is one value a line, or one datum a line: its number, the time of its first access, its
 * reuses. CSV has a header line, and for per-datum sequences one value a row. Never is inf, nothing
 * and null.
 */

#include "trace_emit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cleanup.h"
#include "mtl.h"
#include "trace_session.h"

DEFINE_CLEANUP(struct mtl_per_datum, mtl_per_datum_free)

struct sequence_kind {
	const char *name;
	int (*from_ai)(const uint64_t *ai, size_t n, uint64_t *ret_sequence); /* NULL: AI itself */
	int (*per_datum)(const uint64_t *sequence, size_t n, struct mtl_per_datum **ret_per_datum);
};

static const struct sequence_kind kinds[] = {
        [SEQUENCE_AI] = {"ai", NULL, NULL},
        [SEQUENCE_RT] = {"rt", mtl_rt_from_ai, NULL},
        [SEQUENCE_RD] = {"rd", mtl_rd_from_ai, NULL},
        [SEQUENCE_PD_RT] = {"pd-rt", mtl_rt_from_ai, mtl_per_datum_from_rt},
        [SEQUENCE_PD_RD] = {"pd-rd", mtl_rd_from_ai, mtl_per_datum_from_rd},
};

static const char *const nevers[] = {[FORM_TEXT] = "inf", [FORM_CSV] = "", [FORM_JSON] = "null"};

static void write_value(FILE *file, enum trace_form form, uint64_t value)
{
	if (value == MTL_NEVER)
		fputs(nevers[form], file);
	else
		fprintf(file, "%" PRIu64, value);
}

static void write_json_begin(FILE *file, const struct trace_facts *facts, const char *name)
{
	fprintf(file,
	        "{\"accesses\":%" PRIu64 ",\"distinct\":%.0f,\"cold\":%.0f,\"line_bytes\":%" PRIu32
	        ",\"emit\":\"%s\",\"values\":[",
	        facts->accesses, facts->distinct, facts->distinct, facts->line_bytes, name);
}

static void write_values(FILE *file, const struct sequence_kind *kind, enum trace_form form,
        const struct trace_facts *facts, const uint64_t *values, size_t n)
{
	const char *end = form == FORM_JSON ? "" : "\n";

	if (form == FORM_JSON)
		write_json_begin(file, facts, kind->name);
	if (form == FORM_CSV)
		fprintf(file, "%s\n", kind->name);
	for (size_t i = 0; i < n && !ferror(file); i++) {
		if (i && form == FORM_JSON)
			fputc(',', file);
		write_value(file, form, values[i]);
		fputs(end, file);
	}
	if (form == FORM_JSON)
		fputs("]}\n", file);
}

static void write_datum_rows(FILE *file, const struct mtl_per_datum *data, size_t e)
{
	for (size_t i = data->start[e]; i < data->start[e + 1]; i++)
		fprintf(file, "%zu,%zu,%" PRIu64 "\n", e + 1, i - data->start[e] + 1,
		        data->values[i]);
}

static void write_datum_line(FILE *file, const struct mtl_per_datum *data, size_t e)
{
	fprintf(file, "%zu", e + 1);
	for (size_t i = data->start[e]; i < data->start[e + 1]; i++)
		fprintf(file, " %" PRIu64, data->values[i]);
	fputc('\n', file);
}

static void write_datum_array(FILE *file, const struct mtl_per_datum *data, size_t e)
{
	fputs(e ? ",[" : "[", file);
	for (size_t i = data->start[e]; i < data->start[e + 1]; i++)
		fprintf(file, "%s%" PRIu64, i > data->start[e] ? "," : "", data->values[i]);
	fputc(']', file);
}

static void write_per_datum(FILE *file, const struct sequence_kind *kind, enum trace_form form,
        const struct trace_facts *facts, const struct mtl_per_datum *data)
{
	static void (*const writers[])(FILE *, const struct mtl_per_datum *, size_t) = {
	        [FORM_TEXT] = write_datum_line,
	        [FORM_CSV] = write_datum_rows,
	        [FORM_JSON] = write_datum_array,
	};

	if (form == FORM_JSON)
		write_json_begin(file, facts, kind->name);
	if (form == FORM_CSV)
		fputs("datum,access,value\n", file);
	for (size_t e = 0; e < data->data && !ferror(file); e++)
		writers[form](file, data, e);
	if (form == FORM_JSON)
		fputs("]}\n", file);
}

/* AI, and out of it the sequence; each stage frees what it does not need any more. */
static int convert(const struct sequence_kind *kind, struct line_sequence *lines,
        uint64_t **ret_values, uint64_t *ret_data)
{
	_cleanup_free_ uint64_t *ai = calloc(lines->n, sizeof(*ai)), *values = NULL;
	int r = ai ? mtl_ai_from_data(lines->lines, lines->n, ai) : -ENOMEM;

	if (r < 0)
		return r;
	free(TAKE_PTR(lines->lines));
	for (size_t i = 0; i < lines->n; i++)
		*ret_data = ai[i] > *ret_data ? ai[i] : *ret_data;
	if (!kind->from_ai) {
		*ret_values = TAKE_PTR(ai);
		return 0;
	}
	values = calloc(lines->n, sizeof(*values));
	r = values ? kind->from_ai(ai, lines->n, values) : -ENOMEM;
	if (r == 0)
		*ret_values = TAKE_PTR(values);
	return r;
}

int trace_sequence_write(FILE *file, enum trace_sequence sequence, enum trace_form form,
        const struct trace_facts *facts, struct line_sequence *lines)
{
	const struct sequence_kind *kind = &kinds[sequence];
	_cleanup_(mtl_per_datum_freep) struct mtl_per_datum *per_datum = NULL;
	_cleanup_free_ uint64_t *values = NULL;
	struct trace_facts known = *facts;
	uint64_t data = 0;
	int r = convert(kind, lines, &values, &data);

	known.distinct = (double)data;
	if (r == 0 && kind->per_datum)
		r = kind->per_datum(values, lines->n, &per_datum);
	if (r < 0)
		return r;
	if (per_datum)
		write_per_datum(file, kind, form, &known, per_datum);
	else
		write_values(file, kind, form, &known, values, lines->n);
	return ferror(file) ? -EIO : 0;
}
