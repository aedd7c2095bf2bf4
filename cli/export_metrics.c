/* SPDX-License-Identifier: MIT */
/*
 * Metrics, from tables: each row is a family, with its type, unit and help and where its samples
 * come from. The two forms differ in the type line of what only OpenMetrics has (info, stateset are
 * gauges in the other), in the name a counter's family has, in unit lines and in the end.
 *
 * A value that is unknown, and a point of a curve that is not to be relied on, have no sample: what
 * a graph then shows is a gap, not a zero. A family without samples does not appear.
 *
 * Labels are pid, comm, size_bytes, level, cache and what pods and containers are called: as many
 * as there are processes and sizes, of which the number is bounded.
 */

#include "export_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "words.h"

#define LABELS 512
#define N_OF(array) (sizeof(array) / sizeof(*(array)))

enum metric_type { GAUGE, COUNTER, INFO, STATESET };

struct family {
	const char *name; /* without "_total" and "_info" */
	enum metric_type type;
	const char *unit; /* NULL: none */
	const char *help;
};

struct writer {
	FILE *file;
	bool openmetrics;
	const struct export_state *state;
	const struct family *open; /* whose head is written */
};

/* --- the form */

static const struct {
	const char *name, *as_text, *suffix; /* of samples; in the text form of the family too */
} types[] = {
        [GAUGE] = {"gauge", "gauge", ""},
        [COUNTER] = {"counter", "counter", "_total"},
        [INFO] = {"info", "gauge", "_info"},
        [STATESET] = {"stateset", "gauge", ""},
};

static void write_head(struct writer *writer, const struct family *family)
{
	const char *suffix = writer->openmetrics ? "" : types[family->type].suffix;

	writer->open = family;
	fprintf(writer->file, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, suffix,
	        family->help, family->name, suffix,
	        writer->openmetrics ? types[family->type].name : types[family->type].as_text);
	if (writer->openmetrics && family->unit)
		fprintf(writer->file, "# UNIT %s %s\n", family->name, family->unit);
}

/* labels: "a=\"b\",c=\"d\"" or "". */
static void sample(
        struct writer *writer, const struct family *family, const char *labels, double value)
{
	char number[NUMBER_TEXT];

	if (!isfinite(value))
		return;
	if (writer->open != family)
		write_head(writer, family);
	fprintf(writer->file, "%s%s%s%s%s %s\n", family->name, types[family->type].suffix,
	        *labels ? "{" : "", labels, *labels ? "}" : "", mtl_number_text(value, number));
}

/* One more label; an empty value is no label. Control characters and what is not UTF-8 are '?'. */
static void add_label(char *labels, const char *name, const char *value)
{
	char clean[192], *to;
	size_t used = strlen(labels);

	mtl_name_text(value, clean, sizeof(clean));
	if (!*clean || used + strlen(name) + 2 * strlen(clean) + 8 > LABELS)
		return;
	to = labels + used;
	to += sprintf(to, "%s%s=\"", used ? "," : "", name);
	for (const char *from = clean; *from; from++) {
		if (*from == '\\' || *from == '"')
			*to++ = '\\';
		*to++ = *from;
	}
	strcpy(to, "\"");
}

static void add_size(char *labels, double size)
{
	char text[32];

	snprintf(text, sizeof(text), "%.0f", size);
	add_label(labels, "size_bytes", text);
}

/* Of each process, on all its samples. */
static void process_labels(const struct export_process *process, char ret_labels[LABELS])
{
	char pid[16];

	*ret_labels = '\0';
	snprintf(pid, sizeof(pid), "%d", process->pid);
	add_label(ret_labels, "pid", pid);
	add_label(ret_labels, "comm", object_text(process->process, "comm"));
}

/* --- of mtld */

/* A family whose samples are one member of an answer each. */
struct figure {
	struct family family;
	const char *member;
};

static const struct family up = {
        "mtl_up", GAUGE, NULL, "Whether mtld answered the last time it was asked: 1 yes, 0 no."};

