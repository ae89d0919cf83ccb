/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upkeep: the operations on a world's directory that need no session, only access to its files:
 * check it, fold it again, copy it, and make a world from a copy of the tree. The kernel has these
 * operations; this header names them for the command line, which reaches the kernel only through
 * this folder.
 */
#pragma once

#include "kernel/check/replay.h"
#include "kernel/check/verify.h"
#include "kernel/copy/backup.h"
#include "kernel/copy/restore.h"
