// SPDX-License-Identifier: MIT
/*
 * `mtld --self-test`: what machine this is, and the ladder on it. The instrument that mtld would
 * measure with is built, shown and taken down; of a dump, what its files promise is shown.
 */
#include "self_test.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "instrument.h"
#include "pmu.h"

#define FAILED 1
#define IMPOSSIBLE 4

DEFINE_CLEANUP(struct instrument, instrument_free)

static void add_text(struct json_object *object, const char *name, const char *text)
{
	json_object_object_add(object, name, text && *text ? json_object_new_string(text) : NULL);
}

static void add_string(struct json_object *object, const char *name, const char *text)
{
	json_object_object_add(object, name, json_object_new_string(text));
}

static struct json_object *rungs_object(const struct ladder *ladder)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < N_RUNGS; i++) {
		const struct rung *rung = &ladder->rungs[i];
		struct json_object *object = json_object_new_object();

		add_string(object, "name", rung->name);
		json_object_object_add(object, "works", json_object_new_boolean(rung->works));
		add_string(object, "reason", rung->reason);
		add_string(object, "fix", rung->fix);
		add_string(object, "gain", rung->gain);
		json_object_object_add(
		        object, "run_on_hardware", json_object_new_boolean(rung->proven));
		json_object_array_add(list, object);
	}
	return list;
}

static struct json_object *processor_object(const struct pmu_machine *machine)
{
	static const char *const vendors[] = {"other", "intel", "amd"};
	struct json_object *object = json_object_new_object(), *pmus = json_object_new_array();

	add_string(object, "vendor", vendors[machine->vendor]);
	json_object_object_add(object, "family", json_object_new_int64(machine->family));
	json_object_object_add(object, "model", json_object_new_int64(machine->model));
	json_object_object_add(object, "stepping", json_object_new_int64(machine->stepping));
	add_text(object, "name", machine->model_name);
	add_text(object, "microarchitecture", pmu_microarchitecture(machine));
	json_object_object_add(object, "virtual", json_object_new_boolean(machine->hypervisor));
	for (unsigned i = 0; i < machine->n_pmus; i++)
		json_object_array_add(pmus, json_object_new_string(machine->pmus[i].name));
	json_object_object_add(object, "pmus", pmus);
	return object;
}

static void print_json(const struct pmu_machine *machine, const struct ladder *ladder)
{
	struct json_object *report = json_object_new_object();

	json_object_object_add(report, "rungs", rungs_object(ladder));
	add_string(report, "chosen", ladder->rungs[ladder->chosen].name);
	json_object_object_add(report, "tried", json_object_new_boolean(!machine->dump));
	json_object_object_add(report, "processor", processor_object(machine));
	puts(json_object_to_json_string_ext(report, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(report);
}

static void print_text(const struct pmu_machine *machine, const struct ladder *ladder)
{
	const char *name = pmu_microarchitecture(machine);

	printf("%s: %s\n", machine->model_name, name ?: "a microarchitecture not in the table");
	for (unsigned i = 0; i < N_RUNGS; i++) {
		const struct rung *rung = &ladder->rungs[i];

		printf("%-12s %s: %s\n", rung->name, rung->works ? "works" : "no", rung->reason);
		if (*rung->fix)
			printf("%-12s fix: %s\n", "", rung->fix);
	}
	printf("chosen: %s%s\n", ladder->rungs[ladder->chosen].name,
	        ladder->rungs[ladder->chosen].proven ? "" : " (never yet run on hardware)");
}

/* Nothing is opened, and no instrument built. */
static int judge_dump(
        const struct pmu_machine *machine, enum rung_index forced, struct ladder *ret_ladder)
{
	_cleanup_free_ struct pmu_event *events = NULL;
	struct ladder_facts facts = {.machine = machine};
	int r = pmu_events(machine, &events, &facts.n_events);

	if (r < 0)
		return r;
	facts.events = events;
	ladder_judge(&facts, forced, ret_ladder);
	return 0;
}

static int judge_here(const struct config *config, struct ladder *ret_ladder)
{
	_cleanup_(instrument_freep) struct instrument *instrument = NULL;
	int r = instrument_new(config, "", &instrument);

	if (r >= 0)
		*ret_ladder = instrument->ladder;
	return r;
}

int self_test_run(const struct config *config, const char *root, bool json)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;
	enum rung_index forced = ladder_rung_named(config->rung);
	struct ladder ladder;
	int r = pmu_discover(root, &machine);

	if (r == -ENOENT) {
		fprintf(stderr, "mtld: %s/proc/cpuinfo is missing: %s\n", root,
		        *root ? "--root names no dump of a machine" : "is /proc mounted?");
		return FAILED;
	}
	if (r == 0)
		r = machine->dump ? judge_dump(machine, forced, &ladder)
		                  : judge_here(config, &ladder);
	if (r < 0) {
		fprintf(stderr, "mtld: the self-test failed: %s\n", strerror(-r));
		return FAILED;
	}
	(json ? print_json : print_text)(machine, &ladder);
	return forced != N_RUNGS && ladder.chosen == RUNG_NONE ? IMPOSSIBLE : 0;
}
