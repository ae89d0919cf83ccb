/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts and principals as directories: what they contain, who sees it, and how it is
 * numbered. */
#include "caps/session-query.h"
#include "tests/fixture/tree.h"

#include "kernel/manifest/manifest.h"

/* Takes an action that must succeed. @action: JSON with ' for " */
static void act_as(struct shown *shown, const char *principal, const char *action)
{
	WFS_AUTO_JSON json_t *json = json_of(action);
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = principal, .action.document = json};
	int r = wfs_world_call(shown->world->world, &request);

	json_decref(request.answer);
	if (r)
		fail_msg("%s: %s", action, request.error.message);
}

static void act(struct shown *shown, const char *action)
{
	act_as(shown, WFS_PRINCIPAL_OPERATOR, action);
}

#define PRINCIPAL(id) "{'action_type':'principal','id':'" id "'}"
#define WRITE(id, more) "{'action_type':'write_artifact','artifact_id':'" id "'" more "}"
#define DELETE(id) "{'action_type':'delete_artifact','artifact_id':'" id "'}"
#define ADD_CODE ",'executable':true,'code':'function run() return 1 end'"

/* The tree of another principal. */
struct other {
	struct shown shown;
};

static void other_begin(struct shown *shown, struct other *other)
{
	*other = (struct other){.shown = *shown};
	assert_int_equal(
		wfs_session_new(shown->authority, "alice", &other->shown.session, NULL), 0);
	other->shown.tree.session = other->shown.session;
}

static void other_end(struct other *other)
{
	wfs_session_free(other->shown.session);
}

static int try_read(struct shown *shown, uint64_t ino)
{
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};

	return wfs_tree_read(&shown->tree, ino, 0, 4096, &data);
}

SHOWN(an_artifact_is_a_directory)
{
	act(shown, WRITE("pricer", ",'type':'tool','content':'hello'"));
	act(shown, WRITE("runner", ADD_CODE ",'policy':{'read_price':3,'invoke_price':5}"));

	assert_lists(shown, "artifacts", "pricer runner ");
	assert_lists(shown, "artifacts/pricer",
		"content meta.json type created_by owner executable invoke_price read_price ");
	assert_lists(shown, "artifacts/runner",
		"content code meta.json type created_by owner executable invoke_price read_price ");
	assert_contents(shown, "artifacts/pricer/content", "hello");
	assert_contents(shown, "artifacts/runner/code", "function run() return 1 end");
	assert_contents(shown, "artifacts/pricer/type", "tool\n");
	assert_contents(shown, "artifacts/pricer/owner", "operator\n");
	assert_contents(shown, "artifacts/pricer/created_by", "operator\n");
	assert_contents(shown, "artifacts/pricer/executable", "false\n");
	assert_contents(shown, "artifacts/runner/executable", "true\n");
	assert_contents(shown, "artifacts/runner/read_price", "3\n");
	assert_contents(shown, "artifacts/runner/invoke_price", "5\n");
	assert_missing(shown, "artifacts/pricer/code");
	assert_missing(shown, "artifacts/pricer/scrip");
	assert_missing(shown, "artifacts/nobody");
}

/* Checks that the file has the member `result` of the answer that the principal gets to the
 * query. */
static void assert_answers(struct shown *shown, const char *id)
{
	WFS_AUTO_JSON json_t *params = json_pack("{s:s}", "artifact_id", id);
	const struct wfs_session_query query = {.type = "artifact", .params = params};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *answer = NULL;
	char path[64];

	snprintf(path, sizeof(path), "artifacts/%s/meta.json", id);
	WFS_AUTO_FREE char *text = contents(shown, path);
	WFS_AUTO_JSON json_t *meta = json_of(text);
	assert_int_equal(wfs_session_view(shown->session, WFS_HEIGHT_HEAD, &view, NULL), 0);
	assert_int_equal(wfs_session_query(shown->session, &view, &query, &answer, NULL), 0);
	if (!json_equal(meta, json_object_get(answer, "result")))
		fail_msg("%s", text);
	assert_string_equal(text + strlen(text) - 2, "}\n");
}

