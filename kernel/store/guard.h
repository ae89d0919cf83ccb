/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/: calls into LMDB during which a damaged page cannot end the process.
 *
 * LMDB believes its file. A damaged page leads it past the file's end (SIGBUS), to an address
 * that is not mapped (SIGSEGV), or to one of its assertions (abort); a page that the disk cannot
 * read is a SIGBUS, too. Within guard_call() each of these ends the call, by a jump out of it, with
 * MDB_CORRUPTED.
 *
 * So a guarded call may hold no lock, allocate nothing that the jump would leak, and touch nothing
 * but its arguments and what belongs to LMDB: it must be safe to leave it at any point. Reading is
 * safe. A write transaction can only be aborted after such a jump.
 */
#pragma once

#include <lmdb.h>

/** guard_init() - install the handlers of SIGBUS and SIGSEGV. Call it before the first guarded
 *  call, and whenever a store is opened, because other code may have replaced the handlers. Signals
 *  that no guarded call has caused go to the handlers that were installed before. */
void guard_init(void);

/** guard_watch() - make a failed assertion of LMDB on @env end the guarded call, too. */
void guard_watch(MDB_env *env);

/** guard_call() - call @call with @context, so that damage ends only the call; guarded calls do not
 *  nest. Thread: any. Return: the result of @call, or MDB_CORRUPTED. */
int guard_call(int (*call)(void *context), void *context);
