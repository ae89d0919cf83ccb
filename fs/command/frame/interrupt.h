/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a long command in good order. The first signal is noted, and the command ends when it
 * checks for it; a second one ends the process at once. After cleaning up the process ends by the
 * first signal, so that a shell sees why.
 */
#pragma once

#include <stdbool.h>

/** wfs_interrupt_catch() - note SIGINT, SIGTERM and SIGHUP from now on, unless they are ignored. */
void wfs_interrupt_catch(void);

/** wfs_interrupted() - has a signal come since wfs_interrupt_catch()? */
bool wfs_interrupted(void);

/** wfs_interrupt_raise() - end the process by the signal that has come; returns if none has. To be
 *  called last by a command that did not finish. */
void wfs_interrupt_raise(void);
