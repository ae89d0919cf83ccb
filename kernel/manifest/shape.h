/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms as definitions of effects write them (`{"record":{"key_b64":{"maybe":{"text":{}}}}}`).
 * Source: tests/data/seeds/4-introspection-surface.
 */
#pragma once

#include "kernel/base/form.h"

/** wfs_shape_document() - make the JSON value by which definitions of effects write a form
 *  Return: new reference, NULL without memory. */
json_t *wfs_shape_document(const struct wfs_form *shape);
