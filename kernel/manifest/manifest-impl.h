/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the manifest: what manifest-read.c fills and manifest.c hands out. */
#pragma once

#include <stdatomic.h>

#include "kernel/manifest/manifest.h"

struct manifest_schema {
	struct wfs_schema *schema;
	size_t route_first; /* its rows in struct wfs_manifest.routes */
	size_t route_count;
};

struct manifest_reducer {
	struct wfs_reducer_definition definition; /* first: wfs_manifest_emits casts back */
	const char **emits;                       /* sorted */
	size_t emit_count;
};

struct wfs_manifest {
	atomic_uint references;
	json_t *document;
	struct wfs_buffer text;
	struct wfs_hash hash;
	struct manifest_schema *schemas;
	size_t schema_count;
	json_t *schema_index; /* name: place in schemas */
	struct manifest_reducer *reducers;
	size_t reducer_count;
	json_t *reducer_index;    /* name: place in reducers */
	struct wfs_route *routes; /* by schema; rows of one schema in manifest order */
	size_t route_count;
};

/* What is known while reading; a wrong part is left out, not guessed. */
struct manifest_reader {
	struct wfs_manifest *manifest;
	struct wfs_problems *problems;
	bool *keyed_known; /* per reducer: its `keyed` could be read */
};

/**
 * manifest_read() - check the document and fill everything but text and hash
 * Return: 0 (problems are added to the list), -ENOMEM.
 */
int manifest_read(struct manifest_reader *reader);

/** manifest_compare_text() - order of `const char *` items, for qsort and bsearch. */
int manifest_compare_text(const void *a, const void *b);
