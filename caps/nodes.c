/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "caps/nodes-impl.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"

enum { MS_NS = 1000000 };

void wfs_nodes_init(struct wfs_nodes *nodes)
{
	*nodes = (struct wfs_nodes){.source = NULL};
	pthread_mutex_init(&nodes->lock, NULL);
}

static void drop_first(struct wfs_nodes *nodes)
{
	struct nodes_kept *const first = nodes->first;

	nodes->first = first->next;
	if (!nodes->first)
		nodes->last = NULL;
	nodes->bytes -= first->document.size_bytes;
	free(first);
}

static void drop_all(struct wfs_nodes *nodes)
{
	while (nodes->first)
		drop_first(nodes);
}

void wfs_nodes_done(struct wfs_nodes *nodes)
{
	drop_all(nodes);
	pthread_mutex_destroy(&nodes->lock);
}

void wfs_authority_set_nodes(struct wfs_authority *authority, struct wfs_nodes_source *source)
{
	struct wfs_nodes *const nodes = wfs_authority_kept_nodes(authority);
	WFS_GUARD(&nodes->lock);

	nodes->source = source;
	drop_all(nodes);
}

/* Makes room for a new document of @size_bytes. Lock: nodes->lock */
static void make_room(struct wfs_nodes *nodes, uint64_t size_bytes, int64_t now_ns)
{
	const int64_t kept_ns = (int64_t)WFS_NODES_KEPT_MS * MS_NS;

	while (nodes->first &&
		(nodes->bytes + size_bytes > WFS_NODES_KEPT_BYTES ||
			now_ns - nodes->first->made_ns > kept_ns))
		drop_first(nodes);
}

/* Lock: nodes->lock */
static int add(struct wfs_nodes *nodes, struct wfs_bytes text, int64_t now_ns)
{
	struct nodes_kept *const kept = malloc(sizeof(*kept) + text.size);

	if (!kept)
		return -ENOMEM;
	make_room(nodes, text.size, now_ns);
	*kept = (struct nodes_kept){
		.document = {++nodes->number, text.size, wfs_clock_realtime_ns()},
		.made_ns = now_ns};
	memcpy(kept->text, text.data, text.size);
	if (nodes->last)
		nodes->last->next = kept;
	else
		nodes->first = kept;
	nodes->last = kept;
	nodes->bytes += text.size;
	return 0;
}

/* Lock: nodes->lock */
static int make(struct wfs_nodes *nodes, int64_t now_ns)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *status = nodes->source->status(nodes->source);

	if (!status)
		return -ENOMEM;
	wfs_json_write_document(status, &text);
	const int r = wfs_buffer_check(&text);
	return r ? r : add(nodes, wfs_buffer_bytes(&text), now_ns);
}

int wfs_authority_nodes(struct wfs_authority *authority, struct wfs_nodes_document *ret_document)
{
	struct wfs_nodes *const nodes = wfs_authority_kept_nodes(authority);
	const int64_t now_ns = wfs_clock_monotonic_ns();
	WFS_GUARD(&nodes->lock);

	if (!nodes->source)
		return -ENOENT;
	const int64_t fresh_ns = (int64_t)WFS_NODES_FRESH_MS * MS_NS;
	const int r =
		nodes->last && now_ns - nodes->last->made_ns <= fresh_ns ? 0 : make(nodes, now_ns);
	if (!r)
		*ret_document = nodes->last->document;
	return r;
}

int wfs_authority_nodes_read(struct wfs_authority *authority, uint64_t number,
	struct wfs_buffer *buffer, struct wfs_nodes_document *ret_document)
{
	struct wfs_nodes *const nodes = wfs_authority_kept_nodes(authority);
	WFS_GUARD(&nodes->lock);
	const struct nodes_kept *kept = nodes->first;

	while (kept && kept->document.number != number)
		kept = kept->next;
	if (!kept)
		return -ENOENT;
	*ret_document = kept->document;
	if (!buffer)
		return 0;
	wfs_buffer_append(buffer, kept->text, kept->document.size_bytes);
	return wfs_buffer_check(buffer);
}
