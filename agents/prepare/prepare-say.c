/* SPDX-License-Identifier: Apache-2.0 */
/* The messages that a turn begins with. */
#include "agents/prepare/prepare-impl.h"

#include "agents/mind/template.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"
#include "kernel/mind/workflow.h"

#define DEFAULT_PROMPT PREPARE_LIBRARY "#observe_base"
#define SEARCH "genesis_memory_search"
#define LAST_RESORT "Take your turn."

enum {
	MEMORIES_MAX = 5,
	QUERY_MAX = 8 << 10,          /* bytes of a prompt that the search for memories uses */
	WORKING_MEMORY_MAX = 4 << 10, /* bytes of it that are shown */
};

static int fill(const struct preparing *turn, const json_t *prompt, struct wfs_buffer *text,
	struct wfs_error *error)
{
	int r = wfs_mind_template_fill(prompt, turn->variables, text, error);

	return prepare_not_quoted(turn, r, error);
}

/* Return: bytes of the text that fit into @max, without cutting a character. */
static size_t beginning_of(struct wfs_bytes text, size_t max)
{
	return text.size > max ? wfs_utf8_cut(text.data, max) : text.size;
}

/* --- working memory, personality --- */

int prepare_working_memory(struct preparing *turn, struct wfs_error *error)
{
	const char *const reference = prepare_reference_of(turn->content, PREPARE_WORKING_MEMORY);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const json_t *artifact = NULL;

	if (!reference)
		return 0;
	int r = prepare_read_artifact(turn, reference, &artifact, &turn->reason);
	if (r)
		return prepare_missing(turn, r, "working_memory", reference, "empty", error);
	const struct wfs_bytes content = wfs_text_of(json_object_get(artifact, "content"));
	const size_t size = beginning_of(content, WORKING_MEMORY_MAX);
	wfs_buffer_append(&text, content.data, size);
	if (size < content.size)
		wfs_buffer_append_text(&text, "\n[...truncated]");
	if (wfs_buffer_check(&text))
		return prepare_no_memory(error);
	r = size == 0 ? 0
		      : prepare_set_variable(turn, "working_memory",
				json_stringn(wfs_buffer_text(&text), text.size), error);
	return r ? r
		 : prepare_note(turn, "working_memory", reference, NULL, error, "%zu bytes",
			   content.size);
}

static int add_message(
	struct preparing *turn, const char *role, struct wfs_buffer *text, struct wfs_error *error)
{
	return json_array_append_new(turn->messages,
		       json_pack("{s:s#, s:s}", "content", wfs_buffer_text(text), (int)text->size,
			       "role", role)) < 0
		? prepare_no_memory(error)
		: 0;
}

/* @ret_prompt: NULL if the agent has no personality; caller owns it */
static int find_personality(struct preparing *turn, json_t **ret_prompt, struct wfs_buffer *text,
	struct wfs_error *error)
{
	const char *const reference = prepare_reference_of(turn->content, PREPARE_PERSONALITY);
	const char *const otherwise = prepare_reference_of(turn->content, "system_prompt");
	int r = reference ? prepare_read_prompt(turn, reference, ret_prompt, &turn->reason) : 0;

	if (!r && *ret_prompt)
		r = fill(turn, *ret_prompt, text, &turn->reason);
	if (reference && !r)
		return prepare_note(
			turn, "personality", reference, NULL, error, "%zu bytes", text->size);
	json_decref(WFS_STEAL(*ret_prompt));
	if (reference)
		r = prepare_missing(turn, r, "personality", reference,
			otherwise ? "system_prompt" : "none", error);
	if (otherwise)
		wfs_buffer_append_text(text, otherwise);
	return r ? r : wfs_buffer_check(text) ? prepare_no_memory(error) : 0;
}

/* --- memories --- */

/* The text that the caller gives instead of the prompt, or NULL. */
static const char *told(const json_t *params)
{
	return json_string_value(json_object_get(params, "message"));
}

static void write_memory(struct wfs_buffer *text, const json_t *memory)
{
	const json_t *const content = json_object_get(memory, "text");
	const json_t *tag;
	size_t i;

	wfs_buffer_append_text(text, "- ");
	wfs_buffer_append(text, json_string_value(content), json_string_length(content));
	wfs_buffer_printf(text, " (tick %lld, score %.2f",
		(long long)json_integer_value(json_object_get(memory, "tick")),
		json_number_value(json_object_get(memory, "score")));
	json_array_foreach(json_object_get(memory, "tags"), i, tag)
		wfs_buffer_printf(text, "%s%s", i ? ", " : "; ", json_string_value(tag));
	wfs_buffer_append_text(text, ")\n");
}

