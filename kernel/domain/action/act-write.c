/* SPDX-License-Identifier: Apache-2.0 */
/* Makes artifacts, and changes the given members of existing ones. */
#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/action/service.h"
#include "kernel/domain/principal/grants.h"

#define HANDBOOK_PREFIX "handbook_" /* agents believe what they read there */

/* --- given members --- */

static int take_prices(
	struct act *act, struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	static const char *const names[] = {"invoke_price", "read_price", NULL};
	int64_t *const prices[] = {&artifact->invoke_price, &artifact->read_price};
	const json_t *const policy = act->params.action_write_artifact.policy;
	const int64_t price = act->params.action_write_artifact.price;
	int r;

	if (price >= 0 && policy)
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "expected 'price' or 'policy', got both");
	if (price >= 0)
		artifact->invoke_price = price;
	if (!policy)
		return 0;
	r = wfs_json_only(policy, names, error);
	for (size_t i = 0; !r && names[i]; i++)
		r = wfs_json_get_integer(policy, names[i], 0, INT64_MAX, prices[i], error);
	return r;
}

/* Objects defined by users are bounded, because every reader of the cell reads them. */
static int take_object(
	json_t **place, const char *name, const json_t *value, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!value)
		return 0;
	wfs_json_write(value, &text);
	if (wfs_buffer_check(&text))
		return fold_no_memory(error);
	if (text.size > WFS_ARTIFACT_DETAILS_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"'%s' has %zu bytes, at most %d are taken", name, text.size,
			WFS_ARTIFACT_DETAILS_MAX);
	*place = (json_t *)(uintptr_t)value;
	return 0;
}

static int take_access(
	struct act *act, struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	const char *const access = act->params.action_write_artifact.access;

	if (!access)
		return 0;
	if (!wfs_grant_name_valid(access))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'access': expected a rule or the id of a contract, got '%.80s'", access);
	artifact->access = access;
	return 0;
}

/* A memory store with entries keeps its type. */
static int check_memory_type(struct act *act, const struct wfs_document_artifact *artifact,
	const char *type, struct wfs_error *error)
{
	int64_t bytes = 0;
	int r = strcmp(type, WFS_ARTIFACT_TYPE_MEMORY) == 0
		? 0
		: artifact_holding(act->fold)->bytes(act->fold, artifact->id, &bytes, error);

	if (r || bytes == 0)
		return wfs_trace(r);
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'type': '%s' has entries, so it stays a " WFS_ARTIFACT_TYPE_MEMORY, artifact->id);
}

static int take_type(
	struct act *act, struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	const char *const type = act->params.action_write_artifact.type;

	if (!type)
		return 0;
	int r = check_memory_type(act, artifact, type, error);
	if (r)
		return wfs_trace(r);
	if (!wfs_grant_name_valid(type))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'type': expected %s", WFS_GRANT_NAME_FORM);
	artifact->type = type;
	return 0;
}

/* --- dependencies --- */

/* A walk along dependencies. */
struct walk {
	const struct act *act;
	const char *from; /* the artifact that is written */
	struct wfs_error *error;
	size_t budget; /* artifacts that may still be looked at */
};

enum { WALK_MAX = 10000 };

static int follow(struct walk *walk, const json_t *list, int depth);

/* Finds a dependency. One that is not shown to the actor, and that the actor may not invoke by its
 * rule, is reported as not found. */
static int find_dependency(const struct act *act, const char *id,
	struct wfs_document_artifact *ret_artifact, struct wfs_error *error)
{
	int r = act_artifact(act, id, ret_artifact, error);

	if (r || wfs_artifact_invokes(ret_artifact, act->actor) == WFS_ARTIFACT_YES)
		return wfs_trace(r);
	r = act_refuse_artifact(act, ret_artifact, error);
	return r == -EACCES ? 0 : wfs_trace(r);
}

