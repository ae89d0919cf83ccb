/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source form of a world: a directory with `world.json` and the files it names, written by
 * people. Loading it gives a manifest, the blobs that the manifest names, and the artifacts with
 * which a world of it begins; or all problems at once. Loading only reads files; the caller makes
 * the world. The handbook is artifacts that tell agents what they can do in a world.
 * Source: docs/design.md §4.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/base/problems.h"

enum {
	WFS_SOURCE_FILE_MAX = 16 << 20,  /* bytes of one file: world.json or one that it names */
	WFS_SOURCE_TOTAL_MAX = 64 << 20, /* bytes of all modules and files of artifacts; one named
					  * twice counts twice */
	WFS_SOURCE_ARTIFACTS_MAX = 4096,
	WFS_SOURCE_FILE_NAME_MAX = 1024, /* bytes of a file name in world.json */
};

/* Begins the ids of a handbook's artifacts,
 * which no other artifact of a source with one may have. */
#define WFS_HANDBOOK_PREFIX "handbook_"

/* The file that problems name. */
#define WFS_SOURCE_WORLD_FILE "world.json"

/* A file that is copied into the world as it is. Plain value. */
struct wfs_source_file {
	char *name; /* owned */
	struct wfs_buffer bytes;
};

/* A loaded source. Plain value; release with wfs_source_done. */
struct wfs_source {
	json_t *manifest; /* manifest document, not yet compiled */
	/* For each artifact, in the order of world.json: {id, created_by, action, code_file?}; the
	 * action is the write_artifact that makes it. An artifact with problems has only its id, or
	 * no member at all. NULL: no artifacts. */
	json_t *artifacts;
	bool genesis;  /* also begin with the artifacts of kernel/domain/action/service.h */
	bool handbook; /* also begin with those of kernel/domain/action/handbook.h */
	struct wfs_buffer *blobs; /* contents of the modules, in the order of the reducers */
	size_t blob_count;
	struct wfs_buffer host; /* text of host.json, which is valid JSON; empty without the file */
	struct wfs_source_file *files; /* named by host.json */
	size_t file_count;
	size_t file_capacity;
};

void wfs_source_done(struct wfs_source *source);
#define WFS_AUTO_SOURCE WFS_CLEANUP(wfs_source_done)

/** wfs_source_load() - read a source directory
 *  File names in it are relative to @directory and may not leave it. Every Lua module is compiled
 *  once (kernel/lua) and the manifest is compiled once (kernel/manifest), so that their problems
 *  are reported here, too. @name: replaces the name in world.json; may be NULL
 *  @problems: gets all mistakes
 *  @ret_source: zeros before; caller ends it with wfs_source_done(). After -EINVAL it is filled
 *  (ret_source->manifest is not NULL) if all problems are those of artifacts: wfs_world_create()
 *  (kernel/world/world.h) can then add the problems that are found only when artifacts are made
 *  Return: 0, -EINVAL (problems were added), -ENOENT (@directory does not exist, or has no
 *  world.json; a problem was added, too), -ENOMEM. */
int wfs_source_load(const char *directory, const char *name, struct wfs_problems *problems,
	struct wfs_source *ret_source);

/** wfs_source_empty() - make the source of a world named @name, without reducers, with the genesis
 *  artifacts and the handbook. @ret_source: set on success only; caller ends it with
 *  wfs_source_done(). Return: 0, -EINVAL (invalid_argument: not a name for a world), -ENOMEM. */
int wfs_source_empty(const char *name, struct wfs_source *ret_source, struct wfs_error *error);

/** wfs_source_renew() - replace the built-in schemas, effects, capabilities, policies and reducers
 *  in @manifest, the document of a manifest that an earlier version of the program made, by those
 *  of this version. Return: 0, -ENOMEM (a part of them may be replaced). */
int wfs_source_renew(json_t *manifest);
