/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where JSON values are in a text, without making the values: callers want their exact bytes.
 *
 * wfs_span_scalar() and wfs_find_object() check the grammar. The others find ends and do not
 * validate; what they accept may still not be JSON. Outside of strings their search stops at the
 * first byte that cannot be in JSON. `<` is such a byte, so searching from every tag of a text is
 * linear as a whole: a search passes another tag only inside a string, and of two searches that
 * pass the same tag one ends there, because a quote that opens a string of one closes a string of
 * the other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/buffer.h"

/** wfs_span_blank() - Return: with how many bytes of white space @text begins. */
size_t wfs_span_blank(struct wfs_bytes text);

/** wfs_span_value() - Return: how many bytes the JSON value has with which @text begins; 0: @text
 *  does not begin with a value (but with white space, for instance), or the value has no end. */
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

/** wfs_span_scalar() - Return: how many bytes the string, number, `true`, `false` or `null` has
 *  that the text begins with, by the grammar of RFC 8259; 0: the text does not begin with one. */
size_t wfs_span_scalar(struct wfs_bytes text);

/**
 * wfs_find_object() - find the first complete JSON object in a text that also has other things in
 * it: prose, fences, braces of code
 * Also finds objects which wfs_json_parse() (json.h) refuses for another reason than the grammar (a
 * member twice, a number too large).
 *
 * The time is linear in the size of any text. A run tries to read an object from one brace on.
 * Where it fails, each brace that it has opened and not closed would fail at that same byte, so no
 * run begins at those braces. Later runs begin within what was a string to an earlier run. Of two
 * runs at one byte, one is inside a string and the other is not, because a quote that opens a
 * string of one closes a string of the other. So at most two runs read any byte.
 * @text: less than 4 GiB. @ret_object: the object's bytes, borrowed from @text
 * Return: 1, 0 (no object in the text), -EFBIG (@text is too long), -ENOMEM.
 */
int wfs_find_object(struct wfs_bytes text, struct wfs_bytes *ret_object);
