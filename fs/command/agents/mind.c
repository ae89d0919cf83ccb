/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent export, agent import, memory reembed: an agent, with the artifacts of its mind, as one
 * JSON document.
 *
 * The document is {agent, artifacts}. Each artifact has the members of write_artifact, with `id`
 * for artifact_id, and its `owner`; the content of a memory store includes the entries and their
 * vectors. If the caller may not read a part, the command fails.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fs/command/agents/commands.h"
#include "fs/command/frame/input.h"
#include "fs/command/frame/walk.h"
#include "kernel/manifest/grant.h"
#include "kernel/value/bounds.h"

#define TYPE_WORKFLOW "workflow"
#define MEMORY_SERVICE "genesis_memory"

enum {
	BATCH = 32,                 /* entries of a memory store in one request */
	DOCUMENT_MAX_MIB = 1 << 10, /* of an imported file */
};

/* --- requests to the world --- */

/* Does the artifact exist? Return: 1, 0, or -errno. @ret_artifact: NULL: it does not; caller owns
 * it */
static int find_artifact(struct wfs_run *run, const char *id, json_t **ret_artifact)
{
	int r = wfs_run_read_artifact(run, id, ret_artifact);

	if (r && (run->error.code == WFS_E_NOT_FOUND || run->error.code == WFS_E_DELETED)) {
		run->error = (struct wfs_error){.code = WFS_OK};
		return 0;
	}
	return r ? r : 1;
}

static int call_memory(
	struct wfs_run *run, const char *method, json_t *arguments, json_t **ret_result)
{
	WFS_AUTO_JSON json_t *data = NULL;
	int r = wfs_run_act(run,
		json_pack("{s:s, s:s, s:s, s:[o]}", "action_type", "invoke_artifact", "artifact_id",
			MEMORY_SERVICE, "method", method, "args", arguments),
		&data);

	if (!r)
		*ret_result = json_incref(json_object_get(data, "result"));
	return r;
}

static bool is_store(const json_t *artifact)
{
	return strcmp(wfs_json_text(artifact, "type"), WFS_ARTIFACT_TYPE_MEMORY) == 0;
}

/* Gets a content for the document: JSON objects and arrays as JSON. New reference; NULL: none */
static json_t *content_value(const json_t *artifact)
{
	json_t *const text = json_object_get(artifact, "content");
	WFS_AUTO_JSON json_t *value = NULL;

	if (json_is_string(text))
		(void)wfs_json_parse_bounded(
			json_string_value(text), json_string_length(text), &value, NULL);
	return json_is_object(value) || json_is_array(value) ? WFS_STEAL(value) : json_incref(text);
}

/* --- export --- */

/* One export. Plain value; export_done. */
struct export
{
	struct wfs_run *run;
	json_t *artifacts; /* of the document; an artifact comes after those that it names */
	json_t *seen;      /* ids of exported artifacts */
};

static void export_done(struct export *export)
{
	json_decref(export->artifacts);
	json_decref(export->seen);
}

/* Entries of a memory store. */
struct entries {
	struct wfs_walk *walk;
	json_t *list;
};

static int add_entry(void *context, const char *path, const json_t *file)
{
	struct entries *const entries = context;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	json_t *entry = NULL;
	int r = wfs_walk_read(entries->walk, path, wfs_walk_keep, &text);

	(void)file;
	if (!r)
		r = wfs_json_parse(text.data, text.size, &entry, &entries->walk->run->error);
	return r ? r : json_array_append_new(entries->list, entry) < 0 ? -ENOMEM : 0;
}

static int compare_places(const void *a, const void *b)
{
	const json_int_t of_a = wfs_run_integer(*(json_t *const *)a, "place");
	const json_int_t of_b = wfs_run_integer(*(json_t *const *)b, "place");

	return of_a < of_b ? -1 : of_a > of_b;
}

