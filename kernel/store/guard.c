/* SPDX-License-Identifier: Apache-2.0 */
/* Jumps out of calls into LMDB that meet damage. */
#include "kernel/store/guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

/* A signal handler gets no argument of ours, so it needs these variables. */
static _Thread_local sigjmp_buf *current; /* where the thread's guarded call began, or NULL */
static const int numbers[] = {SIGBUS, SIGSEGV};
static struct sigaction before[WFS_ARRAY_COUNT(numbers)]; /* written by guard_init() */

/* Only a fault of the guarded call itself finds `current` set: faults are synchronous, and come to
 * the thread that caused them. Every other signal is passed to the earlier handler. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;

	if (current && info->si_code > 0) {
		/* siglongjmp() does not unblock what the kernel blocked for the handler. */
		(void)pthread_sigmask(SIG_SETMASK, &interrupted->uc_sigmask, NULL);
		siglongjmp(*current, 1); /* NOLINT(bugprone-signal-handler): leaves a fault */
	}
	for (size_t i = 0; i < WFS_ARRAY_COUNT(numbers); i++)
		if (numbers[i] == number)
			(void)sigaction(number, &before[i], NULL);
	if (info->si_code <= 0)
		(void)raise(number);
}

static void on_assertion(MDB_env *env, const char *message)
{
	(void)env;
	(void)message;
	if (current)
		siglongjmp(*current, 1);
}

void guard_init(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	WFS_GUARD(&lock);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(numbers); i++) {
		struct sigaction there;

		if (sigaction(numbers[i], NULL, &there) == 0 && there.sa_sigaction != on_fault)
			(void)sigaction(numbers[i], &action, &before[i]);
	}
}

void guard_watch(MDB_env *env)
{
	(void)mdb_env_set_assert(env, on_assertion);
}

int guard_call(int (*call)(void *context), void *context)
{
	sigjmp_buf place;

	wfs_require(!current);
	if (sigsetjmp(place, 0)) {
		current = NULL;
		return MDB_CORRUPTED;
	}
	current = &place;
	const int r = call(context);
	current = NULL;
	return r;
}
