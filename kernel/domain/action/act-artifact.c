/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, editing and deleting artifacts. */
#include <inttypes.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/act.h"
#include "kernel/domain/query/query-run.h"

/* --- read --- */

/* Sets a text member; bytes that are not UTF-8 become base64. Return: 0, or -ENOMEM. */
static int set_text(json_t *object, const char *name, struct wfs_bytes bytes)
{
	char name_b64[16];

	if (wfs_utf8_valid(bytes.data, bytes.size))
		return json_object_set_new(
			       object, name, json_stringn_nocheck(bytes.data, bytes.size)) < 0
			? -ENOMEM
			: 0;
	snprintf(name_b64, sizeof(name_b64), "%s_b64", name);
	return wfs_json_set_base64(object, name_b64, bytes.data, bytes.size);
}

/* Sets the answer: the artifact's row, members that only readers see, and the texts. */
static int read_all(
	struct act *act, const struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	static const char *const members[] = {"access", "depends_on", "interface", "metadata"};
	WFS_AUTO_JSON json_t *row = wfs_artifact_row(artifact->own.json);
	struct wfs_bytes bytes;
	int r = row ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(members); i++) {
		json_t *const member = json_object_get(artifact->own.json, members[i]);

		if (member && json_object_set(row, members[i], member) < 0)
			r = -ENOMEM;
	}
	if (r)
		return fold_no_memory(error);
	r = artifact_text(act->fold, WFS_BUILTIN_CONTENT, artifact->id, &bytes, error);
	if (!r)
		r = set_text(row, "content", bytes);
	if (!r && artifact->code_size > 0) {
		r = artifact_text(act->fold, WFS_BUILTIN_CODE, artifact->id, &bytes, error);
		if (!r)
			r = set_text(row, "code", bytes);
	}
	if (r)
		return r == -ENOMEM ? fold_no_memory(error) : wfs_trace(r);
	act->data = json_pack(
		"{s:O, s:I}", "artifact", row, "read_price_paid", (json_int_t)act->price_paid);
	return act->data ? 0 : fold_no_memory(error);
}

int act_action_read_artifact(struct act *act, struct wfs_error *error)
{
	const char *const id = act->params.action_read_artifact.artifact_id;
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};

	act->unrecorded = true;
	int r = act_artifact(act, id, &artifact, error);
	if (!r)
		r = artifact_permit(act, &artifact, ARTIFACT_USE_READ, error);
	if (!r) {
		act->unrecorded = artifact.read_price == 0;
		act->price_paid = 0;
		r = artifact_pay_to_read(act, &artifact, &act->price_paid, error);
	}
	if (!r)
		r = read_all(act, &artifact, error);
	if (r)
		return wfs_trace(r);
	act->unrecorded = act->price_paid == 0;
	if (act->price_paid > 0)
		snprintf(act->message, sizeof(act->message),
			"Read artifact %s (paid %" PRId64 " scrip to %s)", id, act->price_paid,
			artifact.owner);
	else
		snprintf(act->message, sizeof(act->message), "Read artifact %s", id);
	return 0;
}

/* --- edit --- */

static int find_old(
	struct act *act, struct wfs_bytes content, size_t *ret_offset, struct wfs_error *error)
{
	const char *const id = act->params.action_edit_artifact.artifact_id;
	const struct wfs_bytes old = wfs_bytes_text(act->params.action_edit_artifact.old_string);

	if (old.size == 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'old_string': expected the text that is to be replaced, got an empty one");
	if (strcmp(old.data, act->params.action_edit_artifact.new_string) == 0)
		return wfs_error_set(
			error, WFS_E_NO_CHANGE, "old_string and new_string are the same");
	/* Occurrences without overlaps. */
	const char *at = content.data;
	const char *const end = at + content.size;
	size_t count = 0;
	while ((at = memmem(at, (size_t)(end - at), old.data, old.size))) {
		if (count++ == 0)
			*ret_offset = (size_t)(at - (const char *)content.data);
		at += old.size;
	}
	if (count == 0)
		return wfs_error_set(error, WFS_E_NOT_FOUND_IN_CONTENT,
			"old_string does not occur in artifact '%s'", id);
	if (count > 1)
		return act_refuse_with(act, json_pack("{s:I}", "count", (json_int_t)count),
			wfs_error_set(error, WFS_E_NOT_UNIQUE,
				"old_string occurs %zu times in artifact '%s', expected once",
				count, id));
	return 0;
}

/* Writes the content with the new text in the place of the old one. */
static int replace(struct act *act, const struct wfs_document_artifact *artifact,
	struct wfs_buffer *after, struct wfs_error *error)
{
	const size_t old_size = strlen(act->params.action_edit_artifact.old_string);
	struct wfs_bytes content;
	size_t offset = 0;
	int r = artifact_text(act->fold, WFS_BUILTIN_CONTENT, artifact->id, &content, error);

