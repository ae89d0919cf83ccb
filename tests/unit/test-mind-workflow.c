/* SPDX-License-Identifier: Apache-2.0 */
/* Workflows: which are refused, which state follows another, and how a model's answer names the
 * next state. */
#include "tests/fixture/json.h"

#include "agents/mind/transition.h"
#include "kernel/mind/workflow.h"

/* --- checking --- */

static void assert_taken(const char *quoted)
{
	WFS_AUTO_JSON json_t *workflow = json_of(quoted);
	struct wfs_error error = {0};

	if (wfs_mind_workflow_check(workflow, &error))
		fail_msg("%s: %s", quoted, error.message);
}

static void assert_value_refused(
	const json_t *workflow, enum wfs_error_code code, const char *message)
{
	struct wfs_error error = {0};
	const int r = wfs_mind_workflow_check(workflow, &error);

	assert_string_equal(error.message, message);
	assert_int_equal(error.code, code);
	assert_int_equal(r, -wfs_error_info(code)->number);
}

static void assert_refused(const char *quoted, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_JSON json_t *workflow = json_of(quoted);

	assert_value_refused(workflow, code, message);
}

/* Expects that a workflow of the states a and b is refused if its step of a has the members
 * @step, with ' for ". */
static void assert_step_refused(const char *step, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_BUFFER struct wfs_buffer workflow = {0};

	wfs_buffer_printf(&workflow, "{'states':['a','b'],'steps':[{'state':'b'},{%s}]}", step);
	assert_refused(wfs_buffer_text(&workflow), code, message);
}

static const char full[] =
	"{'name':'w','description':'d','states':['observing','ideating','implementing','testing'],"
	"'initial_state':'observing','steps':["
	"{'state':'observing','prompt_artifact_id':'alice_observe_prompt','prompt_inline':null,"
	"'transition_mode':'llm','transition_prompt_artifact_id':'alice_transition_prompt'},"
	"{'state':'ideating','prompt_artifact_id':'genesis_prompt_library#ideate_base','name':'i',"
	"'transition_mode':'condition','transition_conditions':["
	"{'to':'implementing','condition':'has_design'},"
	"{'to':'testing','condition':'balance > 5','name':'rich','description':'x'}]},"
	"{'state':'implementing','prompt_inline':'Build.','transition_mode':'auto',"
	"'transition_to':'observing','description':'b','transition_conditions':null}]}";

TEST(what_the_seed_shows_is_taken)
{
	assert_taken(full);
}

/* Case 179: steps can be left out. */
TEST(most_of_it_may_be_left_out)
{
	assert_taken("{'states':['a'],'steps':[]}");
	assert_taken("{'states':['a','A','a.b-c_1'],'initial_state':null,'steps':[{'state':'a',"
		     "'prompt_artifact_id':null,'transition_mode':null,'transition_to':null}]}");
}

TEST(what_is_no_workflow_is_refused)
{
	assert_refused("[]", WFS_E_INVALID_ARGUMENT, "workflow: expected an object, got an array");
	assert_value_refused(
		NULL, WFS_E_INVALID_ARGUMENT, "workflow: expected an object, got nothing");
	assert_refused("{'states':['a']}", WFS_E_MISSING_ARGUMENT,
		"'steps' is missing (workflow takes: states initial_state? steps name? "
		"description?)");
	assert_refused("{'states':['a'],'steps':[],'color':1}", WFS_E_INVALID_ARGUMENT,
		"unknown member 'color' (workflow takes: states initial_state? steps name? "
		"description?)");
	assert_refused("{'states':['a'],'steps':{}}", WFS_E_INVALID_ARGUMENT,
		"workflow.steps: expected an array, got an object");
	assert_refused("{'states':['a'],'steps':[],'name':5}", WFS_E_INVALID_ARGUMENT,
		"workflow.name: expected a text, got an integer");
}

