/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first JSON object in a text that has other things in it, too: prose, fences, braces of code.
 *
 * The search checks the grammar and makes no values. It also finds objects which wfs_json_parse
 * refuses for another reason than the grammar (a member twice, a number too large).
 *
 * The time is linear in the size of any text. A run tries to read an object from one brace on.
 * Where it fails, each brace that it has opened and not closed would fail at that same byte, so no
 * run begins at those braces. Later runs begin within what was a string to an earlier run. Of two
 * runs at one byte, one is inside a string and the other is not, because a quote that opens a
 * string of one closes a string of the other. So at most two runs read any byte.
 */
#pragma once

#include "kernel/base/buffer.h"

/** wfs_find_object() - find the first complete JSON object in a text
 *  @text: less than 4 GiB. @ret_object: the object's bytes, borrowed from @text
 *  Return: 1, 0 (no object in the text), -EFBIG (@text is too long), -ENOMEM. */
int wfs_find_object(struct wfs_bytes text, struct wfs_bytes *ret_object);
