/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ending a long command in good order: the first signal is taken as a wish, which the command sees
 * when it looks, a second one ends it where it is. When all is cleared away the process ends by the
 * signal after all, so that a shell sees why.
 */
#pragma once

#include <stdbool.h>

/** wfs_interrupt_catch() - from here on SIGINT, SIGTERM and SIGHUP are wishes, unless ignored. */
void wfs_interrupt_catch(void);

/** wfs_interrupted() - has one come? */
bool wfs_interrupted(void);

/** wfs_interrupt_raise() - end by the signal that came, if one did: for a command that did not finish,
 *  after everything else. */
void wfs_interrupt_raise(void);
