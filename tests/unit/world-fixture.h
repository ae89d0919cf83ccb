/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world in a private temporary directory, for the tests of kernel/, caps/ and fs/.
 *
 * Its reducers do what an event tells them (`op`), so a test says in one line what is to happen:
 *   test/Do@1    {key, op, …}  -> cell (keyed by `key`)
 *   test/Both@1  {key, op, …}  -> cell (keyed by `key`) and total (no keys)
 *   test/Out@1   {key, op, …}  -> cell; the schema that `cell` declares in emits, with test/Do@1
 *   test/Total@1 {op, …}       -> total
 *   test/Deep@1  {a: {b}}      -> deep (keyed by `a.b`)
 *   test/None@1  anything      -> no reducer
 * JSON in the tests is written with ' for ".
 */
#pragma once

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "tests/unit/json-helper.h"

#include "kernel/base/directory.h"
#include "kernel/base/host-file.h"
#include "kernel/base/trust.h"
#include "kernel/manifest/source.h"
#include "kernel/read/record.h"
#include "kernel/read/view.h"
#include "kernel/world/world.h"

#define NILS                                                                                    \
	"nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, " \
	"nil, nil, nil, nil, nil, nil, nil, nil,"

/*
 * Lua that makes a list `seen` of numbers. Each is the length of a table with holes, and depends on where its last key,
 * a table, lies: 7 where the key falls to one of six free places, and otherwise 3. Where it lies depends on what
 * was collected before, and that on the bound of memory.
 */
#define HOLES                                                                                 \
	"local kept = {} for i = 1, 48000 do kept[i] = {" NILS NILS "} end "                  \
	"for i = 1, 40000 do local garbage = {" NILS NILS "} end "                            \
	"for i = 1, 200000 do local garbage = {} end "                                        \
	"local seen = {} "                                                                    \
	"for j = 1, 40 do "                                                                   \
	"local a = {} for i = 1, 16 do a[i] = {} end "                                        \
	"local t = {[a[1]] = 1, [a[2]] = 1, [a[3]] = 1, [a[4]] = 1, [a[5]] = 1, [a[6]] = 1, " \
	"[a[7]] = 1, [a[8]] = 1, [a[9]] = 1, [a[10]] = 1, [a[11]] = 1, [a[12]] = 1, "         \
	"[a[13]] = 1, [a[14]] = 1, [a[15]] = 1, [a[16]] = 1} "                                \
	"for i = 1, 16 do t[a[i]] = nil end "                                                 \
	"t[1] = 1 t[2] = 1 t[3] = 1 t[5] = 1 t[6] = 1 t[7] = 1 t[{}] = 1 "                    \
	"seen[j] = #t end "

static const char fixture_world_json[] =
	"{'name':'fixture',"
	"'schemas':["
	"{'name':'test/Do@1','schema':{'type':'object','required':['op']}},"
	"{'name':'test/Both@1','schema':{'type':'object','required':['key','op']}},"
	"{'name':'test/Out@1','schema':{'type':'object','required':['key','op']}},"
	"{'name':'test/Total@1','schema':{'type':'object','required':['op']}},"
	"{'name':'test/Deep@1','schema':{}},"
	"{'name':'test/None@1','schema':{}}],"
	"'reducers':["
	"{'name':'cell','module':'step.lua','keyed':true,'emits':['test/Do@1','test/Out@1']},"
	"{'name':'total','module':'step.lua','keyed':false},"
	"{'name':'deep','module':'step.lua','keyed':true}],"
	"'routing':["
	"{'event':'test/Do@1','reducer':'cell','key_field':'key'},"
	"{'event':'test/Both@1','reducer':'total'},"
	"{'event':'test/Both@1','reducer':'cell','key_field':'key'},"
	"{'event':'test/Out@1','reducer':'cell','key_field':'key'},"
	"{'event':'test/Total@1','reducer':'total'},"
	"{'event':'test/Deep@1','reducer':'deep','key_field':'a.b'}]}";

