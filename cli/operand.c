/* SPDX-License-Identifier: MIT */
/*
 * What an operand stands for, by how it looks; the first that fits:
 *
 *     digits alone           a process
 *     resctrl:NAME           a group of resctrl: CTRL, CTRL/mon_groups/MON, mon_groups/MON, or /
 *     cgroup:PATH            a control group, whatever else is called so
 *     a file                 a saved curve, also where a control group has the name
 *     a control group        all its processes, those of the groups below it too
 *
 * So ./12 is the file 12, and cgroup:12 the control group. Files are as given; all else is below
 * --root.
 *
 * Names: a process's number; a file's name without .json; the last part of a control group's path,
 * or all of it where two end alike; a resctrl group's name.
 */

#include "operand.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "cleanup.h"
#include "resctrl.h"
#include "size.h"
#include "terminal.h"

#define ENDING ".json"

/* What follows a prefix, or NULL. */
static const char *after(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

const char *operand_cgroup(const char *text)
{
	return after(text, "cgroup:");
}

/* a/b.json -> b; a name that is nothing but the ending stays. */
static char *last_part(const char *path, const char *ending)
{
	size_t end = strlen(path), length;
	const char *start;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (start = path + end; start > path && start[-1] != '/';)
		start--;
	length = (size_t)(path + end - start);
	if (length > strlen(ending) &&
	        strncmp(start + length - strlen(ending), ending, strlen(ending)) == 0)
		length -= strlen(ending);
	return length ? strndup(start, length) : strdup("/");
}

static int name_it(struct operand *operand, char *name)
{
	operand->name = name;
	return name ? MTL_DONE : complain(MTL_FAILED, "out of memory");
}

static int as_process(struct operand *operand)
{
	char error[256];

	operand->kind = DEMAND_PROCESS;
	if (pid_parse(operand->text, &operand->pid, error, sizeof(error)) < 0)
		return complain(MTL_USAGE, "%s", error);
	return name_it(operand, strdup(operand->text));
}

/* One directory: neither "." nor "..", which would give a group a second name. */
static bool is_part(const char *text, size_t length)
{
	bool dots = length <= 2 && strspn(text, ".") >= length;

	return length > 0 && !memchr(text, '/', length) && !dots;
}

/* CTRL, CTRL/mon_groups/MON, mon_groups/MON, or nothing: the default group. */
static bool is_group_path(const char *path)
{
	const char *monitor = after(path, "mon_groups/");
	size_t length = strcspn(path, "/");

	if (!*path || monitor)
		return !monitor || is_part(monitor, strlen(monitor));
	monitor = after(path + length, "/mon_groups/");
	return is_part(path, length) &&
	       (!path[length] || (monitor && is_part(monitor, strlen(monitor))));
}

static int as_resctrl(struct operand *operand, const char *group)
{
	char shown[NAME_SHOWN];
	size_t length;

	operand->kind = DEMAND_RESCTRL;
	group += strspn(group, "/");
	length = strlen(group);
	while (length > 0 && group[length - 1] == '/')
		length--;
	snprintf(operand->path, sizeof(operand->path), "%.*s", (int)length, group);
	if (length >= sizeof(operand->path) || !is_group_path(operand->path))
		return complain(MTL_USAGE,
		        "%s names no group of resctrl: give resctrl:NAME, "
		        "resctrl:NAME/mon_groups/NAME or resctrl:/",
		        show_name(operand->text, shown, sizeof(shown)));
	return name_it(operand, strdup(*operand->path ? operand->path : "/"));
}

static int as_cgroup(const struct options *options, struct operand *operand, const char *path)
{
	char shown[NAME_SHOWN];

	operand->kind = DEMAND_CGROUP;
	if (cgroup_find(options->root, path, operand->path) < 0)
		return complain(MTL_FAILED, NO_SUCH_CGROUP, show_name(path, shown, sizeof(shown)));
	return name_it(operand, last_part(path, ""));
}

static int as_file(struct operand *operand)
{
	operand->kind = DEMAND_FILE;
	snprintf(operand->path, sizeof(operand->path), "%s", operand->text);
	return name_it(operand, last_part(operand->text, ENDING));
}

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

static int resolve(const struct options *options, struct operand *operand)
{
	const char *text = operand->text, *rest;
	char path[PATH_MAX];

	if (!*text)
		return complain(
		        MTL_USAGE, "an operand is empty: is a variable of the shell unset?");
	if (text[strspn(text, "0123456789")] == '\0')
		return as_process(operand);
	if ((rest = after(text, "resctrl:")))
		return as_resctrl(operand, rest);
	if ((rest = operand_cgroup(text)))
		return as_cgroup(options, operand, rest);
	/* What is neither is a file that cannot be read, and said to be no cgroup either. */
	if (is_file(text) || cgroup_find(options->root, text, path) < 0)
		return as_file(operand);
	return as_cgroup(options, operand, text);
}

/* --- names */

static const struct operand *namesake(const struct operand_list *list, size_t i)
{
	for (size_t j = 0; j < list->n; j++)
		if (j != i && list->operands[j].name &&
		        strcmp(list->operands[i].name, list->operands[j].name) == 0)
			return &list->operands[j];
	return NULL;
}

/* Control groups that end alike are called by all of their paths. */
static int lengthen_names(struct operand_list *list)
{
	_cleanup_free_ bool *alike = calloc(list->n + 1, sizeof(bool));
	int code = alike ? MTL_DONE : complain(MTL_FAILED, "out of memory");

	for (size_t i = 0; alike && i < list->n; i++)
		alike[i] = list->operands[i].kind == DEMAND_CGROUP && namesake(list, i);
	for (size_t i = 0; code == MTL_DONE && i < list->n; i++) {
		struct operand *operand = &list->operands[i];

		if (!alike[i])
			continue;
		free(operand->name);
		code = name_it(operand, strdup(operand_cgroup(operand->text) ?: operand->text));
	}
	return code;
}

static int check_names(const char *command, const struct operand_list *list)
{
	char shown[NAME_SHOWN];

	for (size_t i = 0; i < list->n; i++)
		if (namesake(list, i))
			return complain(MTL_USAGE,
			        "%s: two operands are called %s: name each program once, files by "
			        "different names",
			        command, show_name(list->operands[i].name, shown, sizeof(shown)));
	return MTL_DONE;
}

int operands_new(const char *command, const struct options *options, int n, char **texts,
        struct operand_list *ret_list)
{
	_cleanup_(operands_done) struct operand_list list = {
	        calloc((size_t)n + 1, sizeof(struct operand)), (size_t)n};
	int code = list.operands ? MTL_DONE : complain(MTL_FAILED, "out of memory");

	if (code == MTL_DONE && n < 2)
		code = complain(MTL_USAGE,
		        "%s: one program has a cache to itself: name two or more, as PID, FILE, "
		        "CGROUP or resctrl:GROUP",
		        command);
	for (size_t i = 0; code == MTL_DONE && i < list.n; i++) {
		list.operands[i].text = texts[i];
		code = resolve(options, &list.operands[i]);
	}
	code = code ?: lengthen_names(&list);
	code = code ?: check_names(command, &list);
	if (code != MTL_DONE)
		return code;
	*ret_list = list;
	list = (struct operand_list){0};
	return MTL_DONE;
}

void operands_done(struct operand_list *list)
{
	for (size_t i = 0; list->operands && i < list->n; i++)
		free(list->operands[i].name);
	free(list->operands);
	*list = (struct operand_list){0};
}

/* --- processes */

static int cgroup_members(const struct operand *operand, struct pid_set *set, size_t *ret_hidden)
{
	char shown[NAME_SHOWN];
	int r = cgroup_processes(operand->path, set, ret_hidden);

	show_name(operand->text, shown, sizeof(shown));
	if (r == -EOPNOTSUPP)
		return complain(MTL_FAILED,
		        "%s is a threaded control group: its processes are those of the group "
		        "above "
		        "it that is not; name that one",
		        shown);
	return r < 0 ? complain(MTL_FAILED, "cannot list the processes of %s: %s", shown,
	                       strerror(-r))
	             : MTL_DONE;
}

static int resctrl_group_members(const struct options *options, const struct operand *operand,
        struct operand_members *members)
{
	const struct resctrl_place place = {.root = options->root};
	char error[RESCTRL_ERROR];

	return resctrl_members(&place, operand->path, &members->set, &members->partly, error,
	               sizeof(error)) < 0
	               ? complain(MTL_FAILED, "%s", error)
	               : MTL_DONE;
}

int operand_processes(const struct options *options, const struct operand *operand,
        struct operand_members *ret_members)
{
	struct operand_members members = {0};
	struct pid_set *set = &members.set;
	size_t kept = 0;
	int code = MTL_DONE;

	if (operand->kind == DEMAND_PROCESS && pid_set_add(set, operand->pid) < 0)
		code = complain(MTL_FAILED, "out of memory");
	else if (operand->kind == DEMAND_CGROUP)
		code = cgroup_members(operand, set, &members.hidden);
	else if (operand->kind == DEMAND_RESCTRL)
		code = resctrl_group_members(options, operand, &members);
	if (code != MTL_DONE)
		return code;
	for (size_t i = 0; i < set->n; i++)
		if (operand->kind == DEMAND_PROCESS || set->pids[i] != getpid())
			set->pids[kept++] = set->pids[i];
	set->n = kept;
	*ret_members = members;
	return MTL_DONE;
}

void operand_members_done(struct operand_members *members)
{
	pid_set_done(&members->set);
	pid_set_done(&members->partly);
}

int operands_check_modes(const struct options *options, const struct operand_list *list)
{
	const struct resctrl_place place = {.root = options->root};
	char mode[RESCTRL_MODE], error[RESCTRL_ERROR], shown[NAME_SHOWN];

	for (size_t i = 0; i < list->n; i++) {
		const struct operand *operand = &list->operands[i];

		/* why a group cannot be looked at is said where its processes are listed */
		if (operand->kind != DEMAND_RESCTRL || strchr(operand->path, '/') ||
		        resctrl_mode(&place, operand->path, mode, error, sizeof(error)) < 0 ||
		        strcmp(mode, "shareable") == 0)
			continue;
		return complain(MTL_USAGE,
		        "partition: %s is in %s mode: its ways are its own and not among those "
		        "that are divided; leave it out%s",
		        show_name(operand->text, shown, sizeof(shown)), mode,
		        strcmp(mode, "exclusive") == 0
		                ? ", or write shareable into its file mode first"
		                : "");
	}
	return MTL_DONE;
}

int operands_check_apply(const struct operand_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct operand *operand = &list->operands[i];
		char shown[NAME_SHOWN];

		show_name(operand->text, shown, sizeof(shown));
		if (operand->kind == DEMAND_FILE)
			return complain(MTL_USAGE,
			        "partition: --apply moves processes: %s is a file", shown);
		if (operand->kind == DEMAND_RESCTRL &&
		        (!after(operand->path, RESCTRL_PREFIX) || strchr(operand->path, '/')))
			return complain(MTL_USAGE,
			        "partition: --apply never touches groups of others, and %s is "
			        "one: name its processes or their control group instead, or write "
			        "the schemata yourself, which are shown without --apply",
			        shown);
	}
	return MTL_DONE;
}