/* Sorts entries in the order of adding, which decides between equal ones. */
static int set_entries(json_t *content, const json_t *list)
{
	const size_t count = json_array_size(list);
	WFS_AUTO_FREE json_t **sorted = calloc(count + 1, sizeof(json_t *));
	json_t *const entries = json_array();
	int r = sorted && entries ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < count; i++)
		sorted[i] = json_array_get(list, i);
	if (!r)
		qsort(sorted, count, sizeof(json_t *), compare_places);
	for (size_t i = 0; !r && i < count; i++)
		r = json_array_append(entries, sorted[i]);
	return json_object_set_new(content, "entries", entries) < 0 || r ? -ENOMEM : 0;
}

static int add_memories(struct export *export, const char *id, json_t *content)
{
	WFS_AUTO_WALK struct wfs_walk walk = {0};
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	WFS_AUTO_JSON json_t *list = json_array();
	struct entries entries = {&walk, list};
	int r = list ? 0 : -ENOMEM;

	wfs_buffer_printf(&path, "artifacts/%s/entries", id);
	if (!r)
		r = wfs_buffer_check(&path);
	if (!r)
		r = wfs_walk_init(&walk, export->run, wfs_buffer_text(&path));
	if (!r)
		r = wfs_walk_names(&walk, wfs_buffer_text(&path), add_entry, &entries);
	return r ? r : set_entries(content, list);
}

/* Makes an artifact of the document. @content: taken. NULL without memory. */
static json_t *document_of(const json_t *artifact, json_t *content)
{
	static const char *const members[] = {"access", "code", "depends_on", "executable",
		"interface", "metadata", "owner", "type"};
	WFS_AUTO_JSON json_t *document = json_pack("{s:O, s:o, s:{s:I, s:I}}", "id",
		json_object_get(artifact, "id"), "content", content, "policy", "invoke_price",
		wfs_run_integer(artifact, "invoke_price"), "read_price",
		wfs_run_integer(artifact, "read_price"));

	for (size_t i = 0; document && i < WFS_ARRAY_COUNT(members); i++) {
		json_t *const value = json_object_get(artifact, members[i]);

		if (value && json_object_set(document, members[i], value) < 0)
			return NULL;
	}
	return WFS_STEAL(document);
}

static int export_named(struct export *export, const char *member, const char *reference);

/* Exports the artifacts that an agent or a workflow names. */
static int export_references(struct export *export, const json_t *content)
{
	static const char *const members[] = {"personality_prompt_artifact_id",
		"reflex_artifact_id", "working_memory_artifact_id", "longterm_memory_artifact_id",
		"workflow_artifact_id"};
	static const char *const of_steps[] = {
		"prompt_artifact_id", "transition_prompt_artifact_id"};
	const json_t *const inlined = json_object_get(content, "workflow");
	const json_t *step;
	size_t at;
	int r = 0;

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(members); i++)
		r = export_named(export, members[i], wfs_json_text(content, members[i]));
	json_array_foreach(json_object_get(inlined ? inlined : content, "steps"), at, step) {
		for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(of_steps); i++)
			r = export_named(export, of_steps[i], wfs_json_text(step, of_steps[i]));
	}
	return r;
}

static int export_artifact(struct export *export, const json_t *artifact)
{
	const char *const id = wfs_json_text(artifact, "id");
	const char *const type = wfs_json_text(artifact, "type");
	const bool refers =
		strcmp(type, WFS_ARTIFACT_TYPE_AGENT) == 0 || strcmp(type, TYPE_WORKFLOW) == 0;
	/* Other texts are kept byte for byte, because models see them. */
	WFS_AUTO_JSON json_t *content = refers || is_store(artifact)
		? content_value(artifact)
		: json_incref(json_object_get(artifact, "content"));
	const json_t *needed;
	size_t i;
	int r = json_object_set_new(export->seen, id, json_true()) < 0 ? -ENOMEM : 0;

	if (!r &&
		(json_object_get(artifact, "content_b64") || json_object_get(artifact, "code_b64")))
		r = wfs_error_set(&export->run->error, WFS_E_INVALID_TYPE,
			"'%.140s': expected content and code in UTF-8, which JSON can contain", id);
	/* Without what it depends on, the artifact cannot be written elsewhere. */
	json_array_foreach(json_object_get(artifact, "depends_on"), i, needed) {
		if (!r)
			r = export_named(export, "depends_on", json_string_value(needed));
	}
	if (!r && refers)
		r = export_references(export, content);
	if (!r && is_store(artifact) && !json_is_object(content)) {
		json_decref(content); /* an empty content */
		content = json_object();
	}
	if (!r && is_store(artifact))
		r = content ? add_memories(export, id, content) : -ENOMEM;
	if (!r &&
		json_array_append_new(
			export->artifacts, document_of(artifact, WFS_STEAL(content))) < 0)
		r = -ENOMEM;
	return r;
}