static bool has_hash(struct shown *shown, const char *path)
{
	WFS_AUTO_FREE char *text = contents(shown, path);

	return strstr(text, "\"content_hash\"") != NULL;
}

SHOWN(meta_is_the_answer_of_the_query)
{
	act(shown,
		WRITE("pricer",
			",'type':'tool','content':'hello','access':'private','metadata':"
			"{'name':'n'},'depends_on':[]"));
	act(shown, WRITE("runner", ADD_CODE ",'policy':{'read_price':3,'invoke_price':5}"));

	assert_answers(shown, "pricer");
	assert_answers(shown, "runner");
	assert_true(has_hash(shown, "artifacts/pricer/meta.json"));
}

/* The newest rule decides, even below old heights, as it does for content and code. */
SHOWN(meta_has_the_hashes_of_what_may_be_read)
{
	struct other other;
	char path[64];

	act(shown, PRINCIPAL("alice"));
	act(shown,
		"{'action_type':'grant','cap':'sys/query@1','to':'alice',"
		"'params':{'scope':['artifacts']}}");
	act(shown, WRITE("a", ",'content':'one'"));
	snprintf(path, sizeof(path), "at/%d/artifacts/a/meta.json", (int)height_of(shown->world));
	other_begin(shown, &other);
	assert_answers(&other.shown, "a");
	assert_true(has_hash(&other.shown, path));

	act(shown, WRITE("a", ",'access':'private'"));
	assert_answers(&other.shown, "a");
	assert_false(has_hash(&other.shown, "artifacts/a/meta.json"));
	assert_false(has_hash(&other.shown, path));
	assert_true(has_hash(shown, path));
	act(shown, DELETE("a"));
	assert_false(has_hash(&other.shown, path));
	other_end(&other);
}

SHOWN(a_principal_is_a_directory)
{
	act(shown,
		"{'action_type':'principal','id':'alice','scrip':50,"
		"'quotas':{'llm_tokens':0,'disk':1000,'journal':2000}}");

	assert_lists(shown, "principals", "operator alice ");
	assert_lists(shown, "principals/alice",
		"scrip resources.json quotas.json frozen grants.json timers ");
	assert_contents(shown, "principals/alice/scrip", "50\n");
	assert_contents(shown, "principals/alice/frozen", "true\n");
	assert_contents(shown, "principals/operator/frozen", "false\n");
	assert_contents(shown, "principals/alice/resources.json",
		"{\"disk\":{\"quota\":1000,\"used\":0},\"journal\":{\"quota\":2000,\"used\":0},"
		"\"llm_tokens\":{\"quota\":0,\"used\":0}}\n");
	assert_contents(shown, "principals/operator/resources.json", "{}\n");
	assert_contents(shown, "principals/alice/quotas.json",
		"{\"disk\":{\"available\":1000,\"quota\":1000,\"used\":0},"
		"\"journal\":{\"available\":2000,\"quota\":2000,\"used\":0},"
		"\"llm_budget\":{\"available\":null,\"quota\":null,\"used\":0},"
		"\"llm_tokens\":{\"available\":0,\"quota\":0,\"used\":0}}\n");
	assert_contents(shown, "principals/alice/grants.json", "[]\n");
}

SHOWN(grants_are_those_of_the_height)
{
	act(shown, PRINCIPAL("alice"));
	const uint64_t before = height_of(shown->world);
	act(shown,
		"{'action_type':'grant','cap':'sys/query@1','to':'alice','params':{},"
		"'name':'looks'}");
	const uint64_t given = attr_of(shown, "principals/alice/grants.json").ino;
	const uint64_t height = height_of(shown->world);
	WFS_AUTO_FREE char *text = contents(shown, "principals/alice/grants.json");
	assert_non_null(strstr(text, "\"name\":\"looks\""));
	act(shown, "{'action_type':'revoke','name':'looks'}");

	char path[64];
	assert_contents(shown, "principals/alice/grants.json", "[]\n");
	snprintf(path, sizeof(path), "at/%d/principals/alice/grants.json", (int)height);
	assert_contents(shown, path, text);
	assert_true(attr_of(shown, path).ino == given);
	snprintf(path, sizeof(path), "at/%d/principals/alice/grants.json", (int)before);
	assert_contents(shown, path, "[]\n");
	assert_true(attr_of(shown, "principals/alice/grants.json").ino != given);
}

