/* SPDX-License-Identifier: Apache-2.0 */
/* Making the artifacts that a world begins with, by actions of the world's owner. */
#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"
#include "kernel/domain/action/handbook.h"
#include "kernel/domain/service/service-domain.h"
#include "kernel/fold/runtime.h"
#include "kernel/manifest/source.h"
#include "kernel/world/domains.h"
#include "kernel/world/genesis.h"
#include "kernel/world/world.h"

struct making {
	struct wfs_head *head;
	struct wfs_problems *problems;
	struct wfs_fold *fold;       /* owned */
	struct wfs_runtime *runtime; /* owned */
	json_t *refused;             /* ids of artifacts that were refused; owned */
	int64_t at_ns;
	/* of world.json, which asks for these artifacts; NULL: they are listed there */
	const char *flag;
};

static void making_done(struct making *making)
{
	wfs_fold_free(making->fold);
	wfs_runtime_free(making->runtime);
	json_decref(making->refused);
}

/* --- refusals --- */

/* Size of the member's name if the message begins with one, as in "'depends_on': …"; otherwise
 * 0. */
static size_t member_size(const char *message)
{
	const size_t size = message[0] == '\'' ? strcspn(message + 1, "'") : 0;

	return size > 0 && strncmp(message + 1 + size, "': ", 3) == 0 ? size : 0;
}

static void note(const struct making *making, size_t index, const json_t *item,
	const struct wfs_error *reason)
{
	const char *const message = reason->message;
	const size_t size = member_size(message);
	struct wfs_place place = wfs_place_at("/artifacts/%zu", index);

	if (making->flag)
		place = wfs_place_at("/%s", making->flag);
	else if (size > 0 && strncmp(message + 1, "artifact_id", size) == 0)
		place = wfs_place_at("%s/id", place.text);
	else if (size > 0)
		place = wfs_place_at("%s/%.*s", place.text, (int)size, message + 1);
	else if (reason->code == WFS_E_SYNTAX_ERROR || reason->code == WFS_E_RUNTIME_ERROR)
		place = wfs_place_at("%s/%s", place.text,
			json_object_get(item, "code_file") ? "code_file" : "code");
	wfs_problems_add(making->problems, WFS_SOURCE_WORLD_FILE, place.text, "%s",
		message + (size > 0 ? size + strlen("'': ") : 0));
}

/* Does the artifact need one that was refused? Then its own refusal would tell nothing new. */
static bool needs_refused(const struct making *making, const json_t *action)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(action, "depends_on"), i, item) {
		if (json_object_get(making->refused, json_string_value(item)))
			return true;
	}
	return false;
}

/* --- one artifact --- */

static int check_size(const json_t *action, struct wfs_error *reason)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(action, &text);
	if (wfs_buffer_check(&text))
		return -ENOMEM;
	return text.size <= WFS_REQUEST_SIZE_MAX
		? 0
		: wfs_error_set(reason, WFS_E_TOO_LARGE,
			  "the action that makes it has %zu bytes, at most %d are taken", text.size,
			  WFS_REQUEST_SIZE_MAX);
}

/* Makes one artifact. Return: 0, 1 if it is refused (@reason is set), or -errno with @error. */
static int make(struct making *making, const json_t *item, struct wfs_error *reason,
	struct wfs_error *error)
{
	const struct wfs_fold_input input = {
		.kind = WFS_RECORD_ACTION,
		.action = json_object_get(item, "action"),
		.principal = json_string_value(json_object_get(item, "created_by")),
		.at_ns = making->at_ns,
	};
	WFS_AUTO_JSON json_t *answer = NULL;
	int r = check_size(input.action, reason);

	if (r == -EFBIG)
		return 1;
	if (r)
		return wfs_error_from_errno(error, r, "make an artifact");
	r = wfs_fold_run(making->fold, making->head, making->runtime, &input, error);
	if (r)
		return wfs_trace(r);
	if (wfs_fold_outcome(making->fold, &answer, reason))
		return 1;
	r = wfs_fold_apply(making->fold, making->head);
	return r ? wfs_error_from_errno(error, r, "make an artifact") : 0;
}

static int make_or_note(
	struct making *making, size_t index, const json_t *item, struct wfs_error *error)
{
	const json_t *const action = json_object_get(item, "action");
	const char *const id = json_string_value(json_object_get(item, "id"));
	struct wfs_error reason = {0};
	int r = 1;

	if (action && !needs_refused(making, action)) {
		r = make(making, item, &reason, error);
		if (r > 0)
			note(making, index, item, &reason);
		wfs_fold_clear(making->fold);
	}
	if (r > 0 && id && json_object_set_new(making->refused, id, json_true()) < 0)
		return wfs_error_from_errno(error, -ENOMEM, "make an artifact");
	return r > 0 ? 0 : wfs_trace(r);
}

static int make_all(struct making *making, const json_t *artifacts, struct wfs_error *error)
{
	const json_t *item;
	size_t index;
	int r = 0;

	json_array_foreach(artifacts, index, item) {
		if (!r)
			r = make_or_note(making, index, item, error);
	}
	return wfs_trace(r);
}

/* @artifacts: taken; NULL: fails with -ENOMEM */
static int make_asked_for(
	struct making *making, const char *flag, json_t *artifacts, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *owned = artifacts;

	if (!owned)
		return wfs_error_from_errno(error, -ENOMEM, "make artifacts");
	making->flag = flag;
	int r = make_all(making, owned, error);
	making->flag = NULL;
	return wfs_trace(r);
}

int wfs_genesis_artifacts(struct wfs_head *head, const struct wfs_genesis *genesis,
	struct wfs_manifest *manifest, const struct wfs_source *source,
	struct wfs_problems *problems, struct wfs_error *error)
{
	WFS_CLEANUP(making_done)
	struct making making = {
		.head = head,
		.problems = problems,
		.refused = json_object(),
		.at_ns = genesis->at_ns,
	};
	int r = making.refused ? wfs_fold_new(genesis->entropy, wfs_domains, &making.fold)
			       : -ENOMEM;

	if (!r)
		r = wfs_runtime_new(manifest, &WFS_LUA_LIMITS_DEFAULT, &making.runtime);
	if (r)
		return wfs_error_from_errno(error, r, "make an artifact");
	if (source->genesis)
		r = make_asked_for(&making, "genesis", wfs_service_artifacts(wfs_domains), error);
	if (!r && source->handbook)
		r = make_asked_for(&making, "handbook", wfs_handbook_artifacts(), error);
	return wfs_trace(r ? r : make_all(&making, source->artifacts, error));
}
