/* SPDX-License-Identifier: MIT */
/*
 * `mtl stub FILE`: replays the memory behaviour of a data file. Needs neither mtld nor root.
 *
 * Reading order: this file, stub_file.c with stub_columns.c (the data file), stub_run.c (the
 * algorithm; stack, heap, phases and clock are in stub_stack.c, stub_heap.c, stub_phase.c and
 * stub_clock.c), stub_calibration.c (what its steps take), stub_report.c; --emit-truth is
 * stub_truth.c, --from stub_record.c.
 */

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cleanup.h"
#include "curve_report.h"
#include "json_fields.h"
#include "options.h"
#include "stub_file.h"
#include "stub_record.h"
#include "stub_report.h"
#include "stub_truth.h"
#include "terminal.h"
#include "trace_memory.h"

#define STANDARD_OUTPUT "-"

static int shown(int r, const char *what)
{
	if (r < 0 && ferror(stdout))
		return MTL_FAILED;
	return r < 0 ? complain(MTL_FAILED, "cannot show the %s: %s", what, strerror(-r))
	             : MTL_DONE;
}

static int write_object(const char *path, struct json_object *object)
{
	_cleanup_fclose_ FILE *file = NULL;

	if (strcmp(path, STANDARD_OUTPUT) == 0) {
		json_output(stdout, object);
		return MTL_DONE;
	}
	file = fopen(path, "we");
	if (file)
		json_output(file, object);
	if (!file || fflush(file) != 0)
		return complain(MTL_FAILED, "cannot write %s: %s", path, strerror(errno));
	return MTL_DONE;
}

static int emit_truth(const struct options *options, const char *name, const struct stub_file *file)
{
	_cleanup_(stub_truth_freep) struct stub_truth *truth = NULL;
	_cleanup_json_ struct json_object *object = NULL;
	int r = stub_truth_new(file, options->repeat, &truth);

	if (r == -ENODATA)
		return complain(MTL_FAILED, "%s has no access phase, so there is no curve", name);
	if (r == -EDOM)
		return complain(MTL_FAILED,
		        "%s: a random phase of few repeats has no curve in closed form where it "
		        "goes on beside others: give it 30",
		        name);
	if (r == -ERANGE)
		return complain(MTL_FAILED, "%s: it has more accesses than 2^53", name);
	r = r ?: stub_truth_to_json(truth, &object);
	if (r < 0)
		return complain(MTL_FAILED, "cannot make a curve of %s: %s", name, strerror(-r));
	return write_object(options->emit_truth, object);
}

/* --- calibration */

static int calibrate(
        const struct options *options, struct stub_calibration *ret_calibration, char *ret_path)
{
	int kept, r = stub_calibrate(options->calibrate, ret_calibration, ret_path, &kept);

	if (r < 0)
		return complain(MTL_FAILED, "cannot calibrate: %s", strerror(-r));
	if (kept < 0)
		complain(MTL_DONE, "note: the calibration is not kept in %s: %s", ret_path,
		        strerror(-kept));
	return MTL_DONE;
}

static int show_calibration(const struct options *options)
{
	_cleanup_json_ struct json_object *object = NULL;
	struct stub_calibration calibration;
	char path[PATH_MAX];
	int r = calibrate(options, &calibration, path);

	if (r != MTL_DONE)
		return r;
	if (!options->json)
		return shown(stub_calibration_show(stdout, &calibration, path), "calibration");
	r = stub_calibration_to_json(&calibration, &object);
	if (r == 0)
		json_output(stdout, object);
	return shown(r, "calibration");
}

/* --- running a file */

static int show_result(const struct options *options, const struct stub_result *result)
{
	_cleanup_json_ struct json_object *object = NULL;
	int r;

	if (!options->json)
		return stub_result_show(stdout, result, options->verify);
	r = stub_result_to_json(result, &object);
	if (r == 0)
		json_output(stdout, object);
	return r;
}

