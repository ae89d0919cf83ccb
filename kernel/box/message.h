/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of each message: for each kind of message a function that writes it and one that
 * reads it. message_put_…() appends to a frame (wire.h); message_get_…() returns false if the frame
 * has another form, except message_get_run() and message_get_error(), which make the reader bad.
 *
 * The results of reading borrow the frame, and only the form of values is checked here. The process
 * trusts the values of its owner; the owner checks every value that the process sends.
 */
#pragma once

#include "kernel/box/wire.h"
#include "kernel/lua/lua.h"

enum {
	WFS_MESSAGE_FUNCTIONS_MAX = 4, /* names of which a module must define one */
	WFS_MESSAGE_BINDINGS_MAX = 64, /* functions of a host */
};

struct message_load {
	uint64_t id;
	struct wfs_lua_options options; /* its lists are in the members below */
	struct wfs_lua_run run;
	struct wfs_lua_budget budget; /* of the run, if it has one */
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

/* Many steps: their number, then each. */
enum { WFS_MESSAGE_STEPS_MAX = 64 };

/** message_put_one_step() - append one of many steps to a frame of the kind WFS_WIRE_STEPS
 *  (wire.h), which the caller has begun with the number of steps
 *  @id: of the module. @state_of: 0, or 1 + the index of the step whose new state is the state of
 *  this step */
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

/* The state of a run: at the beginning of each message of the process,
 * and of the host's answers. */
void message_put_run(struct wfs_buffer *frame, const struct wfs_lua_run *run);
void message_get_run(struct wfs_wire_reader *reader, struct wfs_lua_run *run);

/* A failure: the return value (0 or -errno, which message_get_error() returns), the code and the
 * message. */
void message_put_error(struct wfs_buffer *frame, int r, const struct wfs_error *error);
int message_get_error(struct wfs_wire_reader *reader, struct wfs_error *ret_error);