static int take_memories(struct preparing *turn, const char *reference, const json_t *results,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const json_t *memory;
	size_t i;

	json_array_foreach(results, i, memory)
		write_memory(&text, memory);
	if (wfs_buffer_check(&text))
		return prepare_no_memory(error);
	int r = text.size ? prepare_set_variable(turn, "recent_memories",
				    json_stringn(text.data, text.size - 1), error)
			  : 0;
	return r ? r
		 : prepare_note(turn, "memories", reference, NULL, error, "%zu found",
			   json_array_size(results));
}

/* The search has a record, which every principal can read; a prompt that was made from private
 * texts is hidden in it. A message of the caller is not such a text.
 * @ret_of: for prepare_act(); stays NULL when nothing is hidden; caller owns it */
static int query_origin(const struct preparing *turn, json_t **ret_of, struct wfs_error *error)
{
	if (told(turn->params) || !agents_origin_is_private(turn->origin))
		return 0;
	*ret_of = agents_origin_list(turn->origin);
	return *ret_of ? 0 : prepare_no_memory(error);
}

/* @query: a text; finds memories that are similar to it */
static int prepare_memories(
	struct preparing *turn, const struct wfs_buffer *query, struct wfs_error *error)
{
	const char *const reference = prepare_reference_of(turn->content, PREPARE_LONG_MEMORY);
	WFS_AUTO_JSON json_t *action = NULL;
	WFS_AUTO_JSON json_t *data = NULL;
	WFS_AUTO_JSON json_t *of = NULL;
	const size_t size = beginning_of(wfs_buffer_bytes(query), QUERY_MAX);

	if (!reference || query->size == 0)
		return 0;
	action = json_pack("{s:s, s:s, s:s, s:[{s:i, s:s, s:s#}]}", "action_type",
		"invoke_artifact", "artifact_id", SEARCH, "method", "search", "args", "limit",
		MEMORIES_MAX, "memory", reference, "query", query->data, (int)size);
	int r = action ? query_origin(turn, &of, &turn->reason) : prepare_no_memory(&turn->reason);
	if (!r)
		r = prepare_not_quoted(
			turn, prepare_act(turn, action, of, &data, &turn->reason), &turn->reason);
	if (r)
		return prepare_missing(turn, r, "memories", reference, "none", error);
	return take_memories(turn, reference,
		json_object_get(json_object_get(data, "result"), "results"), error);
}

/* --- the prompt of the state --- */

/* The text that replaces a prompt that cannot be read; NULL: no text does. */
static const char *inline_text(const struct preparing *turn, const json_t *step)
{
	const char *const state = wfs_json_text(turn->mind, "state");
	const char *const own = json_string_value(json_object_get(step, "prompt_inline"));
	const json_t *const prompts = json_object_get(turn->content, "prompts");

	if (own)
		return own;
	return *state ? json_string_value(json_object_get(prompts, state))
		      : json_string_value(json_object_get(turn->content, "prompt"));
}

/* The step gets `failure`, unless the failure ends all. */
static int fail_step(struct preparing *turn, int r, const char *reference, struct wfs_error *error)
{
	const struct wfs_error *const reason = &turn->reason;
	WFS_AUTO_JSON json_t *message = json_sprintf("the prompt '%s' of state '%s': %s", reference,
		wfs_json_text(turn->mind, "state"), reason->message);

	if (prepare_ends_all(r)) {
		*error = *reason;
		return r;
	}
	return json_object_set_new(turn->step, "failure",
		       json_pack("{s:s, s:O}", "code", wfs_error_info(reason->code)->name,
			       "message", message)) < 0
		? prepare_no_memory(error)
		: 0;
}

/* Uses a text instead of a prompt. With its variables filled, it may be too long. */
static int find_inline(
	struct preparing *turn, const char *text, json_t **ret_prompt, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer filled = {0};

	*ret_prompt = json_pack("{s:s, s:[]}", "template", text, "variables");
	if (!*ret_prompt)
		return prepare_no_memory(error);
	const int r = fill(turn, *ret_prompt, &filled, &turn->reason);
	return r ? fail_step(turn, r, "prompt_inline", error) : 0;
}

