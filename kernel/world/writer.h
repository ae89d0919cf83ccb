/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two threads behind a world that is owned: the kernel thread folds and commits, the publisher
 * tells the observers and answers.
 *
 * Order is the contract: commit, then notify, then answer. The kernel thread goes on with the next
 * batch while the publisher works on the last. When a request cannot be stored, those of its batch
 * are done again, each in a transaction of its own, so that it fails alone.
 * Source: docs/design.md §7.
 */
#pragma once

#include "kernel/world/world.h"

struct wfs_writer;

/** wfs_writer_new() - read the head and start both threads. */
int wfs_writer_new(
	struct wfs_world *world, struct wfs_writer **ret_writer, struct wfs_error *error);

/** wfs_writer_free() - take no more requests, answer all that are queued, stop; accepts NULL. */
void wfs_writer_free(struct wfs_writer *writer);

/** wfs_writer_end_code() - see wfs_world_end_code. */
void wfs_writer_end_code(struct wfs_writer *writer, unsigned int delay_ms);

/** wfs_writer_submit() - see wfs_world_submit. */
int wfs_writer_submit(struct wfs_writer *writer, struct wfs_request *request);

void wfs_writer_observe(struct wfs_writer *writer, struct wfs_observer *observer);
void wfs_writer_unobserve(struct wfs_writer *writer, struct wfs_observer *observer);

/** wfs_writer_figures() - fills the queue, request and batch figures. */
void wfs_writer_figures(struct wfs_writer *writer, struct wfs_world_figures *ret_figures);

/** wfs_writer_set_embedder() - see wfs_world_set_embedder. */
void wfs_writer_set_embedder(struct wfs_writer *writer, struct wfs_embedder *embedder);

/** wfs_writer_judge() - see wfs_world_judge. */
void wfs_writer_judge(struct wfs_writer *writer, struct wfs_judge *judge);
