/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two numbers of a world: how its rows lie on disk, and what folding its records gives. They
 * are in the table `meta` of its store, in the bodies of `genesis` and `epoch` records, in
 * `worldfs status`, and in the tree's README.
 * Source: docs/decisions/0030-upgrade.md.
 */
#pragma once

#define WFS_STORE_FORMAT 8     /* raised when rows change their meaning */
#define WFS_STORE_FORMAT_MIN 7 /* the oldest that this program opens, for reading only */

/* Raised when folding gives other bytes, for any journal: built-in reducers, the library of Lua
 * code, the world's own embeddings, genesis. Old code for folding is not kept. */
#define WFS_FOLD_VERSION 2

/* The first version of the program that has these numbers. */
#define WFS_FORMATS_SINCE "0.2.0"
