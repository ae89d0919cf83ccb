/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON by which definitions of effects in a manifest describe a form
 * (`{"record":{"key_b64":{"maybe":{"text":{}}}}}`).
 * Source: tests/data/seeds/4-introspection-surface.
 */
#pragma once

#include "kernel/base/form.h"

/** wfs_shape_document() - make the JSON value that describes the form @shape in definitions of
 *  effects. Return: new reference, NULL without memory. */
json_t *wfs_shape_document(const struct wfs_form *shape);
