/* SPDX-License-Identifier: MIT */
/*
 * The rules of resctrl: which masks are valid and whom they may overlap, what a new group gets, who
 * may move which task. Written after reading the kernel; the order of checks matters, since the
 * first that fails is the one whose words the user sees.
 */

#include "fake_resctrl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_machine *fake;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	size_t length = strlen(fake->status);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fake->status + length, sizeof(fake->status) - length, format, arguments);
	va_end(arguments);
}

void fake_machine_new(unsigned bits, unsigned min_bits, bool sparse)
{
	struct fake_resource *l3;

	memset(fake, 0, sizeof(*fake));
	fake->monitoring = true;
	fake->next_tid = 900;
	fake->groups[0] = (struct fake_group){.there = true, .parent = -1};
	l3 = fake_resource_add("L3", FAKE_CACHE, 3);
	l3->mask = (uint32_t)((1ULL << bits) - 1);
	l3->min_bits = min_bits;
	l3->sparse = sparse;
	l3->tells_sparse = min_bits > 0;
	for (int tid = 100; tid < 103; tid++)
		fake_task_add(tid, 100, 0, 0, -1);
	fake_task_add(200, 200, 0, 0, -1);
}

struct fake_resource *fake_resource_add(const char *name, enum fake_kind kind, int level)
{
	struct fake_resource *resource = &fake->resources[fake->n_resources++];

	*resource = (struct fake_resource){.kind = kind,
	        .mask = 0xfffff,
	        .min_bits = 1,
	        .level = level,
	        .num_closids = 16,
	        .n_domains = 2,
	        .ids = {0, 1},
	        .bytes_per_bit = 1 << 20};
	snprintf(resource->name, sizeof(resource->name), "%s", name);
	return resource;
}

void fake_machine_ready(void)
{
	for (int r = 0; r < fake->n_resources; r++)
		for (int d = 0; d < FAKE_DOMAINS; d++)
			fake->groups[0].values[r][d] = fake->resources[r].kind == FAKE_BANDWIDTH
			                                       ? 100
			                                       : fake->resources[r].mask;
}

void fake_task_add(int tid, int pid, int uid, int group, int monitor)
{
	for (int i = 0; i < FAKE_TASKS; i++)
		if (fake->tasks[i].tid == 0) {
			fake->tasks[i] = (struct fake_task){tid, pid, uid, group, monitor};
			return;
		}
	abort();
}

struct fake_task *fake_task(int tid)
{
	for (int i = 0; i < FAKE_TASKS; i++)
		if (tid && fake->tasks[i].tid == tid)
			return &fake->tasks[i];
	return NULL;
}

int fake_group_find(const char *name, int parent)
{
	for (int i = 1; i < FAKE_GROUPS; i++)
		if (fake->groups[i].there && fake->groups[i].parent == parent &&
		        !strcmp(fake->groups[i].name, name))
			return i;
	return -1;
}

/* --- masks */

static int lowest(uint32_t mask)
{
	return mask ? __builtin_ctz(mask) : 32;
}

/* Ends of the lowest run of ones: what Linux goes by. */
static int run_end(uint32_t mask)
{
	int bit = lowest(mask);

	while (bit < 32 && mask & (1u << bit))
		bit++;
	return bit;
}

static bool overlaps_of(int r, int d, uint32_t mask, int group, bool exclusive)
{
	if (!exclusive && mask & fake->resources[r].shareable)
		return true;
	for (int g = 0; g < FAKE_GROUPS; g++) {
		const struct fake_group *other = &fake->groups[g];

		if (other->there && other->parent < 0 && g != group && mask & other->values[r][d] &&
		        (!exclusive || other->exclusive))
			return true;
	}
	return false;
}

static int peer(int r)
{
	enum fake_kind kind = fake->resources[r].kind;

	return kind == FAKE_CODE ? r + 1 : kind == FAKE_DATA ? r - 1 : -1;
}

static bool overlaps(int r, int d, uint32_t mask, int group, bool exclusive)
{
	return overlaps_of(r, d, mask, group, exclusive) ||
	       (peer(r) >= 0 && overlaps_of(peer(r), d, mask, group, exclusive));
}