static const struct family export_build = {"mtl_export_build", INFO, NULL, "What answers here."};

static const struct family daemon_itself = {"mtl_daemon", INFO, NULL, "The mtld that was asked."};

static const struct family daemon_rung = {"mtl_daemon_rung", STATESET, NULL,
        "Rung of the ladder that mtld measures on: 1 that one, 0 the others."};

static const struct family left_out = {"mtl_export_left_out_processes", GAUGE, NULL,
        "Tracked processes that are not here because there are more than --top."};

static const struct family cache_size = {"mtl_cache_size_bytes", GAUGE, "bytes",
        "Size of the caches of this machine, as mtl knows it."};

static const char *const rungs[] = {"none", "watchpoints", "counters", "ibs", "pebs", NULL};

static const struct figure of_daemon[] = {
        {{"mtl_daemon_uptime_seconds", GAUGE, "seconds", "Time since mtld began."},
                "uptime_seconds"},
        {{"mtl_daemon_cpu_ratio", GAUGE, "ratio",
                 "Share of one core that mtld used over the last seconds."},
                "daemon_cpu"},
        {{"mtl_daemon_cpu_limit_ratio", GAUGE, "ratio",
                 "Share of one core that mtld may use: max_daemon_cpu."},
                "max_daemon_cpu"},
        {{"mtl_overhead_limit_ratio", GAUGE, "ratio",
                 "Share of a process's CPU time that watching it may cost: max_overhead."},
                "max_overhead"},
        {{"mtl_daemon_tracked_processes", GAUGE, NULL, "Processes that mtld tracks."}, "processes"},
        {{"mtl_daemon_tracked_processes_limit", GAUGE, NULL,
                 "Processes that mtld tracks at most: max_processes."},
                "max_processes"},
        {{"mtl_daemon_clients", GAUGE, NULL, "Connections to mtld, this one included."}, "clients"},
        {{"mtl_daemon_lost_samples", COUNTER, NULL,
                 "Samples of all processes that could not be delivered to mtld."},
                "lost"},
};

/* One sample a name, 1 for the one that is. The label is called like the family: so says the
 * standard. */
static void states(struct writer *writer, const struct family *family, const char *labels,
        const char *const *names, const char *is)
{
	for (size_t i = 0; names[i]; i++) {
		char all[LABELS];

		strcpy(all, labels);
		add_label(all, family->name, names[i]);
		sample(writer, family, all, strcmp(names[i], is) == 0);
	}
}

static void write_caches(struct writer *writer)
{
	const struct cache_geometry *caches = &writer->state->caches;

	for (size_t i = 0; i < caches->n; i++) {
		char labels[LABELS] = "", level[16];

		snprintf(level, sizeof(level), "L%u", caches->levels[i].level);
		add_label(labels, "level", level);
		sample(writer, &cache_size, labels,
		        caches->levels[i].size_bytes > 0 ? caches->levels[i].size_bytes : NAN);
	}
}

static void write_daemon(struct writer *writer)
{
	struct json_object *status = writer->state->status;
	char labels[LABELS] = "";

	add_label(labels, "version", MTL_VERSION);
	sample(writer, &export_build, labels, 1);
	sample(writer, &up, "", writer->state->up);
	write_caches(writer);
	if (!writer->state->up)
		return;
	*labels = '\0';
	add_label(labels, "version", object_text(status, "version"));
	sample(writer, &daemon_itself, labels, 1);
	states(writer, &daemon_rung, "", rungs, object_text(status, "rung"));
	for (size_t i = 0; i < N_OF(of_daemon); i++)
		sample(writer, &of_daemon[i].family, "",
		        object_number(status, of_daemon[i].member));
	sample(writer, &left_out, "", (double)writer->state->left_out);
}

/* --- of processes */

static const struct family process_itself = {"mtl_process", INFO, NULL,
        "A tracked process, and the pod and container it runs in, if any."};

static const struct family process_state = {
        "mtl_process_state", STATESET, NULL, "What mtld does with the process: 1 that, 0 not."};

