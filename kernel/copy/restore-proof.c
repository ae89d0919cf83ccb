/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After a text is lost, the journal still proves parts of the copy's cells. Actions on principals
 * and grants are folded, so these cells are what folding gives, but for principals that were made
 * with agents: the line of the action shows these. An artifact is what it was before the loss,
 * unless a line shows that it was written; then its texts are those of its last writes. Code that
 * ran may have written any artifact, so after it only later writes are known.
 */
#include <inttypes.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/copy/restore-impl.h"
#include "kernel/domain/action/action.h"

/* --- from the lines of actions --- */

/* Sets known members of an artifact. The value null marks a member as not known: the copy may have
 * any value there. @members: taken; NULL: the caller had no memory for them */
static int expect(json_t *expected, json_t *members)
{
	return json_object_update_new(expected, members) < 0 ? -ENOMEM : 0;
}

/* A text that was written: the action has hash and size in its place. */
static int expect_written(
	json_t *expected, const json_t *action, const struct wfs_record_parsed *parsed)
{
	const json_t *const content = json_object_get(action, "content");
	const json_t *const code = json_object_get(action, "code");
	int r = 0;

	if (content)
		r = expect(expected,
			json_pack("{s:O, s:O}", "content_hash", json_object_get(content, "hash"),
				"content_size", json_object_get(content, "size")));
	if (!r && code)
		r = expect(expected,
			json_pack("{s:O, s:O, s:s}", "code_hash", json_object_get(code, "hash"),
				"code_size", json_object_get(code, "size"), "code_author",
				parsed->record.principal));
	/* If the artifact was executable before, which no record says, its author did not
	 * change. */
	else if (!r && json_is_true(json_object_get(action, "executable")))
		r = expect(expected, json_pack("{s:n}", "code_author"));
	return r;
}

/* The known members of an artifact, which begin as an empty object. Return: borrowed; NULL without
 * memory. */
static json_t *expected_of(struct restore_proof *proof, const char *id)
{
	if (!proof->artifacts)
		proof->artifacts = json_object();
	if (!json_object_get(proof->artifacts, id) &&
		json_object_set_new(proof->artifacts, id, json_object()) < 0)
		return NULL;
	return json_object_get(proof->artifacts, id);
}

bool restore_makes_agent(const json_t *action)
{
	return strcmp(wfs_json_text(action, "type"), WFS_ARTIFACT_TYPE_AGENT) == 0;
}

/* An agent is a principal from its first write on, which may have been done by code that ran
 * before. */
static int add_agent(
	struct restore_proof *proof, const char *id, const struct wfs_record_parsed *parsed)
{
	if (!proof->agents)
		proof->agents = json_object();
	if (json_object_get(proof->agents, id))
		return 0;
	return json_object_set_new(proof->agents, id,
		       proof->invoked ? json_null() : json_string(parsed->record.principal)) < 0
		? -ENOMEM
		: 0;
}

int restore_proof_add(struct restore_proof *proof, const struct wfs_record_parsed *parsed)
{
	const json_t *const action = parsed->body.action.action;
	const enum wfs_effect effect = wfs_action_effect(action);
	const char *const id = wfs_action_artifact(action);

	if (effect == WFS_EFFECT_ACTION_INVOKE_ARTIFACT) {
		proof->invoked = true;
		(void)json_object_clear(proof->artifacts);
		return 0;
	}
	if (!id ||
		(effect != WFS_EFFECT_ACTION_WRITE_ARTIFACT &&
			effect != WFS_EFFECT_ACTION_EDIT_ARTIFACT &&
			effect != WFS_EFFECT_ACTION_DELETE_ARTIFACT &&
			effect != WFS_EFFECT_ACTION_TRANSFER_OWNERSHIP))
		return 0;
	json_t *const expected = expected_of(proof, id);
	if (!expected)
		return -ENOMEM;
	switch (effect) {
	case WFS_EFFECT_ACTION_WRITE_ARTIFACT:
		if (restore_makes_agent(action) && add_agent(proof, id, parsed))
			return -ENOMEM;
		return expect_written(expected, action, parsed);
	case WFS_EFFECT_ACTION_EDIT_ARTIFACT:
		/* no record has the text that the edit gave */
		return expect(expected, json_pack("{s:n, s:n}", "content_hash", "content_size"));
	case WFS_EFFECT_ACTION_DELETE_ARTIFACT:
		(void)json_object_clear(expected);
		return expect(expected,
			json_pack("{s:I, s:s}", "deleted_at", (json_int_t)parsed->record.at_ns,
				"deleted_by", parsed->record.principal));
	default: /* only the owner may have changed */
		return 0;
	}
}

