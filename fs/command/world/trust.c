/* SPDX-License-Identifier: Apache-2.0 */
/* The command trust: shows what a world's host.json makes this host do, and asks for the user's
 * consent. */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "caps/upkeep.h"
#include "fs/command/world/commands.h"
#include "kernel/base/encode.h"
#include "kernel/base/host-file.h"
#include "kernel/base/host-form.h"
#include "kernel/base/json.h"
#include "kernel/base/trust.h"
#include "kernel/base/world-file.h"

/* Adds a line, cleaned, because text of strangers must not move the cursor. */
static void add_line(struct wfs_buffer *text, const struct wfs_buffer *line)
{
	const size_t start = text->size;

	wfs_buffer_append(text, line->data, line->size);
	if (text->size > start)
		wfs_line_clean(text->data + start, text->size - start);
	wfs_buffer_append_byte(text, '\n');
}

static void add_model(struct wfs_buffer *text, const char *name, const json_t *entry)
{
	const bool is_script = strcmp(wfs_json_text(entry, "provider"), "script") == 0;
	const char *const variable = wfs_json_text(entry, "api_key_env");
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};

	wfs_buffer_printf(&line, "  model '%s': ", name);
	if (is_script) /* the rest of the entry is not used */
		wfs_buffer_printf(
			&line, "reads answers from the file %s", wfs_json_text(entry, "file"));
	else
		wfs_buffer_printf(&line, "asks the host %s", wfs_json_text(entry, "base_url"));
	if (*variable)
		wfs_buffer_printf(&line, ", with the key in the environment variable %s", variable);
	add_line(text, &line);
}

static void add_models(struct wfs_buffer *text, const json_t *models, bool with_key)
{
	const char *name;
	json_t *entry;

	json_object_foreach((json_t *)models, name, entry) {
		if ((*wfs_json_text(entry, "api_key_env") != '\0') == with_key)
			add_model(text, name, entry);
	}
}

static void add_texts(struct wfs_buffer *line, const char *before, const json_t *texts)
{
	size_t i;
	json_t *text;

	json_array_foreach(texts, i, text)
		wfs_buffer_printf(line, "%s%s", i ? ", " : before, json_string_value(text));
}

static void add_server(struct wfs_buffer *text, const char *name, const json_t *entry)
{
	const json_t *const command = json_object_get(entry, "command");
	const bool in_sandbox = json_is_true(json_object_get(entry, "sandbox"));
	const char *before = ", with the value of the environment variable ";
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	const char *header;
	json_t *variable;

	wfs_buffer_printf(&line, "  tools '%s': ", name);
	if (command) {
		wfs_buffer_append_text(&line, "runs the command ");
		wfs_json_write(command, &line);
		if (in_sandbox)
			wfs_buffer_printf(&line, " in the sandbox, with%s network",
				json_is_true(json_object_get(entry, "network")) ? "" : "out");
		add_texts(
			&line, ", with the environment variables ", json_object_get(entry, "env"));
	} else {
		wfs_buffer_printf(&line, "asks the host %s", wfs_json_text(entry, "url"));
	}
	json_object_foreach(json_object_get(entry, "headers_env"), header, variable) {
		wfs_buffer_printf(&line, "%s%s in the header %s", before,
			json_string_value(variable), header);
		before = ", and of ";
	}
	add_line(text, &line);
}

static void add_servers(struct wfs_buffer *text, const json_t *servers, bool careful)
{
	const char *name;
	json_t *entry;

	json_object_foreach((json_t *)servers, name, entry) {
		const bool is_careful =
			json_object_get(entry, "command") || json_object_get(entry, "headers_env");

		if (is_careful == careful)
			add_server(text, name, entry);
	}
}

static bool has_command(const json_t *servers)
{
	const char *name;
	json_t *entry;

	json_object_foreach((json_t *)servers, name, entry)
		if (json_object_get(entry, "command"))
			return true;
	return false;
}

/* What this host does as a node of a replicated world. */
static void add_replication(struct wfs_buffer *text, const json_t *host)
{
	struct wfs_host_replication replication;
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};

	if (!wfs_host_replication(host, &replication))
		return;
	wfs_buffer_printf(&line,
		"  replication: listens at %s for other nodes, which get the whole world",
		replication.listen);
	add_line(text, &line);
	wfs_buffer_reset(&line);
	wfs_buffer_printf(&line, "  replication: is the node '%s', and asks etcd at %s",
		replication.node, replication.url);
	if (replication.ca)
		wfs_buffer_printf(&line, ", by TLS with the authority in %s", replication.ca);
	if (replication.certificate)
		wfs_buffer_printf(&line, ", with the certificate in %s and the key in %s",
			replication.certificate, replication.key);
	if (replication.user)
		wfs_buffer_printf(&line,
			", as the user %s with the password in the environment variable %s",
			replication.user, replication.password_env);
	add_line(text, &line);
}