static int check_mask(const struct fake_resource *resource, const char *text, uint32_t *ret_mask)
{
	char *end;
	unsigned long mask;

	errno = 0;
	mask = strtoul(text, &end, 16);
	if (end == text || *end || errno || *text == '-' || *text == ' ') {
		say("Non-hex character in the mask %s\n", text);
		return -EINVAL;
	}
	if ((resource->min_bits > 0 && mask == 0) || mask > resource->mask) {
		say("Mask out of range\n");
		return -EINVAL;
	}
	if (!resource->sparse && mask >> run_end((uint32_t)mask) != 0 && mask != 0) {
		say("The mask %lx has non-consecutive 1-bits\n", mask);
		return -EINVAL;
	}
	if (run_end((uint32_t)mask) - lowest((uint32_t)mask) < (int)resource->min_bits) {
		say("Need at least %d bits in the mask\n", resource->min_bits);
		return -EINVAL;
	}
	*ret_mask = (uint32_t)mask;
	return 0;
}

struct staged {
	bool given[FAKE_RESOURCES][FAKE_DOMAINS];
	uint32_t values[FAKE_RESOURCES][FAKE_DOMAINS];
};

static int stage(int group, int r, int d, const char *text, struct staged *staged)
{
	const struct fake_resource *resource = &fake->resources[r];
	uint32_t mask;

	if (staged->given[r][d]) {
		say("Duplicate domain %d\n", resource->ids[d]);
		return -EINVAL;
	}
	if (resource->kind == FAKE_BANDWIDTH) {
		mask = (uint32_t)atoi(text);
		if (mask < 10 || mask > 100) {
			say("MB value %u out of range [%d,%d]\n", mask, 10, 100);
			return -EINVAL;
		}
	} else {
		if (check_mask(resource, text, &mask) < 0)
			return -EINVAL;
		if (overlaps(r, d, mask, group, true)) {
			say("Overlaps with exclusive group\n");
			return -EINVAL;
		}
		if (fake->groups[group].exclusive && overlaps(r, d, mask, group, false)) {
			say("Overlaps with other group\n");
			return -EINVAL;
		}
	}
	staged->given[r][d] = true;
	staged->values[r][d] = mask;
	return 0;
}

static char *trim(char *text)
{
	text += strspn(text, " \t\n");
	for (size_t n = strlen(text); n > 0 && strchr(" \t\n", text[n - 1]); n--)
		text[n - 1] = '\0';
	return text;
}

static int parse_line(int group, int r, char *line, struct staged *staged)
{
	const struct fake_resource *resource = &fake->resources[r];

	while (line && *line) {
		char *value = strsep(&line, ";"), *id = strsep(&value, "="), *end;
		long number = value ? strtol(id, &end, 10) : 0;
		int d = 0;

		if (!value || end == id || *end) {
			say("Missing '=' or non-numeric domain\n");
			return -EINVAL;
		}
		while (d < resource->n_domains && resource->ids[d] != number)
			d++;
		if (d == resource->n_domains) /* for which Linux has no words */
			return -EINVAL;
		if (stage(group, r, d, trim(value), staged) < 0)
			return -EINVAL;
	}
	return 0;
}

static int parse_schemata(int group, char *text, struct staged *staged)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *name = trim(strsep(&line, ":"));
		int r = 0;

		if (!line) {
			say("Missing ':'\n");
			return -EINVAL;
		}
		if (!*line) {
			say("Missing '%s' value\n", name);
			return -EINVAL;
		}
		while (r < fake->n_resources && strcmp(fake->resources[r].name, name))
			r++;
		if (r == fake->n_resources) {
			say("Unknown or unsupported resource name '%s'\n", name);
			return -EINVAL;
		}
		if (parse_line(group, r, line, staged) < 0)
			return -EINVAL;
	}
	return 0;
}

/* Hardware that gives out some bits only together. */
static uint32_t made_of(uint32_t mask)
{
	return mask & fake->paired ? mask | fake->paired : mask;
}

int fake_schemata_write(int group, const char *text, unsigned size)
{
	struct staged staged = {0};
	char copy[1024];
	int r;

	if (size == 0 || size >= sizeof(copy) || text[size - 1] != '\n')
		return -EINVAL; /* and the status is of an earlier command */
	memcpy(copy, text, size);
	copy[size - 1] = '\0';
	fake->status[0] = '\0';
	r = parse_schemata(group, copy, &staged);
	for (int i = 0; r == 0 && i < fake->n_resources; i++)
		for (int d = 0; d < fake->resources[i].n_domains; d++)
			if (staged.given[i][d])
				fake->groups[group].values[i][d] = made_of(staged.values[i][d]);
	return r;
}