TEST(states_are_distinct_names)
{
	assert_refused("{'states':'a','steps':[]}", WFS_E_INVALID_ARGUMENT,
		"workflow.states: expected an array of names, got a text");
	assert_refused("{'states':[],'steps':[]}", WFS_E_INVALID_ARGUMENT,
		"workflow.states: expected at least one");
	assert_refused("{'states':['a',null],'steps':[]}", WFS_E_INVALID_ARGUMENT,
		"workflow.states[1]: expected a text, got null");
	assert_refused("{'states':['a','b c'],'steps':[]}", WFS_E_INVALID_ARGUMENT,
		"workflow.states[1]: expected a name ([A-Za-z0-9_.-]+), got 'b c'");
	assert_refused("{'states':[''],'steps':[]}", WFS_E_INVALID_ARGUMENT,
		"workflow.states[0]: expected a name ([A-Za-z0-9_.-]+), got ''");
	assert_refused("{'states':['a\\u0000'],'steps':[]}", WFS_E_INVALID_ARGUMENT,
		"workflow.states[0]: expected a text without NUL characters");
	assert_refused("{'states':['a','b','a'],'steps':[]}", WFS_E_INVALID_ARGUMENT,
		"workflow.states[2]: 'a' is there twice");
}

/* Case 180. */
TEST(the_initial_state_is_one_of_the_states)
{
	assert_refused("{'states':['a','b'],'initial_state':'c','steps':[]}",
		WFS_E_INVALID_ARGUMENT, "workflow.initial_state: 'c' is none of the states: a, b");
	assert_refused("{'states':['a'],'initial_state':'a\\u0000','steps':[]}",
		WFS_E_INVALID_ARGUMENT, "workflow.initial_state: 'a' is none of the states: a");
	assert_refused("{'states':['a'],'initial_state':0,'steps':[]}", WFS_E_INVALID_ARGUMENT,
		"workflow.initial_state: expected a state, got an integer");
}

TEST(a_step_is_of_a_state_that_has_no_other)
{
	assert_refused("{'states':['a'],'steps':['a']}", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[0]: expected an object, got a text");
	assert_step_refused("'state':'c'", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].state: 'c' is none of the states: a, b");
	assert_step_refused("'state':'b'", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].state: 'b' has a step already");
	assert_step_refused("'state':null", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].state: expected a state, got null");
	assert_step_refused("'prompt_inline':'x'", WFS_E_MISSING_ARGUMENT,
		"'state' is missing (workflow.steps[1] takes: state prompt_artifact_id? "
		"prompt_inline? transition_mode? transition_to? transition_prompt_artifact_id? "
		"transition_conditions? name? description?)");
	assert_step_refused("'state':'a','prompt':'x'", WFS_E_INVALID_ARGUMENT,
		"unknown member 'prompt' (workflow.steps[1] takes: state prompt_artifact_id? "
		"prompt_inline? transition_mode? transition_to? transition_prompt_artifact_id? "
		"transition_conditions? name? description?)");
}

/* Case 184. */
TEST(members_of_a_step_have_their_types)
{
	assert_step_refused("'state':'a','transition_mode':'magic'", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].transition_mode: expected llm, condition or auto, got 'magic'");
	assert_step_refused("'state':'a','transition_mode':1", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].transition_mode: expected llm, condition or auto, got an "
		"integer");
	assert_step_refused("'state':'a','transition_to':'x'", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].transition_to: 'x' is none of the states: a, b");
	assert_step_refused("'state':'a','prompt_artifact_id':['x']", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].prompt_artifact_id: expected a text, got an array");
	assert_step_refused("'state':'a','transition_prompt_artifact_id':true",
		WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].transition_prompt_artifact_id: expected a text, got a boolean");
	assert_step_refused("'state':'a','prompt_inline':{}", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].prompt_inline: expected a text, got an object");
	assert_step_refused("'state':'a','prompt_inline':'a\\u0000'", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].prompt_inline: expected a text without NUL characters");
}

