/* SPDX-License-Identifier: Apache-2.0 */
/* Notes signals for later. */
#include "fs/command/frame/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "kernel/base/cleanup.h"

/* The noted signal, 0: none. A handler may do no more than set it. */
static atomic_int caught;

static void on_signal(int number)
{
	atomic_store(&caught, number);
}

void wfs_interrupt_catch(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
	struct sigaction before;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(numbers); i++)
		/* Signals that the parent process ignores (nohup) stay ignored. */
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			(void)sigaction(numbers[i], &action, NULL);
}

bool wfs_interrupted(void)
{
	return atomic_load(&caught) != 0;
}

void wfs_interrupt_raise(void)
{
	const int number = atomic_load(&caught);

	if (number != 0)
		(void)raise(number); /* running reset the handler */
}
