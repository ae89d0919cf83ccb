/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves references to URIs as texts (RFC 3986, 5.2). Nothing is fetched; a base may be relative
 * or empty, like that of a schema without `$id`.
 */
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/schema/schema-impl.h"

struct uri {
	struct wfs_bytes scheme;    /* with its `:` */
	struct wfs_bytes authority; /* with the `//` before it */
	struct wfs_bytes path;
	struct wfs_bytes query; /* with its `?` */
};

static size_t scheme_size(const char *text, size_t size)
{
	const size_t end = strcspn(text, ":/?");

	return end > 0 && end < size && text[end] == ':' ? end + 1 : 0;
}

static struct uri uri_split(const char *text, size_t size)
{
	struct uri uri = {.scheme = WFS_BYTES(text, scheme_size(text, size))};
	const char *const end = text + size;
	const char *at = text + uri.scheme.size;

	uri.authority = WFS_BYTES(at, 0);
	if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
		uri.authority.size = 2;
		while (at + uri.authority.size < end && !strchr("/?", at[uri.authority.size]))
			uri.authority.size++;
		at += uri.authority.size;
	}
	uri.path = WFS_BYTES(at, 0);
	while (at < end && *at != '?')
		at++;
	uri.path.size = (size_t)(at - (const char *)uri.path.data);
	uri.query = WFS_BYTES(at, (size_t)(end - at));
	return uri;
}

static void append_bytes(struct wfs_buffer *out, struct wfs_bytes bytes)
{
	wfs_buffer_append(out, bytes.data, bytes.size);
}

/* Removes the last segment of the path that begins at @from, and the `/` before it. */
static void drop_segment(struct wfs_buffer *out, size_t from)
{
	while (out->size > from && out->data[out->size - 1] != '/')
		out->size--;
	if (out->size > from)
		out->size--;
}

/* Appends a path without its `.` and `..` segments (RFC 3986, 5.2.4). */
static void append_path(struct wfs_buffer *out, const char *path, size_t size)
{
	const size_t from = out->size;
	size_t at = 0;

	while (at < size) {
		const bool slash = path[at] == '/';
		const size_t begin = at + slash;
		size_t end = begin;

		while (end < size && path[end] != '/')
			end++;
		const size_t length = end - begin;
		const bool dot = length == 1 && path[begin] == '.';
		const bool dots = length == 2 && path[begin] == '.' && path[begin + 1] == '.';

		if (dots)
			drop_segment(out, from);
		if (!dot && !dots)
			wfs_buffer_append(out, path + at, end - at);
		else if (end == size && slash)
			wfs_buffer_append_byte(out, '/');
		else if (!slash && end < size)
			end++; /* "./x" is "x" */
		at = end;
	}
}

/* Appends the path of @reference relative to that of @base (RFC 3986, 5.2.3). */
static int append_merged(struct wfs_buffer *out, const struct uri *base, struct wfs_bytes reference)
{
	WFS_AUTO_BUFFER struct wfs_buffer merged = {0};
	const char *const path = base->path.data;
	size_t kept = base->path.size;

	while (kept > 0 && path[kept - 1] != '/')
		kept--;
	if (base->authority.size > 0 && base->path.size == 0)
		wfs_buffer_append_byte(&merged, '/');
	wfs_buffer_append(&merged, path, kept);
	append_bytes(&merged, reference);
	append_path(out, merged.data, merged.size);
	return wfs_buffer_check(&merged);
}

int schema_uri_resolve(const char *base, const char *text, size_t size, struct wfs_buffer *out)
{
	const struct uri reference = uri_split(text, size);
	const struct uri around = uri_split(base, strlen(base));
	const char *const path = reference.path.data;
	const bool absolute = reference.scheme.size > 0;
	int r = 0;

	append_bytes(out, absolute ? reference.scheme : around.scheme);
	if (absolute || reference.authority.size > 0) {
		append_bytes(out, reference.authority);
		append_path(out, path, reference.path.size);
		append_bytes(out, reference.query);
		return wfs_buffer_check(out);
	}
	append_bytes(out, around.authority);
	if (reference.path.size == 0)
		append_bytes(out, around.path);
	else if (path[0] == '/')
		append_path(out, path, reference.path.size);
	else
		r = append_merged(out, &around, reference.path);
	append_bytes(out,
		reference.path.size == 0 && reference.query.size == 0 ? around.query
								      : reference.query);
	return r ? r : wfs_buffer_check(out);
}