SHOWN(a_file_changes_its_inode_with_its_cell_only)
{
	char path[64];

	act(shown, WRITE("a", ",'content':'one'"));
	act(shown, WRITE("b", ",'content':'one'"));
	const uint64_t content = attr_of(shown, "artifacts/a/content").ino;
	const uint64_t type = attr_of(shown, "artifacts/a/type").ino;
	const uint64_t directory = attr_of(shown, "artifacts/a").ino;
	const uint64_t other = attr_of(shown, "artifacts/b/type").ino;
	const int height = (int)height_of(shown->world);
	act(shown, WRITE("a", ",'content':'two','type':'note'"));

	assert_true(attr_of(shown, "artifacts/a").ino == directory);
	assert_true(attr_of(shown, "artifacts/b/type").ino == other);
	assert_true(attr_of(shown, "artifacts/a/type").ino != type);
	assert_true(attr_of(shown, "artifacts/a/content").ino != content);
	snprintf(path, sizeof(path), "at/%d/artifacts/a/type", height);
	assert_true(attr_of(shown, path).ino == type);
	assert_contents(shown, path, "data\n");
	snprintf(path, sizeof(path), "at/%d/artifacts/a/content", height);
	assert_contents(shown, path, "one");
	snprintf(path, sizeof(path), "at/%d/artifacts/a", height);
	assert_true(attr_of(shown, path).ino != directory);
	assert_true(attr_of(shown, path).mtime_ns <= attr_of(shown, "artifacts/a").mtime_ns);
}

SHOWN(what_is_deleted_is_gone_at_the_head)
{
	char path[64];

	act(shown, WRITE("a", ",'content':'one'" ADD_CODE));
	const struct wfs_attr content = attr_of(shown, "artifacts/a/content");
	const struct wfs_attr code = attr_of(shown, "artifacts/a/code");
	const struct wfs_attr directory = attr_of(shown, "artifacts/a");
	struct wfs_attr attr;
	const int height = (int)height_of(shown->world);
	act(shown, DELETE("a"));

	assert_missing(shown, "artifacts/a");
	assert_lists(shown, "artifacts", "");
	assert_int_equal(try_read(shown, content.ino), -ENOENT);
	assert_int_equal(try_read(shown, code.ino), -ENOENT);
	assert_int_equal(wfs_tree_attr(&shown->tree, directory.ino, &attr), -ENOENT);
	assert_int_equal(wfs_tree_lookup(&shown->tree, directory.ino, "content", &attr), -ENOENT);
	snprintf(path, sizeof(path), "at/%d/artifacts/a/content", height);
	assert_contents(shown, path, "one");
}

SHOWN(a_listing_can_be_taken_up_anywhere)
{
	static const char *const paths[] = {"artifacts", "artifacts/b", "principals/alice"};

	act(shown, PRINCIPAL("alice"));
	act(shown, WRITE("a", ",'content':'one'"));
	act(shown, WRITE("b", ",'content':'one'"));

	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++) {
		struct listing whole = {0};
		struct listing parts = {.most = 1};
		const uint64_t ino = attr_of(shown, paths[i]).ino;
		size_t count;

		assert_int_equal(wfs_tree_list(&shown->tree, ino, 0, add_name, &whole), 0);
		do {
			count = parts.count;
			parts.most = count + 1;
			assert_int_equal(
				wfs_tree_list(&shown->tree, ino, parts.cookie, add_name, &parts),
				0);
		} while (parts.count > count);
		assert_string_equal(wfs_buffer_text(&parts.names), wfs_buffer_text(&whole.names));
		wfs_buffer_done(&whole.names);
		wfs_buffer_done(&parts.names);
	}
}

SHOWN(directories_know_their_paths)
{
	static const char *const paths[] = {
		"artifacts", "artifacts/a@b", "principals/operator", "at/3/artifacts/a@b"};

	act(shown, WRITE("a@b", ""));

	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer path = {0};

		assert_int_equal(
			wfs_tree_path(&shown->tree, attr_of(shown, paths[i]).ino, &path), 0);
		assert_string_equal(wfs_buffer_text(&path), paths[i]);
	}
}