static const struct family counted_misses = {"mtl_process_counted_misses_per_second", GAUGE, NULL,
        "Misses that the processor counted, per second of CPU time."};

static const char *const process_states[] = {"starting", "sampling", "paused", "exited", NULL};

static const struct figure of_process[] = {
        {{"mtl_process_threads", GAUGE, NULL, "Threads of the process."}, "threads"},
        {{"mtl_process_resident_bytes", GAUGE, "bytes", "Memory that is resident."},
                "resident_bytes"},
        {{"mtl_process_cpu_seconds", COUNTER, "seconds", "CPU time since it is tracked."},
                "cpu_seconds"},
        {{"mtl_process_tracked_seconds", GAUGE, "seconds", "Time since it is tracked."},
                "wall_seconds"},
        {{"mtl_process_observations", GAUGE, NULL, "Watched lines that the curve is made of."},
                "observations"},
        {{"mtl_process_needed_observations", GAUGE, NULL,
                 "Watched lines from which on there is a curve."},
                "observations_needed"},
        {{"mtl_process_page_births", COUNTER, NULL,
                 "Page faults that brought memory into being, since it is tracked."},
                "births"},
        {{"mtl_process_lost_samples", COUNTER, NULL,
                 "Samples that could not be delivered to mtld, since it is tracked."},
                "lost"},
        {{"mtl_process_overhead_ratio", GAUGE, "ratio",
                 "Estimated share of its CPU time that watching it costs."},
                "overhead_target"},
        {{"mtl_process_accesses_per_second", GAUGE, NULL,
                 "Memory accesses per second of CPU time, where they are counted."},
                "accesses_per_second"},
};

static const struct figure of_curve[] = {
        {{"mtl_process_footprint_bytes", GAUGE, "bytes",
                 "Memory touched within the longest trusted window."},
                "footprint_bytes"},
        {{"mtl_process_footprint_window_seconds", GAUGE, "seconds", "That window, in CPU time."},
                "footprint_window_seconds"},
        {{"mtl_process_resolution_bytes", GAUGE, "bytes",
                 "Smallest cache whose misses can be told."},
                "resolution_bytes"},
        {{"mtl_process_resolution_seconds", GAUGE, "seconds",
                 "Shortest window that can be trusted, in CPU time."},
                "resolution_seconds"},
        {{"mtl_process_effective_observations", GAUGE, NULL,
                 "Watched lines that the curve is worth, their weights considered."},
                "effective_observations"},
};

static const struct family curve_age = {
        "mtl_process_curve_age_seconds", GAUGE, "seconds", "Time since mtld gave the curve."};

static const struct figure of_point[] = {
        {{"mtl_process_misses_per_second", GAUGE, NULL,
                 "Misses in a cache of that size, per second of CPU time."},
                "misses_per_second"},
        {{"mtl_process_misses_low_per_second", GAUGE, NULL,
                 "Lower end of the 90 % interval of these misses."},
                "low"},
        {{"mtl_process_misses_high_per_second", GAUGE, NULL,
                 "Upper end of the 90 % interval of these misses."},
                "high"},
        {{"mtl_process_miss_ratio", GAUGE, "ratio",
                 "Misses per memory access in a cache of that size, where accesses are counted."},
                "miss_ratio"},
        {{"mtl_process_fill_time_seconds", GAUGE, "seconds",
                 "CPU time in which so much memory is touched."},
                "fill_time_seconds"},
};

static const struct {
	const char *member, *level;
} counted[] = {
        {"l1_misses_per_second", "L1"},
        {"l2_misses_per_second", "L2"},
        {"llc_misses_per_second", "LLC"},
};

/* A family's samples stand together, so each family goes through all processes. */
typedef void (*process_writer)(struct writer *writer, const struct export_process *process,
        const char *labels, const struct figure *figure);

static void write_processes(
        struct writer *writer, process_writer write, const struct figure *figures, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < writer->state->n; j++) {
			const struct export_process *process = &writer->state->processes[j];
			char labels[LABELS];

			process_labels(process, labels);
			write(writer, process, labels, figures ? &figures[i] : NULL);
		}
	}
}

