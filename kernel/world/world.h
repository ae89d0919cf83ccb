/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world: one directory with its store, and the one thread that changes it.
 *
 * Changing: a request waits in the bounded queue of its principal. The kernel thread gives all
 * principals equal shares of its time (writer-queue.c has the order). It takes a batch of requests,
 * folds one after the other, commits all of them as one transaction, and gives the batch to the
 * publisher thread. The publisher calls the observers (mounts drop what they cached), and only then
 * answers the requests. So a client that got an answer sees the change everywhere. A request that
 * fails has changed nothing. Reading: kernel/read/view.h; readers never wait for either thread.
 * Source: docs/design.md §7.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"
#include "kernel/read/view.h"
#include "kernel/world/figures.h"
#include "kernel/world/observer.h"
#include "kernel/world/request.h"
#include "kernel/world/world-options.h"

struct wfs_embedder;
struct wfs_genesis;
struct wfs_judge;
struct wfs_manifest;
struct wfs_permutation;
struct wfs_source;
struct wfs_world;

/** wfs_world_create() - make a world in @directory from a loaded source (kernel/manifest/source.h)
 *  Makes the directory if it is missing; otherwise it must be empty. The world is built under a
 *  temporary name first, so a failure leaves nothing.
 *  @options: map_size_bytes, clock_ns and clock_context are used
 *  @problems: gets each problem of the manifest and the artifacts. If the caller has put problems
 *  into it before, the source is only checked, nothing is created, and -EINVAL is returned.
 *  Return: 0, -EEXIST (already_exists: @directory is not empty), -EINVAL (the source has problems,
 *  see @problems), -ENOSPC, … */
int wfs_world_create(const char *directory, const struct wfs_source *source,
	const struct wfs_world_options *options, struct wfs_problems *problems,
	struct wfs_error *error);

/** wfs_world_open() - open a world; unless options->read_only, become its owner
 *  @ret_world: caller closes it with wfs_world_close()
 *  Return: 0, -ENOENT (not_found), -EBUSY (busy: after options->wait_ms another process still owns
 *  the world; the message names its pid), -EINVAL (format_older, format_newer: see wfs_store_open()
 *  in kernel/store/store.h), -EIO (hash_mismatch: the last record does not have the expected hash,
 *  or a page of the store is damaged), … */
int wfs_world_open(const char *directory, const struct wfs_world_options *options,
	struct wfs_world **ret_world, struct wfs_error *error);

/** wfs_world_end_code() - before the world is closed: allow Lua code to run for @delay_ms more;
 *  returns at once. Code that still runs at the end of this time is stopped; its request, and all
 *  later ones that need code, fail (cancelled, -EINTR). Does nothing if the world is read-only. */
void wfs_world_end_code(struct wfs_world *world, unsigned int delay_ms);

/** wfs_world_close() - do and answer the requests that are queued, stop both threads, and free the
 *  world; accepts NULL. The caller has closed all views, and removed all observers. */
void wfs_world_close(struct wfs_world *world);
WFS_DEFINE_AUTO(world, struct wfs_world, wfs_world_close)
#define WFS_AUTO_WORLD WFS_CLEANUP(wfs_auto_world)

const char *wfs_world_directory(const struct wfs_world *world);

/** wfs_world_read_only() - was the world opened with options->read_only? */
bool wfs_world_read_only(const struct wfs_world *world);

/** wfs_world_older() - has the world an older store format or fold version than this program's, so
 *  that it can only be read? */
bool wfs_world_older(const struct wfs_world *world);

/** wfs_world_quarantine() - get the world's list of code that has crashed its process, for every
 *  box that runs code for this world; borrowed from the world. */
struct wfs_quarantine *wfs_world_quarantine(struct wfs_world *world);

/** wfs_view_open() - open a view of a world at @height, or at WFS_HEIGHT_HEAD, with a transaction
 *  of its own. @ret_view: caller closes it with wfs_view_close(). Return: as wfs_view_of()
 *  (kernel/read/view.h). */
int wfs_view_open(struct wfs_world *world, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error);

/** wfs_world_store() - get the world's store, e.g. to write blob files into it; borrowed from the
 *  world. */
struct wfs_store *wfs_world_store(struct wfs_world *world);

/** wfs_world_id() - get the world's id, which its genesis record has; borrowed from the world. */
const char *wfs_world_id(const struct wfs_world *world);

/** wfs_world_genesis() - set world_id and entropy of @ret_genesis to those in the world's genesis
 *  record; other members stay. */
void wfs_world_genesis(const struct wfs_world *world, struct wfs_genesis *ret_genesis);

