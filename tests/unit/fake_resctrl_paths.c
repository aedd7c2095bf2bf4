/* SPDX-License-Identifier: MIT */
/*
 * Which files the machine of fake_resctrl.c has. A path is looked up word by word.
 */

#include "fake_resctrl_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 10

struct words {
	char text[512];
	char *word[WORDS];
	int n;
};

static bool split(const char *path, struct words *words)
{
	char *at = words->text, *word;

	words->n = 0;
	if (strlen(path) >= sizeof(words->text))
		return false;
	strcpy(words->text, path);
	while ((word = strsep(&at, "/")))
		if (*word) {
			if (words->n == WORDS)
				return false;
			words->word[words->n++] = word;
		}
	return true;
}

static bool any(const char *word, const char *const *of)
{
	for (; *of; of++)
		if (!strcmp(*of, word))
			return true;
	return false;
}

#define ANY(word, ...) any(word, (const char *const[]){__VA_ARGS__, NULL})

static struct spot directory_if(bool condition)
{
	return (struct spot){.what = condition ? DIRECTORY : ABSENT};
}

static struct spot file_if(bool condition, enum what what, int number)
{
	return (struct spot){.what = condition ? what : ABSENT, .number = number};
}

static struct spot locate_info(char **word, int n)
{
	int r = 0;

	if (n == 0)
		return directory_if(true);
	if (n == 1 && !strcmp(word[0], "last_cmd_status"))
		return file_if(true, STATUS, 0);
	if (!strcmp(word[0], "L3_MON"))
		return directory_if(n == 1 && fake->monitoring);
	while (r < fake->n_resources && strcmp(fake->resources[r].name, word[0]))
		r++;
	if (r == fake->n_resources || n > 2)
		return directory_if(false);
	if (n == 1)
		return directory_if(true);
	if (!strcmp(word[1], "sparse_masks"))
		return file_if(fake->resources[r].tells_sparse, INFO, r);
	if (fake->resources[r].kind == FAKE_BANDWIDTH)
		return file_if(ANY(word[1], "num_closids", "min_bandwidth"), INFO, r);
	return file_if(ANY(word[1], "num_closids", "cbm_mask", "min_cbm_bits", "shareable_bits",
	                       "bit_usage"),
	        INFO, r);
}

static struct spot locate_mon_data(char **word, int n, int group)
{
	int id;
	bool known = false;

	if (n > 0 && sscanf(word[0], "mon_L3_%d", &id) == 1)
		for (int d = 0; d < fake->resources[0].n_domains; d++)
			known |= fake->resources[0].ids[d] == id;
	if (n < 2)
		return directory_if(fake->monitoring && (n == 0 || known));
	return (struct spot){.what = known && n == 2 &&
	                                             ANY(word[1], "llc_occupancy",
	                                                     "mbm_total_bytes", "mbm_local_bytes")
	                                     ? COUNTER
	                                     : ABSENT,
	        .group = group,
	        .number = id};
}

static struct spot locate_group_file(char **word, int n, int group)
{
	static const struct {
		const char *name;
		enum what what;
	} files[] = {{"tasks", TASKS}, {"schemata", SCHEMATA}, {"size", SIZE}, {"mode", MODE}};
	bool monitoring = fake->groups[group].parent >= 0;

	for (size_t i = 0; n == 1 && i < (monitoring ? 1 : 4); i++)
		if (!strcmp(word[0], files[i].name))
			return (struct spot){.what = files[i].what, .group = group};
	if (!strcmp(word[0], "mon_data"))
		return locate_mon_data(word + 1, n - 1, group);
	if (n == 1 && !monitoring && fake->monitoring && !strcmp(word[0], "mon_groups"))
		return (struct spot){.what = DIRECTORY, .groups_go_here = true, .parent = group};
	return directory_if(false);
}

static struct spot locate_resctrl(char **word, int n)
{
	int group = 0, found;

