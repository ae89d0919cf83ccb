/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The document about the nodes of a replicated world, which the tree shows as /replication.json.
 * The document changes at any time and is in no record, so its source makes it whenever it is
 * looked up.
 *
 * Linux reads a file in parts, and keeps what it has read. So each document that was looked up has
 * a number, under which its bytes can be read for some time, and never change.
 * Nothing is judged here: the reader has asked for the effect introspect.status.
 * Thread: any.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

enum {
	WFS_NODES_FRESH_MS = 100,        /* as long, a look-up gives the same document */
	WFS_NODES_KEPT_MS = 10 * 1000,   /* as long, a document can be read at least, */
	WFS_NODES_KEPT_BYTES = 16 << 20, /* unless others of so many bytes were made since */
};

struct wfs_authority;

/* Makes the document. Its maker embeds it in a struct of its own. */
struct wfs_nodes_source {
	/* Return: a new reference, or NULL without memory. Called on any thread, also on several at
	 * a time. */
	json_t *(*status)(struct wfs_nodes_source *source);
};

/* A document. Plain value. */
struct wfs_nodes_document {
	uint64_t number; /* from 1 on */
	uint64_t size_bytes;
	int64_t made_ns; /* since 1970 */
};

/** wfs_authority_set_nodes() - set the source of the document of a world. @source: must outlive the
 *  authority, or be set to NULL before: no source, so that the world has no such document. Waits
 *  for calls of the source before. */
void wfs_authority_set_nodes(struct wfs_authority *authority, struct wfs_nodes_source *source);

/** wfs_authority_nodes() - get the document as it is now, or was WFS_NODES_FRESH_MS ago
 *  Return: 0, -ENOENT (the world has no such document), -ENOMEM. */
int wfs_authority_nodes(struct wfs_authority *authority, struct wfs_nodes_document *ret_document);

/** wfs_authority_nodes_read() - read the document with a number, canonical JSON and a newline
 *  @buffer: the bytes are appended; NULL: they are not wanted
 *  Return: 0, -ENOENT (it is not kept any more), -ENOMEM. */
int wfs_authority_nodes_read(struct wfs_authority *authority, uint64_t number,
	struct wfs_buffer *buffer, struct wfs_nodes_document *ret_document);
