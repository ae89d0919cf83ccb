/* SPDX-License-Identifier: Apache-2.0 */
/* The handbook: it describes everything in the tables, and exists in a world that asks for it. */
#include "tests/fixture/action.h"

#include "kernel/domain/action/handbook.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/turn/turn.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/source.h"
#include "kernel/query/query.h"

/* Appends the page handbook_@name, as a new world gets it. */
static void write_page(const char *name, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *artifacts = wfs_handbook_artifacts();
	const json_t *artifact;
	size_t i;

	json_array_foreach(artifacts, i, artifact)
		if (strcmp(wfs_json_text(artifact, "id") + strlen(WFS_HANDBOOK_PREFIX), name) == 0)
			wfs_buffer_append_text(buffer,
				wfs_json_text(json_object_get(artifact, "action"), "content"));
	assert_true(buffer->size > 0);
}

static const char *const pages[] = {
	"actions", "queries", "code", "errors", "agents", "memory", "trade"};

static void assert_tells(
	struct wfs_buffer *text, const char *before, const char *name, const char *behind)
{
	char line[160];

	snprintf(line, sizeof(line), "%s%s%s", before, name, behind);
	if (!strstr(wfs_buffer_text(text), line))
		fail_msg("expected %s", line);
}

TEST(it_tells_of_every_action_and_its_members)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	size_t count = 0;

	write_page("actions", &text);
	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const enum wfs_effect effect = (enum wfs_effect)i;
		const struct wfs_field *member = wfs_effect_params(effect)->fields;

		if (!wfs_effect_action(effect))
			continue;
		count++;
		assert_tells(&text, "\n## ", wfs_effect_action(effect), "\n");
		for (; member->name; member++)
			assert_tells(&text, "\n  ", member->name, " (");
	}
	assert_int_equal(count, 14);
	assert_tells(&text, "", "artifact_id (text; required)", "");
	assert_tells(&text, "\n  ", "{\"action_type\":\"transfer\", \"to\":\"...\", \"amount\":1}",
		"\n");
	assert_tells(&text, "", "A grant of type 'admin' covers it.", "");
}

TEST(it_tells_of_every_query_and_its_params)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	write_page("queries", &text);
	for (int i = 0; i < WFS_QUERY_COUNT; i++) {
		const enum wfs_query_type type = (enum wfs_query_type)i;
		const struct wfs_query_param *param = wfs_query_params(type);

		assert_tells(&text, "\n## ", wfs_query_name(type), "\n");
		assert_tells(&text, "\"params\": ", wfs_query_example(type), "}");
		for (; param->name; param++)
			assert_tells(&text, "\n  ", param->name, " ");
	}
	assert_tells(&text, "\n| ", "invalid_query_type", " |");
}

TEST(it_tells_of_every_error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	write_page("errors", &text);
	for (int code = WFS_OK + 1; code < WFS_ERROR_CODE_COUNT; code++)
		assert_tells(&text, "\n| ", wfs_error_info((enum wfs_error_code)code)->name, " | ");
	assert_tells(&text, "\n", "| overloaded | system | yes | too many requests in the queue |",
		"\n");
}

TEST(it_tells_what_agents_are_made_of)
{
	static const char *const members[] = {"model", "system_prompt", "prompt", "prompts",
		"personality_prompt_artifact_id", "workflow_artifact_id", "reflex_artifact_id",
		"working_memory_artifact_id", "longterm_memory_artifact_id", "tools", "max_turns",
		"tool_choice", "constraint", "max_history_messages", "max_tokens", "temperature",
		"max_concurrency", "tool_timeout_ms", "run_timeout_ms", "extra_body"};
	static const char *const variables[] = {"agent_id", "balance", "my_artifacts",
		"recent_memories", "working_memory", "last_action_type", "last_action_success",
		"last_action_result", "failure_count", "current_state", "available_states",
		"same_state_for", "tick", "llm_tokens_remaining", "disk_remaining"};
	static const char *const words[] = {"auto", "condition", "llm", "has_design", "stuck",
		"succeeded", "failed", "balance_below(n)", "same_state_for(n)", "prompt_inline",
		"transition_to", "/artifacts/<agent>/state", "/turns/<id>/events.jsonl",
		"genesis_prompt_library#observe_base", "worldfs agent migrate ID"};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	write_page("agents", &text);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++)
		assert_tells(&text, "`", members[i], "`");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(variables); i++)
		assert_tells(&text, "`", variables[i], "`");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(words); i++)
		assert_tells(&text, "`", words[i], "`");
	assert_tells(&text, "function ", "reflex(context)", "\n");
	assert_int_equal(WFS_TURN_TURNS_DEFAULT, 20); /* which it says */
	assert_tells(&text, "`max_turns`", ": requests to the model in one turn; 20", "");
}

