/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of built-in reducers as structs (kernel/manifest/document.h), for readers outside of
 * folding. A caller ends each struct with wfs_document_done(); after a failure it is all zeros.
 */
#pragma once

#include "kernel/manifest/document.h"
#include "kernel/read/view.h"

/** wfs_view_read() - read the live cell with the key @key of a built-in reducer into @ret_document,
 *  the struct of this reducer; callers use wfs_view_read_<name>(). @error: not filled on -ENOENT
 *  Return: 0, -ENOENT (no live cell), -EIO (also if the document has another form), … */
int wfs_view_read(struct wfs_view *view, enum wfs_builtin_reducer builtin, const char *key,
	void *ret_document, struct wfs_error *error);

/** wfs_view_read_version() - read a version of a cell of a built-in reducer into @ret_document, the
 *  struct of this reducer; callers use wfs_view_read_<name>_version()
 *  Return: as wfs_view_read(); -ENOENT: the version is a deletion. */
int wfs_view_read_version(struct wfs_view *view, enum wfs_builtin_reducer builtin,
	const struct wfs_version *version, void *ret_document, struct wfs_error *error);

#define WFS_VIEW_READ_FUNCTIONS(constant, name)                                               \
	static inline int wfs_view_read_##name(struct wfs_view *view, const char *key,        \
		struct wfs_document_##name *ret_document, struct wfs_error *error)            \
	{                                                                                     \
		return wfs_view_read(view, WFS_BUILTIN_##constant, key, ret_document, error); \
	}                                                                                     \
	static inline int wfs_view_read_##name##_version(struct wfs_view *view,               \
		const struct wfs_version *version, struct wfs_document_##name *ret_document,  \
		struct wfs_error *error)                                                      \
	{                                                                                     \
		return wfs_view_read_version(                                                 \
			view, WFS_BUILTIN_##constant, version, ret_document, error);          \
	}
WFS_DOCUMENTS(WFS_VIEW_READ_FUNCTIONS)