static void write_itself(struct writer *writer, const struct export_process *process,
        const char *labels, const struct figure *figure)
{
	char all[LABELS];

	(void)figure;
	strcpy(all, labels);
	add_label(all, "pod_uid", process->pod.uid);
	add_label(all, "container_id", process->pod.container);
	add_label(all, "qos", process->pod.qos);
	sample(writer, &process_itself, all, 1);
}

static void write_state(struct writer *writer, const struct export_process *process,
        const char *labels, const struct figure *figure)
{
	(void)figure;
	states(writer, &process_state, labels, process_states,
	        object_text(process->process, "state"));
}

static void write_figure(struct writer *writer, const struct export_process *process,
        const char *labels, const struct figure *figure)
{
	sample(writer, &figure->family, labels, object_number(process->process, figure->member));
}

static void write_counted(struct writer *writer, const struct export_process *process,
        const char *labels, const struct figure *figure)
{
	(void)figure;
	for (size_t i = 0; i < N_OF(counted); i++) {
		char all[LABELS];

		strcpy(all, labels);
		add_label(all, "level", counted[i].level);
		sample(writer, &counted_misses, all,
		        object_number(process->process, counted[i].member));
	}
}

static void write_curve_figure(struct writer *writer, const struct export_process *process,
        const char *labels, const struct figure *figure)
{
	if (process->curve)
		sample(writer, &figure->family, labels,
		        object_number(process->curve, figure->member));
}

static void write_age(struct writer *writer, const struct export_process *process,
        const char *labels, const struct figure *figure)
{
	(void)figure;
	if (process->curve)
		sample(writer, &curve_age, labels, fmax(0, writer->state->now - process->asked));
}

static bool is_trusted(struct json_object *point)
{
	struct json_object *below;

	return point && !(json_object_object_get_ex(point, "below_resolution", &below) &&
	                        json_object_get_boolean(below));
}

static void write_points(struct writer *writer, const struct export_process *process,
        const char *labels, const struct figure *figure)
{
	const struct number_list *sizes = &writer->state->sizes;

	for (size_t i = 0; i < sizes->n; i++) {
		struct json_object *point = export_point(process, sizes->values[i]);
		char all[LABELS];

		if (!is_trusted(point))
			continue;
		strcpy(all, labels);
		add_size(all, sizes->values[i]);
		sample(writer, &figure->family, all, object_number(point, figure->member));
	}
}

struct json_object *export_point(const struct export_process *process, double size)
{
	struct json_object *points;

	if (!process->curve || !json_object_object_get_ex(process->curve, "points", &points) ||
	        !json_object_is_type(points, json_type_array))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(points); i++) {
		struct json_object *point = json_object_array_get_idx(points, i);

		if (json_object_is_type(point, json_type_object) &&
		        object_number(point, "size_bytes") == size)
			return point;
	}
	return NULL;
}

int export_metrics(
        const struct export_state *state, bool openmetrics, char **ret_text, size_t *ret_length)
{
	struct writer writer = {.openmetrics = openmetrics, .state = state};
	char *text = NULL;
	size_t length;

	writer.file = open_memstream(&text, &length);
	if (!writer.file)
		return -errno;
	write_daemon(&writer);
	write_processes(&writer, write_itself, NULL, 1);
	write_processes(&writer, write_state, NULL, 1);
	write_processes(&writer, write_figure, of_process, N_OF(of_process));
	write_processes(&writer, write_counted, NULL, 1);
	write_processes(&writer, write_curve_figure, of_curve, N_OF(of_curve));
	write_processes(&writer, write_age, NULL, 1);
	write_processes(&writer, write_points, of_point, N_OF(of_point));
	if (openmetrics)
		fputs("# EOF\n", writer.file);
	if (fclose(writer.file) != 0) {
		free(text);
		return -ENOMEM;
	}
	*ret_text = text;
	*ret_length = length;
	return 0;
}
