/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the code that reads a world's source (source.h): its state, files, principals and
 * artifacts.
 *
 * The functions report mistakes by adding to loader->problems, with a place (a JSON pointer) in
 * world.json, and go on. host.json says which models the host has; a script is a file of answers
 * that a model gives in place of a server.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/buffer.h"
#include "kernel/base/problems.h"
#include "kernel/manifest/source.h"

#define WORLD_FILE WFS_SOURCE_WORLD_FILE

/* Which item of world.json a principal or a grant of the manifest comes from. */
struct source_place {
	size_t principal;
	size_t grant; /* SIZE_MAX: the principal itself */
};

/* Places in world.json of the principals and grants of the manifest, by their index there. The
 * operator's grants come from no item, and have no problems. */
struct source_places {
	size_t operator_index; /* of the operator in world.json's list; SIZE_MAX: not in it */
	struct source_place *principals;
	size_t principal_count;
	size_t principal_capacity;
	struct source_place *grants;
	size_t grant_count;
	size_t grant_capacity;
};

void source_places_done(struct source_places *places);

struct source_loader {
	int directory; /* descriptor of the source's directory */
	struct wfs_problems *problems;
	json_t *world;       /* world.json */
	json_t *manifest;    /* the manifest document that is being made */
	json_t *schemas;     /* {file name: a schema that compiles, or `true` after problems} */
	json_t *modules;     /* {file name: index of the reducer that has it, or MODULE_FAILED} */
	struct wfs_box *box; /* in which modules are checked; owned */
	struct wfs_buffer *blobs;
	size_t blob_count;
	size_t total_bytes; /* of modules and of files of artifacts */
	json_t *artifacts;  /* see struct wfs_source */
	bool genesis;
	bool handbook;
	size_t artifact_problem_count;
	struct source_places places;
};

/* --- source-check.c --- */

/** source_expected() - add the problem "expected @what, got @value" at @place in world.json.
 *  @value: NULL is shown as "nothing" */
void source_expected(const struct source_loader *loader, struct wfs_place place, const char *what,
	const json_t *value);

/** source_check_members() - add a problem for each member of @object that is not one of @names,
 *  which ends with NULL. */
void source_check_members(const struct source_loader *loader, struct wfs_place place,
	const json_t *object, const char *const *names);

/** source_file_name() - get the text of @value, which names a file. Return: borrowed from @value,
 *  or NULL (it is not a valid name; a problem was added). */
const char *source_file_name(
	const struct source_loader *loader, struct wfs_place place, const json_t *value);

/** source_named_file_read() - append to @buffer the contents of the file @name, which world.json
 *  names at @place. Return: 1, 0 (a problem was added), -ENOMEM; if it is not 1, @buffer may have a
 *  part of the file. */
int source_named_file_read(const struct source_loader *loader, struct wfs_place place,
	const char *name, struct wfs_buffer *buffer);

/** source_charge() - add @bytes, the size of a file that world.json names at @place, to
 *  loader->total_bytes
 *  Return: 1; 0: all files so far have more than WFS_SOURCE_TOTAL_MAX bytes (source.h; a problem
 *  was added the first time). */
int source_charge(struct source_loader *loader, struct wfs_place place, size_t bytes);

/** source_set() - set member @name of @object to @value, of which @object gets a reference of its
 *  own. Does nothing if @value is NULL. Return: 0, -ENOMEM. */
int source_set(json_t *object, const char *name, json_t *value);

/** source_set_new() - set member @name of @object to @value, whose reference is taken, also
 *  after a failure. Return: 0, -ENOMEM (also if @value is NULL). */
int source_set_new(json_t *object, const char *name, json_t *value);

/* --- source-principals.c --- */

enum {
	SOURCE_OPERATOR_SCRIP = 1000, /* enough for 200 memory stores */
};

/** source_operator() - put the operator, with a grant of every capability, into a manifest document
 *  whose lists are empty. @account: {scrip?, quotas?} that it begins with; may be NULL
 *  @genesis: the world has genesis artifacts, whose services cost scrip. Nobody could give scrip to
 *  the operator, which therefore begins with SOURCE_OPERATOR_SCRIP if @account has no `scrip`.
 *  Return: 0, -ENOMEM. */
int source_operator(json_t *manifest, const json_t *account, bool genesis);

/** source_principals() - add the operator and the principals of world.json, with their grants, to
 *  loader->manifest. Return: 0 (also if problems were added), -ENOMEM. */
int source_principals(struct source_loader *loader);

/** source_place() - find the place in world.json from which a part of loader->manifest comes
 *  @pointer: JSON pointer of the part in loader->manifest. Return: false: the part has this pointer
 *  in world.json, too, and @ret_place is not set. */
bool source_place(
	const struct source_loader *loader, const char *pointer, struct wfs_place *ret_place);

/* --- source-artifacts.c --- */

/** source_artifacts() - fill loader->artifacts with the actions that make the artifacts of
 *  world.json; called after source_principals(). Return: 0 (also if problems were added),
 *  -ENOMEM. */
int source_artifacts(struct source_loader *loader);

/* --- source-scripts.c --- */

/** source_scripts() - read into source->files the files from which models of the provider `script`
 *  in host.json answer (worldfs-host(5))
 *  @host: document of host.json
 *  Return: 0 (also if problems were added to loader->problems), -ENOMEM. */
int source_scripts(
	const struct source_loader *loader, const json_t *host, struct wfs_source *source);

/* --- source-file.c --- */

/** source_file_name_valid() - is @name a relative path of at most WFS_SOURCE_FILE_NAME_MAX bytes,
 *  without names that are empty, `.` or `..`, and without control characters? */
bool source_file_name_valid(const char *name);

/** source_file_read() - append the contents of a file to @buffer; after a failure @buffer may have
 *  a part of them
 *  @directory: descriptor; @name: path from there, valid by source_file_name_valid()
 *  Return: 0, -EBADF (not a regular file), -ELOOP (a symbolic link), -EFBIG (more than
 *  WFS_SOURCE_FILE_MAX), -ENOMEM, or an -errno of open(2) or read(2). */
int source_file_read(int directory, const char *name, struct wfs_buffer *buffer);

/** source_file_reason() - Return: words for the user that explain the failure @r of
 *  source_file_read(); static. */
const char *source_file_reason(int r);