/* --- who reads --- */

struct reading {
	const char *rule; /* further members of the action */
	int others;
};

SHOWN(the_rule_says_who_reads_for_nothing)
{
	static const struct reading readings[] = {
		{",'access':'freeware'", 0},
		{",'access':'transferable_freeware'", 0},
		{",'access':'public'", 0},
		{",'access':'private'", -EACCES},
		{",'access':'self_owned'", -EACCES},
		{",'access':'freeware','policy':{'read_price':1,'invoke_price':0}", -EACCES},
		{",'access':'freeware','policy':{'read_price':0,'invoke_price':1}", 0},
	};
	struct other other;

	act(shown, PRINCIPAL("alice"));
	act(shown, PRINCIPAL("bob"));
	act(shown, "{'action_type':'grant','cap':'sys/query@1','to':'alice','params':{}}");
	other_begin(shown, &other);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(readings); i++) {
		char action[256];
		char path[64];

		print_message("%s\n", readings[i].rule);
		snprintf(action, sizeof(action),
			"{'action_type':'write_artifact','artifact_id':'a%zu','content':'"
			"one'" ADD_CODE "%s}",
			i, readings[i].rule);
		act_as(shown, "bob", action);
		snprintf(path, sizeof(path), "artifacts/a%zu", i);
		assert_lists(&other.shown, path,
			"content code meta.json type created_by owner executable invoke_price "
			"read_price ");
		snprintf(path, sizeof(path), "artifacts/a%zu/content", i);
		assert_int_equal(attr_of(&other.shown, path).size_bytes, 3);
		assert_int_equal(
			try_read(&other.shown, attr_of(shown, path).ino), readings[i].others);
		/* A principal that administers the world reads everything. */
		assert_int_equal(try_read(shown, attr_of(shown, path).ino), 0);
		snprintf(path, sizeof(path), "artifacts/a%zu/code", i);
		assert_int_equal(
			try_read(&other.shown, attr_of(shown, path).ino), readings[i].others);
		snprintf(path, sizeof(path), "artifacts/a%zu/meta.json", i);
		assert_int_equal(try_read(&other.shown, attr_of(shown, path).ino), 0);
	}
	other_end(&other);
}

SHOWN(the_owner_reads_whatever_the_rule_says)
{
	struct other other;

	act(shown, PRINCIPAL("alice"));
	act(shown, "{'action_type':'grant','cap':'sys/query@1','to':'alice','params':{}}");
	act_as(shown, "alice", WRITE("a", ",'content':'one','access':'private'"));
	other_begin(shown, &other);

	assert_contents(&other.shown, "artifacts/a/content", "one");
	other_end(&other);
}

SHOWN(the_newest_rule_decides_below_old_heights_too)
{
	struct other other;
	char path[64];

	act(shown, PRINCIPAL("alice"));
	act(shown, "{'action_type':'grant','cap':'sys/query@1','to':'alice','params':{}}");
	act(shown, WRITE("a", ",'content':'one'"));
	snprintf(path, sizeof(path), "at/%d/artifacts/a/content", (int)height_of(shown->world));
	other_begin(shown, &other);
	const uint64_t head = attr_of(&other.shown, "artifacts/a/content").ino;
	const uint64_t past = attr_of(&other.shown, path).ino;
	assert_int_equal(try_read(&other.shown, head), 0);
	assert_int_equal(try_read(&other.shown, past), 0);

	act(shown, WRITE("a", ",'content':'two','access':'private'"));
	assert_int_equal(try_read(&other.shown, head), -EACCES);
	assert_int_equal(try_read(&other.shown, past), -EACCES);
	act(shown, DELETE("a"));
	assert_int_equal(try_read(&other.shown, past), -EACCES);
	assert_int_equal(try_read(&other.shown, head), -ENOENT);
	other_end(&other);
}