static const char fixture_step_lua[] =
	"function step(state, event, ctx)\n"
	"  local op = event.op or 'set'\n"
	"  if op == 'set' then return {n = event.n or 0} end\n"
	"  if op == 'add' then return {n = (state and state.n or 0) + event.n} end\n"
	"  if op == 'delete' then return nil end\n"
	"  if op == 'same' then return state end\n"
	"  if op == 'grow' then return {pad = string.rep('x', event.n)} end\n"
	"  if op == 'fail' then error('told to fail') end\n"
	"  if op == 'loop' then while true do end end\n"
	"  if op == 'toggle' then\n"
	"    local other = state and state.odd and 1 or 0\n"
	"    return {odd = other == 0, pad = string.rep('x', event.n + other)}\n"
	"  end\n"
	"  if op == 'work' then for i = 1, event.n do end return {n = event.n} end\n"
	"  if op == 'holes' then " HOLES "return {seen = table.concat(seen)} end\n"
	"  if op == 'random' then return {r = ctx.random(1000000000)} end\n"
	"  if op == 'context' then\n"
	"    return {key = ctx.key, reducer = ctx.reducer, schema = ctx.schema,\n"
	"      principal = ctx.principal, seq = ctx.seq, at_ns = ctx.at_ns}\n"
	"  end\n"
	"  local events = array{}\n"
	"  if op == 'emit' then\n"
	"    for i = 1, event.n do\n"
	"      events[i] = {schema = event.schema or 'test/Out@1',\n"
	"        value = event.value or {key = event.key .. '.' .. i, op = 'set', n = i},\n"
	"        key = event.own_key}\n"
	"    end\n"
	"  elseif op == 'tree' and event.n > 0 then\n"
	"    for i = 1, 2 do\n"
	"      events[i] = {schema = 'test/Do@1',\n"
	"        value = {key = event.key .. i, op = 'tree', n = event.n - 1}}\n"
	"    end\n"
	"  elseif op == 'effect' then\n"
	"    return state, {effects = {{effect = 'model.call'}}}\n"
	"  end\n"
	"  return {op = op, n = event.n}, {events = events}\n"
	"end\n";

struct world_fixture {
	char root[64];      /* the private directory */
	char source[80];    /* root/source */
	char directory[80]; /* root/world */
	atomic_int_least64_t now_ns;
	struct wfs_world_options options;
	struct wfs_source loaded;
	struct wfs_world *world;
	struct wfs_error error; /* of the last call below */
};

/* Every look at the clock is one nanosecond later. */
static inline int64_t world_fixture_clock(void *context)
{
	return atomic_fetch_add((atomic_int_least64_t *)context, 1);
}

static inline void put_file(const char *directory, const char *name, const char *text)
{
	WFS_AUTO_FD int fd = -1;
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* The user knows none: what known.json tells is read and written with each world that is opened and closed. */
static inline void know_no_worlds(const char *root)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/.user", root);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): threads begin later */
	assert_int_equal(setenv("XDG_STATE_HOME", path, 1), 0);
}

/* The user agrees to host.json of the world @world_id as it is now. Return: 0, or why it cannot be read. */
static inline int trust_host(const char *directory, const char *world_id)
{
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_hash hash;
	const int r = wfs_host_file_read(directory, &host, &hash, NULL);

	if (r == 0)
		assert_int_equal(wfs_trust_give(directory, world_id, &hash, NULL), 0);
	return r;
}

