/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/prepare/question.h"

#include "agents/prepare/tool.h"
#include "caps/session-blob.h"
#include "caps/session-query.h"
#include "caps/session-read.h"
#include "caps/session.h"
#include "kernel/base/json.h"
#include "kernel/value/bounds.h"

enum {
	BLOB_MAX = WFS_PLAN_RESULT_MAX / 4 * 3 - 1024
}; /* bytes; in base64 they fit into the result of a step */

enum wfs_effect agents_question_find(const char *kind)
{
	const enum wfs_effect effect = wfs_effect_find(kind);

	return effect < WFS_EFFECT_COUNT &&
			(wfs_introspects(effect) || effect == WFS_EFFECT_BLOB_GET)
		? effect
		: WFS_EFFECT_COUNT;
}

json_t *agents_question_tool(enum wfs_effect effect)
{
	return json_pack("{s:s, s:s, s:s, s:o}", "description", wfs_effect_help(effect), "kind",
		WFS_TOOL_KIND_READ, "name", wfs_effect_kind(effect), "parameters",
		wfs_effect_params_schema(effect));
}

static int read_blob(const struct wfs_session *session, struct wfs_view *view, const char *hash_hex,
	struct wfs_content *ret_content, struct wfs_error *error)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	struct wfs_hash hash;
	int r = wfs_session_judge(session, WFS_EFFECT_BLOB_GET, error);

	if (!r)
		r = wfs_hash_parse(hash_hex, strlen(hash_hex), &hash, error);
	if (r)
		return r;
	r = wfs_session_blob(session, view, &hash, &blob, &listing);
	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "no blob '%s'", hash_hex);
	if (!r && blob.size_bytes > BLOB_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"the blob has %llu bytes, a step gets at most %d",
			(unsigned long long)blob.size_bytes, BLOB_MAX);
	return r
		? wfs_error_from_errno(error, r, "read a blob")
		: wfs_session_blob_content(session, view, &blob, WFS_RANGE_ALL, ret_content, error);
}

/* NULL if the height is not known. */
static json_t *meta_of(const struct wfs_session *session, struct wfs_view *view)
{
	struct wfs_meta meta;

	return wfs_session_meta(session, view, &meta) ? NULL : wfs_meta_document(&meta);
}

static int get_blob(const struct wfs_session *session, const json_t *params, json_t **ret_answer,
	struct wfs_error *error)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_params decoded;
	int r = wfs_effect_decode(WFS_EFFECT_BLOB_GET, params, &decoded, error);

	if (!r)
		r = wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error);
	if (!r)
		r = read_blob(session, &view, decoded.blob_get.hash_hex, &content, error);
	if (r)
		return r;
	*ret_answer = json_pack("{s:o*}", "meta", meta_of(session, &view));
	r = wfs_json_set_base64(*ret_answer, "data_b64", content.bytes.data, content.bytes.size);
	return r ? wfs_error_from_errno(error, r, "read a blob") : 0;
}

/* Reported as for verbs: to principals that may query anything, even if nothing was read. */
static json_t *meta_of_failure(const struct wfs_session *session, const json_t *answer)
{
	json_t *const meta = json_object_get(answer, "meta");
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_error ignored;

	if (!wfs_session_queries(session))
		return NULL;
	if (meta)
		return json_incref(meta);
	return wfs_session_view(session, WFS_HEIGHT_HEAD, &view, &ignored)
		? NULL
		: meta_of(session, &view);
}

int agents_question_ask(const struct wfs_session *session, enum wfs_effect effect,
	const json_t *params, struct wfs_buffer *output, json_t **ret_meta, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	int r = effect == WFS_EFFECT_BLOB_GET
		? get_blob(session, params, &answer, error)
		: wfs_session_introspect(session, effect, params, &answer, error);

	if (r) {
		*ret_meta = meta_of_failure(session, answer);
		return r;
	}
	wfs_json_write(answer, output);
	return wfs_buffer_check(output) ? wfs_error_from_errno(error, -ENOMEM, "ask") : 0;
}
