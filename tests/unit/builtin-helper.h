/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in reducers in the forms in which tests expect them.
 *
 * They come from the table itself. Which ones it has, in which order, and which of them are hidden,
 * stands in test-manifest.c.
 */
#pragma once

#include "kernel/manifest/builtin.h"

/* To be put together with `hidden` of the table: nothing instead of the literal @text of one that is. */
#define BUILTIN_UNLESS_true(text) ""
#define BUILTIN_UNLESS_false(text) text

#define BUILTIN_WORD(constant, name, hidden) BUILTIN_UNLESS_##hidden(" " name)
#define BUILTIN_ONE(constant, name, hidden) +(hidden ? 0 : 1)

/* " sys.principal sys.grant …" of those that are shown */
#define BUILTIN_WORDS WFS_BUILTIN_REDUCERS(BUILTIN_WORD)

enum { BUILTIN_SHOWN_COUNT = 0 WFS_BUILTIN_REDUCERS(BUILTIN_ONE) };