/* A directory with a loaded source, and no world yet. */
static inline int world_fixture_source(void **state)
{
	struct world_fixture *fixture = calloc(1, sizeof(*fixture));
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_FREE char *json = json_text(fixture_world_json);

	*state = fixture;
	snprintf(fixture->root, sizeof(fixture->root), "/tmp/wfs-world-XXXXXX");
	assert_non_null(mkdtemp(fixture->root));
	know_no_worlds(fixture->root);
	snprintf(fixture->source, sizeof(fixture->source), "%s/source", fixture->root);
	snprintf(fixture->directory, sizeof(fixture->directory), "%s/world", fixture->root);
	assert_int_equal(mkdir(fixture->source, 0755), 0);
	put_file(fixture->source, "world.json", json);
	put_file(fixture->source, "step.lua", fixture_step_lua);
	atomic_init(&fixture->now_ns, INT64_C(1700000000000000000));
	fixture->options.clock_ns = world_fixture_clock;
	fixture->options.clock_context = &fixture->now_ns;
	int r = wfs_source_load(fixture->source, NULL, &problems, &fixture->loaded);
	if (r)
		print_error("%s", wfs_buffer_text(&problems.lines));
	return r;
}

/* Before it is created. @rules: JSON with ' for " */
static inline void world_fixture_set_policy(struct world_fixture *fixture, const char *rules)
{
	json_t *const manifest = fixture->loaded.manifest;

	json_array_append_new(json_object_get(manifest, "policies"),
		json_pack("{s:s, s:s, s:o}", "$kind", "defpolicy", "name", "test/Policy@1", "rules",
			json_of(rules)));
	json_object_set_new(manifest, "policy", json_string("test/Policy@1"));
}

static inline int world_fixture_create(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	fixture->error = (struct wfs_error){0};
	return wfs_world_create(fixture->directory, &fixture->loaded, &fixture->options, &problems,
		&fixture->error);
}

static inline void world_fixture_close(struct world_fixture *fixture)
{
	wfs_world_close(fixture->world);
	fixture->world = NULL;
}

/* Opens the world (again) with the fixture's options. */
static inline int world_fixture_open(struct world_fixture *fixture)
{
	world_fixture_close(fixture);
	fixture->error = (struct wfs_error){0};
	return wfs_world_open(
		fixture->directory, &fixture->options, &fixture->world, &fixture->error);
}

/* A new world, open. */
static inline int world_fixture_setup(void **state)
{
	return world_fixture_source(state) || world_fixture_create(*state) ||
		world_fixture_open(*state);
}

static inline int world_fixture_teardown(void **state)
{
	struct world_fixture *fixture = *state;

	world_fixture_close(fixture);
	wfs_source_done(&fixture->loaded);
	wfs_directory_remove(fixture->root);
	free(fixture);
	return 0;
}

/* --- changing --- */

/* Sends an event and waits. @key: the sender's own as JSON, or NULL. Return: as wfs_world_call. */
static inline int send_keyed(struct world_fixture *fixture, const char *schema, const char *value,
	const char *key, uint64_t *ret_seq)
{
	WFS_AUTO_FREE char *value_text = json_text(value);
	WFS_AUTO_FREE char *key_text = json_text(key ? key : "null");
	WFS_AUTO_JSON json_t *value_json = NULL;
	WFS_AUTO_JSON json_t *key_json = NULL;

	assert_int_equal(wfs_json_parse(value_text, strlen(value_text), &value_json, NULL), 0);
	assert_int_equal(wfs_json_parse(key_text, strlen(key_text), &key_json, NULL), 0);
	struct wfs_request request = {
		.kind = WFS_REQUEST_EVENT,
		.principal = "tester",
		.schema = schema,
		.value = value_json,
		.key = key ? key_json : NULL,
	};
	int r = wfs_world_call(fixture->world, &request);
	fixture->error = request.error;
	if (ret_seq)
		*ret_seq = request.seq;
	return r;
}

static inline int send_event(struct world_fixture *fixture, const char *schema, const char *value)
{
	return send_keyed(fixture, schema, value, NULL, NULL);
}

/* Sends a test/Do@1 that must succeed. */
static inline void tell(struct world_fixture *fixture, const char *value)
{
	int r = send_event(fixture, "test/Do@1", value);

	if (r)
		print_error("%s: %s\n", value, fixture->error.message);
	assert_int_equal(r, 0);
}