void restore_proof_done(struct restore_proof *proof)
{
	json_decref(proof->artifacts);
	json_decref(proof->agents);
	proof->artifacts = proof->agents = NULL;
}

/* --- comparing cells --- */

/* The cell at hand. */
struct look {
	struct restore *restore;
	const char *path;
	struct wfs_bytes key;
	const json_t *folded;   /* state that folding gives, or NULL */
	const json_t *found;    /* state in the copy */
	const json_t *expected; /* known members, from the lines; NULL: no line names the cell */
};

static int not_folded(const struct look *look)
{
	return restore_noted(look->restore, look->path, "is not what folding gives");
}

static int check_same(const struct look *look)
{
	return look->folded && json_equal(look->folded, look->found) ? 1 : not_folded(look);
}

/* Compares all members but those that are not known. @names: of these, ended by NULL */
static int check_but(const struct look *look, const char *const *names)
{
	WFS_AUTO_JSON json_t *folded = wfs_json_copy(look->folded);
	WFS_AUTO_JSON json_t *found = wfs_json_copy(look->found);

	if (!look->folded || !json_is_object(look->found))
		return not_folded(look);
	if (!folded || !found)
		return wfs_error_from_errno(look->restore->error, -ENOMEM, "compare cells");
	for (; *names; names++) {
		(void)json_object_del(folded, *names);
		(void)json_object_del(found, *names);
	}
	return json_equal(folded, found) ? 1 : not_folded(look);
}

/* Compares a principal that was made with an agent's artifact. */
static int check_agent(const struct look *look)
{
	static const char *const names[] = {"agent_of", "agents", "created_by", "id", "outside",
		"passed_on", "requested_by", NULL};
	const struct restore_proof *const proof = &look->restore->proof;
	const json_t *const writer =
		json_object_getn(proof->agents, look->key.data, look->key.size);
	const json_t *const id = json_object_get(look->found, "id");
	struct wfs_error reason = {0};

	if ((!writer && !proof->invoked) || wfs_json_only(look->found, names, &reason) ||
		!wfs_bytes_equal(
			WFS_BYTES(json_string_value(id), json_string_length(id)), look->key) ||
		!json_is_string(json_object_get(look->found, "agent_of")))
		return not_folded(look);
	return !json_is_string(writer) ||
			json_equal(writer, json_object_get(look->found, "created_by"))
		? 1
		: not_folded(look);
}

static void write_value(struct wfs_buffer *buffer, const json_t *value)
{
	if (value)
		wfs_json_write(value, buffer);
	else
		wfs_buffer_append_text(buffer, "none");
}

static int member_noted(
	const struct look *look, const char *member, const json_t *expected, const json_t *found)
{
	WFS_AUTO_BUFFER struct wfs_buffer wanted = {0};
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};

	write_value(&wanted, expected);
	write_value(&came, found);
	if (wfs_buffer_check(&wanted) || wfs_buffer_check(&came))
		return wfs_error_from_errno(look->restore->error, -ENOMEM, "compare artifacts");
	return restore_noted(look->restore, look->path,
		"%s: expected %.200s (the journal), got %.200s", member, wfs_buffer_text(&wanted),
		wfs_buffer_text(&came));
}

/* Return: 1 if the member has the value that the lines give or, if they give none, that of
 * folding. */
