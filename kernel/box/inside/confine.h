/* SPDX-License-Identifier: Apache-2.0 */
/* What the process that runs code gives up before it runs any. */
#pragma once

/**
 * confine() - keep descriptor @fd, and nothing else of the world
 *
 * No other descriptor, no more files, processes or memory than the bounds in confine.c, no privilege ever again,
 * no core file, death with the thread that started it, and a filter that ends the process at any system
 * call but those that waiting, sending, growing the heap and ending take.
 * Return: 0, or -errno of the first step that failed: then no code may run.
 */
int confine(int fd);
