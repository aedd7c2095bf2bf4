/* SPDX-License-Identifier: MIT */
/*
 * A group of processes as one demand: the composition of its members' (lib/demand_sum.c).
 *
 * Members that have no curve are missing in it. How much that is is said by what is known of them
 * without a curve, the CPU time that they used so far and what they have resident: the part of each
 * that is of members with a curve, or of idle ones, which ask for nothing. Both are proxies: a
 * process may use its memory, or not. Pages that members share count for each.
 */

#include "demand_group.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "pid_set.h"
#include "process_stat.h"
#include "size.h"
#include "terminal.h"

#define LITTLE 0.9 /* covered: less is too little to go unsaid */

static const struct {
	enum member_state state;
	const char *words;
} reasons[] = {
        {MEMBER_WAITING, "with too few observations yet"},
        {MEMBER_GONE, "ended"},
        {MEMBER_FORBIDDEN, "not permitted"},
        {MEMBER_TOO_MANY, "beyond max_processes of mtld.conf"},
        {MEMBER_FAILED, "refused by mtld"},
};

/* --- members */

static void read_use(const char *root, struct member *member)
{
	struct process_stat stat = {.cpu_seconds = NAN, .resident_bytes = NAN};

	process_stat_read(root, member->pid, &stat);
	member->cpu_seconds = stat.cpu_seconds;
	member->resident_bytes = stat.resident_bytes;
}

static int busiest_first(const void *a, const void *b)
{
	const struct member *left = a, *right = b;
	double one = isnan(left->cpu_seconds) ? 0 : left->cpu_seconds;
	double other = isnan(right->cpu_seconds) ? 0 : right->cpu_seconds;

	return (one < other) - (one > other);
}

int demand_group_new(const char *root, const struct demand_operand *operand,
        const struct operand_members *found, struct demand_group *ret_group)
{
	struct member *members = calloc(operand->n_pids + 1, sizeof(*members));
	size_t partly = 0;

	if (!members)
		return -ENOMEM;
	for (size_t i = 0; i < operand->n_pids; i++) {
		members[i].pid = operand->pids[i];
		read_use(root, &members[i]);
		partly += pid_set_has(&found->partly, members[i].pid);
	}
	qsort(members, operand->n_pids, sizeof(*members), busiest_first);
	*ret_group = (struct demand_group){members, operand->n_pids, found->hidden, partly};
	return 0;
}

void demand_group_done(struct demand_group *group)
{
	for (size_t i = 0; i < group->n; i++)
		json_object_put(group->members[i].curve);
	free(group->members);
	*group = (struct demand_group){0};
}

/* --- what there is of it */

static size_t count(const struct demand_group *group, enum member_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < group->n; i++)
		n += group->members[i].state == state;
	return n;
}

static bool is_covered(const struct member *member)
{
	return member->state == MEMBER_CURVE || member->state == MEMBER_IDLE;
}

static struct demand_members summary(const struct demand_group *group)
{
	double cpu[2] = {0}, resident[2] = {0};

	for (size_t i = 0; i < group->n; i++) {
		const struct member *member = &group->members[i];

		if (member->state == MEMBER_KERNEL || isnan(member->cpu_seconds))
			continue;
		cpu[is_covered(member)] += member->cpu_seconds;
		resident[is_covered(member)] += member->resident_bytes;
	}
	return (struct demand_members){
	        .processes = group->n - count(group, MEMBER_KERNEL),
	        .without = group->n - count(group, MEMBER_KERNEL) - count(group, MEMBER_CURVE) -
	                   count(group, MEMBER_IDLE),
	        .idle = count(group, MEMBER_IDLE),
	        .cpu_covered = cpu[1] / (cpu[0] + cpu[1]),
	        .resident_covered = resident[1] / (resident[0] + resident[1]),
	};
}

/* "2 not permitted, 1 ended" */
static char *why_without(const struct demand_group *group, char *ret_text, size_t size)
{
	*ret_text = '\0';
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		size_t n = count(group, reasons[i].state);

		if (n)
			text_append(ret_text, size, "%s%zu %s", *ret_text ? ", " : "", n,
			        reasons[i].words);
	}
	return ret_text;
}

static int note_without(
        const struct demand_group *group, const char *name, struct demand_operand *operand)
{
	const struct demand_members *members = &operand->members;
	char why[256], cpu[NUMBER_TEXT], resident[NUMBER_TEXT];
	bool known = !isnan(members->cpu_covered) && !isnan(members->resident_covered);
	bool little = !known || members->cpu_covered < LITTLE || members->resident_covered < LITTLE;

	if (!members->without)
		return 0;
	percent_format(members->cpu_covered, cpu);
	percent_format(members->resident_covered, resident);
	return mtl_demand_operand_note(operand,
	        "%zu of the %zu processes of %s have no curve (%s); the others account for %s of "
	        "its CPU time so far and %s of its resident memory%s",
	        members->without, members->processes, name, why_without(group, why, sizeof(why)),
	        known ? cpu : "an unknown part", known ? resident : "an unknown part",
	        little ? ": it asks for more than is shown" : "");
}