TEST(it_tells_how_memories_are_kept_and_found)
{
	static const char *const words[] = {"`create(id?, config?, access?)`: 5 scrip",
		"`add(memory, text, tags?, importance?)`: 1 scrip",
		"`search(memory, query, limit?)`: 1 scrip", "`delete(memory, entry)`: free",
		"`list(memory, limit?, offset?)`: free", "`embed(text)`, or `run(text)`: 1 scrip",
		"`get_config()`: free", "1 to 100000; 1000 when absent", "`oldest`",
		"`lowest_score`", "`lowest_importance`", "/artifacts/<store>/entries/<id>.json",
		"float32", "`{success, memory_artifact_id, entry_id,\n", "0.95",
		"\"total_entries\"", "genesis_memory_add", "genesis_memory_search",
		"genesis_embedder", "`import(memory, entries)`", "`reembed(memory, limit?)`: free"};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	write_page("memory", &text);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(words); i++)
		assert_tells(&text, "", words[i], "");
}

TEST(it_tells_how_to_trade)
{
	static const char *const words[] = {"transfer(to, amount)", "balance(id?)",
		"deposit(artifact, price)", "purchase(artifact)", "cancel(artifact)",
		"check(artifact)", "list_active(limit?)"};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	write_page("trade", &text);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(words); i++)
		assert_tells(&text, "- `", words[i], "`: ");
	assert_tells(&text, "", "That is one record", "");
	assert_tells(&text, "", "\"method\": \"purchase\", \"args\": [\"alice_memory\"]", "}\n");
	assert_tells(&text, "", "\"policy\": {\"read_price\": 2}", "");
}

/* Each code that a page shows as an error code must be in the table of errors. */
static void assert_codes_are_known(struct wfs_buffer *text)
{
	const char *line = strstr(wfs_buffer_text(text), "\n## Errors\n");
	size_t count = 0;

	assert_non_null(line);
	while ((line = strstr(line, "\n- `"))) {
		const char *const end = strchr(++line, ':');
		char names[128];
		char *save = NULL;

		assert_non_null(end);
		snprintf(names, sizeof(names), "%.*s", (int)(end - line), line);
		for (char *name = strtok_r(names, "-`, ", &save); name;
			name = strtok_r(NULL, "-`, ", &save)) {
			int code = WFS_OK + 1;

			while (code < WFS_ERROR_CODE_COUNT &&
				strcmp(wfs_error_info((enum wfs_error_code)code)->name, name) != 0)
				code++;
			if (code == WFS_ERROR_CODE_COUNT)
				fail_msg("unknown error '%s'", name);
			count++;
		}
	}
	assert_true(count > 3);
}

TEST(errors_that_pages_name_are_in_the_table)
{
	WFS_AUTO_BUFFER struct wfs_buffer memory = {0};
	WFS_AUTO_BUFFER struct wfs_buffer trade = {0};

	write_page("memory", &memory);
	write_page("trade", &trade);
	assert_codes_are_known(&memory);
	assert_codes_are_known(&trade);
}

/* An example begins with four spaces and a brace, and ends where its braces close. */
static void assert_examples_are_json(const char *page, size_t expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const char *at;
	size_t count = 0;

	write_page(page, &text);
	at = wfs_buffer_text(&text);
	while ((at = strstr(at, "\n    {"))) {
		json_error_t error;
		WFS_AUTO_JSON json_t *example = json_loads(at, JSON_DISABLE_EOF_CHECK, &error);

		if (!example)
			fail_msg("%.80s: %s", at, error.text);
		at += error.position;
		count++;
	}
	assert_int_equal(count, expected);
}

TEST(examples_are_json)
{
	assert_examples_are_json("agents", 3);
	assert_examples_are_json("memory", 7);
	assert_examples_are_json("trade", 7);
}

static void assert_lines_fit(const char *page)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	write_page(page, &text);
	for (const char *line = wfs_buffer_text(&text); *line; line += strcspn(line, "\n") + 1)
		if (strcspn(line, "\n") > 80)
			fail_msg("%s", line);
}

TEST(lines_of_prose_fit_80_columns_all_of_them)
{
	assert_lines_fit("agents");
	assert_lines_fit("memory");
	assert_lines_fit("trade");
}

TEST(lines_fit_80_columns_but_for_tables_and_lists)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(pages); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		write_page(pages[i], &text);
		for (const char *line = wfs_buffer_text(&text); *line;
			line += strcspn(line, "\n") + 1)
			if (!strchr("-|", *line) && strcspn(line, "\n") > 84) /* some are UTF-8 */
				fail_msg("%s", line);
	}
}

/* --- in a world --- */

/* Makes a world whose source has these members beside its name. JSON with ' for ". Return: the
 * result of creating it. */
