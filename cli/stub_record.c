/* SPDX-License-Identifier: MIT */
/*
 * `mtl stub --from PID`: what a live process has, sampled into a data file.
 *
 * Stack is what is resident, or swapped out, of the mapping [stack]; heap the same of [heap] and of
 * all memory without a file: what malloc maps, and stacks of further threads. The parts of files
 * that it has changed are neither. Time is the CPU time of all of its threads, read from the
 * process's own CPU clock: that is what task-clock counts, but is there for everybody. A sample at
 * which nothing has changed makes no point; its time goes to the next one. What rises and falls
 * between two samples is not seen.
 */

#include "stub_record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "curve_report.h"
#include "json_fields.h"
#include "monotonic.h"
#include "size.h"
#include "stop_signals.h"
#include "stub_file.h"

#define INTERVAL 0.1
#define INTERVAL_LEAST 1e-3
#define NANO 1e9

/* --- one sample */

/* "7ffd1000-7ffd2000 rw-p 00000000 00:00 0    [stack]" */
static bool is_header(const char *line)
{
	size_t digits = strspn(line, "0123456789abcdef");

	return digits > 0 && line[digits] == '-';
}

/* Where a mapping counts, or NULL. */
static int64_t *place_of(const char *header, struct stub_memory *memory)
{
	int name = 0;

	sscanf(header, "%*s %*s %*s %*s %*s %n", &name);
	if (strncmp(header + name, "[stack]", 7) == 0)
		return &memory->stack_bytes;
	if (!name || !header[name] || header[name] == '\n' ||
	        strncmp(header + name, "[heap]", 6) == 0 || strncmp(header + name, "[anon", 5) == 0)
		return &memory->heap_bytes;
	return NULL;
}

int stub_memory_read(FILE *smaps, struct stub_memory *ret_memory)
{
	_cleanup_free_ char *line = NULL;
	struct stub_memory memory = {0};
	int64_t *place = NULL, kibibytes;
	bool any = false;
	size_t size = 0;

	while (getline(&line, &size, smaps) > 0) {
		if (is_header(line))
			place = place_of(line, &memory);
		else if (place && (sscanf(line, "Rss: %" SCNd64 " kB", &kibibytes) == 1 ||
		                          sscanf(line, "Swap: %" SCNd64 " kB", &kibibytes) == 1))
			*place += kibibytes * 1024;
		any = true;
	}
	if (!any)
		return -ENODATA;
	*ret_memory = memory;
	return 0;
}

struct subject {
	pid_t pid;
	clockid_t clock;
	const char *root;
};

struct sample {
	double seconds; /* CPU time */
	struct stub_memory memory;
};

static int take_sample(const struct subject *subject, struct sample *ret_sample)
{
	_cleanup_fclose_ FILE *smaps = NULL;
	char path[PATH_MAX];
	struct timespec now;
	int r;

	snprintf(path, sizeof(path), "%s/proc/%d/smaps", subject->root ?: "", (int)subject->pid);
	smaps = fopen(path, "re");
	if (!smaps)
		return -errno;
	r = stub_memory_read(smaps, &ret_sample->memory);
	if (r < 0)
		return r;
	if (clock_gettime(subject->clock, &now) < 0)
		return -ESRCH;
	ret_sample->seconds = (double)now.tv_sec + (double)now.tv_nsec / NANO;
	return 0;
}

/* --- points */

struct recording {
	struct stub_file file;
	struct sample last; /* that has made a point */
};

static int add_point(struct recording *recording, const struct sample *sample)
{
	const struct sample *last = &recording->last;
	const struct stub_row row = {
	        .seconds = fmax(0, sample->seconds - last->seconds),
	        .stack_bytes = sample->memory.stack_bytes - last->memory.stack_bytes,
	        .heap_bytes = sample->memory.heap_bytes - last->memory.heap_bytes,
	};
	int r = stub_file_add(&recording->file, &row);

	if (r == 0)
		recording->last = *sample;
	return r;
}

static bool has_changed(const struct recording *recording, const struct sample *sample)
{
	return recording->file.n == 0 ||
	       sample->memory.stack_bytes != recording->last.memory.stack_bytes ||
	       sample->memory.heap_bytes != recording->last.memory.heap_bytes;
}

