/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STATE_DIRECTORY_H
#define MTL_CLI_STATE_DIRECTORY_H

#include <stddef.h>
#include <json-c/json.h>

#include "cleanup.h"

/*
 * Where what was measured of this machine is kept between runs (lib/machine.h): /var/lib/mtl of
 * root, $XDG_STATE_HOME/mtl of everybody else (~/.local/state/mtl where that is not set). -ENOENT:
 * neither is known. -ENAMETOOLONG.
 */
int state_path(const char *name, char *ret_path, size_t size);

/*
 * Keeps an object there under a name, directory and all; the file is either complete or as before.
 * Negative errno; ret_path (PATH_MAX bytes) is where, also then, as far as it is known.
 */
int state_save(const char *name, struct json_object *object, char *ret_path);

/* What is kept under a name and was kept on a machine like this one (state_machine()). -ENOENT:
 * there is none. */
int state_load(const char *name, struct json_object **ret_object);

/* "AMD EPYC 9005, family 26 model 2 stepping 1, Linux 6.18.44, mtl 0.1.0": what was measured counts
 * for no other. It is the member "machine" of what state_save() writes. */
void state_machine(char *ret_text, size_t size);

#endif
