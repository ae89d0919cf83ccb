/* SPDX-License-Identifier: Apache-2.0 */
/* An action while it is done, and the nest of invocations that it belongs to. */
#include <endian.h>

#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"

const char *wfs_action_artifact(const json_t *action)
{
	return json_string_value(json_object_get(action, "artifact_id"));
}

bool invoke_crashed(const struct wfs_error *error)
{
	return error->code == WFS_E_CODE_CRASHED || error->code == WFS_E_CODE_QUARANTINED;
}

bool invoke_fails_all(const struct wfs_error *error)
{
	return error->code == WFS_OK || invoke_crashed(error) ||
		strcmp(wfs_error_info(error->code)->category, "system") == 0;
}

void act_done(struct act *act)
{
	wfs_buffer_done(&act->content.bytes);
	wfs_buffer_done(&act->code.bytes);
	json_decref(act->data);
	json_decref(act->details);
	json_decref(act->zone);
}

int act_refuse_with(struct act *act, json_t *details, int r)
{
	json_decref(act->details);
	act->details = details; /* NULL without memory */
	return r;
}

bool act_has_crashed(const struct act *act)
{
	const json_t *const result = act->recorded ? act->recorded->result : NULL;
	const char *const code = json_string_value(json_object_get(result, "error_code"));

	return invoke_crashed(&(struct wfs_error){.code = wfs_error_find(code ? code : "")});
}

/* --- the nest --- */

int nest_init(struct nest *nest,
	int (*run)(struct act *act, const json_t *action, struct wfs_error *error),
	const json_t *recorded)
{
	*nest = (struct nest){
		.run = run,
		.result = json_object(),
		.nested = json_array(),
		.recorded = recorded,
		.stopped_checks = json_object(),
		.embeddings = json_array(),
		.refused_contents = json_array(),
		.began_ns = wfs_clock_thread_ns(),
	};
	return nest->result && nest->nested && nest->stopped_checks && nest->embeddings &&
			nest->refused_contents
		? 0
		: -ENOMEM;
}

void nest_done(struct nest *nest)
{
	json_decref(nest->result);
	json_decref(nest->nested);
	json_decref(nest->stopped_checks);
	json_decref(nest->embeddings);
	json_decref(nest->refused_contents);
	authors_done(nest);
}

/*
 * On a slower machine code that passed once may take more processor time. The bound of memory
 * stays: it decides when Lua collects garbage, and another bound would give tables other
 * addresses.
 */
struct wfs_lua_limits action_limits(const struct wfs_fold *fold)
{
	struct wfs_lua_limits limits = WFS_LUA_PROGRAM_LIMITS_DEFAULT;

	if (fold->input.recorded)
		limits.instructions *= 2;
	return limits;
}

uint64_t action_instructions(const struct wfs_fold *fold)
{
	return action_limits(fold).instructions;
}

int nest_check_time(const struct act *act, const char *id, struct wfs_error *error)
{
	const int64_t most = wfs_lua_time_limit_ns(action_instructions(act->fold));

	if (act->fold->input.recorded || wfs_clock_thread_ns() - act->nest->began_ns <= most)
		return 0;
	return wfs_error_set(
		error, WFS_E_RUNTIME_ERROR, "%s: too much processor time for what it asks for", id);
}

void nest_forget_checks(struct nest *nest, size_t count)
{
	for (; nest->check_count > count; nest->check_count--) {
		char number[24];

		snprintf(number, sizeof(number), "%zu", nest->check_count - 1);
		(void)json_object_del(nest->stopped_checks, number);
	}
}

void nest_forget_contents(struct nest *nest, size_t count)
{
	json_t *const list = nest->refused_contents;

	nest->content_count = count;
	while (json_array_size(list) > 0 &&
		(size_t)json_integer_value(json_array_get(list, json_array_size(list) - 1)) >=
			count)
		(void)json_array_remove(list, json_array_size(list) - 1);
}

void action_seed(const struct wfs_fold *fold, uint64_t place, uint8_t ret_seed[static 32])
{
	const uint64_t words[] = {htobe64(fold->head->height), htobe64(place)};
	uint8_t bytes[sizeof(words)];

	memcpy(bytes, words, sizeof(bytes));
	memcpy(ret_seed, fold->entropy, WFS_ENTROPY_SIZE);
	for (size_t i = 0; i < sizeof(bytes); i++)
		ret_seed[i] ^= bytes[i];
}

int action_shown(struct wfs_bytes text, size_t size)
{
	if (text.size <= size)
		return (int)text.size;
	while (size > 0 && (((const unsigned char *)text.data)[size] & 0xC0) == 0x80)
		size--;
	return (int)size;
}
