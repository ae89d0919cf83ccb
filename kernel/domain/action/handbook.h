/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handbook: artifacts, readable by everybody, that tell agents what they can do in a world.
 *
 * The pages are the Markdown files of this folder, which the build puts into the program. A line
 * such as `@errors` in them stands for a part that is generated from a table of this program. Once
 * made the pages are ordinary artifacts: their owner, the operator, may change them, and nothing
 * updates them.
 */
#pragma once

#include <jansson.h>

/** wfs_handbook_artifacts() - make the actions that write all pages as artifacts into a new world:
 *  an array of {action, created_by, id}; created_by: the principal that does the action
 *  Return: new reference, NULL without memory. */
json_t *wfs_handbook_artifacts(void);