/** wfs_world_permutation() - make the permutation of numbers that one principal sees for one
 *  purpose
 *  The permutation follows from the world's entropy, @principal and @purpose, so copies of the
 *  world have equal permutations, and other worlds different ones.
 *  @purpose: a text that names the purpose. @first, @bits: range of the numbers, see
 *  wfs_permutation_init() (kernel/base/permutation.h). @ret_permutation: plain value. Return: 0,
 *  -ENOMEM. */
int wfs_world_permutation(const struct wfs_world *world, const char *principal, const char *purpose,
	uint64_t first, unsigned int bits, struct wfs_permutation *ret_permutation);

/** wfs_world_cursors() - make the permutation by which ids of cells in cursors of listings are
 *  replaced, for a principal whose grants cover only a part of the tree. @ret_permutation: plain
 *  value. Return: 0, -ENOMEM. */
int wfs_world_cursors(const struct wfs_world *world, const char *principal,
	struct wfs_permutation *ret_permutation);

/** wfs_world_manifest() - get the manifest in force at the head; caller unrefs. */
struct wfs_manifest *wfs_world_manifest(struct wfs_world *world);

/** wfs_world_figures() - read all figures of a world but the bytes of its blob files; these, and
 *  figures that cannot be read, are set to 0. */
void wfs_world_figures(struct wfs_world *world, struct wfs_world_figures *ret_figures);
/** wfs_world_count_blobs() - set figures->store.blob_bytes, which may take long, as
 *  wfs_store_count_blobs() (kernel/store/store.h) says. */
void wfs_world_count_blobs(struct wfs_world *world, struct wfs_world_figures *figures);

/* --- changing --- */

/** wfs_world_submit() - check a request, then queue it; request->done will be called with the
 *  answer
 *  Checks that need only the request and the manifest, such as those of an event by its schema, are
 *  made on the caller's thread.
 *  Return: 0; otherwise `done` will not be called, the request is the caller's again, and
 *  request->error is set: -ENOENT (not_found: the schema of an event, a module of a manifest),
 *  -EINVAL (the request, or what it carries, does not have its form), -EFBIG (too_large: more than
 *  WFS_REQUEST_SIZE_MAX or WFS_REASON_MAX bytes), -EAGAIN (overloaded: a queue is full, see
 *  kernel/world/request.h; unavailable: the world refuses requests, see wfs_world_refuse() in
 *  kernel/world/aside.h), -EBUSY (the world is being closed), -EROFS (the world is read-only), … */
int wfs_world_submit(struct wfs_world *world, struct wfs_request *request);

/** wfs_world_call() - submit a request and wait for the answer; this function sets request->done
 *  and request->context. Return: request->result, or the -errno of wfs_world_submit(). */
int wfs_world_call(struct wfs_world *world, struct wfs_request *request);

/** wfs_world_judge() - set the judge that allows or refuses effects that reducers ask for
 *  (answerer.h). When the function has returned, the judge before is not called any more.
 *  @world: not read-only. @judge: borrowed until this function is called again; NULL: every effect
 *  is refused */
void wfs_world_judge(struct wfs_world *world, struct wfs_judge *judge);

/** wfs_world_set_embedder() - set the embedder (embedder.h). When the function has returned, the
 *  embedder before is not called any more.
 *  @world: not read-only
 *  @embedder: borrowed until this function is called again; NULL: the world has only the embeddings
 *  that wfs_embed_local() (kernel/vector/embed.h) makes */
void wfs_world_set_embedder(struct wfs_world *world, struct wfs_embedder *embedder);

/** wfs_world_embedded() - give a request back to the world with the embedding that its action has
 *  waited for; the world does the action again
 *  @embedding: {dims, embedding, model}, the member `embedding` being the base64 of float32, as in
 *  kernel/domain/memory/embedding.h; or {code, message}, with which the action fails; NULL: the
 *  caller was out of memory. Takes the caller's reference
 *  If the world cannot take the request, it is answered with the error, on this thread. Thread:
 *  any. */
void wfs_world_embedded(struct wfs_world *world, struct wfs_request *request, json_t *embedding);

/** wfs_world_unembedded() - answer a request that waits for an embedding with @error, on this
 *  thread, because the embedding will not be made; nothing is recorded. Thread: any. */
void wfs_world_unembedded(struct wfs_request *request, const struct wfs_error *error);

/* --- observing --- */

/** wfs_world_observe() - have @observer called for each later commit; observers are called in the
 *  order in which they were added
 *  Does nothing if the world was opened for reading only, because it then commits nothing.
 *  @observer: borrowed until wfs_world_unobserve() */
void wfs_world_observe(struct wfs_world *world, struct wfs_observer *observer);
/** wfs_world_unobserve() - remove an observer. When the function has returned, no thread is calling
 *  the observer or will call it. Must not be called by an observer's functions. */
void wfs_world_unobserve(struct wfs_world *world, struct wfs_observer *observer);
