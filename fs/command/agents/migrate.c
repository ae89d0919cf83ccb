/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent migrate: makes artifacts of the inline parts of an agent's configuration.
 *
 * Everything is checked before anything is written. Then come the artifacts, and after them one
 * change of the agent, which is made only if the agent has not changed since. Run again after an
 * interruption, it uses the artifacts that exist.
 */
#include <string.h>

#include "fs/command/agents/commands.h"
#include "fs/command/agents/migration.h"
#include "kernel/manifest/manifest.h"
#include "kernel/value/bounds.h"

/* One migration. Plain value; task_done. */
struct task {
	struct wfs_run *run;
	const char *agent;
	json_t *artifact; /* the agent's artifact, as it was read; owned */
	struct wfs_migration migration;
};

static void task_done(struct task *task)
{
	json_decref(task->artifact);
	wfs_migration_done(&task->migration);
}

/* --- requests to the world --- */

/* Parses an artifact's content. Return: new reference, NULL: not JSON. */
static json_t *content_of(const json_t *artifact)
{
	const json_t *const text = json_object_get(artifact, "content");
	json_t *content = NULL;

	if (json_is_string(text))
		(void)wfs_json_parse_bounded(
			json_string_value(text), json_string_length(text), &content, NULL);
	return content;
}

/* The principal of the command. */
static const char *caller(const struct task *task)
{
	const char *const as = task->run->options[WFS_OPTION_AS];

	return as ? as : WFS_PRINCIPAL_OPERATOR;
}

/* --- checks --- */

/* If only the owner may change the agent by its rule, refuses others before writing anything. What
 * other rules and contracts say is found out by the change itself. */
static int check_owner(const struct task *task)
{
	static const char *const of_owners[] = {"freeware", "private", "self_owned"};
	const char *const access = wfs_json_text(task->artifact, "access");
	const char *const owner = wfs_json_text(task->artifact, "owner");
	const bool self =
		strcmp(access, "self_owned") == 0 && strcmp(caller(task), task->agent) == 0;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(of_owners); i++)
		if (strcmp(access, of_owners[i]) == 0 && strcmp(caller(task), owner) != 0 && !self)
			return wfs_error_set(&task->run->error, WFS_E_NOT_AUTHORIZED,
				"only its owner can change the agent '%.140s': use --as %.140s",
				task->agent, owner);
	return 0;
}

static int look_at_agent(struct task *task)
{
	struct wfs_run *const run = task->run;
	WFS_AUTO_JSON json_t *content = NULL;
	int r = wfs_run_read_artifact(run, task->agent, &task->artifact);

	if (r)
		return r;
	if (strcmp(wfs_json_text(task->artifact, "type"), WFS_ARTIFACT_TYPE_AGENT) != 0)
		return wfs_error_set(&run->error, WFS_E_INVALID_TYPE,
			"the artifact '%.140s' has the type '%.60s', expected "
			"'" WFS_ARTIFACT_TYPE_AGENT "'",
			task->agent, wfs_json_text(task->artifact, "type"));
	content = content_of(task->artifact);
	if (!content)
		return wfs_error_set(&run->error, WFS_E_INVALID_JSON,
			"the content of the agent '%.140s': expected a JSON object", task->agent);
	return wfs_migration_make(task->agent, content, &task->migration, &run->error);
}

/* Checks an existing artifact: equal to the one to be written, and owned by the agent or the
 * caller. */
static int compare(const struct task *task, const json_t *wanted, const json_t *there)
{
	const char *const id = wfs_json_text(wanted, "artifact_id");
	const char *const owner = wfs_json_text(there, "owner");
	WFS_AUTO_JSON json_t *content = content_of(there);

	if (strcmp(wfs_json_text(there, "type"), wfs_json_text(wanted, "type")) != 0 ||
		!json_equal(content, json_object_get(wanted, "content")))
		return wfs_error_set(&task->run->error, WFS_E_ALREADY_EXISTS,
			"the artifact '%.140s' exists with another content; nothing was changed",
			id);
	if (strcmp(owner, task->agent) != 0 && strcmp(owner, caller(task)) != 0)
		return wfs_error_set(&task->run->error, WFS_E_ALREADY_EXISTS,
			"the artifact '%.140s' exists and belongs to '%.140s'; nothing was changed",
			id, owner);
	return 0;
}

/* Checks whether an artifact exists: sets its `there` and, if it exists, its `owner`. */
static int look_at(struct task *task, json_t *wanted)
{
	struct wfs_run *const run = task->run;
	WFS_AUTO_JSON json_t *there = NULL;
	const char *owner = caller(task);
	int r = wfs_run_read_artifact(run, wfs_json_text(wanted, "artifact_id"), &there);

	if (r && run->error.code != WFS_E_NOT_FOUND)
		return r;
	if (r)
		run->error = (struct wfs_error){0};
	else
		r = compare(task, wanted, there);
	if (there)
		owner = wfs_json_text(there, "owner");
	if (there && r)
		return r;
	return json_object_set_new(wanted, "there", json_boolean(there != NULL)) < 0 ||
			json_object_set_new(wanted, "owner", json_string(owner)) < 0
		? -ENOMEM
		: 0;
}

