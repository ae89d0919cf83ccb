/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/roster.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/clock.h"
#include "kernel/base/json.h"

#define NODE "node/"
#define MEMBER "member/"
#define AFTER_NODES "node0" /* the first key after those of nodes */
#define NO_MEMORY(error) wfs_error_from_errno(error, -ENOMEM, "use the roster of nodes")

enum { KEY_SIZE = sizeof(MEMBER) + WFS_LOG_NODE_MAX, MS_NS = 1000 * 1000 };

struct wfs_roster {
	const char *name;
	const char *process;
	int64_t lease_s;
	int64_t revision;       /* of the own key; 0: it is not there */
	int64_t other_revision; /* of another process's key below the own name; 0: not seen */
	_Atomic int64_t until_ns;
	struct wfs_roster_node *nodes; /* owned; WFS_ROSTER_NODES_MAX */
	size_t count;
};

static const struct wfs_form entry_form = {.kind = WFS_FORM_RECORD,
	.fields = (const struct wfs_field[]){WFS_ROSTER_MEMBERS(WFS_FIELD){NULL}}};

int wfs_roster_new(const char *name, const char *process, int64_t lease_ms,
	struct wfs_roster **ret_roster, struct wfs_error *error)
{
	struct wfs_roster *const roster = calloc(1, sizeof(*roster));

	wfs_require(wfs_log_node_valid(name) && lease_ms >= WFS_ROSTER_LEASE_MIN_MS);
	if (roster)
		roster->nodes = calloc(WFS_ROSTER_NODES_MAX, sizeof(*roster->nodes));
	if (!roster || !roster->nodes) {
		free(roster);
		return NO_MEMORY(error);
	}
	roster->name = name;
	roster->process = process;
	roster->lease_s = (lease_ms + 999) / 1000;
	*ret_roster = roster;
	return 0;
}

static void drop_nodes(struct wfs_roster_node *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_decref(nodes[i].document);
	free(nodes);
}

void wfs_roster_free(struct wfs_roster *roster)
{
	if (!roster)
		return;
	drop_nodes(roster->nodes, roster->count);
	free(roster);
}

int64_t wfs_roster_until_ns(const struct wfs_roster *roster)
{
	return atomic_load(&roster->until_ns);
}

static const char *key_of(char key[static KEY_SIZE], const char *folder, const char *name)
{
	snprintf(key, KEY_SIZE, "%s%s", folder, name);
	return key;
}

/* --- the own key --- */

/* Reads the document of a node. @ret_document: caller owns it; @ret_entry borrows from it */
static int read_entry(const struct wfs_etcd_row *row, json_t **ret_document,
	struct wfs_roster_entry *ret_entry, struct wfs_error *error)
{
	struct wfs_error reason = {0};
	int r = wfs_json_parse_bounded(row->value.data, row->value.size, ret_document, &reason);

	if (!r)
		r = wfs_form_read(&entry_form, "node", *ret_document, ret_entry, &reason);
	if (r == -ENOMEM)
		return NO_MEMORY(error);
	return r ? wfs_error_set(error, WFS_E_INTERNAL_ERROR, "the key '%s' of etcd: %.300s",
			   row->key, reason.message)
		 : 0;
}

/* The own key was not as expected. @row: what is there; NULL: nothing */
static int find_why(
	struct wfs_roster *roster, const struct wfs_etcd_row *row, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = NULL;
	struct wfs_roster_entry entry;
	int r = row ? read_entry(row, &document, &entry, error) : 0;

	if (r)
		return r;
	if (!row || strcmp(entry.process, roster->process) == 0) {
		/* The lease has ended, or the answer to the last renewal was lost. */
		roster->revision = row ? row->revision : 0;
		return wfs_error_set(error, WFS_E_UNAVAILABLE,
			"the key of node '%s' in etcd has changed: it is renewed", roster->name);
	}
	const bool renewed = roster->other_revision && roster->other_revision != row->revision;
	const bool lost = roster->revision != 0;
	roster->other_revision = row->revision;
	if (renewed || lost) {
		atomic_store(&roster->until_ns, 0);
		return wfs_error_set(error, WFS_E_BUSY,
			"another process is node '%s' of this world: a name has one node",
			roster->name);
	}
	return wfs_error_set(error, WFS_E_UNAVAILABLE,
		"waiting for the end of the lease of an earlier process of node '%s'",
		roster->name);
}