static int make_world(struct world_fixture *fixture, const char *members)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_FREE char *json = NULL;
	WFS_AUTO_FREE char *text = NULL;

	assert_true(asprintf(&json, "{'name':'w',%s}", members) > 0);
	text = json_text(json);
	put_file(fixture->source, "world.json", text);
	wfs_source_done(&fixture->loaded);
	if (wfs_source_load(fixture->source, NULL, &problems, &fixture->loaded))
		fail_msg("%s", wfs_buffer_text(&problems.lines));
	int r = wfs_world_create(fixture->directory, &fixture->loaded, &fixture->options, &problems,
		&fixture->error);
	if (problems.count > 0)
		snprintf(fixture->error.message, sizeof(fixture->error.message), "%s",
			wfs_buffer_text(&problems.lines));
	return r ? r : world_fixture_open(fixture);
}

static json_t *data_of(struct world_fixture *fixture, const char *principal, const char *action)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	if (act_as(fixture, principal, action, &answer))
		fail_msg("%s: %s", action, fixture->error.message);
	return json_incref(json_object_get(answer, "data"));
}

#define READ(id) ACTION("read_artifact", "'artifact_id':'" id "'")

static void assert_reads(struct world_fixture *fixture, const char *page)
{
	WFS_AUTO_FREE char *action = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};

	assert_true(asprintf(&action, READ("handbook_%s"), page) > 0);
	WFS_AUTO_JSON json_t *data = data_of(fixture, "alice", action);
	write_page(page, &expected);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(data, "artifact"), "content")),
		wfs_buffer_text(&expected));
}

WITH_SOURCE_REPLAYED(everybody_reads_it_in_a_world_that_has_it)
{
	assert_int_equal(make_world(fixture, "'handbook':true,'principals':[{'id':'alice'}]"), 0);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(pages); i++)
		assert_reads(fixture, pages[i]);
	WFS_AUTO_FREE char *text =
		state_at(fixture, WFS_HEIGHT_HEAD, "sys.artifact", "handbook_code");
	assert_non_null(strstr(text, "\"created_by\":\"operator\""));
	assert_non_null(strstr(text, "\"type\":\"handbook\""));
	assert_non_null(strstr(text, "\"read_price\":0"));
	assert_fails(fixture, "alice", WRITE("'artifact_id':'handbook_code','content':'lies'"),
		WFS_E_NOT_AUTHORIZED, "");
}

WITH_SOURCE_REPLAYED(a_world_that_does_not_want_it_has_none)
{
	assert_int_equal(make_world(fixture, "'handbook':false"), 0);

	assert_int_equal(height_of(fixture), 2); /* genesis and its snapshot */
	assert_fails(fixture, "operator", READ("handbook_actions"), WFS_E_NOT_FOUND, "");
}

TEST(it_tells_of_every_function_of_code)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	write_page("code", &text);
	for (size_t i = 0; i < host_binding_count; i++) {
		char name[64];

		if (strcmp(host_bindings[i].name, "resolve_mint") == 0)
			continue; /* code may never call it */
		snprintf(name, sizeof(name), "%s%s%s",
			host_bindings[i].table ? host_bindings[i].table : "",
			host_bindings[i].table ? "." : "", host_bindings[i].name);
		assert_tells(&text, "\n- `", name, "(");
	}
	assert_null(strstr(wfs_buffer_text(&text), "resolve_mint"));
	assert_tells(&text, "\n- `", "kernel_state.query(type, params)", "`: answers a query");
	assert_tells(
		&text, "\n- `", "kernel_actions.transfer(to, amount, resource, reasoning)", "`");
}

WITH_SOURCE_REPLAYED(it_tells_of_every_field_of_ctx)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const json_t *name;
	size_t i;

	assert_int_equal(make_world(fixture, "'handbook':true"), 0);
	assert_done(fixture, "operator",
		WRITE("'artifact_id':'names','code':'function run()\\n"
		      "  local names = array{}\\n"
		      "  for name in pairs(ctx) do table.insert(names, name) end\\n"
		      "  return names\\n"
		      "end'"));
	WFS_AUTO_JSON json_t *data = data_of(fixture, "operator", INVOKE("'artifact_id':'names'"));

	write_page("code", &text);
	assert_int_equal(json_array_size(json_object_get(data, "result")), 7);
	json_array_foreach(json_object_get(data, "result"), i, name)
		assert_tells(&text, "`ctx.", json_string_value(name), "");
}

WITH_SOURCE(its_names_are_its_own)
{
	assert_int_equal(
		make_world(fixture, "'handbook':true,'principals':[{'id':'handbook_code'}]"),
		-EINVAL);

	assert_string_equal(
		fixture->error.message, "world.json: /handbook: 'handbook_code' is a principal\n");
}

#undef TEST