	if (!r)
		r = find_old(act, content, &offset, error);
	if (r)
		return wfs_trace(r);
	wfs_buffer_append(after, content.data, offset);
	wfs_buffer_append_text(after, act->params.action_edit_artifact.new_string);
	wfs_buffer_append(after, (const char *)content.data + offset + old_size,
		content.size - offset - old_size);
	return wfs_buffer_check(after) ? fold_no_memory(error) : 0;
}

/* Checks that an edit leaves the content of a memory store valid, and its entries unchanged. */
static int check_memory(struct act *act, const struct wfs_document_artifact *artifact,
	const json_t *before, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *after = NULL;
	int r = artifact_holding(act->fold)->check(act->fold, artifact, error);

	if (!r)
		r = artifact_holding(act->fold)->entries(act->fold, artifact, &after, error);
	if (r || (!before && !after) || json_equal(before, after))
		return wfs_trace(r);
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'entries' of '%s' are changed by write_artifact, or by methods of genesis_memory",
		artifact->id);
}

int act_action_edit_artifact(struct act *act, struct wfs_error *error)
{
	const char *const id = act->params.action_edit_artifact.artifact_id;
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	WFS_AUTO_BUFFER struct wfs_buffer after = {0};
	WFS_AUTO_JSON json_t *entries = NULL;
	int r = act_artifact(act, id, &artifact, error);

	if (!r)
		r = artifact_permit(act, &artifact, ARTIFACT_USE_EDIT, error);
	if (!r)
		r = artifact_holding(act->fold)->entries(act->fold, &artifact, &entries, error);
	if (!r)
		r = replace(act, &artifact, &after, error);
	if (!r)
		r = artifact_change_text(
			act, &artifact, WFS_BUILTIN_CONTENT, wfs_buffer_bytes(&after), error);
	if (!r)
		r = artifact_check_content(act, &artifact, error);
	if (!r)
		r = check_memory(act, &artifact, entries, error);
	if (!r)
		r = fold_write_artifact(act->fold, &artifact, error);
	if (r)
		return wfs_trace(r);
	snprintf(act->message, sizeof(act->message), "Edited artifact %s (%zu bytes)", id,
		after.size);
	act->data =
		json_pack("{s:s, s:I}", "artifact_id", id, "size_bytes", (json_int_t)after.size);
	return act->data ? 0 : fold_no_memory(error);
}

/* --- delete --- */

static int delete_cell(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_error *error)
{
	size_t cell;
	int r = fold_touch(fold, fold_builtin(fold, reducer), wfs_bytes_text(id), &cell, error);

	return wfs_trace(r ? r : fold_delete(fold, cell, error));
}

int act_action_delete_artifact(struct act *act, struct wfs_error *error)
{
	const char *const id = act->params.action_delete_artifact.artifact_id;
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	int r = act_artifact(act, id, &artifact, error);

	if (!r)
		r = artifact_permit(act, &artifact, ARTIFACT_USE_DELETE, error);
	if (r)
		return wfs_trace(r);
	int64_t size;
	r = artifact_size(act->fold, &artifact, &size, error);
	if (!r)
		r = account_use(act->fold, artifact.charged_to, ACCOUNT_DISK, -size, error);
	if (!r)
		r = artifact_holding(act->fold)->delete_all(act->fold, id, error);
	if (!r)
		r = delete_cell(act->fold, WFS_BUILTIN_CONTENT, id, error);
	if (!r)
		r = delete_cell(act->fold, WFS_BUILTIN_CODE, id, error);
	if (!r)
		r = delete_cell(act->fold, WFS_BUILTIN_ARTIFACT, id, error);
	const struct wfs_document_deleted deleted = {
		.deleted_at = act->fold->input.at_ns, .deleted_by = act->actor};
	if (!r)
		r = fold_put_deleted(act->fold, id, &deleted, error);
	if (r)
		return wfs_trace(r);
	snprintf(act->message, sizeof(act->message), "Deleted artifact %s", id);
	act->data = json_pack("{s:s, s:I}", "artifact_id", id, "freed_bytes", (json_int_t)size);
	return act->data ? 0 : fold_no_memory(error);
}
