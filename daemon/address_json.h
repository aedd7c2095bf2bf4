/* SPDX-License-Identifier: MIT */
#ifndef MTLD_ADDRESS_JSON_H
#define MTLD_ADDRESS_JSON_H

/* Address samples as Status tells of them (docs/PROTOCOL.md, AddressSamples). */

#include <json-c/json.h>
#include "manager.h"

/* An array of AddressSamples; NULL: out of memory. */
struct json_object *address_json(const struct manager_status *status);

#endif
