/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a plan as a graph, in the language of Graphviz. */
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/domain/plan/plan-file.h"

/* A Graphviz attribute for a value of a member. */
struct look {
	const char *value;
	const char *look;
};

static const char *look_of(const struct look *looks, size_t count, const char *value)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(looks[i].value, value) == 0)
			return looks[i].look;
	return looks[0].look;
}

/* --- labels --- */

/* Bytes of the first @characters of a text. */
static size_t first_size(const char *text, size_t characters)
{
	const size_t size = strlen(text);
	size_t at = 0;

	while (at < size && characters-- > 0) {
		const size_t sequence = wfs_utf8_sequence(text + at, size - at);

		at += sequence > 0 ? sequence : 1;
	}
	return at;
}

/* Writes a text within quotes, where a backslash begins an escape. Graphviz also reads `&#27;` in
 * a label as the character. */
static void write_quoted(struct wfs_buffer *buffer, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)text[i];
		const bool is_control = byte < 0x20 || byte == 0x7f;

		if (byte == '"' || byte == '\\')
			wfs_buffer_append_byte(buffer, '\\');
		wfs_buffer_append(buffer, is_control ? " " : &text[i], 1);
		if (byte == '&')
			wfs_buffer_append_text(buffer, "amp;");
	}
}

static void write_node(
	struct wfs_buffer *buffer, size_t index, const struct wfs_document_plan_step *step)
{
	static const struct look shapes[] = {{"tool", "box"}, {"llm", "ellipse"}, {"note", "note"}};
	static const struct look colours[] = {{"pending", "gray"}, {"ready", "blue"},
		{"running", "orange"}, {"done", "green"}, {"failed", "red"}, {"skipped", "brown"}};
	const char *const title = json_is_string(step->title) ? json_string_value(step->title) : "";
	const size_t shown = first_size(title, WFS_PLAN_GRAPH_TITLE_MAX);

	wfs_buffer_printf(buffer, "\ts%zu [label=\"", index);
	write_quoted(buffer, step->id, strlen(step->id));
	wfs_buffer_append_text(buffer, "\\n");
	write_quoted(buffer, title, shown);
	wfs_buffer_printf(buffer, "%s\", shape=%s, color=%s];\n", title[shown] ? "…" : "",
		look_of(shapes, WFS_ARRAY_COUNT(shapes), step->type),
		look_of(colours, WFS_ARRAY_COUNT(colours), step->status));
}

/* --- edges --- */

/* Maps ids of steps to their indices; NULL without memory. */
static json_t *indices_of(const struct wfs_document_plan_step *steps, size_t count)
{
	WFS_AUTO_JSON json_t *indices = json_object();
	int failed = indices ? 0 : -1;

	for (size_t i = 0; i < count; i++)
		failed |= json_object_set_new(indices, steps[i].id, json_integer((json_int_t)i));
	return failed ? NULL : WFS_STEAL(indices);
}

static void write_edges(
	struct wfs_buffer *buffer, size_t index, const json_t *depends_on, const json_t *indices)
{
	size_t i;
	const json_t *id;

	json_array_foreach(depends_on, i, id) {
		const json_t *const from =
			json_is_string(id) ? json_object_get(indices, json_string_value(id)) : NULL;

		if (from)
			wfs_buffer_printf(buffer, "\ts%lld -> s%zu;\n",
				(long long)json_integer_value(from), index);
	}
}

/* --- the graph --- */

static int read_steps(struct wfs_view *view, const char *plan_id, size_t count,
	struct wfs_document_plan_step *steps)
{
	int r = steps ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < count; i++) {
		char key[WFS_PLAN_KEY_SIZE];

		wfs_plan_key(plan_id, (int64_t)i, key);
		r = wfs_view_read_plan_step(view, key, &steps[i], NULL);
	}
	return wfs_trace(r == -ENOENT ? -EIO : r);
}

static int write_steps(
	const struct wfs_document_plan_step *steps, size_t count, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *indices = indices_of(steps, count);

	if (!indices)
		return -ENOMEM;
	wfs_buffer_append_text(buffer, "digraph plan {\n");
	for (size_t i = 0; i < count; i++)
		write_node(buffer, i, &steps[i]);
	for (size_t i = 0; i < count; i++)
		write_edges(buffer, i, steps[i].depends_on, indices);
	wfs_buffer_append_text(buffer, "}\n");
	return wfs_buffer_check(buffer);
}

int wfs_plan_write_graph(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan;
	int r = wfs_document_read_plan(json_incref((json_t *)state), &plan, NULL);

	if (r)
		return wfs_trace(r);
	if (plan.defined > WFS_PLAN_GRAPH_MAX) {
		wfs_buffer_printf(buffer,
			"// not drawn: the plan has %lld steps, at most %d are\ndigraph plan "
			"{\n}\n",
			(long long)plan.defined, WFS_PLAN_GRAPH_MAX);
		return wfs_buffer_check(buffer);
	}
	const size_t count = plan.defined > 0 ? (size_t)plan.defined : 0;
	WFS_AUTO_FREE struct wfs_document_plan_step *steps = calloc(count + 1, sizeof(*steps));
	r = read_steps(view, plan.plan_id, count, steps);
	if (!r)
		r = write_steps(steps, count, buffer);
	for (size_t i = 0; steps && i < count; i++)
		wfs_document_done(&steps[i]);
	return wfs_trace(r);
}
