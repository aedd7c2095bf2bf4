// SPDX-License-Identifier: MIT
/* The members of AddressSamples, each by its name; counters are whole numbers. */
#include "address_json.h"

#include "mtl.h"

static struct json_object *event_json(const struct manager_event *event)
{
	const struct {
		const char *name;
		uint64_t value;
	} counters[] = {
	        {"cpus", event->cpus},
	        {"precise", event->precise},
	        {"period", event->period},
	        {"samples", event->seen},
	        {"foreign", event->foreign},
	        {"zero", event->zero},
	        {"kernel", event->kernel},
	        {"filtered", event->filtered},
	        {"unreadable", event->unreadable},
	        {"delivered", event->delivered},
	        {"lost", event->lost},
	        {"unseen", event->unseen},
	        {"throttled", event->throttled},
	};
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	json_object_object_add(object, "event", json_object_new_string(event->name));
	json_object_object_add(object, "pmu", json_object_new_string(event->pmu));
	json_object_object_add(object, "source", json_object_new_string(event->source));
	json_object_object_add(object, "misses_only", json_object_new_boolean(event->misses_only));
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		json_object_object_add(
		        object, counters[i].name, json_object_new_uint64(counters[i].value));
	json_object_object_add(object, "starved", json_object_new_double(event->starved));
	return object;
}

struct json_object *address_json(const struct manager_status *status)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; list && i < status->n_events; i++) {
		struct json_object *event = event_json(&status->events[i]);

		if (!event || json_object_array_add(list, event) < 0) {
			json_object_put(event);
			json_object_put(list);
			return NULL;
		}
	}
	return list;
}