void fake_schemata_show(int group, bool sizes, char *ret_text)
{
	char *at = ret_text;

	for (int r = 0; r < fake->n_resources; r++) {
		const struct fake_resource *resource = &fake->resources[r];

		at += sprintf(at, "%*s:", fake->n_resources > 1 ? 6 : 2, resource->name);
		for (int d = 0; d < resource->n_domains; d++) {
			uint32_t value = fake->groups[group].values[r][d];

			at += sprintf(at, "%s%d=", d ? ";" : "", resource->ids[d]);
			if (resource->kind == FAKE_BANDWIDTH)
				at += sprintf(at, "%u", value);
			else if (sizes)
				at += sprintf(at, "%u",
				        (unsigned)__builtin_popcount(value) *
				                resource->bytes_per_bit);
			else
				at += sprintf(at, "%0*x", 5, value);
		}
		at += sprintf(at, "\n");
	}
}

void fake_bit_usage_show(int r, char *ret_text)
{
	const struct fake_resource *resource = &fake->resources[r];
	char *at = ret_text;

	for (int d = 0; d < resource->n_domains; d++) {
		uint32_t shared = 0, exclusive = 0;

		for (int g = 0; g < FAKE_GROUPS; g++)
			if (fake->groups[g].there && fake->groups[g].parent < 0)
				*(fake->groups[g].exclusive ? &exclusive : &shared) |=
				        fake->groups[g].values[r][d];
		at += sprintf(at, "%s%d=", d ? ";" : "", resource->ids[d]);
		for (uint32_t bit = resource->mask + 1; bit >>= 1;) {
			bool hardware = resource->shareable & bit;

			*at++ = hardware && shared & bit ? 'X'
			        : hardware               ? 'H'
			        : shared & bit           ? 'S'
			        : exclusive & bit        ? 'E'
			                                 : '0';
		}
	}
	strcpy(at, "\n");
}

int fake_mode_write(int group, const char *text, unsigned size)
{
	struct fake_group *self = &fake->groups[group];

	if (size == 0 || text[size - 1] != '\n')
		return -EINVAL;
	fake->status[0] = '\0';
	if (!strncmp(text, "shareable\n", size)) {
		self->exclusive = false;
		return 0;
	}
	if (strncmp(text, "exclusive\n", size) != 0) {
		say("Unknown or unsupported mode\n");
		return -EINVAL;
	}
	for (int r = 0; r < fake->n_resources; r++)
		for (int d = 0; d < fake->resources[r].n_domains; d++)
			if (fake->resources[r].kind != FAKE_BANDWIDTH &&
			        overlaps(r, d, self->values[r][d], group, false)) {
				say("Schemata overlaps\n");
				return -EINVAL;
			}
	self->exclusive = true;
	return 0;
}

/* --- groups */

/* All bits that are unused or shared, of these the lowest run. */
static int initial_mask(int r, int d, uint32_t *ret_mask)
{
	const struct fake_resource *resource = &fake->resources[r];
	uint32_t mask = resource->shareable, used = resource->shareable;

	for (int g = 0; g < FAKE_GROUPS; g++) {
		const struct fake_group *group = &fake->groups[g];
		uint32_t theirs;

		if (!group->there || group->parent >= 0)
			continue;
		theirs = group->values[r][d] | (peer(r) >= 0 ? group->values[peer(r)][d] : 0);
		used |= theirs;
		mask |= group->exclusive ? 0 : theirs;
	}
	mask |= resource->mask & ~used;
	if (mask)
		mask &= (uint32_t)((1ULL << run_end(mask)) - 1);
	if (__builtin_popcount(mask) < (int)resource->min_bits) {
		say("No space on %s:%d\n", resource->name, resource->ids[d]);
		return -ENOSPC;
	}
	*ret_mask = mask;
	return 0;
}

