/* SPDX-License-Identifier: Apache-2.0 */
/* Answers messages of the owner: keeps modules, runs steps and calls. */
#include "kernel/box/inside/serve.h"

#include "kernel/box/message.h"

enum {
	MODULES_MAX = 64,             /* the owner sees to it that there are no more */
	MESSAGE_KEPT_BYTES = 1 << 20, /* of a buffer that is kept while nothing runs */
};

struct module {
	uint64_t id; /* 0: none */
	struct wfs_lua *lua;
	struct wfs_lua_binding bindings[WFS_MESSAGE_BINDINGS_MAX]; /* their names are owned */
	size_t binding_count;
};

struct server {
	int fd;
	struct wfs_buffer in;
	struct wfs_buffer out;
	struct wfs_buffer given; /* the host's answer */
	struct module modules[MODULES_MAX];
};

/* The host, as code sees it: each call is a message to the owner. */
struct asking {
	struct wfs_lua_host host;
	struct server *server;
	struct wfs_lua_run *run;
	int broken; /* negative: the owner is gone, or sent an impossible message */
};

/* Finds a module. @id: 0: a free place */
static struct module *place_of(struct server *server, uint64_t id)
{
	for (size_t i = 0; i < MODULES_MAX; i++)
		if (server->modules[i].id == id)
			return &server->modules[i];
	return NULL;
}

static struct module *module_find(struct server *server, uint64_t id)
{
	return id ? place_of(server, id) : NULL;
}

static void module_drop(struct module *module)
{
	wfs_lua_free(module->lua);
	for (size_t i = 0; i < module->binding_count; i++) {
		free((char *)module->bindings[i].table);
		free((char *)module->bindings[i].name);
	}
	*module = (struct module){0};
}

static int answer_failure(
	struct server *server, int r, const struct wfs_lua_run *run, const struct wfs_error *error)
{
	wfs_wire_begin(&server->out, WFS_WIRE_FAILED);
	message_put_run(&server->out, run);
	message_put_error(&server->out, r, error);
	return wfs_wire_send(server->fd, &server->out, NULL, NULL);
}

/* --- modules --- */

static int copy_bindings(struct module *module, const struct wfs_lua_options *options)
{
	for (size_t i = 0; i < options->binding_count; i++) {
		const struct wfs_lua_binding *const given = &options->bindings[i];
		struct wfs_lua_binding *const own = &module->bindings[module->binding_count++];

		own->name = strdup(given->name);
		own->table = given->table ? strdup(given->table) : NULL;
		own->gives_module = given->gives_module;
		if (!own->name || (given->table && !own->table))
			return -ENOMEM;
	}
	return 0;
}

static int load(struct server *server, struct wfs_wire_reader *reader)
{
	struct module *const module = place_of(server, 0);
	struct message_load message;
	struct wfs_error error = {0};
	int r = 0;

	if (!module || !message_get_load(reader, &message))
		return -EBADMSG;
	r = copy_bindings(module, &message.options);
	message.options.bindings = module->bindings;
	if (r == 0)
		r = wfs_lua_new(&message.options, &message.run, &module->lua, &error);
	if (r < 0) {
		module_drop(module);
		return answer_failure(server, r, &message.run, &error);
	}
	module->id = message.id;
	wfs_wire_begin(&server->out, WFS_WIRE_DONE);
	message_put_run(&server->out, &message.run);
	return wfs_wire_send(server->fd, &server->out, NULL, NULL);
}

static int drop(struct server *server, struct wfs_wire_reader *reader)
{
	const uint64_t id = wfs_wire_get_number(reader);
	struct module *const module = module_find(server, id);

	if (!module || !wfs_wire_is_whole(reader))
		return -EBADMSG;
	module_drop(module);
	wfs_wire_begin(&server->out, WFS_WIRE_DONE);
	return wfs_wire_send(server->fd, &server->out, NULL, NULL);
}

/* --- steps --- */

