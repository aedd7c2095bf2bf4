/* SPDX-License-Identifier: MIT */
/*
 * A plan carried out: all of it or nothing.
 *
 *     lock; journal written and synced; for each group mkdir, schemata; then the threads
 *
 * Threads come last, so none is ever in a group whose mask is not the planned one, and before that
 * nobody's cache has changed. Whatever fails, what undoes it is the same resctrl_revert() that
 * works after a crash, so there is one way back and it is in use. What the kernel made of a mask is
 * read back: ways that processors use for I/O, too, come in pairs on some.
 */

#include "resctrl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "resctrl_journal.h"
#include "resctrl_revert.h"
#include "resctrl_session.h"
#include "resctrl_tasks.h"

static bool line_has(const char *schemata, const char *name, const struct resctrl_mask *asked,
        unsigned long long *ret_mask)
{
	const char *at = resctrl_line(schemata, name);
	int id;

	while (at && resctrl_next(&at, 16, &id, ret_mask))
		if (id == asked->domain)
			return true;
	return false;
}

/* A note for each mask that is another one now. */
static int read_back(struct resctrl_session *session, const struct resctrl_plan_group *group)
{
	static const char *const suffixes[] = {"", "CODE", "DATA"};
	_cleanup_free_ char *schemata = NULL;
	char path[RESCTRL_PATH], name[16];
	int r = resctrl_read(session->fd, resctrl_file(group->name, "schemata", path), &schemata);

	if (r < 0)
		return resctrl_fail(session, r, "cannot read %s: %s", path, strerror(-r));
	for (size_t i = 0; i < 3 * group->n_masks; i++) {
		const struct resctrl_mask *asked = &group->masks[i / 3];
		unsigned long long made;

		snprintf(name, sizeof(name), "L%d%s", asked->level, suffixes[i % 3]);
		if (line_has(schemata, name, asked, &made) && made != asked->mask)
			resctrl_note(session,
			        "%s: %s cache %d: asked for 0x%x, the processor made it 0x%llx: "
			        "some "
			        "ways it uses for I/O, too, and cannot give out one by one",
			        group->name, name, asked->domain, asked->mask, made);
	}
	return 0;
}

static int write_masks(struct resctrl_session *session, const struct resctrl_plan_group *group)
{
	char path[RESCTRL_PATH];
	int r;

	if (!*group->schemata)
		return 0;
	r = resctrl_write(
	        session->fd, resctrl_file(group->name, "schemata", path), group->schemata);
	if (r < 0)
		return resctrl_refused(session, r, "set the masks of %s to %.*s", group->name,
		        (int)strcspn(group->schemata, "\n"), group->schemata);
	return read_back(session, group);
}

static int make_group(struct resctrl_session *session, const struct resctrl_plan_group *group)
{
	if (mkdirat(session->fd, group->name, 0755) < 0)
		return resctrl_refused(session, -errno, "make the group %s", group->name);
	return write_masks(session, group);
}

/* Nothing of an earlier partition may be there. */
static int check_clean(struct resctrl_session *session, const struct resctrl_plan *plan)
{
	if (resctrl_journal_there(session))
		return resctrl_fail(session, -EALREADY,
		        "a partition is in force, or one was broken off: mtl partition --revert "
		        "undoes "
		        "it");
	for (size_t i = 0; i < plan->n_groups; i++)
		if (resctrl_exists(session->fd, plan->groups[i].name))
			return resctrl_fail(session, -EEXIST,
			        "the group %s is there already, and nothing says what it is for: "
			        "mtl "
			        "partition --revert removes the groups " RESCTRL_PREFIX "*",
			        plan->groups[i].name);
	return 0;
}

static int begin(struct resctrl_session *session, struct resctrl_journal *journal,
        const struct resctrl_plan *plan)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_groups; i++)
		r = resctrl_journal_group(session, journal, plan->groups[i].name);
	return r < 0 ? r : resctrl_tasks_note(session, journal, plan);
}

static int carry_out(struct resctrl_session *session, struct resctrl_journal *journal,
        const struct resctrl_plan *plan)
{
	int r = begin(session, journal, plan);

	for (size_t i = 0; r == 0 && i < plan->n_groups; i++)
		r = make_group(session, &plan->groups[i]);
	return r < 0 ? r : resctrl_tasks_move(session, journal, plan);
}

