/* SPDX-License-Identifier: Apache-2.0 */
/* What the process that runs code gives up before it runs any. */
#pragma once

/**
 * confine() - give up everything except descriptor @fd
 *
 * Closes all other descriptors; sets limits (no new process, no further descriptor, no byte written
 * to a file, no core file, bounded heap and stack); gives up all privileges for ever; has the
 * process die with the thread that started it; and installs a filter that ends the process at any
 * system call except recvfrom(2) and sendto(2) on @fd, brk(2), madvise(2), reading a clock of
 * processor time, ending, and mmap(2), which fails.
 * Return: 0, or -errno of the step that failed: then the caller must run no code.
 */
int confine(int fd);
