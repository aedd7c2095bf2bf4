// SPDX-License-Identifier: MIT
/*
 * Discovery: /proc/cpuinfo for who made the processor, /sys/bus/event_source/devices for what the
 * kernel found in it. A file that is missing or says what nobody expects leaves its member unknown:
 * half a dump still answers. Each reader has a sample of what it reads above it.
 */
#include "pmu.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "machine.h"
#include "pmu_format.h"
#include "proc.h"
#include "regular_file.h"

#define DEVICES "sys/bus/event_source/devices"

static const char *const names[PMUS_MAX] = {"cpu", "cpu_core", "cpu_atom", "ibs_op", "ibs_fetch"};

/* --- /proc/cpuinfo */

static enum pmu_vendor vendor_named(const char *name)
{
	if (!strncmp(name, "GenuineIntel", 12))
		return PMU_INTEL;
	return strncmp(name, "AuthenticAMD", 12) ? PMU_OTHER_VENDOR : PMU_AMD;
}

/* processor	: 0 */
static void add_processor(cpu_set_t *online, const char *line)
{
	unsigned cpu;

	if (sscanf(line, "processor : %u", &cpu) == 1 && cpu < CPU_SETSIZE)
		CPU_SET(cpu, online);
}

/* The first processor speaks for all of them (cpu_identity_line()): hybrid ones share vendor,
 * family and model. */
static int read_cpuinfo(const char *root, struct pmu_machine *machine)
{
	struct cpu_identity identity = {0};
	char path[PATH_MAX];
	_cleanup_fclose_ FILE *file = NULL;
	char line[4096]; /* more of one is another */

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	file = regular_file_open(path);
	if (!file)
		return -ENOENT;
	while (fgets(line, sizeof(line), file)) {
		add_processor(&machine->online, line);
		cpu_identity_line(&identity, line);
	}
	machine->foreign = !*identity.vendor && !*identity.family;
	machine->vendor = vendor_named(identity.vendor);
	machine->family = (unsigned)atoi(identity.family);
	machine->model = (unsigned)atoi(identity.model);
	machine->stepping = (unsigned)atoi(identity.stepping);
	snprintf(machine->model_name, sizeof(machine->model_name), "%.63s", identity.name);
	machine->hypervisor = identity.hypervisor;
	return 0;
}

/* --- the rest of the machine */

static bool read_below(const char *root, const char *name, char *ret_text, size_t size)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", root, name) < (int)sizeof(path) &&
	       machine_line(path, ret_text, size);
}

/* none [integrity] confidentiality */
static void read_lockdown(const char *root, struct pmu_machine *machine)
{
	char text[128], *level;

	if (!read_below(root, "sys/kernel/security/lockdown", text, sizeof(text)))
		return;
	level = strchr(text, '[');
	if (level && strchr(level, ']'))
		snprintf(machine->lockdown, sizeof(machine->lockdown), "%.*s",
		        (int)strcspn(level + 1, "]"), level + 1);
}

static void read_online(const char *root, struct pmu_machine *machine)
{
	char text[1024];

	if (read_below(root, "sys/devices/system/cpu/online", text, sizeof(text)))
		pmu_cpu_list(text, &machine->online);
}

/* What this machine shows by running mtld, and a dump by these files only. */
static void read_kernel(const char *root, struct pmu_machine *machine)
{
	char directory[PATH_MAX], file[PATH_MAX], text[128];

	if (read_below(root, "proc/sys/kernel/osrelease", text, sizeof(text)))
		sscanf(text, "%u.%u", &machine->kernel[0], &machine->kernel[1]);
	snprintf(directory, sizeof(directory), "%s/sys/kernel/btf", root);
	snprintf(file, sizeof(file), "%s/sys/kernel/btf/vmlinux", root);
	machine->no_types = access(directory, F_OK) == 0 && access(file, F_OK) < 0;
}

/* --- one PMU */