TEST(conditions_lead_to_states)
{
	assert_step_refused("'state':'a','transition_conditions':{}", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].transition_conditions: expected an array, got an object");
	assert_step_refused("'state':'a','transition_conditions':[1]", WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].transition_conditions[0]: expected an object, got an integer");
	assert_step_refused("'state':'a','transition_conditions':[{'to':'b','condition':'stuck'},"
			    "{'to':'c','condition':'stuck'}]",
		WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].transition_conditions[1].to: 'c' is none of the states: a, b");
	assert_step_refused("'state':'a','transition_conditions':[{'to':'b'}]",
		WFS_E_MISSING_ARGUMENT,
		"'condition' is missing (workflow.steps[1].transition_conditions[0] takes: to "
		"condition name? description?)");
	assert_step_refused("'state':'a','transition_conditions':[{'to':'b','condition':true}]",
		WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].transition_conditions[0].condition: expected a text, got a "
		"boolean");
	/* Case 191. */
	assert_step_refused("'state':'a','transition_conditions':[{'to':'b','condition':' \\n'}]",
		WFS_E_INVALID_ARGUMENT,
		"workflow.steps[1].transition_conditions[0].condition: expected a predicate or an "
		"expression, got a blank text");
}

/* --- bounds --- */

/* {states, steps: []} with @count states. */
static json_t *with_states(int count)
{
	json_t *const states = json_array();

	for (int i = 0; i < count; i++)
		assert_int_equal(json_array_append_new(states, json_sprintf("s%d", i)), 0);
	return json_pack("{s:o, s:[]}", "states", states, "steps");
}

TEST(states_are_bounded)
{
	WFS_AUTO_JSON json_t *most = with_states(WFS_MIND_STATES_MAX);
	WFS_AUTO_JSON json_t *more = with_states(WFS_MIND_STATES_MAX + 1);

	assert_int_equal(wfs_mind_workflow_check(most, NULL), 0);
	assert_value_refused(more, WFS_E_TOO_LARGE, "workflow.states: expected at most 64, got 65");
}

TEST(every_state_may_have_its_step)
{
	WFS_AUTO_JSON json_t *workflow = with_states(WFS_MIND_STATES_MAX);
	json_t *const steps = json_object_get(workflow, "steps");

	for (int i = WFS_MIND_STATES_MAX; i-- > 0;)
		assert_int_equal(json_array_append_new(steps,
					 json_pack("{s:o}", "state", json_sprintf("s%d", i))),
			0);
	assert_int_equal(wfs_mind_workflow_check(workflow, NULL), 0);

	assert_int_equal(json_array_append_new(steps, json_pack("{s:s}", "state", "s0")), 0);
	assert_value_refused(workflow, WFS_E_INVALID_ARGUMENT,
		"workflow.steps[64].state: 's0' has a step already");
}

static char *text_of_size(size_t size)
{
	char *const text = malloc(size + 1);

	assert_non_null(text);
	memset(text, 'x', size);
	text[size] = '\0';
	return text;
}

TEST(a_state_name_has_a_greatest_size)
{
	WFS_AUTO_FREE char *most = text_of_size(WFS_MIND_STATE_NAME_MAX);
	WFS_AUTO_FREE char *more = text_of_size(WFS_MIND_STATE_NAME_MAX + 1);
	WFS_AUTO_JSON json_t *taken = json_pack("{s:[s], s:[]}", "states", most, "steps");
	WFS_AUTO_JSON json_t *refused = json_pack("{s:[s], s:[]}", "states", more, "steps");

	assert_int_equal(wfs_mind_workflow_check(taken, NULL), 0);
	assert_value_refused(
		refused, WFS_E_TOO_LARGE, "workflow.states[0]: expected at most 64 bytes, got 65");
}

/* Expects that a member of a step may have @max bytes, and no more. */
static void assert_bounded(const char *name, size_t max, const char *message)
{
	WFS_AUTO_FREE char *most = text_of_size(max);
	WFS_AUTO_FREE char *more = text_of_size(max + 1);
	WFS_AUTO_JSON json_t *workflow = json_pack(
		"{s:[s], s:[{s:s, s:s}]}", "states", "a", "steps", "state", "a", name, most);
	json_t *const step = json_array_get(json_object_get(workflow, "steps"), 0);

	assert_int_equal(wfs_mind_workflow_check(workflow, NULL), 0);
	assert_int_equal(json_object_set_new(step, name, json_string(more)), 0);
	assert_value_refused(workflow, WFS_E_TOO_LARGE, message);
}

