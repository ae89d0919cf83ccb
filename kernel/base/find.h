/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first JSON object in a text that has other things in it, too: prose, fences, braces of code.
 *
 * It is found by its grammar, and not made. What is not JSON to wfs_json_parse for another reason (a
 * name twice, a number that is too large) is still the object that somebody wrote.
 *
 * A search is linear in the text, whatever it is. Where a run from one brace fails, it fails for each
 * brace that it has opened and not closed, so no run begins at these. Others begin within what was a
 * string to it; of two runs at one place one is in a string and the other is not, as each quote opens
 * for the one what it closes for the other. So no third is ever at that place.
 */
#pragma once

#include "kernel/base/buffer.h"

/**
 * wfs_find_object() - the first complete JSON object of a text
 * @text: less than 4 GiB
 * @ret_object: borrows the text
 * Return: 1, 0 (there is none), -EFBIG, -ENOMEM.
 */
int wfs_find_object(struct wfs_bytes text, struct wfs_bytes *ret_object);