/* Exports a named artifact. Those of genesis exist in each world; a missing one is left out with a
 * notice. */
static int export_named(struct export *export, const char *member, const char *reference)
{
	WFS_AUTO_JSON json_t *artifact = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer id = {0};

	wfs_buffer_append(&id, reference, strcspn(reference, "#"));
	if (wfs_buffer_check(&id))
		return -ENOMEM;
	const char *const name = wfs_buffer_text(&id);
	if (!*name || strncmp(name, WFS_GENESIS_PREFIX, strlen(WFS_GENESIS_PREFIX)) == 0 ||
		json_object_get(export->seen, name))
		return 0;
	int r = find_artifact(export->run, name, &artifact);
	if (r == 0)
		wfs_run_notice(
			export->run, "%s: '%s' does not exist, and is left out", member, name);
	return r <= 0 ? r : export_artifact(export, artifact);
}

int wfs_run_agent_export(struct wfs_run *run)
{
	WFS_CLEANUP(export_done)
	struct export export = {run, json_array(), json_object()};
	WFS_AUTO_JSON json_t *artifact = NULL;
	const char *const agent = run->arguments[0];
	int r = export.artifacts && export.seen ? wfs_run_read_artifact(run, agent, &artifact)
						: -ENOMEM;

	if (!r && strcmp(wfs_json_text(artifact, "type"), WFS_ARTIFACT_TYPE_AGENT) != 0)
		r = wfs_error_set(&run->error, WFS_E_INVALID_TYPE,
			"the artifact '%.140s' has the type '%.60s', expected "
			"'" WFS_ARTIFACT_TYPE_AGENT "'",
			agent, wfs_json_text(artifact, "type"));
	if (!r)
		r = export_artifact(&export, artifact);
	if (r)
		return r;
	WFS_AUTO_JSON json_t *document =
		json_pack("{s:s, s:O}", "agent", agent, "artifacts", export.artifacts);
	if (!document)
		return -ENOMEM;
	return run->options[WFS_OPTION_JSON] ? wfs_run_json(run, WFS_STEAL(document))
					     : wfs_run_print_document(run, document);
}

/* --- import --- */

/* Makes the action that writes an artifact. @content: taken; NULL: none. NULL without memory. */
static json_t *write_action(const json_t *artifact, json_t *content)
{
	WFS_AUTO_JSON json_t *action = wfs_json_copy(artifact);
	WFS_AUTO_JSON json_t *owned = content;

	if (!action ||
		json_object_set_new(action, "action_type", json_string("write_artifact")) < 0 ||
		json_object_set(action, "artifact_id", json_object_get(artifact, "id")) < 0 ||
		(owned && json_object_set(action, "content", owned) < 0))
		return NULL;
	(void)json_object_del(action, "id");
	(void)json_object_del(action, "owner");
	return WFS_STEAL(action);
}

