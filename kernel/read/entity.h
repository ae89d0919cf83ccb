/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of the files in the directories of entities (artifacts, principals, turns, plans,
 * and what domains add): from which version of a cell a file is made, and what it contains.
 * kernel/manifest/entity-table.h lists the files.
 *
 * Nearly every file is made from one version of one cell, so it changes only when that cell does.
 * Exceptions: `grants.json` is made from all grants to a principal at one height; `events.jsonl`
 * from the records of a turn up to one of them. A file in a directory such as `steps` is made from
 * a version of a cell of its own.
 * Source: worldfs-tree(5).
 */
#pragma once

#include <jansson.h>

#include "kernel/manifest/entity-table.h"
#include "kernel/read/view.h"

/* The functions of a domain that make a file. It may leave out those that the form of the file
 * (enum wfs_entity_form) does not need. They return 0 or -errno. Plain value with static
 * lifetime. */
struct wfs_entity_contents {
	bool without_cell; /* an entity without a cell of the reducer has the file, too: it is made
			    * from {} and the version of the entity's own cell */
	/** source() - find the version that the file is made from; NULL: wfs_entity_source() finds
	 *  the version in its usual way
	 *  @entity: version of the entity's own cell. Return: 0, -ENOENT (the entity does not have
	 *  this file), … */
	int (*source)(struct wfs_view *view, struct wfs_bytes id, const struct wfs_version *entity,
		struct wfs_version *ret_version);
	/** write() - for the form MADE: append the file to @buffer
	 *  @then: view at the height of the version that the file is made from. @state: document of
	 *  this version */
	int (*write)(struct wfs_view *then, const json_t *state, struct wfs_buffer *buffer);
	/** write_bare() - do write() for a reader that may not read the content and code of the
	 *  artifact; NULL: such a reader gets the file of write(), too */
	int (*write_bare)(struct wfs_view *then, const json_t *state, struct wfs_buffer *buffer);
	/** write_part() - for the form PARTS, or a file in a directory of the form ITEMS: append a
	 *  part of the file, as wfs_entity_write() does */
	int (*write_part)(struct wfs_view *then, const struct wfs_version *version,
		struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes);

	/*
	 * The functions below are for the forms ITEMS and TEXTS: directories whose files have
	 * numbers, by which listings are ordered. @id: of the entity
	 */
	/** find() - find a file in the directory by its name. @ret_number: of the file.
	 *  @ret_version: of the cell that the file is made from. Return: 0, -ENOENT (no such file),
	 *  … */
	int (*find)(struct wfs_view *view, struct wfs_bytes id, const char *name,
		uint64_t *ret_number, struct wfs_version *ret_version);
	/** next() - find the file in the directory with the lowest number from *@number on, set
	 *  *@number to this number, and append the file's name to @name
	 *  @ret_version: of the cell that the file is made from; for the form TEXTS only vid,
	 *  size_bytes and time_ns are set
	 *  Return: 0, -ENOENT (no more files), … */
	int (*next)(struct wfs_view *view, struct wfs_bytes id, uint64_t *number,
		struct wfs_buffer *name, struct wfs_version *ret_version);
	/** count() - get about how many files the directory has */
	int (*count)(struct wfs_view *view, struct wfs_bytes id, uint64_t *ret_count);
	/** name() - find the file that is made from the cell with the key @key: get the id of its
	 *  entity, and append the file's name to @name
	 *  @view: NULL: append no name. @version: a version of the cell: the file's name when this
	 *  version was written is wanted; NULL: its name in @view. @ret_id: borrowed from @key
	 *  Return: 0, -ENOENT (no file is made from a cell with this key), … */
	int (*name)(struct wfs_view *view, struct wfs_bytes key, const struct wfs_version *version,
		struct wfs_bytes *ret_id, struct wfs_buffer *name);
};

/* A file of the table, and the functions that a domain has for it. Plain value. */
struct wfs_entity_provider {
	enum wfs_entity_file file;
	struct wfs_entity_contents contents;
};

/** wfs_entity_source() - find the version of a cell that a file of an entity is made from: usually
 *  that of the live cell with the key @id of the file's reducer (wfs_entity_file_reducer() in
 *  kernel/manifest/entity-table.h)
 *  For `grants.json`, `events.jsonl` and a directory of the form ITEMS, it is the version of the
 *  entity's own cell.
 *  @id: of the entity. Return: 0, -ENOENT (no such entity, or it does not have this file), -EIO. */
int wfs_entity_source(struct wfs_view *view, enum wfs_entity_file file, struct wfs_bytes id,
	struct wfs_version *ret_version);

/** wfs_entity_is_source() - is @version of a reducer from whose cells this file of some entity, or
 *  a file in this directory (such as `steps`), is made? Return: 1, 0, or -errno. */
int wfs_entity_is_source(
	struct wfs_view *view, enum wfs_entity_file file, const struct wfs_version *version);

/** wfs_entity_write() - append a part of a file of an entity to @buffer
 *  If the file is made in parts, only the parts in @range are read.
 *  @file: not of the forms WFS_ENTITY_BYTES, TEXTS, GRANTS and EVENTS; a directory (ITEMS): a file
 *  in it is written
 *  @version: that the file is made from: from wfs_entity_source(); for a file in a directory, from
 *  find() or next() of its struct wfs_entity_contents
 *  @view: at the height of @version or later
 *  @range: part of the file; if its size is 0, only @ret_size_bytes is set
 *  @ret_size_bytes: of the whole file
 *  Return: 0, -ENOENT (`result.json` of a turn that has not ended), -EIO, -ENOMEM. */
int wfs_entity_write(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, struct wfs_range range, struct wfs_buffer *buffer,
	uint64_t *ret_size_bytes);

/** wfs_entity_write_bare() - do wfs_entity_write(), but append `meta.json` of an artifact without
 *  the hashes of its content and code, for a reader that may not read content and code. Return: as
 *  wfs_entity_write(). */
int wfs_entity_write_bare(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, struct wfs_range range, struct wfs_buffer *buffer,
	uint64_t *ret_size_bytes);

/** wfs_entity_write_document() - append the canonical text of a JSON document and a newline to
 *  @buffer. @document: takes the caller's reference; may be NULL, if making it has failed
 *  Return: 0, or -ENOMEM (also if @document is NULL). */
int wfs_entity_write_document(json_t *document, struct wfs_buffer *buffer);

/** wfs_entity_live_cell() - find the version of the live cell of a built-in reducer whose key is
 *  the entity's @id. Return: 0, -ENOENT (the reducer has no live cell with this key), -EIO. */
int wfs_entity_live_cell(struct wfs_view *view, enum wfs_builtin_reducer builtin,
	struct wfs_bytes id, struct wfs_version *ret_version);
