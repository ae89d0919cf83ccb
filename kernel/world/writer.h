/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two threads of an owned world: the kernel thread folds and commits, the publisher calls the
 * observers and answers.
 *
 * The order is a promise: commit, then notify, then answer. The kernel thread works on the next
 * batch while the publisher works on the last. If a request cannot be stored, all requests of its
 * batch are done again, each in a transaction of its own, so that only this one fails.
 * Source: docs/design.md §7.
 */
#pragma once

#include "kernel/world/world.h"

struct wfs_writer;

/** wfs_writer_new() - read the head of a world and start both threads. @ret_writer: caller frees it
 *  with wfs_writer_free(). Return: 0, -EIO, -ENOMEM, … */
int wfs_writer_new(
	struct wfs_world *world, struct wfs_writer **ret_writer, struct wfs_error *error);

/** wfs_writer_free() - refuse new requests, answer the queued ones, stop both threads, free the
 *  writer; accepts NULL. */
void wfs_writer_free(struct wfs_writer *writer);