/* Describes host.json. Entries that send a key or run a command come last, so that a user sees them
 * above the question, however long the rest is. */
static int describe(const char *directory, const json_t *host, const struct wfs_upkeep_found *found,
	struct wfs_buffer *text)
{
	const uint64_t under_way_count = found->under_way_count;
	const json_t *const models = json_object_get(host, "models");
	const json_t *const servers = json_object_get(host, "tools");
	const json_t *const uids = json_object_get(host, "uids");
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	const char *name;
	json_t *entry;

	wfs_buffer_append_text(&line, directory);
	add_line(text, &line);
	wfs_buffer_append_text(
		text, json_object_size(host) > 0 ? "host.json says:\n" : "It has no host.json:\n");
	add_models(text, models, false);
	add_servers(text, servers, false);
	json_object_foreach((json_t *)uids, name, entry) {
		wfs_buffer_reset(&line);
		wfs_buffer_printf(&line, "  user %s of this host acts as '%s'", name,
			json_is_string(entry) ? json_string_value(entry) : "?");
		add_line(text, &line);
	}
	if (json_object_size(models) == 0)
		wfs_buffer_append_text(text, "  no model is asked\n");
	if (!has_command(servers))
		wfs_buffer_append_text(text, "  no command is run\n");
	if (under_way_count == 0)
		wfs_buffer_append_text(text, "  no turn or plan is unfinished\n");
	else
		wfs_buffer_printf(text,
			"  %" PRIu64
			" request%s of turns and plans %s under way, and would go on\n",
			under_way_count, under_way_count == 1 ? "" : "s",
			under_way_count == 1 ? "is" : "are");
	if (found->timer_count > 0)
		wfs_buffer_printf(text, "  %" PRIu64 " timer%s, and would fire when due\n",
			found->timer_count, found->timer_count == 1 ? " waits" : "s wait");
	add_replication(text, host);
	add_models(text, models, true);
	add_servers(text, servers, true);
	return wfs_buffer_check(text);
}

/* Asks the user. Return: 1: agreed, 0: not. */
static int ask(struct wfs_run *run)
{
	char answer[16] = "";

	if (run->options[WFS_OPTION_YES])
		return 1;
	fputs("Trust this world? [y/N] ", run->err);
	(void)fflush(run->err);
	return fgets(answer, sizeof(answer), stdin) &&
		(strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0);
}

int wfs_run_trust(struct wfs_run *run)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_upkeep_found found = {.under_way_count = 0};
	struct wfs_hash hash;
	int r = wfs_run_directory(run);

	if (!r) /* a damaged store cannot be trusted */
		r = wfs_upkeep_look(run->directory, &found, &run->error);
	/* The trusted hash is that of the bytes that were shown. */
	if (!r)
		r = wfs_host_file_read(run->directory, &host, &hash, &run->error);
	if (!r)
		r = wfs_host_check(host, &run->error);
	if (!r)
		r = describe(run->directory, host, &found, &text);
	if (r)
		return r;
	FILE *const shown = run->options[WFS_OPTION_JSON] ? run->err : run->out;
	(void)fwrite(text.data, 1, text.size, shown);
	(void)fflush(shown);
	if (!ask(run))
		return wfs_error_set(&run->error, WFS_E_CANCELLED, "nothing was changed");
	r = wfs_trust_give(run->directory, found.world_id, &hash, &run->error);
	if (!r)
		r = wfs_timers_resume(run->directory, &run->error);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run,
			json_pack("{s:s, s:I, s:s}", "trusted", run->directory, "under_way",
				(json_int_t)found.under_way_count, "world_id", found.world_id));
	wfs_run_notice(
		run, "trusted; unfinished turns and plans continue when the world is opened next");
	return 0;
}

void wfs_run_tell_trust(struct wfs_run *run, const char *directory)
{
	struct wfs_error reason = {.code = WFS_OK};
	WFS_AUTO_FD int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || wfs_world_directory_check(fd, directory, NULL))
		return; /* another user owns it, and decides */
	if (wfs_trust_check_now(directory, &reason) == -EACCES)
		wfs_run_notice(run, "paused: %s", reason.message);
	else if (wfs_timers_paused(directory))
		wfs_run_notice(run,
			"timers are paused, because the world was restored: 'worldfs trust' lets "
			"them fire");
}
