/* SPDX-License-Identifier: Apache-2.0 */
/* Record 0, and the rows that belong to it. */
#include "kernel/world/genesis.h"

#include <sys/random.h>

#include "kernel/base/clock.h"
#include "kernel/base/encode.h"
#include "kernel/base/formats.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/world/domains.h"

static int append_record(struct wfs_head *head, const struct wfs_genesis *genesis,
	const struct wfs_manifest *manifest)
{
	WFS_AUTO_BUFFER struct wfs_buffer entropy = {0};
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	WFS_AUTO_FOLD struct wfs_fold *fold = NULL;

	wfs_base64_append(&entropy, genesis->entropy, sizeof(genesis->entropy));
	const struct wfs_body_genesis members = {
		.entropy = wfs_buffer_text(&entropy),
		.fold_version = genesis->fold_version,
		.manifest_hash = *wfs_manifest_hash(manifest),
		.name = wfs_manifest_name(manifest),
		.store_format = genesis->store_format,
		.world_id = genesis->world_id,
	};
	wfs_body_write_genesis(&body, &members);
	int r = wfs_buffer_check(&entropy);
	if (!r)
		r = wfs_buffer_check(&body);
	if (!r)
		r = wfs_fold_new(genesis->entropy, wfs_domains, &fold);
	if (r)
		return wfs_trace(r);
	const struct wfs_fold_input input = {
		.kind = WFS_RECORD_GENESIS,
		.body = wfs_buffer_bytes(&body),
		.principal = "kernel",
		.at_ns = genesis->at_ns,
	};
	r = wfs_fold_run_genesis(fold, head, genesis->cells ? manifest : NULL, &input, NULL);
	return wfs_trace(r ? r : wfs_fold_apply(fold, head));
}

int wfs_genesis_write(struct wfs_head *head, const struct wfs_genesis *genesis,
	const struct wfs_manifest *manifest)
{
	wfs_require(head->height == 0);
	for (size_t i = 0; i < wfs_manifest_reducer_count(manifest); i++) {
		int r = wfs_head_add_reducer(
			head, wfs_manifest_reducer(manifest, i), head->height + 1, genesis->at_ns);

		if (r)
			return wfs_trace(r);
	}
	int r = append_record(head, genesis, manifest);
	if (!r)
		r = wfs_head_set_kernel(head, WFS_KERNEL_CELL_MANIFEST,
			wfs_manifest_document(manifest), head->height, genesis->at_ns);
	return wfs_trace(r);
}

int wfs_genesis_module(
	struct wfs_head *head, const struct wfs_genesis *genesis, struct wfs_bytes module)
{
	int r = wfs_head_list_bytes(head, module, 1, genesis->at_ns);

	return wfs_trace(r < 0 ? r : 0); /* two reducers may share a module */
}

int wfs_genesis_meta(const struct wfs_genesis *genesis, struct wfs_txn *txn)
{
	int r = wfs_meta_put(txn, "world_id", wfs_bytes_text(genesis->world_id));

	if (!r)
		r = wfs_meta_put(
			txn, "entropy", WFS_BYTES(genesis->entropy, sizeof(genesis->entropy)));
	return r;
}

int wfs_genesis_draw(
	int64_t (*clock_ns)(void *context), void *clock_context, struct wfs_genesis *ret_genesis)
{
	uint8_t id[WFS_WORLD_ID_SIZE / 2];

	if (getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id) ||
		getrandom(ret_genesis->entropy, sizeof(ret_genesis->entropy), 0) !=
			(ssize_t)sizeof(ret_genesis->entropy))
		return -EIO;
	for (size_t i = 0; i < sizeof(id); i++)
		snprintf(ret_genesis->world_id + 2 * i, 3, "%02x", id[i]);
	ret_genesis->cells = true;
	ret_genesis->store_format = WFS_STORE_FORMAT;
	ret_genesis->fold_version = WFS_FOLD_VERSION;
	ret_genesis->at_ns = clock_ns ? clock_ns(clock_context) : wfs_clock_realtime_ns();
	return 0;
}

bool wfs_world_id_valid(const char *text)
{
	return strlen(text) == WFS_WORLD_ID_SIZE &&
		strspn(text, "0123456789abcdef") == WFS_WORLD_ID_SIZE;
}

int wfs_genesis_parse(const struct wfs_record_parsed *parsed, struct wfs_genesis *ret_genesis,
	struct wfs_hash *ret_manifest_hash)
{
	WFS_AUTO_BUFFER struct wfs_buffer entropy = {0};
	const struct wfs_body_genesis *const body = &parsed->body.genesis;
	struct wfs_genesis genesis = {.at_ns = parsed->record.at_ns,
		.store_format = body->store_format,
		.fold_version = body->fold_version,
		.cells = parsed->record.changed};

	if (parsed->record.kind != WFS_RECORD_GENESIS || !wfs_world_id_valid(body->world_id))
		return -EINVAL;
	int r = wfs_base64_decode(body->entropy, strlen(body->entropy), &entropy, NULL);
	if (r || entropy.size != sizeof(genesis.entropy))
		return r == -ENOMEM ? r : -EINVAL;
	snprintf(genesis.world_id, sizeof(genesis.world_id), "%s", body->world_id);
	memcpy(genesis.entropy, entropy.data, entropy.size);
	*ret_manifest_hash = body->manifest_hash;
	*ret_genesis = genesis;
	return 0;
}