TEST(texts_of_a_step_have_greatest_sizes)
{
	assert_bounded("prompt_inline", WFS_MIND_INLINE_MAX,
		"workflow.steps[0].prompt_inline: expected at most 65536 bytes, got 65537");
	assert_bounded("prompt_artifact_id", WFS_MIND_REFERENCE_MAX,
		"workflow.steps[0].prompt_artifact_id: expected at most 320 bytes, got 321");
	assert_bounded("transition_prompt_artifact_id", WFS_MIND_REFERENCE_MAX,
		"workflow.steps[0].transition_prompt_artifact_id: expected at most 320 bytes, got "
		"321");
}

TEST(conditions_are_bounded)
{
	WFS_AUTO_FREE char *most = text_of_size(WFS_MIND_CONDITION_MAX);
	WFS_AUTO_FREE char *more = text_of_size(WFS_MIND_CONDITION_MAX + 1);
	json_t *const conditions = json_array();
	WFS_AUTO_JSON json_t *workflow = json_pack("{s:[s], s:[{s:s, s:o}]}", "states", "a",
		"steps", "state", "a", "transition_conditions", conditions);

	for (int i = 0; i < WFS_MIND_CONDITIONS_MAX; i++)
		assert_int_equal(json_array_append_new(conditions,
					 json_pack("{s:s, s:s}", "to", "a", "condition", most)),
			0);
	assert_int_equal(wfs_mind_workflow_check(workflow, NULL), 0);

	json_object_set_new(json_array_get(conditions, 63), "condition", json_string(more));
	assert_value_refused(workflow, WFS_E_TOO_LARGE,
		"workflow.steps[0].transition_conditions[63].condition: expected at most 1024 "
		"bytes, got 1025");
	json_array_append_new(conditions, json_null());
	assert_value_refused(workflow, WFS_E_TOO_LARGE,
		"workflow.steps[0].transition_conditions: expected at most 64, got 65");
}

/* --- what follows --- */

TEST(it_begins_in_its_initial_state_or_the_first)
{
	WFS_AUTO_JSON json_t *told = json_of("{'states':['a','b'],'initial_state':'b','steps':[]}");
	WFS_AUTO_JSON json_t *untold =
		json_of("{'states':['a','b'],'initial_state':null,'steps':[]}");

	assert_string_equal(wfs_mind_workflow_initial(told), "b");
	assert_string_equal(wfs_mind_workflow_initial(untold), "a");
}

TEST(a_step_is_found_by_its_state)
{
	WFS_AUTO_JSON json_t *workflow = json_of(full);
	const json_t *const step = wfs_mind_workflow_step(workflow, "implementing");

	assert_string_equal(json_string_value(json_object_get(step, "prompt_inline")), "Build.");
	assert_null(wfs_mind_workflow_step(workflow, "testing"));
	assert_null(wfs_mind_workflow_step(workflow, "unheard_of"));
}

TEST(auto_goes_where_the_step_says_or_on)
{
	WFS_AUTO_JSON json_t *workflow = json_of(full);

	assert_string_equal(wfs_mind_workflow_auto(workflow, "observing"), "ideating");
	assert_string_equal(wfs_mind_workflow_auto(workflow, "implementing"), "observing");
	assert_string_equal(wfs_mind_workflow_auto(workflow, "testing"), "observing");
	assert_null(wfs_mind_workflow_auto(workflow, "unheard_of"));
}

TEST(a_workflow_of_one_state_stays)
{
	WFS_AUTO_JSON json_t *workflow = json_of("{'states':['a'],'steps':[]}");

	assert_string_equal(wfs_mind_workflow_auto(workflow, "a"), "a");
}

/* Case 184. */
TEST(the_mode_of_a_step_is_auto_unless_it_says)
{
	WFS_AUTO_JSON json_t *workflow = json_of(full);
	WFS_AUTO_JSON json_t *quiet = json_of("{'state':'a','transition_mode':null}");

	assert_int_equal(
		wfs_mind_step_mode(wfs_mind_workflow_step(workflow, "observing")), WFS_MIND_LLM);
	assert_int_equal(wfs_mind_step_mode(wfs_mind_workflow_step(workflow, "ideating")),
		WFS_MIND_CONDITION);
	assert_int_equal(wfs_mind_step_mode(wfs_mind_workflow_step(workflow, "implementing")),
		WFS_MIND_AUTO);
	assert_int_equal(wfs_mind_step_mode(quiet), WFS_MIND_AUTO);
	assert_int_equal(wfs_mind_step_mode(NULL), WFS_MIND_AUTO);
}