/* Imports entries in parts, because requests and the embeddings of one record are bounded. */
static int import_entries(struct wfs_run *run, const char *id, const json_t *entries)
{
	const size_t count = json_array_size(entries);
	int64_t added = 0;

	for (size_t at = 0; at < count; at += BATCH) {
		WFS_AUTO_JSON json_t *part = json_array();
		WFS_AUTO_JSON json_t *result = NULL;

		for (size_t i = at; i < count && i < at + BATCH; i++)
			if (json_array_append(part, json_array_get(entries, i)) < 0)
				return -ENOMEM;
		int r = call_memory(run, "import",
			json_pack("{s:s, s:O}", "memory", id, "entries", part), &result);
		if (r)
			return r;
		added += wfs_run_integer(result, "added");
	}
	wfs_run_notice(run, "%s: %" PRId64 " of %zu memories are new", id, added, count);
	return 0;
}

static int import_store(struct wfs_run *run, const json_t *artifact, bool there)
{
	const json_t *const given = json_object_get(artifact, "content");
	WFS_AUTO_JSON json_t *content =
		json_is_object(given) ? wfs_json_copy(given) : json_object();
	int r = content ? 0 : -ENOMEM;

	if (r)
		return r;
	(void)json_object_del(content, "entries");
	if (!there)
		r = wfs_run_act(run, write_action(artifact, json_incref(content)), NULL);
	return r ? r
		 : import_entries(
			   run, wfs_json_text(artifact, "id"), json_object_get(given, "entries"));
}

/* Checks an existing artifact: it must equal the one to be written; a memory store gets missing
 * entries. */
static int compare(struct wfs_run *run, const json_t *artifact, const json_t *there)
{
	WFS_AUTO_JSON json_t *content = content_value(there);
	WFS_AUTO_JSON json_t *wanted = content_value(artifact);
	const char *const code = wfs_json_text(artifact, "code");

	if (strcmp(wfs_json_text(there, "type"), wfs_json_text(artifact, "type")) == 0 &&
		(is_store(artifact) ||
			((!wanted || json_equal(content, wanted)) &&
				strcmp(wfs_json_text(there, "code"), code) == 0)))
		return 0;
	return wfs_error_set(&run->error, WFS_E_ALREADY_EXISTS,
		"the artifact '%.140s' exists with another type, content or code; nothing "
		"was changed",
		wfs_json_text(artifact, "id"));
}