/* What is run for the first time takes longer. */
static int warm_up(const struct stub_program *program)
{
	static const struct stub_row rows[] = {{.stack_bytes = 300},
	        {.stack_bytes = 100, .heap_bytes = 200}, {.stack_bytes = -100, .heap_bytes = -40},
	        {.stack_bytes = -300, .heap_bytes = -160}};
	struct stub_measure measures[4];
	struct stub_program small = {rows, 4, 4, program->overhead, program->costs};
	struct stub_times times;

	return stub_run(&small, measures, &times);
}

static int run_file(const struct options *options, const char *name, const struct stub_file *file,
        const struct stub_calibration *calibration)
{
	const struct stub_costs *costs = options->no_calibration ? NULL : &calibration->costs;
	struct stub_program program = {
	        file->rows, file->n, options->repeat, calibration->overhead, costs};
	struct stub_result result = {
	        .file = file, .repeat = options->repeat, .calibration = costs ? calibration : NULL};
	_cleanup_free_ struct stub_measure *measures = calloc(file->n, sizeof(*measures));
	int r = measures ? warm_up(&program) : -ENOMEM;

	result.measures = measures;
	r = r ?: stub_run(&program, measures, &result.times);
	if (r < 0)
		return complain(MTL_FAILED, "cannot run %s: %s", name, strerror(-r));
	return shown(show_result(options, &result), "result");
}

/* What `ulimit -v` leaves. */
static uint64_t address_space(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/statm", "re");
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	unsigned long long pages = 0, used;

	getrlimit(RLIMIT_AS, &limit);
	if (limit.rlim_cur == RLIM_INFINITY || !file || fscanf(file, "%llu", &pages) != 1)
		return UINT64_MAX;
	used = pages * (unsigned long long)sysconf(_SC_PAGESIZE);
	return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

/* All that can be wrong is said before anything is allocated. */
static int check_file(const struct options *options, const char *name, const struct stub_file *file,
        struct stub_needs *ret_needs)
{
	struct stub_limits limits = {stub_stack_limit(), memory_available(options->root)};
	uint64_t space = address_space();
	char error[512];

	limits.memory_bytes = space < limits.memory_bytes ? space : limits.memory_bytes;
	if (stub_file_check(file, options->repeat, &limits, ret_needs, error, sizeof(error)) < 0)
		return complain(MTL_FAILED, "%s: %s", name, error);
	return MTL_DONE;
}

static int play(const struct options *options, const char *name, const struct stub_file *file,
        const struct stub_needs *needs)
{
	struct stub_calibration calibration;
	char path[PATH_MAX];
	int r = stub_stack_reserve(needs->stack_bytes, file->n);

	if (r < 0)
		return complain(MTL_FAILED, "cannot have so much stack: %s", strerror(-r));
	r = calibrate(options, &calibration, path);
	if (r == MTL_DONE && options->calibrate && !options->json)
		r = shown(stub_calibration_show(stdout, &calibration, path), "calibration");
	return r == MTL_DONE ? run_file(options, name, file, &calibration) : r;
}

static int replay(const struct options *options, const char *path)
{
	_cleanup_(stub_file_done) struct stub_file file = {0};
	char name[NAME_SHOWN], error[512];
	struct stub_needs needs;
	int r;

	show_name(path, name, sizeof(name));
	if (stub_file_read(path, &file, error, sizeof(error)) < 0)
		return complain(MTL_FAILED, "%s: %s", name, error);
	r = check_file(options, name, &file, &needs);
	if (r == MTL_DONE && options->emit_truth)
		r = emit_truth(options, name, &file);
	if (r != MTL_DONE ||
	        (options->emit_truth && strcmp(options->emit_truth, STANDARD_OUTPUT) == 0))
		return r;
	return play(options, name, &file, &needs);
}

/* Memory as it is asked for: pages of 4K, given back at once. */
static void set_up(void)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	stub_heap_setup();
}

int command_stub(const struct options *options, int n_operands, char **operands)
{
	if (options->from && n_operands)
		return complain(MTL_USAGE, "stub: --from PID makes a file and takes none");
	if (options->from)
		return stub_record(options);
	if (!n_operands && !options->calibrate)
		return complain(MTL_USAGE, "stub: FILE is missing; see `mtl stub --help`");
	set_up();
	return n_operands ? replay(options, operands[0]) : show_calibration(options);
}
