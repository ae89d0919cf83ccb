/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes of params and receipts of effects, as definitions of effects write them.
 *
 * A shape is a constant tree. From the tree come the text of a definition
 * (`{"record":{"key_b64":{"maybe":{"text":{}}}}}`), a JSON Schema, and the check of a value. A
 * member that is `maybe` may be absent; null is never a value.
 * Source: tests/data/seeds/4-introspection-surface.
 * Thread: any; shapes are immutable.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/error.h"

enum wfs_shape_kind {
	WFS_SHAPE_TEXT, /* without NUL characters */
	WFS_SHAPE_NAT,  /* an integer that is not negative */
	WFS_SHAPE_BOOL,
	WFS_SHAPE_HASH, /* `sha256:` and 64 digits */
	WFS_SHAPE_LIST,
	WFS_SHAPE_RECORD,
	WFS_SHAPE_OBJECT, /* an object whose form is defined elsewhere, under the name `ref` */
	WFS_SHAPE_VALUE,  /* any value; its form is defined under the name `ref` */
};

/* A member of a record. Plain value with static lifetime. */
struct wfs_shape_member {
	const char *name;
	const struct wfs_shape *shape;
	bool optional;
	size_t offset;    /* of params: in the decoded struct */
	const char *help; /* of params: what the member is */
};

/* Plain value with static lifetime. */
struct wfs_shape {
	enum wfs_shape_kind kind;
	const char *ref;                        /* of an object or value */
	const char *comment;                    /* for people; may be NULL */
	const struct wfs_shape *item;           /* of a list */
	const struct wfs_shape_member *members; /* of a record; the last one has no name */
};

extern const struct wfs_shape wfs_shape_text;
extern const struct wfs_shape wfs_shape_nat;
extern const struct wfs_shape wfs_shape_bool;
extern const struct wfs_shape wfs_shape_hash;

/** wfs_shape_document() - write a shape as definitions do.
 *  Return: new reference, NULL without memory. */
json_t *wfs_shape_document(const struct wfs_shape *shape);

/**
 * wfs_shape_schema() - make a JSON Schema (2020-12) for a shape, with additionalProperties false
 * A `ref` becomes any object, or any value.
 * Return: new reference, NULL without memory.
 */
json_t *wfs_shape_schema(const struct wfs_shape *shape);

/**
 * wfs_shape_check() - check that @value has a shape
 * Return: 0, -EINVAL (schema_violation: JSON pointer, what was expected and what came), -ENOMEM.
 */
int wfs_shape_check(const struct wfs_shape *shape, const json_t *value, struct wfs_error *error);
