/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where JSON values end in a text, without making the values: callers want their exact bytes.
 *
 * These functions find ends and do not validate; what they accept may still not be JSON. Outside of
 * strings a search stops at the first byte that cannot be in JSON. `<` is such a byte, so searching
 * from every tag of a text is linear as a whole: a search passes another tag only inside a string,
 * and of two searches that pass the same tag one ends there, because a quote that opens a string of
 * one closes a string of the other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/buffer.h"

/** wfs_span_blank() - Return: with how many bytes of white space @text begins. */
size_t wfs_span_blank(struct wfs_bytes text);

/** wfs_span_value() - Return: how many bytes the JSON value has with which @text begins; 0: @text
 *  does not begin with a value. */
size_t wfs_span_value(struct wfs_bytes text);

/* Iterates over the members of an object. Plain value; the views borrow the text. */
struct wfs_span_object {
	struct wfs_bytes rest; /* the text after the brace, or after the last member */
	bool begun;            /* a member has been read */
	struct wfs_bytes name; /* of the member: a JSON string with its quotes */
	struct wfs_bytes value;
};

/** wfs_span_object() - begin to iterate over the members of the object with which @text, whose
 *  first byte is a brace, begins. */
struct wfs_span_object wfs_span_object(struct wfs_bytes text);

/** wfs_span_next() - read the next member into object->name and object->value
 *  Return: 1, 0 (the object has ended, and nothing but white space follows), or -EINVAL (this is
 *  not an object). */
int wfs_span_next(struct wfs_span_object *object);
