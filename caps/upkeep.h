/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upkeep: what whoever may read the world directory itself can do with it, without a session:
 * check it, fold it again, copy it, and make one from the copy of a tree. The operations are the
 * kernel's; this names them for the command line, which reaches the kernel only through this folder.
 */
#pragma once

#include "kernel/check/replay.h"
#include "kernel/check/verify.h"
#include "kernel/copy/backup.h"
#include "kernel/copy/restore.h"