/* Writes the result of a step. Return: offset of the new state in the message. */
static size_t put_stepped(
	struct wfs_buffer *out, const struct wfs_lua_run *run, const struct wfs_lua_result *result)
{
	message_put_run(out, run);
	wfs_wire_put_number(out, result->deleted);
	const size_t state_at = out->size + sizeof(uint64_t); /* after its size */
	wfs_wire_put_bytes(out, result->state);
	wfs_wire_put_bytes(out, result->events);
	wfs_wire_put_bytes(out, result->effects);
	return state_at;
}

static int step(struct server *server, struct wfs_wire_reader *reader)
{
	struct message_step message;
	struct wfs_lua_result result;
	struct wfs_error error = {0};
	struct module *module = NULL;
	int r = 0;

	if (!message_get_step(reader, &message))
		return -EBADMSG;
	module = module_find(server, message.id);
	if (!module)
		return -EBADMSG;
	r = wfs_lua_step(module->lua, &message.step, &result, &error);
	if (r < 0)
		return answer_failure(server, r, &message.step.run, &error);
	wfs_wire_begin(&server->out, WFS_WIRE_DONE);
	(void)put_stepped(&server->out, &message.step.run, &result);
	return wfs_wire_send(server->fd, &server->out, NULL, NULL);
}

/* --- many steps --- */

enum { /* bounds of all steps together; steps beyond them are not run */
	STEPS_INSTRUCTIONS_MAX = 10000000,
	STEPS_BYTES_MAX = 4 << 20, /* of their results */
};

/* Where the new states are in the frame that is being written. */
struct states {
	size_t at[WFS_MESSAGE_STEPS_MAX];
	size_t size[WFS_MESSAGE_STEPS_MAX];
	bool known[WFS_MESSAGE_STEPS_MAX];
};

/* Runs one step, unless it needs the state of a step that failed. Return: did it succeed? */
static bool step_of_many(struct server *server, struct message_step *message, uint64_t state_of,
	const struct states *states, struct wfs_lua_result *ret_result)
{
	struct module *const module = module_find(server, message->id);
	struct wfs_error error;

	if (!module || (state_of && !states->known[state_of - 1]))
		return false;
	if (state_of)
		message->step.state = WFS_BYTES(
			server->out.data + states->at[state_of - 1], states->size[state_of - 1]);
	return wfs_lua_step(module->lua, &message->step, ret_result, &error) == 0;
}

static int steps(struct server *server, struct wfs_wire_reader *reader)
{
	const uint64_t count = wfs_wire_get_number(reader);
	struct states states = {.known = {false}};
	uint64_t used = 0;

	if (count > WFS_MESSAGE_STEPS_MAX)
		return -EBADMSG;
	wfs_wire_begin(&server->out, WFS_WIRE_DONE);
	for (uint64_t i = 0; i < count; i++) {
		struct message_step message;
		struct wfs_lua_result result;
		uint64_t state_of;

		if (!message_get_one_step(reader, &message, &state_of) || state_of > i ||
			!message.step.run.budget)
			return -EBADMSG;
		if (used < STEPS_INSTRUCTIONS_MAX && server->out.size < STEPS_BYTES_MAX &&
			step_of_many(server, &message, state_of, &states, &result)) {
			wfs_wire_put_number(&server->out, 1);
			states.at[i] = put_stepped(&server->out, &message.step.run, &result);
			states.size[i] = result.state.size;
			states.known[i] = true;
		} else {
			wfs_wire_put_number(&server->out, 0);
		}
		used += message.budget.used;
	}
	return wfs_wire_is_whole(reader) ? wfs_wire_send(server->fd, &server->out, NULL, NULL)
					 : -EBADMSG;
}

/* --- calls --- */

/* Reads the host's answer: 0 and a value, 1 and a message, or its failure. */
static int take_given(struct asking *asking, struct wfs_wire_reader *reader,
	struct wfs_bytes *ret_value, struct wfs_error *error)
{
	const uint64_t raised = wfs_wire_get_number(reader);
	const int r = message_get_error(reader, error);