static int note_idle(
        const struct demand_group *group, const char *name, struct demand_operand *operand)
{
	char share[NUMBER_TEXT];
	double busy = 0;

	if (!operand->members.idle)
		return 0;
	for (size_t i = 0; i < group->n; i++)
		busy += group->members[i].state == MEMBER_IDLE ? group->members[i].busy : 0;
	return mtl_demand_operand_note(operand,
	        "%zu of the %zu processes of %s hardly run (together %s of a CPU): they count as "
	        "no demand",
	        operand->members.idle, operand->members.processes, name,
	        percent_format(busy, share));
}

static int write_notes(
        const struct demand_group *group, const char *name, struct demand_operand *operand)
{
	size_t kernel = count(group, MEMBER_KERNEL);
	int r = note_without(group, name, operand);

	r = r ?: note_idle(group, name, operand);
	if (r == 0 && kernel)
		r = mtl_demand_operand_note(operand,
		        "kernel threads of %s left out, which have no memory of their own: %zu",
		        name, kernel);
	if (r == 0 && group->hidden)
		r = mtl_demand_operand_note(operand,
		        "processes of %s in another pid namespace, which are not in what is shown: "
		        "%zu; "
		        "mtl on the host sees them",
		        name, group->hidden);
	if (r == 0 && group->partly)
		r = mtl_demand_operand_note(operand,
		        "processes of %s with threads in other groups of resctrl too, which count "
		        "as if they were in it as a whole: %zu",
		        name, group->partly);
	return r;
}

/* --- the demand */

/* Of each member with a curve; one whose curve cannot be used fails after all. */
static size_t read_curves(const struct options *options, const struct demand_group *group,
        const struct demand_operand *operand, struct mtl_demand **ret_demands)
{
	size_t n = 0;

	for (size_t i = 0; i < group->n; i++) {
		struct member *member = &group->members[i];
		struct demand_operand one = {.name = operand->name};
		char error[256];

		if (member->state != MEMBER_CURVE)
			continue;
		if (mtl_demand_operand_read(
		            member->curve, options->miss_cost, &one, error, sizeof(error)) < 0)
			member->state = MEMBER_FAILED;
		else
			ret_demands[n++] = one.demand;
	}
	return n;
}

static int no_curve(
        const struct options *options, const struct demand_group *group, const char *name)
{
	size_t idle = count(group, MEMBER_IDLE), kernel = count(group, MEMBER_KERNEL);
	char why[256], which[64] = "the only process";

	if (group->n == kernel)
		return complain(MTL_FAILED, "%s has no process%s", name,
		        kernel ? " but kernel threads, which have no memory of their own" : "");
	if (group->n == idle + kernel)
		return complain(MTL_NOT_ENOUGH,
		        "no process of %s runs: it asks nothing of a cache now; leave it out, or "
		        "ask again when it does something",
		        name);
	if (group->n - kernel > 1)
		snprintf(which, sizeof(which), "not one of the %zu processes", group->n - kernel);
	return complain(MTL_NOT_ENOUGH, "%s of %s has %s curve (%s%s)%s", which, name,
	        *which == 'n' ? "a" : "no", why_without(group, why, sizeof(why)),
	        idle ? ", others hardly run" : "",
	        options->watch ? "" : ": ask for longer with --wait");
}

/* Kernel threads are not moved. */
static void keep_processes(const struct demand_group *group, struct demand_operand *operand)
{
	struct pid_set set = {operand->pids, 0};

	for (size_t i = 0; i < group->n; i++)
		if (group->members[i].state != MEMBER_KERNEL)
			set.pids[set.n++] = group->members[i].pid;
	pid_set_sort(&set);
	operand->n_pids = set.n;
}

int demand_group_settle(const struct options *options, const struct demand_group *group,
        struct demand_operand *operand)
{
	_cleanup_free_ struct mtl_demand **demands = calloc(group->n + 1, sizeof(*demands));
	char name[NAME_SHOWN];
	size_t n;
	int r;

	if (!demands)
		return complain(MTL_FAILED, "out of memory");
	show_name(operand->name, name, sizeof(name));
	n = read_curves(options, group, operand, demands);
	if (n == 0)
		return no_curve(options, group, name);
	keep_processes(group, operand);
	r = mtl_demand_sum(
	        (const struct mtl_demand *const *)demands, n, operand->name, &operand->demand);
	for (size_t i = 0; i < n; i++)
		mtl_demand_free(demands[i]);
	operand->members = summary(group);
	snprintf(operand->comm, sizeof(operand->comm), "%zu process%s", operand->members.processes,
	        operand->members.processes == 1 ? "" : "es");
	r = r ?: write_notes(group, name, operand);
	return r < 0 ? complain(MTL_FAILED, "out of memory") : MTL_DONE;
}
