/* SPDX-License-Identifier: MIT */
/*
 * `mtl trace --emit`: reads the trace into the engine of an emission, and writes what comes out of
 * it at the sizes or windows asked for, or at usual ones.
 */

#include "trace_emit.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "options.h"
#include "trace_curve.h"
#include "trace_emissions.h"

#define DECADES 54 /* thirds of them: up to 5e17 */

/* 1, 2, 5, 10 ... and the whole trace. */
static int default_windows(const struct trace_facts *facts, struct number_list *ret_windows)
{
	static const double steps[] = {1, 2, 5};
	double *values = calloc(DECADES + 1, sizeof(double)), most = (double)facts->accesses;
	size_t n = 0;

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < DECADES; i++) {
		double window = steps[i % 3] * pow(10, (double)(i / 3));

		if (window < most)
			values[n++] = window;
	}
	values[n++] = most;
	*ret_windows = (struct number_list){values, n};
	return 0;
}

static int copy_list(const struct number_list *from, struct number_list *ret_list)
{
	double *values = calloc(from->n, sizeof(double));

	if (!values)
		return -ENOMEM;
	memcpy(values, from->values, from->n * sizeof(double));
	*ret_list = (struct number_list){values, from->n};
	return 0;
}

static int choose_windows(const struct options *options, struct emission_input *input)
{
	return options->windows.n ? copy_list(&options->windows, &input->at)
	                          : default_windows(input->facts, &input->at);
}

static const char *windows_note(const struct emission_input *input, char *ret_text, size_t size)
{
	uint64_t accesses = input->facts->accesses;

	if (input->at.values[input->at.n - 1] <= (double)accesses)
		return NULL;
	snprintf(ret_text, size,
	        "windows longer than the trace, %" PRIu64 " accesses, have no footprint", accesses);
	return ret_text;
}

static int choose_sizes(const struct options *options, struct emission_input *input)
{
	int r = trace_sizes(input->facts, &options->sizes, &input->at);

	if (r < 0)
		return r;
	input->lines = trace_sizes_in_lines(input->facts, &input->at);
	return input->lines ? 0 : -ENOMEM;
}

static int ask_method(struct emission_input *input)
{
	size_t n = input->at.n;
	int r;

	input->ratios = calloc(n, sizeof(double));
	input->times = calloc(n, sizeof(double));
	if (!input->ratios || !input->times)
		return -ENOMEM;
	r = trace_method_miss_ratios(&input->method, input->engine, input->lines, n, input->ratios);
	return r
	               ?: trace_method_easton_fagin(
	                          &input->method, input->engine, input->lines, n, input->times);
}

static int fill_rows(const struct emission_input *input, struct trace_numbers *numbers)
{
	numbers->n_rows = input->at.n;
	numbers->cells = calloc(input->at.n, numbers->n_columns * sizeof(double));
	if (!numbers->cells)
		return -ENOMEM;
	for (size_t i = 0; i < input->at.n; i++)
		input->emission->row(input, i, &numbers->cells[i * numbers->n_columns]);
	return 0;
}

static void input_done(struct emission_input *input)
{
	free(input->at.values);
	free(input->lines);
	free(input->ratios);
	free(input->times);
}

static int write_numbers(const struct options *options, struct emission_input *input)
{
	const struct trace_emission *emission = input->emission;
	struct trace_numbers numbers = {
	        .facts = input->facts,
	        .name = emission->name,
	        .method = emission->by_method ? input->method.name : NULL,
	        .columns = emission->columns,
	        .infinite = NAN,
	};
	char note[128];
	int r = 0;

	while (numbers.n_columns < NUMBERS_COLUMNS_MAX && emission->columns[numbers.n_columns])
		numbers.n_columns++;
	if (emission->rows == ROWS_WINDOWS)
		r = choose_windows(options, input);
	if (emission->rows == ROWS_SIZES)
		r = choose_sizes(options, input);
	if (r == 0 && emission->rows == ROWS_WINDOWS)
		numbers.note = windows_note(input, note, sizeof(note));
	if (r == 0 && emission->by_method)
		r = ask_method(input);
	if (r == 0)
		r = emission->all ? emission->all(input, &numbers) : fill_rows(input, &numbers);
	r = r ?: trace_numbers_write(stdout, &numbers, options);
	free(numbers.cells);
	return r;
}

static int write_sequence(const struct options *options, const struct emission_input *input)
{
	enum trace_form form = options->json ? FORM_JSON : options->csv ? FORM_CSV : FORM_TEXT;

	return trace_sequence_write(
	        stdout, input->emission->sequence, form, input->facts, input->engine->object);
}

static int refuse(const char *option, const struct trace_emission *emission)
{
	return complain(
	        MTL_USAGE, "trace: --%s does not go with --emit %s", option, emission->name);
}

/* An option that would be without effect is a mistake. */
static int check_options(const struct options *options, const struct trace_emission *emission)
{
	if (options->sizes.n && emission->rows != ROWS_SIZES)
		return refuse("sizes", emission);
	if (options->windows.n && emission->rows != ROWS_WINDOWS)
		return refuse("windows", emission);
	if (options->method.kind && !emission->by_method)
		return refuse("method", emission);
	return MTL_DONE;
}

static struct engine_wish wish_of(const struct emission_input *input)
{
	if (input->emission->by_method)
		return trace_method_wish(&input->method, input->facts->line_bytes);
	return (struct engine_wish){
	        .type = input->emission->engine,
	        .line_bytes = input->facts->line_bytes,
	};
}

int trace_emit(const struct options *options, const char *path)
{
	_cleanup_(trace_session_done) struct trace_session session = {0};
	_cleanup_(input_done) struct emission_input input = {
	        .emission = options->emission,
	        .facts = &session.facts,
	        .method = trace_method_chosen(&options->method),
	};
	struct engine_wish wish;
	int code = check_options(options, input.emission), r;

	code = code ?: trace_session_open(options, path, &session);
	if (code != MTL_DONE)
		return code;
	wish = wish_of(&input);
	code = trace_session_run(&session, &wish, 1);
	if (code != MTL_DONE)
		return code;
	if (options->json || options->csv || input.emission->rows == ROWS_SEQUENCE)
		trace_say_note(&session.facts);
	input.engine = trace_pass_engine(session.pass, 0);
	r = input.emission->rows == ROWS_SEQUENCE ? write_sequence(options, &input)
	                                          : write_numbers(options, &input);
	if (r < 0 && ferror(stdout))
		return MTL_FAILED;
	if (r < 0)
		return complain(MTL_FAILED, "cannot emit %s of %s: %s", input.emission->name,
		        session.facts.name, strerror(-r));
	return MTL_DONE;
}
