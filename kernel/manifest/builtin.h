/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in definitions: what every new world's manifest has besides the user's own.
 *
 * A manifest may leave out effects, capabilities and the default policy (they are then not enabled
 * in that world), never the reducers; it cannot have other ones under these names.
 * Source: spec 3, "Capabilities and policy"; spec 1, "Manifest".
 */
#pragma once

#include <jansson.h>

#define WFS_BUILTIN_POLICY "sys/default@1"
#define WFS_BUILTIN_REDUCER_PRINCIPAL "sys.principal"
#define WFS_BUILTIN_REDUCER_GRANT "sys.grant"

enum {
	WFS_BUILTIN_REDUCER_COUNT = 2,
	WFS_BUILTIN_POLICY_COUNT = 1,
};

/* Each gives a new list of definitions, or NULL when there is no memory. */
json_t *wfs_builtin_effects(void);
json_t *wfs_builtin_caps(void);
json_t *wfs_builtin_policies(void);
json_t *wfs_builtin_reducers(void);