static int initial_values(struct fake_group *group)
{
	for (int r = 0; r < fake->n_resources; r++)
		for (int d = 0; d < fake->resources[r].n_domains; d++) {
			group->values[r][d] = 100;
			if (fake->resources[r].kind != FAKE_BANDWIDTH &&
			        initial_mask(r, d, &group->values[r][d]) < 0)
				return -ENOSPC;
		}
	return 0;
}

static bool out_of_closids(void)
{
	unsigned closids = ~0u, used = 0;

	for (int r = 0; r < fake->n_resources; r++)
		if (fake->resources[r].num_closids < closids)
			closids = fake->resources[r].num_closids;
	for (int g = 0; g < FAKE_GROUPS; g++)
		used += fake->groups[g].there && fake->groups[g].parent < 0;
	return used >= closids;
}

int fake_mkdir(int parent, const char *name)
{
	struct fake_group group = {.there = true, .parent = parent};
	int slot = 1;

	if (strchr(name, '\n'))
		return -EINVAL;
	fake->status[0] = '\0';
	if (fake->closed)
		return -EACCES;
	if (parent < 0 && out_of_closids()) {
		say("Out of CLOSIDs\n");
		return -ENOSPC;
	}
	if (fake->monitoring && fake->rmid_error) {
		say("Out of RMIDs\n");
		return -fake->rmid_error;
	}
	if (parent < 0 && initial_values(&group) < 0)
		return -ENOSPC;
	while (fake->groups[slot].there)
		slot++;
	snprintf(group.name, sizeof(group.name), "%s", name);
	fake->groups[slot] = group;
	return 0;
}

int fake_group_add(const char *name, int parent)
{
	if (fake_mkdir(parent, name) < 0)
		abort();
	return fake_group_find(name, parent);
}

int fake_rmdir(int group)
{
	bool monitoring = fake->groups[group].parent >= 0;

	if (fake->closed)
		return -EACCES;
	for (int i = 0; i < FAKE_TASKS; i++) {
		if (monitoring && fake->tasks[i].monitor == group)
			fake->tasks[i].monitor = -1;
		else if (!monitoring && fake->tasks[i].group == group)
			fake->tasks[i].group = 0, fake->tasks[i].monitor = -1;
	}
	for (int g = 0; g < FAKE_GROUPS; g++)
		if (fake->groups[g].there && fake->groups[g].parent == group && !monitoring)
			fake->groups[g].there = false;
	memset(&fake->groups[group], 0, sizeof(fake->groups[group]));
	return 0;
}

/* --- tasks */

static int move_task(int group, int tid)
{
	struct fake_task *task = fake_task(tid);
	int parent = fake->groups[group].parent;

	if (!task) {
		say("No task %d\n", tid);
		return -ESRCH;
	}
	if (fake->uid != 0 && fake->uid != task->uid) {
		say("No permission to move task %d\n", tid);
		return -EPERM;
	}
	if (parent >= 0 && task->group != parent) {
		say("Can't move task to different control group\n");
		return -EINVAL;
	}
	task->group = parent >= 0 ? parent : group;
	task->monitor = parent >= 0 ? group : -1;
	return 0;
}

/* What other programs do meanwhile. */
static void meanwhile(void)
{
	struct fake_task *task;

	fake->task_writes++;
	if (fake->task_writes == fake->ends_at && (task = fake_task(fake->ending)))
		memset(task, 0, sizeof(*task));
	if (fake->task_writes == fake->starts_at && (task = fake_task(fake->forking)))
		fake_task_add(fake->next_tid++, task->pid, task->uid, task->group, task->monitor);
}

int fake_tasks_write(int group, const char *text, unsigned size)
{
	char copy[256], *at = copy, *word;

	if (size == 0 || size >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	meanwhile();
	fake->status[0] = '\0';
	while (at && *at && *at != '\n') {
		char *end;
		long tid;
		int r;

		word = trim(strsep(&at, ","));
		tid = strtol(word, &end, 0);
		if (end == word || *end) {
			say("Task list parsing error pid %s\n", word);
			return -EINVAL;
		}
		if (tid < 0) {
			say("Invalid pid %ld\n", tid);
			return -EINVAL;
		}
		r = move_task(group, (int)tid);
		if (r < 0) {
			say("Error while processing task %ld\n", tid);
			return r;
		}
	}
	return 0;
}