/* --- answers of models --- */

static int ask(struct wfs_bytes text, const char **ret_next, struct wfs_buffer *reason,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *states = json_of("['observing','reflecting','testing']");
	const char *next = NULL;
	const int r = wfs_mind_transition_reply(text, states, &next, reason, error);

	/* `states`, which is freed here, owns the name. */
	*ret_next = !next                        ? NULL
		: strcmp(next, "observing") == 0 ? "observing"
		: strcmp(next, "testing") == 0   ? "testing"
						 : "reflecting";
	return r;
}

static void assert_reply(const char *quoted, const char *next, const char *reason)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	WFS_AUTO_BUFFER struct wfs_buffer found_reason = {0};
	struct wfs_error error = {0};
	const char *found;

	if (ask(wfs_bytes_text(text), &found, &found_reason, &error))
		fail_msg("%s: %s", quoted, error.message);
	assert_string_equal(found, next);
	assert_string_equal(wfs_buffer_text(&found_reason), reason);
}

static void assert_bytes_not_understood(
	struct wfs_bytes text, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_BUFFER struct wfs_buffer reason = {0};
	struct wfs_error error = {0};
	const char *found;
	const int r = ask(text, &found, &reason, &error);

	assert_string_equal(error.message, message);
	assert_int_equal(error.code, code);
	assert_int_equal(r, -wfs_error_info(code)->number);
	assert_null(found);
	assert_int_equal(reason.size, 0);
}

static void assert_not_understood(const char *quoted, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_FREE char *text = json_text(quoted);

	assert_bytes_not_understood(wfs_bytes_text(text), code, message);
}

/* Case 193: also in a fence. */
TEST(test_llm_transition_parsing)
{
	assert_reply("{'next_state':'testing','reason':'it is built'}", "testing", "it is built");
	assert_reply("```json\n{\n  'next_state': 'reflecting',\n  'reason': ' failed 3 times '\n}"
		     "\n```\n",
		"reflecting", "failed 3 times");
	assert_reply("I think so {really}: {'next_state':'testing'} because {'next_state':'x'}",
		"testing", "");
	assert_not_understood("{'next_state':'dreaming','reason':''}", WFS_E_NOT_FOUND,
		"next_state: 'dreaming' is none of the states: observing, reflecting, testing");
	assert_not_understood("testing, I suppose", WFS_E_INVALID_JSON,
		"expected {\"next_state\": …, \"reason\": …}, got no complete JSON object: "
		"'testing, I suppose'");
}

TEST(the_object_with_the_state_is_looked_for)
{
	assert_reply("{'plan':1} {} {'next_state':'testing'}", "testing", "");
	assert_reply("{'transition':{'next_state':'testing','reason':'r'}}", "testing", "r");
	assert_reply("{'a':[{'b':'}{'},{'next_state':'observing'}]}", "observing", "");
	assert_reply("{'next_state': {'next_state':'testing'}", "testing", "");
}

TEST(a_reason_may_be_missing_and_is_cut)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_BUFFER struct wfs_buffer reason = {0};
	const char *found;

	assert_reply("{'next_state':'testing','reason':null,'more':[]}", "testing", "");

	wfs_buffer_append_text(&text, "{\"next_state\":\"testing\",\"reason\":\"");
	for (int i = 0; i < WFS_MIND_REASON_MAX + 1; i++)
		wfs_buffer_append_text(&text, "ä");
	wfs_buffer_append_text(&text, "\"}");
	wfs_buffer_append_text(&reason, "Why: ");
	assert_int_equal(ask(wfs_buffer_bytes(&text), &found, &reason, NULL), 0);
	assert_int_equal(reason.size, 5 + 2 * WFS_MIND_REASON_MAX);
	assert_memory_equal(reason.data, "Why: ä", 7);
}

