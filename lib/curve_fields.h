/* SPDX-License-Identifier: MIT */
#ifndef MTL_CURVE_FIELDS_H
#define MTL_CURVE_FIELDS_H

/* The origin members, which the curve object and the record have in common. */

#include "mtl.h"
#include "json_fields.h"

int mtl_json_origin_write(struct json_object *object, const struct mtl_curve_origin *origin);
int mtl_json_origin_read(struct json_object *object, const struct json_place *place,
        struct mtl_curve_origin *ret_origin);

#endif