static inline int put_blob(
	struct world_fixture *fixture, const void *data, size_t size, struct wfs_hash *ret_hash)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct wfs_request request = {.kind = WFS_REQUEST_BLOB, .principal = "tester"};

	assert_int_equal(wfs_blob_writer_new(wfs_world_store(fixture->world), &writer), 0);
	assert_int_equal(wfs_blob_writer_add(writer, data, size), 0);
	assert_int_equal(wfs_blob_writer_finish(writer, &request.blob), 0);
	*ret_hash = request.blob.hash;
	int r = wfs_world_call(fixture->world, &request);
	fixture->error = request.error;
	return r;
}

/* --- looking --- */

static inline struct wfs_view view_at(struct world_fixture *fixture, uint64_t height)
{
	struct wfs_view view;

	assert_int_equal(wfs_view_open(fixture->world, height, &view, &fixture->error), 0);
	return view;
}

static inline uint64_t height_of(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);

	return view.height;
}

/* The text of a cell without its newline; caller frees. NULL: there is none. */
static inline char *state_at(
	struct world_fixture *fixture, uint64_t height, const char *reducer, const char *key)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, height);
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_reducer found;
	struct wfs_version version;

	assert_int_equal(wfs_view_reducer(&view, reducer, strlen(reducer), &found), 0);
	int r = wfs_view_cell(&view, found.reducer_id, wfs_bytes_text(key), &version);
	if (r == -ENOENT)
		return NULL;
	assert_int_equal(r, 0);
	assert_int_equal(wfs_view_content(&view, &version, WFS_RANGE_ALL, &content, NULL), 0);
	char *text = calloc(1, content.bytes.size + 1);
	assert_non_null(text);
	memcpy(text, content.bytes.data, content.bytes.size);
	assert_int_equal(text[content.bytes.size - 1], '\n');
	text[content.bytes.size - 1] = '\0';
	return text;
}

/* @expected: JSON with ', or NULL for no such cell. */
static inline void assert_state_at(struct world_fixture *fixture, uint64_t height,
	const char *reducer, const char *key, const char *expected)
{
	WFS_AUTO_FREE char *found = state_at(fixture, height, reducer, key);
	WFS_AUTO_FREE char *wanted = expected ? json_text(expected) : NULL;

	if (!wanted)
		assert_null(found);
	else
		assert_non_null(found);
	if (wanted)
		assert_string_equal(found, wanted);
}

static inline void assert_state(
	struct world_fixture *fixture, const char *reducer, const char *key, const char *expected)
{
	assert_state_at(fixture, WFS_HEIGHT_HEAD, reducer, key, expected);
}

/* A record, parsed; release with wfs_record_parsed_done. */
static inline struct wfs_record_parsed record_at(struct world_fixture *fixture, uint64_t seq)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_record_parsed parsed;
	struct wfs_bytes line;

	assert_int_equal(wfs_view_record(&view, seq, &line), 0);
	assert_int_equal(wfs_record_parse(line, &parsed, NULL), 0);
	parsed.record.body = WFS_BYTES(NULL, 0); /* `line` ends with the view */
	return parsed;
}

/* Sends an event that must be refused, and must have changed nothing. */
static inline void assert_event_refused(struct world_fixture *fixture, const char *schema,
	const char *value, const char *key, int number, enum wfs_error_code code)
{
	uint64_t height = height_of(fixture);
	uint64_t seq;

	print_message("%.60s\n", value);
	assert_int_equal(send_keyed(fixture, schema, value, key, &seq), number);
	assert_int_equal(fixture->error.code, code);
	assert_true(seq == UINT64_MAX);
	assert_int_equal(height_of(fixture), height);
}

#define IN_WORLD(name) \
	TEST_WITH(name, struct world_fixture *fixture, world_fixture_setup, world_fixture_teardown)
#define WITH_SOURCE(name) \
	TEST_WITH(name, struct world_fixture *fixture, world_fixture_source, world_fixture_teardown)