/* Tries, in this order: the prompt of an artifact, the text that is configured beside it; without a
 * workflow, the library's prompt. @ret_prompt: NULL: the step fails; caller owns it */
static int find_prompt(struct preparing *turn, json_t **ret_prompt, struct wfs_error *error)
{
	const char *const state = wfs_json_text(turn->mind, "state");
	const json_t *const step =
		turn->workflow ? wfs_mind_workflow_step(turn->workflow, state) : NULL;
	const char *reference = prepare_reference_of(step, "prompt_artifact_id");
	const char *otherwise = inline_text(turn, step);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r = 0;

	if (!reference && !otherwise) {
		reference = DEFAULT_PROMPT;
		otherwise = LAST_RESORT;
	}
	if (reference)
		r = prepare_read_prompt(turn, reference, ret_prompt, &turn->reason);
	if (reference && !r) /* a variable may be missing */
		r = fill(turn, *ret_prompt, &text, &turn->reason);
	if (reference && !r)
		return prepare_note(turn, "prompt", reference, NULL, error, "%zu bytes", text.size);
	json_decref(WFS_STEAL(*ret_prompt));
	if (reference) {
		const int noted = prepare_missing(turn, r, "prompt", reference,
			otherwise ? "prompt_inline" : "the run fails", error);
		if (noted || !otherwise)
			return noted ? noted : fail_step(turn, r, reference, error);
	}
	return find_inline(turn, otherwise, ret_prompt, error);
}

/* --- messages --- */

/* Does the text show this variable already? */
static bool shows(const json_t *personality, const json_t *prompt, const char *name)
{
	return wfs_mind_template_uses(personality, name) || wfs_mind_template_uses(prompt, name);
}

static int add_section(
	struct preparing *turn, const char *title, const char *variable, struct wfs_error *error)
{
	const json_t *const value = json_object_get(turn->variables, variable);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, title);
	wfs_buffer_append(&text, json_string_value(value), json_string_length(value));
	return wfs_buffer_check(&text) ? prepare_no_memory(error)
				       : add_message(turn, "system", &text, error);
}

/* Fills prompts with the known variables. @prompt: NULL: the caller gave a message */
static int write_task(const struct preparing *turn, const json_t *prompt, struct wfs_buffer *text,
	struct wfs_error *error)
{
	if (prompt)
		return fill(turn, prompt, text, error);
	wfs_buffer_append_text(text, told(turn->params));
	return wfs_buffer_check(text) ? prepare_no_memory(error) : 0;
}

/* @personality, @prompt: NULL: not configured */
static int compose(struct preparing *turn, const json_t *personality, struct wfs_buffer *system,
	const json_t *prompt, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const bool remembers =
		strcmp(wfs_json_text(turn->variables, "recent_memories"), "none") != 0;
	const bool works = strcmp(wfs_json_text(turn->variables, "working_memory"), "none") != 0;
	int r = system->size ? add_message(turn, "system", system, error) : 0;

	if (!r && works && !shows(personality, prompt, "working_memory"))
		r = add_section(turn, "Your working memory:\n", "working_memory", error);
	if (!r && remembers && !shows(personality, prompt, "recent_memories"))
		r = add_section(turn, "What you remember:\n", "recent_memories", error);
	if (!r)
		r = write_task(turn, prompt, &text, error);
	return r ? r : add_message(turn, "user", &text, error);
}

/* Writes personality, prompt of the state, and memories; the prompt is filled again when the
 * memories are known. */
int prepare_messages(struct preparing *turn, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *personality = NULL;
	WFS_AUTO_JSON json_t *prompt = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer system = {0};
	WFS_AUTO_BUFFER struct wfs_buffer query = {0};
	int r = told(turn->params) ? 0 : find_prompt(turn, &prompt, error);

	if (r || json_object_get(turn->step, "failure"))
		return r;
	/* The search for memories uses the prompt, filled without memories. */
	r = write_task(turn, prompt, &query, error);
	if (!r)
		r = prepare_memories(turn, &query, error);
	if (!r)
		r = find_personality(turn, &personality, &system, error);
	if (!r)
		r = compose(turn, personality, &system, prompt, error);
	if (r == -EFBIG) { /* with the memories the messages are too long: they fitted without */
		turn->reason = *error;
		return fail_step(turn, r, "with memories", error);
	}
	if (!r && json_object_set(turn->step, "messages", turn->messages) < 0)
		r = prepare_no_memory(error);
	return r;
}