/* --- writing --- */

/* Chooses the access of an artifact: everybody who could read the text in the agent can read it;
 * otherwise only the agent can. */
static const char *access_of(const json_t *agent)
{
	static const char *const open[] = {"freeware", "public", "transferable_freeware"};

	if (json_integer_value(json_object_get(agent, "read_price")) > 0)
		return "private";
	for (size_t i = 0; i < WFS_ARRAY_COUNT(open); i++)
		if (strcmp(wfs_json_text(agent, "access"), open[i]) == 0)
			return "freeware";
	return "private";
}

/* Makes the text of a content. NULL without memory. */
static json_t *content_text(const json_t *content)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(content, &text);
	wfs_buffer_append_byte(&text, '\n');
	return wfs_buffer_check(&text) ? NULL : json_stringn(text.data, text.size);
}

static int write_artifact(const struct task *task, const json_t *wanted)
{
	return wfs_run_act(task->run,
		json_pack("{s:s, s:s, s:O, s:o, s:O}", "access", access_of(task->artifact),
			"action_type", "write_artifact", "artifact_id",
			json_object_get(wanted, "artifact_id"), "content",
			content_text(json_object_get(wanted, "content")), "type",
			json_object_get(wanted, "type")),
		NULL);
}

static int give_to_agent(const struct task *task, const json_t *wanted)
{
	if (strcmp(wfs_json_text(wanted, "owner"), task->agent) == 0)
		return 0;
	return wfs_run_act(task->run,
		json_pack("{s:s, s:O, s:s}", "action_type", "transfer_ownership", "artifact_id",
			json_object_get(wanted, "artifact_id"), "to", task->agent),
		NULL);
}

static int write_all(const struct task *task)
{
	const json_t *wanted;
	size_t i;
	int r = 0;

	json_array_foreach(task->migration.artifacts, i, wanted) {
		if (!r && json_is_false(json_object_get(wanted, "there")))
			r = write_artifact(task, wanted);
	}
	json_array_foreach(task->migration.artifacts, i, wanted) {
		if (!r)
			r = give_to_agent(task, wanted);
	}
	if (r)
		return r;
	/* Replaces the whole old content of the agent; if that has changed, the edit fails. */
	return wfs_run_act(task->run,
		json_pack("{s:s, s:s, s:o, s:O}", "action_type", "edit_artifact", "artifact_id",
			task->agent, "new_string", content_text(task->migration.content),
			"old_string", json_object_get(task->artifact, "content")),
		NULL);
}

/* --- reporting --- */

static void print_lines(const struct task *task)
{
	FILE *const out = task->run->out;
	const json_t *artifact;
	size_t i;

	json_array_foreach(task->migration.artifacts, i, artifact)
		fprintf(out, "%c  %-10s  %s\n",
			json_is_true(json_object_get(artifact, "there")) ? '=' : 'A',
			wfs_json_text(artifact, "type"), wfs_json_text(artifact, "artifact_id"));
	fprintf(out, "M  %-10s  %s\n", WFS_ARTIFACT_TYPE_AGENT, task->agent);
}

static void print_kept(const struct task *task)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	const json_t *name;
	size_t i;

	json_array_foreach(task->migration.kept, i, name)
		wfs_buffer_printf(&names, "%s%s", i ? ", " : "", json_string_value(name));
	if (names.size > 0)
		wfs_run_notice(task->run, "stays inline: %s", wfs_buffer_text(&names));
}

static int tell(const struct task *task, bool changes)
{
	const bool dry_run = task->run->options[WFS_OPTION_DRY_RUN] != NULL;
	json_t *artifact;
	size_t i;

	if (task->run->options[WFS_OPTION_JSON]) {
		json_array_foreach(task->migration.artifacts, i, artifact)
			(void)json_object_del(artifact, "owner");
		return wfs_run_json(task->run,
			json_pack("{s:s, s:O, s:b, s:O, s:O}", "agent_id", task->agent, "artifacts",
				task->migration.artifacts, "changed", changes && !dry_run,
				"content", task->migration.content, "kept", task->migration.kept));
	}
	if (changes)
		print_lines(task);
	print_kept(task);
	wfs_run_notice(task->run, "%s",
		!changes          ? "there is nothing to migrate"
			: dry_run ? "nothing was changed"
				  : "migrated");
	return 0;
}

int wfs_run_agent_migrate(struct wfs_run *run)
{
	WFS_CLEANUP(task_done) struct task task = {.run = run, .agent = run->arguments[0]};
	json_t *wanted;
	size_t i;
	int r = look_at_agent(&task);
	const bool changes = task.migration.changes;

	if (!r && changes)
		r = check_owner(&task);
	json_array_foreach(task.migration.artifacts, i, wanted) {
		if (!r)
			r = look_at(&task, wanted);
	}
	if (!r && changes && !run->options[WFS_OPTION_DRY_RUN])
		r = write_all(&task);
	return r ? r : tell(&task, changes);
}