/* true: a signal says that it is enough. */
static bool wait_for(int stop, double seconds)
{
	struct pollfd poll_fd = {.fd = stop, .events = POLLIN};
	struct timespec time = {(time_t)seconds, (long)(fmod(seconds, 1) * NANO)};

	return seconds > 0 ? ppoll(&poll_fd, 1, &time, NULL) > 0 : poll(&poll_fd, 1, 0) > 0;
}

/* Until the process ends, a signal comes or the time is over. */
static int sample_all(const struct subject *subject, const struct options *options, int stop,
        struct recording *recording)
{
	double interval =
	        fmax(isnan(options->interval) ? INTERVAL : options->interval, INTERVAL_LEAST);
	double start = monotonic_seconds(), due = start;
	struct sample sample;
	bool enough = false;
	int r;

	while ((r = take_sample(subject, &sample)) == 0) {
		if (recording->file.n == 0)
			recording->last.seconds = sample.seconds;
		due += interval;
		enough = enough || (!isnan(options->duration) && due > start + options->duration) ||
		         recording->file.n == STUB_ROWS_MAX - 1;
		if (has_changed(recording, &sample) || enough)
			r = add_point(recording, &sample);
		if (r < 0 || enough)
			return r;
		enough = wait_for(stop, due - monotonic_seconds());
	}
	return recording->file.n ? 0 : r;
}

/* --- output */

static void write_csv(const struct stub_file *file)
{
	printf("time_us,stack_bytes,heap_bytes\n");
	for (size_t i = 0; i < file->n; i++) {
		const struct stub_row *row = &file->rows[i];

		printf("%.3f,%" PRId64 ",%" PRId64 "\n", row->seconds * 1e6, row->stack_bytes,
		        row->heap_bytes);
	}
}

static int put_row(struct json_object *array, const struct stub_row *row)
{
	struct json_object *point = json_object_new_object();
	int r = mtl_json_append(array, point);

	r = r ?: mtl_json_put_number(point, "time_us", round(row->seconds * NANO) / 1e3);
	r = r ?: mtl_json_put_number(point, "stack_bytes", (double)row->stack_bytes);
	return r ?: mtl_json_put_number(point, "heap_bytes", (double)row->heap_bytes);
}

static int write_json(const struct stub_file *file)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	struct json_object *array = json_object_new_array();
	int r = object ? mtl_json_put(object, "points", array) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < file->n; i++)
		r = put_row(array, &file->rows[i]);
	if (r == 0)
		json_output(stdout, object);
	return r;
}

static int explain(int error, pid_t pid)
{
	if (error == -EACCES || error == -EPERM)
		return complain(MTL_FAILED,
		        "not permitted: memory of process %d is its owner's to see; ask as that "
		        "user, or as root",
		        (int)pid);
	if (error == -ENOENT || error == -ESRCH)
		return complain(MTL_FAILED,
		        "there is no process %d: it has ended, or the number is wrong", (int)pid);
	if (error == -ENODATA)
		return complain(MTL_FAILED,
		        "process %d has no memory of its own: a kernel thread, or one that has "
		        "ended",
		        (int)pid);
	return complain(MTL_FAILED, "cannot record process %d: %s", (int)pid, strerror(-error));
}

int stub_record(const struct options *options)
{
	struct subject subject = {.root = options->root};
	_cleanup_close_ int stop = -1;
	struct recording recording = {0};
	char error[128];
	sigset_t mask;
	int r;

	if (pid_parse(options->from, &subject.pid, error, sizeof(error)) < 0)
		return complain(MTL_USAGE, "stub: --from: %s", error);
	stop = stop_signals_catch(&mask);
	r = stop < 0 ? stop : -clock_getcpuclockid(subject.pid, &subject.clock);
	r = r ?: sample_all(&subject, options, stop, &recording);
	if (r == 0 && options->json)
		r = write_json(&recording.file);
	else if (r == 0)
		write_csv(&recording.file);
	stub_file_done(&recording.file);
	return r < 0 ? explain(r, subject.pid) : MTL_DONE;
}