/* After the failure in session->error; a second one is added to it. */
static void undo(struct resctrl_session *session)
{
	char second[RESCTRL_ERROR];
	struct resctrl_session undoing = *session;
	size_t length = strlen(session->error);

	undoing.error = second;
	undoing.error_size = sizeof(second);
	if (resctrl_undo(&undoing) < 0 && length < session->error_size)
		snprintf(session->error + length, session->error_size - length,
		        "; and undoing what had been done failed, too: %s; mtl partition --revert "
		        "tries again",
		        second);
}

int resctrl_apply(const struct resctrl_place *place, const struct resctrl_plan *plan,
        struct resctrl_report *ret_report, char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_journal_done) struct resctrl_journal journal = {.fd = -1};
	_cleanup_(resctrl_session_done) struct resctrl_session session;
	struct resctrl_report report = {0};
	int r = resctrl_session_begin(&session, place, true, ret_error, error_size);

	session.report = &report;
	r = r < 0 ? r : check_clean(&session, plan);
	if (r < 0)
		return r;
	r = carry_out(&session, &journal, plan);
	if (r < 0)
		undo(&session);
	else
		*ret_report = report;
	return r;
}

static bool is_ours(const struct resctrl_journal *journal, const char *name)
{
	for (size_t i = 0; i < journal->n_groups; i++)
		if (!strcmp(journal->groups[i], name))
			return true;
	return false;
}

static int check_same(struct resctrl_session *session, const struct resctrl_journal *journal,
        const struct resctrl_plan *plan)
{
	bool same = journal->n_groups == plan->n_groups;

	for (size_t i = 0; same && i < plan->n_groups; i++)
		same = is_ours(journal, plan->groups[i].name) &&
		       resctrl_exists(session->fd, plan->groups[i].name);
	return same ? 0
	            : resctrl_fail(session, -ENOENT,
	                      "the partition in force has other groups: mtl partition --revert "
	                      "undoes it, then apply this one");
}

/* What the kernel itself prints it takes back. */
static int read_masks(struct resctrl_session *session, const struct resctrl_plan *plan, char **ret)
{
	char path[RESCTRL_PATH];
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_groups; i++)
		r = resctrl_read(
		        session->fd, resctrl_file(plan->groups[i].name, "schemata", path), &ret[i]);
	return r < 0 ? resctrl_fail(session, r, "cannot read %s: %s", path, strerror(-r)) : 0;
}

static int change(struct resctrl_session *session, struct resctrl_journal *journal,
        const struct resctrl_plan *plan, char **former)
{
	char path[RESCTRL_PATH];
	int r = read_masks(session, plan, former);

	for (size_t i = 0; r == 0 && i < plan->n_groups; i++)
		r = write_masks(session, &plan->groups[i]);
	r = r < 0 ? r : resctrl_tasks_move(session, journal, plan);
	for (size_t i = 0; r < 0 && i < plan->n_groups; i++)
		if (former[i])
			resctrl_write(session->fd,
			        resctrl_file(plan->groups[i].name, "schemata", path), former[i]);
	return r;
}

int resctrl_retune(const struct resctrl_place *place, const struct resctrl_plan *plan,
        struct resctrl_report *ret_report, char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_journal_done) struct resctrl_journal journal = {.fd = -1};
	_cleanup_(resctrl_session_done) struct resctrl_session session;
	_cleanup_free_ char **former = calloc(plan->n_groups + 1, sizeof(*former));
	struct resctrl_report report = {0};
	int r = resctrl_session_begin(&session, place, true, ret_error, error_size);

	session.report = &report;
	if (r == 0 && !former)
		r = resctrl_fail(&session, -ENOMEM, "out of memory");
	r = r < 0 ? r : resctrl_journal_read(&session, &journal);
	if (r == -ENOENT)
		resctrl_fail(&session, r, "no partition is in force that could be changed");
	r = r < 0 ? r : check_same(&session, &journal, plan);
	r = r < 0 ? r : change(&session, &journal, plan, former);
	for (size_t i = 0; former && i < plan->n_groups; i++)
		free(former[i]);
	if (r == 0)
		*ret_report = report;
	return r;
}