int wfs_roster_renew(struct wfs_roster *roster, struct wfs_etcd *etcd,
	const struct wfs_roster_entry *entry, struct wfs_error *error)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char node[KEY_SIZE];
	char member[KEY_SIZE];
	int64_t lease = 0;
	int r;

	(void)key_of(node, NODE, roster->name);
	wfs_form_append(&entry_form, entry, &text);
	if (wfs_buffer_check(&text))
		return NO_MEMORY(error);
	r = wfs_etcd_grant(etcd, roster->lease_s, &lease, error);
	if (r)
		return r;
	wfs_etcd_if_revision(etcd, &txn, node, roster->revision);
	wfs_etcd_put(etcd, &txn, node, wfs_buffer_bytes(&text), lease);
	if (roster->revision == 0)
		wfs_etcd_put(
			etcd, &txn, key_of(member, MEMBER, roster->name), wfs_bytes_text("{}"), 0);
	wfs_etcd_get_else(etcd, &txn, node);
	const int64_t sent_ns = wfs_clock_boottime_ns();
	r = wfs_etcd_commit(etcd, &txn, &answer, error);
	if (r)
		return r;
	if (!answer.succeeded)
		return find_why(roster, wfs_etcd_row(&answer, node), error);
	roster->revision = answer.revision;
	roster->other_revision = 0;
	atomic_store(
		&roster->until_ns, entry->serves ? sent_ns + roster->lease_s * 1000 * MS_NS : 0);
	return 0;
}

int wfs_roster_leave(struct wfs_roster *roster, struct wfs_etcd *etcd, struct wfs_error *error)
{
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};
	char node[KEY_SIZE];
	const int64_t revision = roster->revision;

	atomic_store(&roster->until_ns, 0);
	roster->revision = 0;
	if (revision == 0)
		return 0;
	(void)key_of(node, NODE, roster->name);
	wfs_etcd_if_revision(etcd, &txn, node, revision);
	wfs_etcd_delete(etcd, &txn, node);
	return wfs_etcd_commit(etcd, &txn, NULL, error);
}

/* --- all nodes --- */

const struct wfs_roster_node *wfs_roster_nodes(const struct wfs_roster *roster, size_t *ret_count)
{
	*ret_count = roster->count;
	return roster->nodes;
}

const struct wfs_roster_node *wfs_roster_find(const struct wfs_roster *roster, const char *name)
{
	for (size_t i = 0; i < roster->count; i++)
		if (strcmp(roster->nodes[i].name, name) == 0)
			return &roster->nodes[i];
	return NULL;
}

/* Reads the row of a member, which comes before that of its node. */
static int add_member(const struct wfs_etcd_row *row, struct wfs_roster_node *nodes, size_t *count,
	struct wfs_error *error)
{
	const char *const name = row->key + strlen(MEMBER);

	if (!wfs_log_node_valid(name))
		return wfs_error_set(
			error, WFS_E_INTERNAL_ERROR, "the key '%.100s' names no node", row->key);
	if (*count == WFS_ROSTER_NODES_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE, "a world has at most %d nodes",
			WFS_ROSTER_NODES_MAX);
	snprintf(nodes[(*count)++].name, sizeof(nodes->name), "%s", name);
	return 0;
}

static int add_living(const struct wfs_roster *roster, const struct wfs_etcd_row *row,
	struct wfs_roster_node *nodes, size_t count, struct wfs_error *error)
{
	const char *const name = row->key + strlen(NODE);
	const struct wfs_roster_node *const before = wfs_roster_find(roster, name);
	struct wfs_roster_node *node = NULL;

	for (size_t i = 0; i < count && !node; i++)
		if (strcmp(nodes[i].name, name) == 0)
			node = &nodes[i];
	if (!node) /* it is leaving */
		return 0;
	node->lives = true;
	node->revision = row->revision;
	node->renewed_ns = before && before->lives && before->revision == row->revision
		? before->renewed_ns
		: wfs_clock_boottime_ns();
	return read_entry(row, &node->document, &node->entry, error);
}

int wfs_roster_look(struct wfs_roster *roster, struct wfs_etcd *etcd, struct wfs_error *error)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	struct wfs_roster_node *nodes;
	size_t count = 0;
	int r = wfs_etcd_range(etcd, MEMBER, AFTER_NODES, 0, &answer, error);

	if (r)
		return r;
	nodes = calloc(WFS_ROSTER_NODES_MAX, sizeof(*nodes));
	if (!nodes)
		return NO_MEMORY(error);
	for (size_t i = 0; !r && i < answer.count; i++) {
		const struct wfs_etcd_row *const row = &answer.rows[i];

		if (strncmp(row->key, MEMBER, strlen(MEMBER)) == 0)
			r = add_member(row, nodes, &count, error);
		else if (strncmp(row->key, NODE, strlen(NODE)) == 0)
			r = add_living(roster, row, nodes, count, error);
	}
	if (r) {
		drop_nodes(nodes, count);
		return r;
	}
	drop_nodes(roster->nodes, roster->count);
	roster->nodes = nodes;
	roster->count = count;
	return 0;
}