static int follow_one(struct walk *walk, const char *id, int depth)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	struct wfs_error reason = {0};

	if (strcmp(id, walk->from) == 0)
		return wfs_error_set(walk->error, WFS_E_CYCLE,
			"'depends_on': '%s' would depend on itself", walk->from);
	if (depth > WFS_ARTIFACT_DEPTH_MAX || walk->budget-- == 0)
		return wfs_error_set(walk->error, WFS_E_DEPTH_EXCEEDED,
			"'depends_on': dependencies of '%s' would be more than %d deep, or too "
			"many",
			walk->from, WFS_ARTIFACT_DEPTH_MAX);
	int r = depth > 1 ? artifact_get(walk->act->fold, id, &artifact, &reason)
			  : find_dependency(walk->act, id, &artifact, &reason);
	/* Deleted dependencies of dependencies are allowed; running the code reports them. */
	if (reason.code == WFS_E_NOT_FOUND || reason.code == WFS_E_DELETED)
		return depth > 1 ? 0
				 : wfs_error_set(walk->error, reason.code, "'depends_on': %.400s",
					   reason.message);
	if (r) {
		*walk->error = reason;
		return wfs_trace(r);
	}
	return follow(walk, artifact.depends_on, depth + 1);
}

static int follow(struct walk *walk, const json_t *list, int depth)
{
	int r = 0;

	for (size_t i = 0; !r && i < json_array_size(list); i++)
		r = follow_one(walk, json_string_value(json_array_get(list, i)), depth);
	return r;
}

static int take_dependencies(
	struct act *act, struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	const json_t *const list = act->params.action_write_artifact.depends_on;
	struct walk walk = {.act = act, .from = artifact->id, .error = error, .budget = WALK_MAX};

	if (!list)
		return 0;
	if (json_array_size(list) > WFS_ARTIFACT_DEPENDENCIES_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"'depends_on' has %zu ids, at most %d are taken", json_array_size(list),
			WFS_ARTIFACT_DEPENDENCIES_MAX);
	artifact->depends_on = (json_t *)(uintptr_t)list;
	return follow(&walk, list, 1);
}

/* --- texts --- */

/* Stores a text whose disk has been charged. */
static int put_text(struct act *act, struct wfs_document_artifact *artifact,
	enum wfs_builtin_reducer reducer, struct wfs_bytes bytes, struct wfs_error *error)
{
	const struct wfs_hash hash = wfs_hash_of(bytes.data, bytes.size);
	int r = artifact_set_text(act->fold, reducer, artifact->id, bytes, error);

	artifact->updated_at = act->fold->input.at_ns;
	if (reducer == WFS_BUILTIN_CODE) {
		artifact->code_author = author_now(act);
		artifact->code_hash = hash;
		artifact->code_size = (int64_t)bytes.size;
	} else {
		artifact->content_hash = hash;
		artifact->content_size = (int64_t)bytes.size;
	}
	return wfs_trace(r);
}

static int64_t growth(const struct wfs_document_artifact *artifact,
	enum wfs_builtin_reducer reducer, struct wfs_bytes bytes)
{
	return (int64_t)bytes.size - artifact_text_size(artifact, reducer);
}

int artifact_change_text(struct act *act, struct wfs_document_artifact *artifact,
	enum wfs_builtin_reducer reducer, struct wfs_bytes bytes, struct wfs_error *error)
{
	int r = account_use(act->fold, artifact->charged_to, ACCOUNT_DISK,
		growth(artifact, reducer, bytes), error);

	return wfs_trace(r ? r : put_text(act, artifact, reducer, bytes, error));
}

/* Charges the disk for both texts together: one may make room for the other. */
static int charge_texts(
	struct act *act, const struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	int64_t more = 0;

	if (act->content.given)
		more += growth(
			artifact, WFS_BUILTIN_CONTENT, wfs_buffer_bytes(&act->content.bytes));
	if (act->code.given)
		more += growth(artifact, WFS_BUILTIN_CODE, wfs_buffer_bytes(&act->code.bytes));
	return wfs_trace(account_use(act->fold, artifact->charged_to, ACCOUNT_DISK, more, error));
}

/* --- one artifact --- */

static int check_id(struct act *act, const char *id, struct wfs_error *error)
{
	if (!wfs_grant_name_valid(id))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'artifact_id': expected %s, got '%.140s'", WFS_GRANT_NAME_FORM, id);
	if (strcmp(act->actor, WFS_PRINCIPAL_GENESIS) == 0)
		return 0; /* no client has this name: the world is being made */
	if (strncmp(id, WFS_GENESIS_PREFIX, strlen(WFS_GENESIS_PREFIX)) == 0)
		return wfs_error_set(
			error, WFS_E_NOT_AUTHORIZED, "Cannot modify system artifact '%s'", id);
	if (strncmp(id, HANDBOOK_PREFIX, strlen(HANDBOOK_PREFIX)) == 0 &&
		strcmp(act->actor, WFS_PRINCIPAL_OPERATOR) != 0)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'artifact_id': names that begin with " HANDBOOK_PREFIX
			" are for the operator alone");
	if (wfs_id_reserved(id) || artifact_is_rule(id))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'artifact_id': '%s' is a word of the kernel's own", id);
	return 0;
}

