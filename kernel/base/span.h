/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where JSON values end in a text, without making them: their bytes are wanted as they stand.
 *
 * This finds ends, it does not validate; what it accepts may still be no JSON. Outside of strings
 * it stops at the first byte that cannot be in JSON. That a `<` is one makes a search from every
 * tag of a text linear as a whole: a search goes on beyond another tag only inside a string, and
 * of two that both do one ends there, as each quote opens for the one what it closes for the other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/buffer.h"

/** wfs_span_blank() - bytes of white space that the text begins with. */
size_t wfs_span_blank(struct wfs_bytes text);

/** wfs_span_value() - bytes of the JSON value that the text begins with; 0: it does not. */
size_t wfs_span_value(struct wfs_bytes text);

/* An object's members, one after the other. Plain value; views borrow the text. */
struct wfs_span_object {
	struct wfs_bytes rest; /* behind the brace, or behind a member */
	bool begun;            /* there was a member */
	struct wfs_bytes name; /* of the member: a JSON string with its quotes */
	struct wfs_bytes value;
};

/** wfs_span_object() - begin with the members of @text, which begins with a brace. */
struct wfs_span_object wfs_span_object(struct wfs_bytes text);

/** wfs_span_next() - the next member. Return: 1, 0 (the brace came and nothing but white space is
 *  behind it), or -EINVAL (this is not an object). */
int wfs_span_next(struct wfs_span_object *object);
