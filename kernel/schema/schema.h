/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Schema (2020-12): all keywords of its vocabularies. References to other documents are
 * refused.
 *
 * One validator serves events, params, receipts, tool arguments and artifact interfaces. Loading a
 * schema refuses keywords that JSON Schema does not have, and references to documents other than
 * this one and the metaschemas. Patterns are those of ECMA-262 (pattern.h), and run under limits; a
 * hostile pattern is a violation, not a hang.
 * Source: docs/design.md §4.
 * Thread: a schema is immutable after wfs_schema_new; check from any number of threads.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/base/problems.h"

enum {
	WFS_SCHEMA_DEPTH_MAX = 64,    /* nested schemas */
	WFS_SCHEMA_COUNT_MAX = 10000, /* schemas in one document, nested ones included */
	WFS_SCHEMA_CHAIN_MAX = 128,   /* schemas that apply to one value, by $ref, allOf, not … */
	WFS_SCHEMA_NESTED_MAX =
		4096, /* unfinished schemas in a check, on all levels of the value */
	WFS_SCHEMA_PATTERNS_MAX = 256, /* patterns in one document */
	WFS_SCHEMA_URI_MAX = 1024,     /* bytes of a schema's resolved identifier */
	/*
	 * Work of one check. A step is a schema applied to a value; comparisons and patterns are
	 * charged by size. The bound allows a million items, and 20 KiB of text for a pattern that
	 * is not anchored (whose cost is quadratic at worst).
	 */
	WFS_SCHEMA_STEPS_MAX = 4 << 20,
};

struct wfs_schema;

/** wfs_schema_new() - compile a schema
 *  @definition: the schema's JSON; the schema keeps a reference of its own to this value, which
 *  must not be changed any more. @file: name of the file, for problems; borrowed during the call;
 *  may be NULL. @pointer: JSON pointer of @definition inside its file, with which pointers in
 *  problems begin
 *  @problems: gets every mistake in the schema. @ret_schema: set on success; caller frees it with
 *  wfs_schema_free()
 *  Return: 0, -EINVAL (problems were added), -ENOMEM. */
int wfs_schema_new(json_t *definition, const char *file, const char *pointer,
	struct wfs_problems *problems, struct wfs_schema **ret_schema);
void wfs_schema_free(struct wfs_schema *schema);
WFS_DEFINE_AUTO(schema, struct wfs_schema, wfs_schema_free)
#define WFS_AUTO_SCHEMA WFS_CLEANUP(wfs_auto_schema)

/** wfs_schema_check() - check a value against a schema
 *  Return: 0, -EINVAL (schema_violation; the message gives the JSON pointer into the value, what
 *  was expected and what came, or the limit that the check has reached), -ENOMEM. */
int wfs_schema_check(const struct wfs_schema *schema, const json_t *value, struct wfs_error *error);

/** wfs_schema_check_counted() - do wfs_schema_check(), and add the number of steps (see
 *  WFS_SCHEMA_STEPS_MAX) that the check took to *@steps, also after a failure. Return: as
 *  wfs_schema_check(). */
int wfs_schema_check_counted(const struct wfs_schema *schema, const json_t *value, uint64_t *steps,
	struct wfs_error *error);