SHOWN(scopes_are_of_these_paths)
{
	struct other other;
	struct wfs_attr attr;

	act(shown, PRINCIPAL("alice"));
	act(shown,
		"{'action_type':'grant','cap':'sys/query@1','to':'alice',"
		"'params':{'scope':['artifacts/mine_*','artifacts/*/type',"
		"'principals/alice/scrip']}}");
	act(shown, WRITE("mine_1", ",'content':'one'"));
	act(shown, WRITE("yours", ",'content':'two'"));
	const uint64_t hidden = attr_of(shown, "artifacts/yours/content").ino;
	const uint64_t owner = attr_of(shown, "artifacts/yours/owner").ino;
	const uint64_t mine = attr_of(shown, "artifacts/mine_1/owner").ino;
	other_begin(shown, &other);

	assert_lists(&other.shown, "artifacts", "mine_1 yours ");
	assert_lists(&other.shown, "artifacts/yours", "type ");
	assert_lists(&other.shown, "principals", "alice ");
	assert_lists(&other.shown, "principals/alice", "scrip ");
	assert_contents(&other.shown, "artifacts/mine_1/content", "one");
	assert_missing(&other.shown, "artifacts/yours/content");
	assert_missing(&other.shown, "reducers/sys.artifact");
	assert_int_equal(try_read(&other.shown, hidden), -EACCES);
	assert_int_equal(try_read(&other.shown, owner), -EACCES);
	assert_int_equal(wfs_tree_attr(&other.shown.tree, hidden, &attr), -EACCES);
	assert_int_equal(try_read(&other.shown, mine), 0);
	other_end(&other);
}

/* The cells of content and code appear in no other place. */
SHOWN(content_is_not_shown_as_cells)
{
	act(shown, WRITE("a", ",'content':'one'"));

	assert_missing(shown, "reducers/sys.content");
	assert_missing(shown, "reducers/sys.code");
}

SHOWN(numbers_of_no_file_are_refused)
{
	struct wfs_node node;

	act(shown, WRITE("a", ",'content':'one'"));
	assert_true(wfs_ino_decode(attr_of(shown, "artifacts/a/type").ino, &node));

	node.file = WFS_ENTITY_FILE_SCRIP; /* that file is made of other cells */
	assert_int_equal(try_read(shown, wfs_ino_encode(&node)), -ENOENT);
	node.file = WFS_ENTITY_FILE_CONTENT;
	assert_int_equal(try_read(shown, wfs_ino_encode(&node)), -ENOENT);
	node.file = (uint32_t)wfs_entity_file_count();
	assert_int_equal(try_read(shown, wfs_ino_encode(&node)), -ENOENT);
	node = (struct wfs_node){.kind = WFS_NODE_LIVE, .number = node.number};
	assert_int_equal(try_read(shown, wfs_ino_encode(&node)), -ENOENT);
	node = (struct wfs_node){.kind = WFS_NODE_GRANTS, .cell = 99};
	assert_int_equal(try_read(shown, wfs_ino_encode(&node)), -ENOENT);
}

struct xattrs {
	size_t count;
	bool hash_right;
	struct wfs_hash hash;
};

static bool see_xattr(void *context, const char *name, struct wfs_bytes value)
{
	struct xattrs *xattrs = context;
	char text[WFS_HASH_TEXT_SIZE];

	xattrs->count++;
	wfs_hash_text(&xattrs->hash, text);
	if (strcmp(name, "user.worldfs.state_hash") == 0)
		xattrs->hash_right =
			value.size == strlen(text) && memcmp(value.data, text, value.size) == 0;
	return true;
}

SHOWN(files_tell_their_hashes)
{
	static const char *const paths[] = {"artifacts/a/content", "artifacts/a/type",
		"artifacts/a/meta.json", "principals/operator/grants.json",
		"principals/operator/scrip"};

	act(shown, WRITE("a", ",'content':'one'"));

	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++) {
		WFS_AUTO_FREE char *text = contents(shown, paths[i]);
		struct xattrs xattrs = {.hash = wfs_hash_of(text, strlen(text))};

		print_message("%s\n", paths[i]);
		assert_int_equal(wfs_tree_xattrs(&shown->tree, attr_of(shown, paths[i]).ino,
					 see_xattr, &xattrs),
			0);
		assert_true(xattrs.hash_right);
		assert_true(xattrs.count <= 2); /* and the height, if it is known */
	}
}
