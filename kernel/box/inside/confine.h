/* SPDX-License-Identifier: Apache-2.0 */
/* What the process that runs code gives up before it runs any. */
#pragma once

/**
 * confine() - give up everything except descriptor @fd
 *
 * Closes all other descriptors; bounds files, processes and memory (see confine.c); gives up all
 * privileges for ever; writes no core file; has the process die with the thread that started it;
 * and installs a filter that ends the process at any system call except those for waiting, sending,
 * growing the heap and ending.
 * Return: 0, or -errno of the first step that failed: then no code may run.
 */
int confine(int fd);
