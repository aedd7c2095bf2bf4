// SPDX-License-Identifier: MIT
/*
 * `mtld --self-test`: the ladder, top down. What this version cannot use yet is listed as such, so
 * that nobody takes a missing feature for a missing capability.
 */
#include "self_test.h"

#include <json-c/json.h>
#include <stdio.h>

#include "cleanup.h"
#include "instrument.h"

struct rung {
	const char *name;
	bool works;
	const char *reason, *fix;
};

DEFINE_CLEANUP(struct instrument, instrument_free)

static void print_json(const struct rung *rungs, unsigned n, const char *chosen)
{
	struct json_object *report = json_object_new_object(), *list = json_object_new_array();

	for (unsigned i = 0; i < n; i++) {
		struct json_object *rung = json_object_new_object();

		json_object_object_add(rung, "name", json_object_new_string(rungs[i].name));
		json_object_object_add(rung, "works", json_object_new_boolean(rungs[i].works));
		json_object_object_add(rung, "reason", json_object_new_string(rungs[i].reason));
		json_object_object_add(rung, "fix", json_object_new_string(rungs[i].fix));
		json_object_array_add(list, rung);
	}
	json_object_object_add(report, "rungs", list);
	json_object_object_add(report, "chosen", json_object_new_string(chosen));
	puts(json_object_to_json_string_ext(report, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(report);
}

static void print_text(const struct rung *rungs, unsigned n, const char *chosen)
{
	for (unsigned i = 0; i < n; i++) {
		printf("%-12s %s: %s\n", rungs[i].name, rungs[i].works ? "works" : "no", rungs[i].reason);
		if (*rungs[i].fix)
			printf("%-12s fix: %s\n", "", rungs[i].fix);
	}
	printf("chosen: %s\n", chosen);
}

int self_test_run(const char *root, bool json)
{
	_cleanup_(instrument_freep) struct instrument *instrument = NULL;
	struct config config;
	bool works;

	config_defaults(&config);
	if (instrument_new(&config, root ? root : "", &instrument) < 0) {
		fputs("mtld: out of memory\n", stderr);
		return 1;
	}
	works = instrument->source != NULL;
	struct rung rungs[] = {
		{"pebs", false, "hardware address samples are not used by this version", ""},
		{"ibs", false, "hardware address samples are not used by this version", ""},
		{"counters", false, "hardware counters are not used by this version", ""},
		{"watchpoints", works, instrument->reason, instrument->fix},
		{"none", true, works ? "not needed" : "nothing else works here", ""},
	};
	(json ? print_json : print_text)(rungs, sizeof(rungs) / sizeof(rungs[0]),
		works ? "watchpoints" : "none");
	return 0;
}
