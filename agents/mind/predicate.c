/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the built-in predicates of conditions; condition.h describes them. */
#include "agents/mind/mind-impl.h"
#include "agents/plan/placeholder.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"

enum {
	FAILURES_OF_STUCK = 3,
	TURNS_OF_STUCK = 5,
};

static bool mentions_design(struct wfs_bytes text)
{
	static const char word[] = "design";
	const size_t size = sizeof(word) - 1;
	const char *const bytes = text.data;

	for (size_t at = 0; at + size <= text.size; at++) {
		size_t same = 0;

		/* 0x20 is the bit of the case of ASCII letters. */
		while (same < size && ((unsigned char)bytes[at + same] | 0x20) == word[same])
			same++;
		if (same == size)
			return true;
	}
	return false;
}

static bool is_design(const json_t *artifact)
{
	const json_t *const id =
		json_is_string(artifact) ? artifact : json_object_get(artifact, "id");

	return strcmp(wfs_json_text(artifact, "type"), "design") == 0 ||
		mentions_design(wfs_text_of(id));
}

/* Exact for integers. Both must be numbers. */
static bool is_below(const json_t *value, const json_t *number)
{
	if (json_is_integer(value) && json_is_integer(number))
		return json_integer_value(value) < json_integer_value(number);
	return json_number_value(value) < json_number_value(number);
}

static bool is_at_least(const json_t *variables, const char *name, double number)
{
	return json_number_value(json_object_get(variables, name)) >= number;
}

/* --- predicates without an argument. Return: 1, 0, -ENOMEM. --- */

static int has_design(const json_t *variables)
{
	const json_t *const memory = json_object_get(variables, "working_memory");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	size_t i;
	const json_t *artifact;

	json_array_foreach(json_object_get(variables, "my_artifacts"), i, artifact)
		if (is_design(artifact))
			return true;
	if (memory) /* a memory other than text is searched as JSON */
		wfs_placeholder_append(memory, &text);
	return wfs_buffer_check(&text) ? -ENOMEM : mentions_design(wfs_buffer_bytes(&text));
}

static int is_stuck(const json_t *variables)
{
	return is_at_least(variables, "failure_count", FAILURES_OF_STUCK) ||
		is_at_least(variables, "same_state_for", TURNS_OF_STUCK);
}

static int has_succeeded(const json_t *variables)
{
	const json_t *const success = json_object_get(variables, "last_action_success");

	return json_is_true(success) ||
		wfs_bytes_equal(wfs_text_of(success), wfs_bytes_text("true"));
}

static int has_failed(const json_t *variables)
{
	const json_t *const success = json_object_get(variables, "last_action_success");

	return json_is_false(success) ||
		wfs_bytes_equal(wfs_text_of(success), wfs_bytes_text("false"));
}

static const struct {
	const char *name;
	int (*holds)(const json_t *variables);
} predicates[] = {
	{"failed", has_failed},
	{"has_design", has_design},
	{"stuck", is_stuck},
	{"succeeded", has_succeeded},
};

json_t *mind_predicates(const json_t *variables)
{
	WFS_AUTO_JSON json_t *values = json_object();

	for (size_t i = 0; i < WFS_ARRAY_COUNT(predicates); i++) {
		const int holds = predicates[i].holds(variables);

		if (holds < 0 ||
			json_object_set_new(values, predicates[i].name, json_boolean(holds)) < 0)
			return NULL;
	}
	return WFS_STEAL(values);
}

/* --- predicates that compare a variable with a number --- */

static const struct {
	const char *name;
	const char *variable;
	bool below; /* false: at least */
} comparisons[] = {
	{"balance_below", "balance", true},
	{"same_state_for", "same_state_for", false},
};

/* Reads the number of `name(number)`. Return: NULL: the text is something else. */
static json_t *read_number(struct wfs_bytes text, const char *name)
{
	const size_t size = strlen(name);
	WFS_AUTO_JSON json_t *number = NULL;

	if (text.size <= size || memcmp(text.data, name, size) != 0)
		return NULL;
	text = wfs_text_trimmed(WFS_BYTES((const char *)text.data + size, text.size - size));
	const char *const bytes = text.data;
	if (text.size < 2 || bytes[0] != '(' || bytes[text.size - 1] != ')' ||
		wfs_json_parse(bytes + 1, text.size - 2, &number, NULL))
		return NULL;
	return json_is_number(number) ? WFS_STEAL(number) : NULL;
}

static int compare(size_t index, const json_t *variables, const json_t *number, bool *ret_holds,
	struct wfs_error *error)
{
	const char *const name = comparisons[index].variable;
	const json_t *const value = json_object_get(variables, name);

	if (!json_is_number(value))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected a number in the variable '%s', got %s", name,
			wfs_mind_kind(value));
	*ret_holds = is_below(value, number) == comparisons[index].below;
	return 0;
}

int mind_predicate(
	struct wfs_bytes text, const json_t *variables, bool *ret_holds, struct wfs_error *error)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(predicates); i++) {
		if (!wfs_bytes_equal(text, wfs_bytes_text(predicates[i].name)))
			continue;
		const int holds = predicates[i].holds(variables);
		if (holds < 0)
			return holds;
		*ret_holds = holds;
		return 0;
	}
	for (size_t i = 0; i < WFS_ARRAY_COUNT(comparisons); i++) {
		WFS_AUTO_JSON json_t *number = read_number(text, comparisons[i].name);

		if (number)
			return compare(i, variables, number, ret_holds, error);
	}
	return 1;
}