static int check_member(const struct look *look, const char *member)
{
	const json_t *expected = json_object_get(look->expected, member);
	const json_t *const found = json_object_get(look->found, member);

	if (!expected && look->restore->proof.invoked)
		return 1;
	if (!expected)
		expected = json_object_get(look->folded, member);
	if (json_is_null(expected) || (!expected && !found) || json_equal(expected, found))
		return 1;
	return member_noted(look, member, expected, found);
}

static int check_artifact(const struct look *look)
{
	static const char *const members[] = {
		"content_hash", "content_size", "code_hash", "code_size", "code_author"};
	const struct wfs_hash empty = wfs_hash_of("", 0);
	WFS_AUTO_JSON json_t *made = json_pack("{s:i}", "content_size", 0);
	struct look filled = *look;
	int r = 1;

	if (!look->expected)
		return look->restore->proof.invoked ? 1 : check_same(look);
	if (json_object_get(look->expected, "deleted_by"))
		return restore_noted(
			look->restore, look->path, "exists: the journal says that it was deleted");
	if (!made || wfs_json_set_hash(made, "content_hash", &empty))
		return wfs_error_from_errno(look->restore->error, -ENOMEM, "compare artifacts");
	/* the artifact was made since, and is empty unless a line has its content */
	if (!look->folded)
		filled.folded = made;
	for (size_t i = 0; r > 0 && i < WFS_ARRAY_COUNT(members); i++)
		r = check_member(&filled, members[i]);
	return r;
}

static int check_deleted(const struct look *look)
{
	const struct restore_path artifact =
		restore_place(WFS_BUILTIN_ARTIFACT, strrchr(look->path, '/') + 1);

	if (restore_has(look->restore, artifact.text))
		return restore_noted(look->restore, artifact.text, "exists, and is deleted, too");
	if (!look->expected)
		return look->restore->proof.invoked ? 1 : check_same(look);
	return json_equal(look->expected, look->found)
		? 1
		: restore_noted(look->restore, look->path,
			  "is not what the journal says of the artifact");
}

static int parse(struct restore *restore, const struct wfs_bytes *document, json_t **ret_json)
{
	struct wfs_error reason = {0};
	int r = document ? wfs_json_parse(document->data, document->size, ret_json, &reason) : 0;

	return r ? wfs_error_set(restore->error, reason.code, "compare cells: %s", reason.message)
		 : 0;
}

bool restore_proof_knows(enum wfs_builtin_reducer builtin)
{
	return builtin == WFS_BUILTIN_PRINCIPAL || builtin == WFS_BUILTIN_GRANT ||
		builtin == WFS_BUILTIN_ARTIFACT || builtin == WFS_BUILTIN_DELETED;
}

int restore_proof_check(struct restore *restore, enum wfs_builtin_reducer builtin, const char *path,
	struct wfs_bytes key, const struct wfs_bytes *folded, struct wfs_bytes found)
{
	/* How many agents and grants a principal has made, how many calls of outside tools it has,
	 * and what a budget has paid, is not known. */
	static const char *const of_principal[] = {"agents", "outside", "passed_on", NULL};
	static const char *const of_grant[] = {"used", NULL};
	WFS_AUTO_JSON json_t *folded_json = NULL;
	WFS_AUTO_JSON json_t *found_json = NULL;
	int r = parse(restore, folded, &folded_json);

	if (!r)
		r = parse(restore, &found, &found_json);
	if (r)
		return wfs_trace(r);
	const struct look look = {restore, path, key, folded_json, found_json,
		json_object_getn(restore->proof.artifacts, key.data, key.size)};
	switch (builtin) {
	case WFS_BUILTIN_PRINCIPAL:
		return wfs_trace(folded ? check_but(&look, of_principal) : check_agent(&look));
	case WFS_BUILTIN_GRANT:
		return wfs_trace(check_but(&look, of_grant));
	case WFS_BUILTIN_ARTIFACT:
		return check_artifact(&look);
	case WFS_BUILTIN_DELETED:
		return check_deleted(&look);
	default:
		return 1;
	}
}