TEST(an_answer_without_a_state_is_not_understood)
{
	assert_not_understood("", WFS_E_INVALID_JSON,
		"expected {\"next_state\": …, \"reason\": …}, got no complete JSON object: ''");
	assert_not_understood("{'next_state':'testing'", WFS_E_INVALID_JSON,
		"expected {\"next_state\": …, \"reason\": …}, got no complete JSON object: "
		"'{\"next_state\":\"testing\"'");
	assert_not_understood("{'state':'testing'}", WFS_E_MISSING_ARGUMENT,
		"expected {\"next_state\": …, \"reason\": …}, got no object with 'next_state': "
		"'{\"state\":\"testing\"}'");
}

TEST(wrong_types_are_not_understood)
{
	assert_not_understood("{'next_state':3}", WFS_E_INVALID_ARGUMENT,
		"next_state: expected the name of a state, got an integer");
	assert_not_understood("{'next_state':null}", WFS_E_INVALID_ARGUMENT,
		"next_state: expected the name of a state, got null");
	assert_not_understood("{'next_state':'testing','reason':['x']}", WFS_E_INVALID_ARGUMENT,
		"reason: expected a text, got an array");
}

TEST(hostile_answers_are_not_understood)
{
	assert_not_understood("{'next_state':'testing\\u0000'}", WFS_E_NOT_FOUND,
		"next_state: 'testing' is none of the states: observing, reflecting, testing");
	assert_not_understood("{'next_state':'testing','next_state':'observing'}",
		WFS_E_INVALID_JSON, "line 1 column 36: duplicate object key near '\"next_state\"'");
	assert_not_understood("{'next_state':'testing','n':99999999999999999999}",
		WFS_E_INVALID_JSON,
		"line 1 column 48: too big integer near '99999999999999999999'");
	assert_bytes_not_understood(WFS_BYTES("\0{\0", 3), WFS_E_INVALID_JSON,
		"expected {\"next_state\": …, \"reason\": …}, got no complete JSON object: ''");
	assert_bytes_not_understood(WFS_BYTES(NULL, 0), WFS_E_INVALID_JSON,
		"expected {\"next_state\": …, \"reason\": …}, got no complete JSON object: ''");
}

TEST(a_deep_answer_is_not_understood)
{
	enum { LEVELS = 100000 };
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_BUFFER struct wfs_buffer reason = {0};
	struct wfs_error error = {0};
	const char *found;

	wfs_buffer_append_text(&text, "{\"next_state\":");
	for (int i = 0; i < LEVELS; i++)
		wfs_buffer_append_byte(&text, '[');
	for (int i = 0; i < LEVELS; i++)
		wfs_buffer_append_byte(&text, ']');
	wfs_buffer_append_byte(&text, '}');

	assert_int_equal(ask(wfs_buffer_bytes(&text), &found, &reason, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_JSON);
	assert_non_null(strstr(error.message, "nested too deeply"));
}

/* Has @count objects without a state before one that has a state. */
static int ask_behind(int count)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_BUFFER struct wfs_buffer reason = {0};
	const char *found;

	for (int i = 0; i < count; i++)
		wfs_buffer_append_text(&text, "{}");
	wfs_buffer_append_text(&text, "{\"next_state\":\"testing\"}");
	return ask(wfs_buffer_bytes(&text), &found, &reason, NULL);
}

TEST(so_many_objects_are_looked_at)
{
	assert_int_equal(ask_behind(WFS_MIND_REPLY_OBJECTS_MAX - 1), 0);
	assert_int_equal(ask_behind(WFS_MIND_REPLY_OBJECTS_MAX), -EINVAL);
}

TEST(an_answer_has_a_greatest_size)
{
	WFS_AUTO_FREE char *text = text_of_size(WFS_MIND_REPLY_MAX + 1);
	static const char reply[] = "{\"next_state\":\"testing\"}";
	WFS_AUTO_BUFFER struct wfs_buffer reason = {0};
	const char *found;

	memcpy(text, reply, sizeof(reply) - 1);

	assert_int_equal(ask(WFS_BYTES(text, WFS_MIND_REPLY_MAX), &found, &reason, NULL), 0);
	assert_bytes_not_understood(WFS_BYTES(text, WFS_MIND_REPLY_MAX + 1), WFS_E_TOO_LARGE,
		"the answer has 262145 bytes, at most 262144 are looked at");
}
