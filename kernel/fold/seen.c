/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers keys of events. */
#include "kernel/fold/seen.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/fold/key.h"
#include "kernel/manifest/grant.h"

/* Where a key is remembered. */
struct place {
	char cell[WFS_GRANT_NAME_MAX + 32]; /* key of the cell */
	char digest[SEEN_DIGEST_SIZE + 1];
};

/* Finds the member that `dedup` names. @ret_key: borrowed from the value */
static int find_key(const struct wfs_fold_input *input, json_t **ret_key, struct wfs_error *error)
{
	json_t *const key = wfs_key_member(input->value, input->dedup);

	if (!key)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'dedup': the event has no member '%.80s'", input->dedup);
	if (!json_is_string(key) && !json_is_integer(key))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'dedup': expected the member '%.80s' of the event to be a text or an "
			"integer",
			input->dedup);
	*ret_key = key;
	return 0;
}

static int find_place(const struct wfs_fold_input *input, json_t *key, struct place *ret_place,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *name =
		json_pack("[s, s, s, O]", input->principal, input->schema, input->dedup, key);
	char hex[WFS_HASH_HEX_SIZE + 1];

	if (!name)
		return fold_no_memory(error);
	wfs_json_write(name, &text);
	if (wfs_buffer_check(&text))
		return fold_no_memory(error);
	const struct wfs_hash of_key = wfs_hash_of(text.data, text.size);
	const struct wfs_hash of_schema = wfs_hash_of(input->schema, strlen(input->schema));
	const uint32_t bucket =
		((uint32_t)of_key.bytes[0] << 16 | of_key.bytes[1] << 8 | of_key.bytes[2]) %
		SEEN_BUCKETS;
	wfs_hash_hex(&of_key, hex);
	/* Its last digits: the first ones are much the same in all digests of a bucket. */
	snprintf(ret_place->digest, sizeof(ret_place->digest), "%s",
		hex + WFS_HASH_HEX_SIZE - SEEN_DIGEST_SIZE);
	wfs_hash_hex(&of_schema, hex);
	snprintf(ret_place->cell, sizeof(ret_place->cell), "%s/%.16s-%05" PRIx32, input->principal,
		hex, bucket);
	return 0;
}

static bool knows(const json_t *keys, const char *digest)
{
	size_t i;
	json_t *known;

	json_array_foreach(keys, i, known) {
		const char *const text = json_string_value(known);

		if (text && strcmp(text, digest) == 0)
			return true;
	}
	return false;
}

static int answer_seen(struct wfs_fold *fold, struct wfs_error *error)
{
	if (fold->input.fired.timer)
		return wfs_error_set(error, WFS_E_ALREADY_EXISTS,
			"an event with this value of '%.80s' is recorded already",
			fold->input.dedup);
	fold->outcome.unrecorded = true;
	return 0;
}

/* Adds the digest to the cell, and drops the oldest if there are too many. @seen: was read from the
 * cell */
static int add(struct wfs_fold *fold, const struct place *place, struct wfs_document_seen *seen,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *keys = seen->keys ? json_copy(seen->keys) : json_array();

	while (json_array_size(keys) >= SEEN_BUCKET_KEYS)
		(void)json_array_remove(keys, 0);
	if (json_array_append_new(keys, json_string(place->digest)) < 0)
		return fold_no_memory(error);
	seen->keys = keys;
	return wfs_trace(fold_put_seen(fold, place->cell, seen, error));
}

int seen_note(struct wfs_fold *fold, struct wfs_error *error)
{
	const char *const name = wfs_builtin_reducer_name(WFS_BUILTIN_SEEN);
	WFS_AUTO_DOCUMENT struct wfs_document_seen seen = {.keys = NULL};
	struct place place;
	json_t *key = NULL;
	int r = find_key(&fold->input, &key, error);

	if (!r && !wfs_manifest_reducer_find(fold->manifest, name))
		r = wfs_error_set(error, WFS_E_NOT_ENABLED,
			"the manifest of this world has no memory of keys; apply it again");
	if (!r)
		r = find_place(&fold->input, key, &place, error);
	if (!r)
		r = fold_read_seen(fold, place.cell, &seen, error);
	if (r)
		return wfs_trace(r);
	return wfs_trace(knows(seen.keys, place.digest) ? answer_seen(fold, error)
							: add(fold, &place, &seen, error));
}
