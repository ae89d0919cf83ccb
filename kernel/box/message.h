/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in each message, written and read by functions that stand side by side.
 *
 * What is read borrows the frame, and of its values only the form is checked here. The process takes them from its
 * owner as they are; the owner checks every value that the process says.
 */
#pragma once

#include "kernel/box/wire.h"
#include "kernel/lua/lua.h"

enum {
	WFS_MESSAGE_FUNCTIONS_MAX = 4, /* names that a module is looked through for */
	WFS_MESSAGE_BINDINGS_MAX = 64, /* functions of a host */
};

struct message_load {
	uint64_t id;
	struct wfs_lua_options options; /* its lists are the ones below */
	struct wfs_lua_run run;
	struct wfs_lua_budget budget; /* of the run, if that has one */
	const char *functions[WFS_MESSAGE_FUNCTIONS_MAX + 1];
	struct wfs_lua_binding bindings[WFS_MESSAGE_BINDINGS_MAX];
};

void message_put_load(struct wfs_buffer *frame, uint64_t id, const struct wfs_lua_options *options,
	const struct wfs_lua_run *run);
bool message_get_load(struct wfs_wire_reader *reader, struct message_load *ret_load);

struct message_step {
	uint64_t id;
	struct wfs_lua_step step;
	struct wfs_lua_budget budget;
};

void message_put_step(struct wfs_buffer *frame, uint64_t id, const struct wfs_lua_step *step);
bool message_get_step(struct wfs_wire_reader *reader, struct message_step *ret_step);

/* Many steps: the number of them, then each. */
enum { WFS_MESSAGE_STEPS_MAX = 64 };

/** message_put_one_step() - @state_of: 0, or 1 + the place of the step whose new state is this one's state */
void message_put_one_step(
	struct wfs_buffer *frame, uint64_t id, uint64_t state_of, const struct wfs_lua_step *step);
bool message_get_one_step(
	struct wfs_wire_reader *reader, struct message_step *ret_step, uint64_t *ret_state_of);

struct message_call {
	uint64_t id;
	bool has_host;
	struct wfs_lua_call call;
	struct wfs_lua_budget budget;
};

void message_put_call(struct wfs_buffer *frame, uint64_t id, const struct wfs_lua_call *call);
bool message_get_call(struct wfs_wire_reader *reader, struct message_call *ret_call);

/* How a run stands: begins each message from the process, and an answer of the host. */
void message_put_run(struct wfs_buffer *frame, const struct wfs_lua_run *run);
void message_get_run(struct wfs_wire_reader *reader, struct wfs_lua_run *run);

/* A failure: the return value, code and text. */
void message_put_error(struct wfs_buffer *frame, int r, const struct wfs_error *error);
int message_get_error(struct wfs_wire_reader *reader, struct wfs_error *ret_error);