/* --- agents --- */

static bool is_agent(const char *type)
{
	return type && strcmp(type, WFS_ARTIFACT_TYPE_AGENT) == 0;
}

/* A new artifact may not have the id of a principal. Exception: an agent for an existing
 * principal, made by that principal or by the operator. */
static int check_new_id(struct act *act, const char *id, struct wfs_error *error)
{
	const bool may = is_agent(act->params.action_write_artifact.type) &&
		(strcmp(act->actor, WFS_PRINCIPAL_OPERATOR) == 0 || strcmp(act->actor, id) == 0);
	int r = may ? 0 : fold_is_live(act->fold, WFS_BUILTIN_PRINCIPAL, id, error);

	if (r <= 0)
		return wfs_trace(r);
	wfs_error_set(error, WFS_E_ALREADY_EXISTS, "'artifact_id': '%s' is a principal", id);
	return act_refuse_id(act, WFS_ENTITY_PRINCIPAL, id, error);
}

/* Makes the principal of an agent, which has the artifact's id and can get grants. */
static int make_principal(
	struct act *act, const struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	int r = fold_is_live(act->fold, WFS_BUILTIN_PRINCIPAL, artifact->id, error);

	if (r)
		return r > 0 ? 0 : wfs_trace(r);
	r = grants_make_agent(act->fold, artifact->id, act->actor, artifact->charged_to, error);
	return wfs_trace(r ? r : account_add(act->fold, artifact->id, 0, error));
}

/* Makes a new artifact. @ret_artifact: artifact_get() has not found it */
static int make(struct act *act, const char *id, struct wfs_document_artifact *ret_artifact,
	struct wfs_error *error)
{
	const size_t cell = ret_artifact->own.cell;
	const int64_t now = act->fold->input.at_ns;
	WFS_AUTO_JSON json_t *nothing = json_array();
	WFS_AUTO_JSON json_t *no_metadata = json_object();
	char payer[WFS_ARTIFACT_ID_MAX + 1];
	int r = artifact_disk_payer(act->fold, act->actor, payer, error);

	if (!r)
		r = artifact_set_text(act->fold, WFS_BUILTIN_CONTENT, id, WFS_BYTES("", 0), error);
	if (r)
		return wfs_trace(r);
	const struct wfs_document_artifact made = {
		.access = "freeware",
		.charged_to = payer,
		.code_size = -1,
		.content_hash = wfs_hash_of("", 0),
		.created_at = now,
		.created_by = act->actor,
		.depends_on = nothing,
		.id = id,
		.metadata = no_metadata,
		.owner = act->actor,
		.type = "data",
		.updated_at = now,
	};
	json_t *const document = wfs_document_write(WFS_BUILTIN_ARTIFACT, &made);
	r = document ? wfs_document_read_artifact(document, ret_artifact, error)
		     : fold_no_memory(error);
	ret_artifact->own.cell = cell;
	return wfs_trace(r);
}

static int get_or_make(struct act *act, const char *id, struct wfs_document_artifact *ret_artifact,
	bool *ret_made, struct wfs_error *error)
{
	struct wfs_error reason = {0};
	int r = artifact_get(act->fold, id, ret_artifact, &reason);

	*ret_made = reason.code == WFS_E_NOT_FOUND;
	if (*ret_made) {
		r = check_new_id(act, id, error);
		return wfs_trace(r ? r : make(act, id, ret_artifact, error));
	}
	if (r) {
		*error = reason;
		return wfs_trace(reason.code == WFS_E_DELETED
				? act_refuse_id(act, WFS_ENTITY_ARTIFACT, id, error)
				: r);
	}
	return wfs_trace(artifact_permit(act, ret_artifact, ARTIFACT_USE_WRITE, error));
}