	if (fake->absent || (fake->unmounted && n > 0))
		return directory_if(false);
	if (n > 0 && !strcmp(word[0], "info"))
		return locate_info(word + 1, n - 1);
	if (n > 0 && (found = fake_group_find(word[0], -1)) > 0)
		group = found, word++, n--;
	if (n > 1 && !strcmp(word[0], "mon_groups") &&
	        (found = fake_group_find(word[1], group)) > 0)
		group = found, word += 2, n -= 2;
	if (n > 0)
		return locate_group_file(word, n, group);
	return (struct spot){
	        .what = DIRECTORY, .group = group, .groups_go_here = group == 0, .parent = -1};
}

static struct spot locate_proc(char **word, int n)
{
	struct fake_task *task;
	int pid;

	if (n == 0)
		return directory_if(true);
	if (!strcmp(word[0], "filesystems"))
		return file_if(n == 1, FILESYSTEMS, 0);
	pid = atoi(word[0]);
	if (!(task = fake_task(pid)))
		return directory_if(false);
	if (n == 2 && !strcmp(word[1], "status"))
		return file_if(true, TASK_STATUS, pid);
	if (n < 3)
		return directory_if(n == 1 || !strcmp(word[1], "task"));
	task = fake_task(atoi(word[2]));
	if (!task || task->pid != pid)
		return directory_if(false);
	return n == 3 ? directory_if(true)
	              : file_if(n == 4 && !strcmp(word[3], "cpu_resctrl_groups"), TASK_GROUPS,
	                        task->tid);
}

/* Two CPUs for each L3; index0 is the L2, index1 the L3. */
static struct spot locate_cpu(char **word, int n)
{
	int cpu = -1;

	if (n > 0 &&
	        (sscanf(word[0], "cpu%d", &cpu) != 1 || cpu >= 2 * fake->resources[0].n_domains))
		return directory_if(false);
	if (n < 2)
		return directory_if(true);
	if (strcmp(word[1], "cache") != 0 || n > 4 || (n > 2 && !ANY(word[2], "index0", "index1")))
		return directory_if(false);
	return n < 4 ? directory_if(true)
	             : file_if(ANY(word[3], "level", "id", "shared_cpu_list"), CPU_CACHE,
	                       10 * cpu + atoi(word[2] + 5));
}

static struct spot locate_run(const char *path)
{
	if (!strcmp(path, "/run"))
		return (struct spot){.what = RUN_DIRECTORY, .number = -1};
	for (int i = 0; i < FAKE_FILES; i++)
		if (fake->files[i].there && !strcmp(fake->files[i].path, path))
			return (struct spot){
			        .what = fake->files[i].directory ? RUN_DIRECTORY : RUN_FILE,
			        .number = i};
	return directory_if(false);
}

static struct spot locate_words(const char *path, char **word, int n)
{
	static const char *const resctrl[] = {"sys", "fs", "resctrl"};
	static const char *const cpus[] = {"sys", "devices", "system", "cpu"};
	int same = 0;

	if (n == 0)
		return directory_if(true);
	if (!strcmp(word[0], "proc"))
		return locate_proc(word + 1, n - 1);
	if (!strcmp(word[0], "run"))
		return locate_run(path);
	while (same < n && same < 3 && !strcmp(word[same], resctrl[same]))
		same++;
	if (same == 3)
		return locate_resctrl(word + 3, n - 3);
	if (same == n)
		return directory_if(true);
	for (same = 0; same < n && same < 4 && !strcmp(word[same], cpus[same]);)
		same++;
	return same == 4 ? locate_cpu(word + 4, n - 4) : directory_if(same == n);
}

struct spot fake_locate(const char *path)
{
	static struct words words;
	struct spot spot = {.what = ABSENT};

	if (split(path, &words))
		spot = locate_words(path, words.word, words.n);
	spot.last_word = words.n ? words.word[words.n - 1] : "";
	return spot;
}