/* Finds out which artifacts exist, and sets @there. */
static int look_at_all(struct wfs_run *run, const json_t *artifacts, json_t *there)
{
	const json_t *artifact;
	size_t i;

	json_array_foreach(artifacts, i, artifact) {
		const char *const id = wfs_json_text(artifact, "id");
		WFS_AUTO_JSON json_t *found = NULL;

		if (!*id)
			return wfs_error_set(&run->error, WFS_E_MISSING_ARGUMENT,
				"artifact number %zu of the file has no 'id': give it one with "
				"--id",
				i + 1);
		int r = find_artifact(run, id, &found);
		if (r > 0)
			r = compare(run, artifact, found);
		if (r < 0)
			return r;
		if (json_object_set(there, id, found ? found : json_false()) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int import_all(struct wfs_run *run, const json_t *artifacts, const json_t *there)
{
	const json_t *artifact;
	size_t i;
	int r = 0;

	json_array_foreach(artifacts, i, artifact) {
		const char *const id = wfs_json_text(artifact, "id");
		const bool is_there = json_is_object(json_object_get(there, id));

		if (!r && is_store(artifact))
			r = import_store(run, artifact, is_there);
		else if (!r && !is_there)
			r = wfs_run_act(run, write_action(artifact, NULL), NULL);
		if (!r && !run->options[WFS_OPTION_JSON])
			fprintf(run->out, "%c  %-12s  %s\n", is_there ? '=' : 'A',
				wfs_json_text(artifact, "type"), id);
	}
	return r;
}

/* Gives artifacts to the agent that it owned before. */
static int give_to_agent(
	struct wfs_run *run, const json_t *artifacts, const json_t *there, const char *agent)
{
	const json_t *artifact;
	size_t i;
	int r = 0;

	json_array_foreach(artifacts, i, artifact) {
		json_t *const id = json_object_get(artifact, "id");
		const json_t *const found = json_object_get(there, json_string_value(id));

		if (!r && strcmp(wfs_json_text(artifact, "owner"), agent) == 0 &&
			strcmp(wfs_json_text(found, "owner"), agent) != 0)
			r = wfs_run_act(run,
				json_pack("{s:s, s:O, s:s}", "action_type", "transfer_ownership",
					"artifact_id", id, "to", agent),
				NULL);
	}
	return r;
}

/* Reads the document of an export, a list of artifacts, or one artifact. @ret_artifacts: caller
 * owns it */
static int read_document(struct wfs_run *run, json_t **ret_agent, json_t **ret_artifacts)
{
	const char *const named = run->options[WFS_OPTION_ARTIFACT_ID];
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *document = NULL;
	int r = wfs_input_read(
		run->arguments[0], (size_t)DOCUMENT_MAX_MIB << 20, &text, &run->error);

	if (!r)
		r = wfs_json_parse(text.data, text.size, &document, &run->error);
	if (r)
		return r;
	json_t *const list = json_object_get(document, "artifacts");
	if (json_is_object(document) && !list && named &&
		json_object_set_new(document, "id", json_string(named)) < 0)
		return -ENOMEM;
	if (named && (list || !json_is_object(document)))
		return wfs_run_misuse(run, "--id: the file has more than one artifact");
	*ret_agent = json_incref(json_object_get(document, "agent"));
	*ret_artifacts = json_is_array(list) ? json_incref(list)
		: json_is_array(document)    ? json_incref(document)
					     : json_pack("[O]", document);
	return *ret_artifacts ? 0 : -ENOMEM;
}

/* Makes {artifacts: [{id, there, type}]}; there: it existed before the import. */
static json_t *imported_document(const json_t *artifacts, const json_t *there)
{
	json_t *const list = json_array();
	const json_t *artifact;
	size_t i;

	json_array_foreach(artifacts, i, artifact) {
		const char *const id = wfs_json_text(artifact, "id");

		(void)json_array_append_new(list,
			json_pack("{s:s, s:b, s:s}", "id", id, "there",
				json_is_object(json_object_get(there, id)), "type",
				wfs_json_text(artifact, "type")));
	}
	return json_pack("{s:o}", "artifacts", list);
}

int wfs_run_agent_import(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *agent = NULL;
	WFS_AUTO_JSON json_t *artifacts = NULL;
	WFS_AUTO_JSON json_t *there = json_object();
	int r = read_document(run, &agent, &artifacts);

	if (!r)
		r = there ? look_at_all(run, artifacts, there) : -ENOMEM;
	if (!r)
		r = import_all(run, artifacts, there);
	if (!r && json_is_string(agent))
		r = give_to_agent(run, artifacts, there, json_string_value(agent));
	if (r)
		return r;
	if (json_is_string(agent))
		wfs_run_notice(run, "grants are not imported: 'worldfs grant %s ...' gives some",
			json_string_value(agent));
	return run->options[WFS_OPTION_JSON]
		? wfs_run_json(run, imported_document(artifacts, there))
		: 0;
}

/* --- memory reembed --- */

int wfs_run_memory_reembed(struct wfs_run *run)
{
	const char *const store = run->arguments[0];
	WFS_AUTO_JSON json_t *result = NULL;
	int64_t done = 0;
	int r;

	do {
		json_decref(WFS_STEAL(result));
		r = call_memory(run, "reembed", json_pack("{s:s}", "memory", store), &result);
		done += wfs_run_integer(result, "reembedded");
	} while (!r && wfs_run_integer(result, "left") > 0);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run,
			json_pack("{s:s, s:O, s:I, s:O}", "memory_artifact_id", store, "model",
				json_object_get(result, "model"), "reembedded", (json_int_t)done,
				"total_entries", json_object_get(result, "total_entries")));
	fprintf(run->out, "%s: %" PRId64 " of %" PRId64 " entries have new embeddings, of '%s'\n",
		store, done, wfs_run_integer(result, "total_entries"),
		wfs_json_text(result, "model"));
	return 0;
}
