/* SPDX-License-Identifier: MIT */
/*
 * `mtl doctor`: what mtld could do here, and why not more. The self-test is the daemon's own
 * (`mtld --self-test --json`), run as a child, so that no daemon has to be there. With --root it
 * speaks of the machine whose files lie there, by what they say.
 */

#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "curve_report.h"
#include "object.h"
#include "private_daemon.h"
#include "table.h"

#define ANSWER_MAX (1u << 20)
#define NONE "none"          /* the rung below all others: no sampling */
#define LOWEST "watchpoints" /* what all other rungs need too */

static void __attribute__((noreturn))
self_test_child(const char *program, int output, const struct options *options)
{
	const char *argv[DAEMON_ARGUMENTS_MAX] = {program, "--self-test", "--json"};

	dup2(output, STDOUT_FILENO);
	daemon_arguments(options, argv, 3);
	execv(program, (char *const *)argv);
	_exit(127);
}

static int read_all(int fd, char *buffer, size_t size)
{
	size_t length = 0;

	while (length < size - 1) {
		ssize_t n = read(fd, buffer + length, size - 1 - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		length += (size_t)n;
	}
	buffer[length] = '\0';
	return 0;
}

/* MTL_DONE; MTL_IMPOSSIBLE: the answer is there, and the rung asked for does not work. */
static int self_test(
        const char *program, const struct options *options, struct json_object **ret_answer)
{
	_cleanup_free_ char *text = malloc(ANSWER_MAX);
	struct process process = {0};
	char fate[80];
	int fds[2], r;

	if (!text || pipe2(fds, O_CLOEXEC) < 0)
		return complain(MTL_FAILED, "cannot start the self-test: %s", strerror(errno));
	r = process_fork(&process);
	if (r == 1)
		self_test_child(program, fds[1], options);
	close(fds[1]);
	r = r ?: read_all(fds[0], text, ANSWER_MAX);
	close(fds[0]);
	process_wait(&process, 30);
	process_end(&process, 2);
	*ret_answer = r < 0 ? NULL : json_tokener_parse(text);
	if (json_object_is_type(*ret_answer, json_type_object))
		return options->rung && WIFEXITED(process.status) ? WEXITSTATUS(process.status)
		                                                  : MTL_DONE;
	process_fate(&process, fate, sizeof(fate));
	return complain(MTL_FAILED, "the self-test of %s gave no answer: it %s", program, fate);
}

static bool rung_works(struct json_object *rung)
{
	return strcmp(object_text(rung, "works"), "true") == 0;
}

static struct json_object *rung_named(struct json_object *rungs, const char *name)
{
	for (size_t i = 0; i < json_object_array_length(rungs); i++) {
		struct json_object *rung = json_object_array_get_idx(rungs, i);

		if (strcmp(object_text(rung, "name"), name) == 0)
			return rung;
	}
	return NULL;
}

/* Appends what the rungs above the chosen one would add, as far as they do not work. Where nothing
 * works, what would mend that comes first, and is in the verdict. */
static void add_gains(struct json_object *rungs, const char *chosen, char *text, size_t size)
{
	if (strcmp(chosen, NONE) == 0)
		return;
	for (size_t i = 0; i < json_object_array_length(rungs); i++) {
		struct json_object *rung = json_object_array_get_idx(rungs, i);
		const char *name = object_text(rung, "name"), *gain = object_text(rung, "gain");

		if (strcmp(name, chosen) == 0)
			return;
		if (!rung_works(rung) && *gain)
			text_append(text, size, " The rung %s would add %s.", name, gain);
	}
}

/* Of a virtual machine files never tell whether its watchpoints fire. */
static bool only_a_try_tells(struct json_object *answer)
{
	struct json_object *processor;

	return json_object_object_get_ex(answer, "processor", &processor) &&
	       strcmp(object_text(processor, "virtual"), "true") == 0;
}

static void write_chosen(struct json_object *answer, struct json_object *rung, bool dump,
        char *ret_text, size_t size)
{
	const char *name = object_text(rung, "name");

	if (!dump)
		snprintf(ret_text, size, "Sampling works here: rung %s.", name);
	else if (only_a_try_tells(answer))
		snprintf(ret_text, size,
		        "Only a try there tells whether sampling works there (mtl doctor): it is a "
		        "virtual machine, and many hypervisors swallow watchpoints. Its files "
		        "promise "
		        "the rung %s.",
		        name);
	else
		snprintf(ret_text, size, "Sampling should work there: rung %s.", name);
	if (strcmp(object_text(rung, "run_on_hardware"), "false") == 0)
		text_append(ret_text, size,
		        " This rung has never yet been run on hardware: no machine that has it was "
		        "at "
		        "hand; `--rung " LOWEST "` does without it.");
}

/* "Sampling works here: rung watchpoints." or what keeps it from working. */
static void write_verdict(struct json_object *answer, struct json_object *rungs,
        const struct options *options, char *ret_text, size_t size)
{
	const char *chosen = object_text(answer, "chosen");
	bool dump = strcmp(object_text(answer, "tried"), "false") == 0;
	const char *where = dump ? "there" : "here";
	const char *wanted = options->rung && strcmp(options->rung, "auto") ? options->rung : NULL;
	struct json_object *rung = rung_named(rungs, wanted ?: LOWEST);
	const char *fix = object_text(rung, "fix");

	if (strcmp(chosen, NONE) != 0)
		write_chosen(answer, rung_named(rungs, chosen), dump, ret_text, size);
	else
		snprintf(ret_text, size, "%s%s %s %s: %s.%s%s%s", wanted ? "The rung " : "Sampling",
		        wanted ?: "", wanted ? "cannot be had" : "is impossible", where,
		        object_text(rung, "reason"), *fix ? " Fix: " : "", fix, *fix ? "." : "");
}

/* The rung whose reason and fix the verdict has told; NULL: none. */
static struct json_object *told_in_verdict(
        struct json_object *answer, struct json_object *rungs, const struct options *options)
{
	const char *wanted =
	        options->rung && strcmp(options->rung, "auto") ? options->rung : LOWEST;

	return strcmp(object_text(answer, "chosen"), NONE) ? NULL : rung_named(rungs, wanted);
}

static bool says_the_same(struct json_object *rung, struct json_object *other, const char *key)
{
	return strcmp(object_text(rung, key), object_text(other, key)) == 0;
}

static void show_verdict(struct json_object *answer, struct json_object *rungs,
        const struct options *options, const struct terminal *terminal)
{
	const char *chosen = object_text(answer, "chosen");
	char text[2048];

	write_verdict(answer, rungs, options, text, sizeof(text));
	add_gains(rungs, chosen, text, sizeof(text));
	if (terminal->is_terminal)
		wrap_words(text, terminal->width);
	printf("%s\n\n", text);
}

static int add_rung(
        struct table *table, struct json_object *rung, const char *chosen, struct json_object *told)
{
	const char *name = object_text(rung, "name");
	bool is_told =
	        told && says_the_same(rung, told, "reason") && says_the_same(rung, told, "fix");
	bool works = rung_works(rung), none = strcmp(name, NONE) == 0;
	const char *answer = works ? "yes" : "no", *used = strcmp(name, chosen) ? "" : "used";
	const char *cells[] = {name, none ? "" : answer, none ? "" : used,
	        is_told ? "see above" : object_text(rung, "reason")};
	int r = table_add(table, cells, !works);
	struct json_object *fix;

	if (r < 0 || (told && says_the_same(rung, told, "fix")) ||
	        !json_object_object_get_ex(rung, "fix", &fix) || !fix ||
	        !*json_object_get_string(fix))
		return r;
	const char *fix_cells[] = {"", "", "fix:", json_object_get_string(fix)};

	return table_add(table, fix_cells, false);
}

static int show(struct json_object *answer, const struct options *options)
{
	static const struct table_column columns[] = {
	        {"RUNG", LEFT, 0},
	        {"WORKS", LEFT, 0},
	        {"", LEFT, 0},
	        {"WHY", LEFT, 27},
	};
	_cleanup_(table_freep) struct table *table = NULL;
	struct terminal terminal = terminal_describe(stdout);
	const char *chosen = object_text(answer, "chosen");
	struct json_object *rungs;
	int r;

	if (!json_object_object_get_ex(answer, "rungs", &rungs) ||
	        !json_object_is_type(rungs, json_type_array))
		return -EBADMSG;
	show_verdict(answer, rungs, options, &terminal);
	r = table_new(columns, 4, &terminal, &table);
	for (size_t i = 0; r == 0 && i < json_object_array_length(rungs); i++)
		r = add_rung(table, json_object_array_get_idx(rungs, i), chosen,
		        told_in_verdict(answer, rungs, options));
	return r ?: table_print(table, stdout);
}

int command_doctor(const struct options *options, int n_operands, char **operands)
{
	_cleanup_(json_object_putp) struct json_object *answer = NULL;
	char program[PATH_MAX];
	int status, r;

	(void)n_operands, (void)operands;
	if (daemon_program(program) < 0)
		return complain(MTL_FAILED,
		        "the program mtld is not installed: looked beside mtl and "
		        "for %s",
		        program);
	status = self_test(program, options, &answer);
	if (!answer)
		return status;
	if (options->json) {
		json_output(stdout, answer);
		return status;
	}
	r = show(answer, options);
	return r < 0 ? complain(MTL_FAILED, "the self-test cannot be shown: %s", strerror(-r))
	             : status;
}