/* Stores given code. An executable artifact must have code, which is checked. */
static int take_code(
	struct act *act, struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	int r = 0;

	if (act->code.given)
		r = put_text(
			act, artifact, WFS_BUILTIN_CODE, wfs_buffer_bytes(&act->code.bytes), error);
	if (r)
		return wfs_trace(r);
	if (!artifact->executable || service_find(act->fold->domains, artifact->id))
		return 0;
	if (artifact->code_size <= 0)
		return wfs_error_set(error, WFS_E_MISSING_ARGUMENT,
			"an executable artifact requires 'code' that defines run(...) or "
			"check(...)");
	const bool unchecked = act->code.given || act->params.action_write_artifact.executable;
	return unchecked ? wfs_trace(artifact_check_code(act, artifact, error)) : 0;
}

static void take_executable(struct act *act, struct wfs_document_artifact *artifact)
{
	const bool given = json_object_get(act->sent, "executable") != NULL;
	const bool executable = given
		? act->params.action_write_artifact.executable
		: artifact->executable || (act->code.given && act->code.bytes.size > 0);

	if (executable && !artifact->executable)
		artifact->code_author = author_now(act);
	artifact->executable = executable;
}

/* Checks the content if it has changed or its type has. An artifact without content may get it
 * later. @retyped: it has another type than before */
static int check_content(struct act *act, const struct wfs_document_artifact *artifact,
	bool retyped, struct wfs_error *error)
{
	const bool has_content = act->content.given || artifact->content_size > 0;
	const bool changes = act->content.given || retyped;

	return has_content && changes ? wfs_trace(artifact_check_content(act, artifact, error)) : 0;
}

static int take_all(
	struct act *act, struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	const struct artifact_holding *const holding = artifact_holding(act->fold);
	WFS_AUTO_JSON json_t *entries = NULL; /* of a memory store, before the write */
	const char *const type = act->params.action_write_artifact.type;
	const bool retyped = type && strcmp(type, artifact->type) != 0;
	int r = holding->entries(act->fold, artifact, &entries, error);

	if (!r)
		r = take_type(act, artifact, error);
	if (!r)
		r = take_prices(act, artifact, error);
	if (!r)
		r = take_object(&artifact->interface, "interface",
			act->params.action_write_artifact.interface, error);
	if (!r)
		r = interface_check(act->params.action_write_artifact.interface, error);
	if (!r)
		r = take_object(&artifact->metadata, "metadata",
			act->params.action_write_artifact.metadata, error);
	if (!r)
		r = take_access(act, artifact, error);
	if (!r)
		r = take_dependencies(act, artifact, error);
	if (!r)
		r = charge_texts(act, artifact, error);
	if (!r && act->content.given)
		r = put_text(act, artifact, WFS_BUILTIN_CONTENT,
			wfs_buffer_bytes(&act->content.bytes), error);
	if (!r)
		r = check_content(act, artifact, retyped, error);
	if (!r)
		r = holding->check(act->fold, artifact, error);
	if (!r)
		r = holding->take_content(act, artifact, entries, error);
	if (r)
		return wfs_trace(r);
	take_executable(act, artifact);
	return wfs_trace(take_code(act, artifact, error));
}

int act_action_write_artifact(struct act *act, struct wfs_error *error)
{
	const char *const id = act->params.action_write_artifact.artifact_id;
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	bool made = false;
	int r = check_id(act, id, error);

	if (!r)
		r = get_or_make(act, id, &artifact, &made, error);
	if (!r)
		r = take_all(act, &artifact, error);
	artifact.updated_at = act->fold->input.at_ns;
	if (!r)
		r = fold_write_artifact(act->fold, &artifact, error);
	if (!r && is_agent(artifact.type))
		r = make_principal(act, &artifact, error);
	if (r)
		return wfs_trace(r);
	const int64_t size =
		artifact.content_size + artifact_text_size(&artifact, WFS_BUILTIN_CODE);
	snprintf(act->message, sizeof(act->message), "%s artifact %s (%" PRId64 " bytes)",
		made ? "Created" : "Updated", id, size);
	act->data = json_pack("{s:s, s:I, s:b}", "artifact_id", id, "size_bytes", (json_int_t)size,
		"was_update", !made);
	return act->data ? 0 : fold_no_memory(error);
}
