/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms as definitions of effects write them (`{"record":{"key_b64":{"maybe":{"text":{}}}}}`), and
 * the check of a whole value, which names the place of a problem by a JSON pointer.
 * Source: tests/data/seeds/4-introspection-surface.
 */
#pragma once

#include "kernel/base/form.h"

/** wfs_shape_document() - make the JSON value by which definitions of effects write a form
 *  Return: new reference, NULL without memory. */
json_t *wfs_shape_document(const struct wfs_form *shape);

/** wfs_shape_check() - check that the whole of @value has the form @shape
 *  Return: 0, -EINVAL (schema_violation; the message says at which JSON pointer what was expected
 *  and what came), -ENOMEM. */
int wfs_shape_check(const struct wfs_form *shape, const json_t *value, struct wfs_error *error);