static int read_number(const char *directory, const char *name, int otherwise)
{
	char text[32], *end;
	long value;

	if (!read_below(directory, name, text, sizeof(text)))
		return otherwise;
	value = strtol(text, &end, 10);
	return end == text || value < 0 || value > INT_MAX ? otherwise : (int)value;
}

/* Where events open: "cpus" of a hybrid part, "cpumask" of others; neither: every online CPU. */
static void read_cpus(const char *directory, const cpu_set_t *online, struct pmu *pmu)
{
	char text[1024];

	pmu->cpus = *online;
	if (read_below(directory, "cpus", text, sizeof(text)) ||
	        read_below(directory, "cpumask", text, sizeof(text)))
		pmu_cpu_list(text, &pmu->cpus);
	CPU_AND(&pmu->cpus, &pmu->cpus, online);
}

typedef void (*entry_fn)(struct pmu *pmu, const char *name, const char *text);

/* format/ldlat: config1:0-15 */
static void add_field(struct pmu *pmu, const char *name, const char *text)
{
	if (pmu->n_fields < PMU_FIELDS_MAX &&
	        pmu_field_parse(name, text, &pmu->fields[pmu->n_fields]) == 0)
		pmu->n_fields++;
}

/* events/mem-loads: event=0xcd,umask=0x1,ldlat=3; beside it there may be NAME.scale and NAME.unit
 */
static void add_alias(struct pmu *pmu, const char *name, const char *text)
{
	struct pmu_alias *alias = &pmu->aliases[pmu->n_aliases];

	if (pmu->n_aliases == PMU_ALIASES_MAX || strchr(name, '.') ||
	        strlen(name) >= sizeof(alias->name) || strlen(text) >= sizeof(alias->terms))
		return;
	strcpy(alias->name, name);
	strcpy(alias->terms, text);
	pmu->n_aliases++;
}

static void read_entries(const char *directory, const char *name, entry_fn each, struct pmu *pmu)
{
	char path[PATH_MAX];
	_cleanup_closedir_ DIR *entries = NULL;
	struct dirent *entry;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return;
	entries = opendir(path);
	while (entries && (entry = readdir(entries))) {
		char text[256];

		if (entry->d_name[0] != '.' && read_below(path, entry->d_name, text, sizeof(text)))
			each(pmu, entry->d_name, text);
	}
}

static void read_pmu(const char *root, const char *name, struct pmu_machine *machine)
{
	struct pmu *pmu = &machine->pmus[machine->n_pmus];
	char directory[PATH_MAX];
	int type;

	snprintf(directory, sizeof(directory), "%s/" DEVICES "/%s", root, name);
	type = read_number(directory, "type", -1);
	if (type < 0)
		return;
	snprintf(pmu->name, sizeof(pmu->name), "%s", name);
	pmu->type = (uint32_t)type;
	read_cpus(directory, &machine->online, pmu);
	pmu->max_precise = read_number(directory, "caps/max_precise", -1);
	read_entries(directory, "format", add_field, pmu);
	read_entries(directory, "events", add_alias, pmu);
	machine->n_pmus++;
}

int pmu_discover(const char *root, struct pmu_machine **ret_machine)
{
	_cleanup_free_ struct pmu_machine *machine = calloc(1, sizeof(*machine));
	int r;

	if (!machine)
		return -ENOMEM;
	root = root && strcmp(root, "/") ? root : "";
	machine->dump = *root;
	r = read_cpuinfo(root, machine);
	if (r < 0)
		return r;
	machine->paranoid = proc_paranoid(root);
	read_lockdown(root, machine);
	read_online(root, machine);
	if (machine->dump)
		read_kernel(root, machine);
	for (unsigned i = 0; i < PMUS_MAX; i++)
		read_pmu(root, names[i], machine);
	*ret_machine = TAKE_PTR(machine);
	return 0;
}

const struct pmu *pmu_named(const struct pmu_machine *machine, const char *name)
{
	for (unsigned i = 0; i < machine->n_pmus; i++)
		if (!strcmp(machine->pmus[i].name, name))
			return &machine->pmus[i];
	return NULL;
}
