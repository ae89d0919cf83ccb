/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the source reader: what it knows while it reads, its files, its principals and
 * artifacts. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/buffer.h"
#include "kernel/base/problems.h"
#include "kernel/manifest/source.h"

#define WORLD_FILE WFS_SOURCE_WORLD_FILE

/* Where in world.json a principal or a grant of the manifest stands. */
struct source_place {
	size_t principal;
	size_t grant; /* SIZE_MAX: it is the principal itself */
};

/* By list and index in the manifest. Grants of the operator stand nowhere, and have no problems. */
struct source_places {
	size_t operator_index; /* in the list of world.json; SIZE_MAX: it is not there */
	struct source_place *principals;
	size_t principal_count;
	size_t principal_capacity;
	struct source_place *grants;
	size_t grant_count;
	size_t grant_capacity;
};

void source_places_done(struct source_places *places);

struct source_loader {
	int directory;
	struct wfs_problems *problems;
	json_t *world;       /* world.json */
	json_t *manifest;    /* in the making */
	json_t *schemas;     /* by file name: a schema that compiles, or `true` in place of one */
	json_t *modules;     /* by file name: index of the reducer that has it, or MODULE_FAILED */
	struct wfs_box *box; /* that modules are checked in; owned */
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

/** source_expected() - note a problem of world.json: "expected <what>, got <value>". */
void source_expected(const struct source_loader *loader, struct wfs_place place, const char *what,
	const json_t *value);

/** source_check_members() - note members of @object that are not in the NULL-ended @names. */
void source_check_members(const struct source_loader *loader, struct wfs_place place,
	const json_t *object, const char *const *names);

/** source_file_name() - the name of a file that @value gives, or NULL (noted). */
const char *source_file_name(
	const struct source_loader *loader, struct wfs_place place, const json_t *value);

/** source_named_file_read() - append what world.json names at @place.
 *  Return: 1, 0 (a problem was noted), -ENOMEM. */
int source_named_file_read(const struct source_loader *loader, struct wfs_place place,
	const char *name, struct wfs_buffer *buffer);

/** source_charge() - room for a file that is kept. Return: 1, 0 when there is none (noted once). */
int source_charge(struct source_loader *loader, struct wfs_place place, size_t bytes);

/** source_set() - set a member to a new reference; an absent @value is left out. */
int source_set(json_t *object, const char *name, json_t *value);

/** source_set_new() - the same, taking the reference. Return: 0, -ENOMEM. */
int source_set_new(json_t *object, const char *name, json_t *value);

/* --- source-principals.c --- */

enum {
	SOURCE_OPERATOR_SCRIP = 1000, /* enough for 200 memory stores */
};

/**
 * source_operator() - put the operator, who holds every capability, into an empty manifest
 * @account: {scrip?, quotas?} that it begins with; may be NULL
 * @genesis: are there services that cost? Then it begins with SOURCE_OPERATOR_SCRIP unless @account says
 *  otherwise: nobody could give it any.
 */
int source_operator(json_t *manifest, const json_t *account, bool genesis);

/** source_principals() - the operator and the principals of world.json, with their grants.
 *  Return: 0, -ENOMEM. */
int source_principals(struct source_loader *loader);

/** source_place() - where the part of the manifest at @pointer stands in world.json.
 *  Return: false: at the same place. */
bool source_place(
	const struct source_loader *loader, const char *pointer, struct wfs_place *ret_place);

/* --- source-artifacts.c --- */

/** source_artifacts() - the actions that make the artifacts of world.json, behind its principals.
 *  Return: 0, -ENOMEM. */
int source_artifacts(struct source_loader *loader);

/* --- source-scripts.c --- */

/** source_scripts() - the files that models of host.json answer from, into @source.
 *  Return: 0, -ENOMEM. */
int source_scripts(
	const struct source_loader *loader, const json_t *host, struct wfs_source *source);

/* --- source-file.c --- */

/** source_file_name_valid() - relative, down only, without control characters. */
bool source_file_name_valid(const char *name);

/**
 * source_file_read() - append a file to @buffer
 * @name: valid
 * Return: 0, -EBADF (not a regular file), -ELOOP (a symbolic link), -EFBIG (more than
 *         WFS_SOURCE_FILE_MAX), -ENOMEM, or what open and read say.
 */
int source_file_read(int directory, const char *name, struct wfs_buffer *buffer);

/** source_file_reason() - what one of these results means to the user. */
const char *source_file_reason(int r);