	*ret_value = wfs_wire_get_bytes(reader);
	message_get_run(reader, asking->run);
	if (reader->kind != WFS_WIRE_GIVE || !wfs_wire_is_whole(reader))
		return asking->broken = -EBADMSG;
	return raised ? 1 : r;
}

static int ask(struct wfs_lua_host *host, size_t binding_index, struct wfs_bytes arguments,
	struct wfs_bytes *ret_value, struct wfs_error *error)
{
	struct asking *const asking = (struct asking *)host;
	struct server *const server = asking->server;
	struct wfs_wire_reader reader;

	wfs_wire_begin(&server->out, WFS_WIRE_ASK);
	message_put_run(&server->out, asking->run);
	wfs_wire_put_number(&server->out, binding_index);
	wfs_wire_put_bytes(&server->out, arguments);
	asking->broken = wfs_wire_send(server->fd, &server->out, NULL, NULL);
	if (!asking->broken)
		asking->broken = wfs_wire_receive(server->fd, &server->given, &reader, NULL, NULL);
	return asking->broken ? asking->broken : take_given(asking, &reader, ret_value, error);
}

static int call(struct server *server, struct wfs_wire_reader *reader)
{
	struct message_call message;
	struct asking asking = {.host = {ask}, .server = server, .run = &message.call.run};
	struct wfs_bytes value = {0};
	struct wfs_error error = {0};
	struct module *module = NULL;
	int r = 0;

	if (!message_get_call(reader, &message))
		return -EBADMSG;
	module = module_find(server, message.id);
	if (!module)
		return -EBADMSG;
	message.call.host = message.has_host ? &asking.host : NULL;
	r = wfs_lua_call(module->lua, &message.call, &value, &error);
	if (asking.broken)
		return asking.broken;
	if (r < 0)
		return answer_failure(server, r, &message.call.run, &error);
	wfs_wire_begin(&server->out, WFS_WIRE_DONE);
	message_put_run(&server->out, &message.call.run);
	wfs_wire_put_bytes(&server->out, value);
	return wfs_wire_send(server->fd, &server->out, NULL, NULL);
}

/* --- the loop --- */

static int answer(struct server *server, struct wfs_wire_reader *reader)
{
	switch (reader->kind) {
	case WFS_WIRE_LOAD:
		return load(server, reader);
	case WFS_WIRE_DROP:
		return drop(server, reader);
	case WFS_WIRE_STEP:
		return step(server, reader);
	case WFS_WIRE_STEPS:
		return steps(server, reader);
	case WFS_WIRE_CALL:
		return call(server, reader);
	default:
		return -EBADMSG;
	}
}

/* Frees memory while the process waits,
 * which may take long while other processes of the box run. */
static void trim(struct server *server)
{
	for (size_t i = 0; i < MODULES_MAX; i++)
		if (server->modules[i].lua)
			wfs_lua_trim(server->modules[i].lua);
	wfs_lua_arena_trim();
	wfs_buffer_trim(&server->in, MESSAGE_KEPT_BYTES);
	wfs_buffer_trim(&server->out, MESSAGE_KEPT_BYTES);
	wfs_buffer_trim(&server->given, MESSAGE_KEPT_BYTES);
}

int serve(int fd)
{
	struct server server = {.fd = fd};
	struct wfs_wire_reader reader;

	wfs_wire_begin(&server.out, WFS_WIRE_READY);
	int r = wfs_wire_send(fd, &server.out, NULL, NULL);
	while (r == 0) {
		r = wfs_wire_receive(fd, &server.in, &reader, NULL, NULL);
		if (r == 0)
			r = answer(&server, &reader);
		trim(&server);
	}
	for (size_t i = 0; i < MODULES_MAX; i++)
		module_drop(&server.modules[i]);
	wfs_buffer_done(&server.in);
	wfs_buffer_done(&server.out);
	wfs_buffer_done(&server.given);
	return r == -EPIPE ? 0 : r;
}
