/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/: calls into LMDB that a damaged page cannot end the process by.
 *
 * LMDB believes its file. A damaged page leads it behind the file's end (SIGBUS), to an address
 * that is not there (SIGSEGV), or to one of its assertions (abort); a page that the disk cannot
 * read is a SIGBUS, too. Within guard_call() each of these is MDB_CORRUPTED, and the call is left
 * where it stood.
 *
 * So what is called may hold no lock and allocate nothing that is lost by that, and read or write
 * what is LMDB's, its arguments, and nothing else: everything on the way must be fit to be dropped.
 * Reading is. A write transaction can only be aborted afterwards.
 */
#pragma once

#include <lmdb.h>

/** guard_init() - before the first call, and whenever a store is opened: somebody may have taken the
 *  signals. What is not from such a call goes to the handlers that were there. */
void guard_init(void);

/** guard_watch() - LMDB's assertions on @env come back from guarded calls as well. */
void guard_watch(MDB_env *env);

/**
 * guard_call() - call @call with @context; such calls do not nest
 * Thread: any. Return: what @call returns, or MDB_CORRUPTED.
 */
int guard_call(int (*call)(void *context), void *context);
