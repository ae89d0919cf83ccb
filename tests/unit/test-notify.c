/* SPDX-License-Identifier: Apache-2.0 */
/* What a mount is notified of after a commit, and what happens when a notification fails. The
 * wrapped functions act as Linux and the teller; the world is real. */
#include "caps/unjudged.h"
#include "tests/fixture/tree.h"

#include "tests/fixture/memory.h"
#include "tests/fixture/plan-tree.h"

#include "fs/data/known.h"
#include "fs/data/notify.h"

enum {
	TOLD_SIZE = 4096,
	NAME_SIZE_MAX = 255,
};

struct fixture {
	struct shown *shown;
	struct wfs_notify notify;
	struct wfs_known *known;
	char told[TOLD_SIZE]; /* a word for each notification: its kind, inode and name */
	const char *failing;  /* the kind that fails */
	int failure;
	bool asks; /* a client asks for the log's attributes while it grows */
	bool asked;
	int unseen;          /* the error of looking at the log; 0: it may be seen */
	unsigned int unread; /* how often reading the log finds no memory */
	unsigned int ended;
	unsigned int answered;
};

static struct fixture *fixture; /* for the wrapped functions */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int __wrap_wfs_teller_run(struct wfs_teller *teller, int (*job)(void *context), void *context);
void __wrap_wfs_teller_end(struct wfs_teller *teller, const char *why);
void __wrap_wfs_teller_stop(struct wfs_teller *teller);
int __wrap_wfs_teller_entry(
	struct wfs_teller *teller, uint64_t directory, const char *name, size_t size);
int __wrap_wfs_teller_inode(struct wfs_teller *teller, uint64_t ino, uint64_t offset);
int __wrap_wfs_teller_store(
	struct wfs_teller *teller, uint64_t ino, uint64_t offset, struct wfs_bytes bytes);
void __wrap_wfs_teller_set_log(struct wfs_teller *teller, uint64_t ino);
int __wrap_wfs_unjudged_log(struct wfs_view *view, uint64_t number, struct wfs_view_log *ret_log);
int __real_wfs_unjudged_log(struct wfs_view *view, uint64_t number, struct wfs_view_log *ret_log);
int __wrap_wfs_session_journal_read(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_view_log *log, uint64_t offset, size_t size, struct wfs_buffer *buffer);
int __real_wfs_session_journal_read(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_view_log *log, uint64_t offset, size_t size, struct wfs_buffer *buffer);
/* NOLINTEND(readability-identifier-naming) */

int __wrap_wfs_teller_run(struct wfs_teller *teller, int (*job)(void *context), void *context)
{
	(void)teller;
	return job(context);
}

void __wrap_wfs_teller_end(struct wfs_teller *teller, const char *why)
{
	(void)teller, (void)why;
	fixture->ended++;
}

void __wrap_wfs_teller_stop(struct wfs_teller *teller)
{
	(void)teller;
}

static int told(const char *kind, const char *name, size_t size)
{
	const size_t used = strlen(fixture->told);

	snprintf(fixture->told + used, TOLD_SIZE - used, " %s:%.*s", kind, (int)size, name);
	return fixture->failing && strcmp(kind, fixture->failing) == 0 ? fixture->failure : 0;
}

int __wrap_wfs_teller_entry(
	struct wfs_teller *teller, uint64_t directory, const char *name, size_t size)
{
	(void)teller, (void)directory;
	return told("entry", name, size);
}

static const char *inode_name(uint64_t ino)
{
	if (wfs_notify_is_log(ino))
		return "log";
	struct wfs_node node;

	if (wfs_ino_decode(ino, &node) && node.kind == WFS_NODE_TEXT)
		return "text";
	return ino == wfs_tree_directory_ino(WFS_DIRECTORY_JOURNAL, 0) ? "journal" : "cells";
}

int __wrap_wfs_teller_inode(struct wfs_teller *teller, uint64_t ino, uint64_t offset)
{
	(void)teller, (void)offset;
	return told("inode", inode_name(ino), NAME_SIZE_MAX);
}

void __wrap_wfs_teller_set_log(struct wfs_teller *teller, uint64_t ino)
{
	(void)teller, (void)ino;
}

static void answer(fuse_req_t request, uint64_t ino)
{
	(void)request, (void)ino;
	fixture->answered++;
}

int __wrap_wfs_teller_store(
	struct wfs_teller *teller, uint64_t ino, uint64_t offset, struct wfs_bytes bytes)
{
	(void)teller, (void)offset, (void)bytes;
	if (fixture->asks)
		fixture->asked = wfs_notify_defer(&fixture->notify, NULL, 0, answer);
	return told("store", inode_name(ino), NAME_SIZE_MAX);
}

int __wrap_wfs_session_journal_read(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_view_log *log, uint64_t offset, size_t size, struct wfs_buffer *buffer)
{
	if (fixture->unseen)
		return fixture->unseen;
	if (fixture->unread == 0)
		return __real_wfs_session_journal_read(session, view, log, offset, size, buffer);
	fixture->unread--;
	return -ENOMEM;
}

int __wrap_wfs_unjudged_log(struct wfs_view *view, uint64_t number, struct wfs_view_log *ret_log)
{
	return fixture->unseen ? fixture->unseen : __real_wfs_unjudged_log(view, number, ret_log);
}

static int setup_notify(void **state)
{
	fixture = calloc(1, sizeof(*fixture));
	*state = fixture;
	if (!fixture || shown_setup((void **)&fixture->shown))
		return -1;
	/* No test looks at the teller itself. */
	return wfs_known_new(WFS_KNOWN_NAMES_MIN, &fixture->known) ||
		wfs_notify_init(&fixture->notify, &fixture->shown->tree,
			(struct wfs_teller *)fixture, fixture->known);
}

static int teardown_notify(void **state)
{
	void *shown = fixture->shown;

	(void)state;
	wfs_notify_stop(&fixture->notify);
	wfs_notify_done(&fixture->notify);
	wfs_known_free(fixture->known);
	free(fixture);
	return shown_teardown(&shown);
}

#define NOTIFY(name) TEST_WITH(name, void *state, setup_notify, teardown_notify)

static uint64_t journal_size(void)
{
	return attr_of(fixture->shown, "journal/log.jsonl").size_bytes;
}

NOTIFY(names_come_before_listings)
{
	tell(fixture->shown->world, "{'key':'a/b','op':'set'}");

	assert_string_equal(fixture->told, " entry:a%2Fb inode:cells entry:head inode:journal");
	assert_int_equal(fixture->ended, 0);
}

NOTIFY(the_log_is_dropped_and_stored_once_it_was_looked_up)
{
	atomic_store(&fixture->notify.log_seen, true);

	tell(fixture->shown->world, "{'key':'a','op':'set'}");

	assert_string_equal(
		fixture->told, " entry:a inode:cells inode:log store:log entry:head inode:journal");
	assert_int_equal(atomic_load(&fixture->notify.log_end_bytes), journal_size());
}

NOTIFY(what_linux_does_not_know_need_not_be_told)
{
	fixture->failing = "entry";
	fixture->failure = -ENOENT;

	tell(fixture->shown->world, "{'key':'a','op':'set'}");

	assert_string_equal(fixture->told, " entry:a inode:cells entry:head inode:journal");
	assert_int_equal(fixture->ended, 0);
}

static void act(const char *action)
{
	WFS_AUTO_JSON json_t *json = json_of(action);
	struct wfs_request request = {.kind = WFS_REQUEST_ACTION,
		.principal = WFS_PRINCIPAL_OPERATOR,
		.action.document = json};

	assert_int_equal(wfs_world_call(fixture->shown->world->world, &request), 0);
	json_decref(request.answer);
}

NOTIFY(an_artifacts_name_and_files_are_dropped)
{
	act("{'action_type':'write_artifact','artifact_id':'a','content':'one'}");

	assert_non_null(strstr(fixture->told,
		" entry:a inode:cells entry:content entry:code entry:meta.json entry:type "
		"entry:created_by entry:owner entry:executable entry:invoke_price "
		"entry:read_price entry:state inode:cells"));
}

NOTIFY(of_a_directory_that_linux_does_not_know_no_file_is_told)
{
	fixture->failing = "inode";
	fixture->failure = -ENOENT;

	act("{'action_type':'write_artifact','artifact_id':'a','content':'one'}");

	assert_non_null(strstr(fixture->told, " entry:a inode:cells"));
	assert_null(strstr(fixture->told, "entry:content"));
}

#define TURN_FILES                                                                              \
	" inode:cells entry:status entry:messages.json entry:events.jsonl entry:transcript.md " \
	"entry:result.json inode:cells"

NOTIFY(a_turns_name_and_files_are_dropped)
{
	char name[64];

	act("{'action_type':'principal','id':'alice'}");
	fixture->told[0] = '\0';
	const uint64_t height = height_of(fixture->shown->world);
	act("{'action_type':'step','agent':'alice','max_turns':3,'messages':[],'setup':"
	    "{'model':'m','offered':[],'settings':{},'tools':[]}}");
	snprintf(name, sizeof(name), " entry:alice.%llu", (unsigned long long)height);
	assert_non_null(strstr(fixture->told, name));
	assert_non_null(strstr(fixture->told, TURN_FILES));

	/* The turn still exists, so its name stays. */
	fixture->told[0] = '\0';
	char cancel[128];
	snprintf(cancel, sizeof(cancel), "{'action_type':'cancel','turn_id':'alice.%llu'}",
		(unsigned long long)height);
	act(cancel);
	assert_non_null(strstr(fixture->told, TURN_FILES));
	const char *const again = strstr(fixture->told, name);
	assert_true(!again || !strstr(again + 1, name)); /* except for the name of its cell */
}

#define PLAN_FILES " inode:cells entry:plan.json entry:status entry:graph.dot inode:cells"

/* The place of a name's notification among all notifications; NULL: it was not notified. */
static const char *told_of(const char *name)
{
	char word[NAME_SIZE_MAX + 16];

	snprintf(word, sizeof(word), " entry:%s ", name);
	return strstr(fixture->told, word);
}

static void begin_plan(struct planned *ret_planned)
{
	assert_int_equal(action_fixture_begin(fixture->shown->world), 0);
	fixture->told[0] = '\0';
	*ret_planned = planned_chat(fixture->shown->world, "p", "a plan");
	fixture->told[0] = '\0';
	planned_define(ret_planned, "g", json_of(PLANNED_SMALL), NULL);
}

NOTIFY(a_plans_names_and_files_are_dropped)
{
	struct planned planned;

	begin_plan(&planned);

	assert_non_null(told_of("p"));
	assert_non_null(told_of("p.json"));
	assert_non_null(strstr(fixture->told, PLAN_FILES));
	const char *const step = told_of("2-n.json");
	assert_non_null(told_of("0-a.json"));
	assert_non_null(told_of("1-b%2Fc.json"));
	assert_non_null(step);
	assert_non_null(strstr(step, " inode:cells")); /* the listing of steps, after its names */
}

NOTIFY(of_a_step_that_goes_on_the_names_are_dropped)
{
	struct planned planned;

	begin_plan(&planned);
	fixture->told[0] = '\0';
	planned_gives(&planned, 0, "one");

	assert_non_null(told_of("0-a.json"));
	assert_null(told_of("1-b%2Fc.json"));
	assert_non_null(told_of("p.json"));
	assert_non_null(strstr(fixture->told, PLAN_FILES));
	/* The plan still exists, so its name stays, except for the name of its cell. */
	const char *const cell = told_of("p");
	assert_non_null(cell);
	assert_null(strstr(cell + 1, " entry:p "));
}

NOTIFY(of_steps_that_linux_does_not_know_no_file_is_told)
{
	struct planned planned;

	begin_plan(&planned);
	fixture->told[0] = '\0';
	fixture->failing = "inode";
	fixture->failure = -ENOENT;
	planned_gives(&planned, 0, "one");

	assert_null(told_of("0-a.json"));
	assert_null(told_of("plan.json"));
	assert_non_null(told_of("p.json"));
	assert_int_equal(fixture->ended, 0);
}

NOTIFY(a_mount_that_cannot_be_told_of_steps_is_ended)
{
	struct planned planned;

	begin_plan(&planned);
	fixture->told[0] = '\0';
	fixture->failing = "entry";
	fixture->failure = -ENOMEM;
	planned_gives(&planned, 0, "one");

	assert_int_equal(fixture->ended, 1);
}

/* --- memory stores and workflows --- */

/* A world with the genesis artifacts, mounted for alice. */
static int setup_stores(void **state)
{
	struct shown *const shown = calloc(1, sizeof(*shown));

	fixture = calloc(1, sizeof(*fixture));
	*state = fixture;
	fixture->shown = shown;
	if (memory_world_setup((void **)&shown->world) ||
		wfs_authority_new(shown->world->world, &shown->authority, NULL) ||
		wfs_session_new(shown->authority, "alice", &shown->session, NULL))
		return -1;
	shown->tree = (struct wfs_tree){.session = shown->session};
	return wfs_known_new(WFS_KNOWN_NAMES_MIN, &fixture->known) ||
		wfs_notify_init(&fixture->notify, &fixture->shown->tree,
			(struct wfs_teller *)fixture, fixture->known);
}

#define NOTIFY_STORES(name) TEST_WITH(name, void *state, setup_stores, teardown_notify)

/* Checks that the name of an entry's file was dropped, and its directory's listing after that. */
static void assert_entry_told(const char *id)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.json", id);
	const char *const told = told_of(name);
	print_message("%s\n", name);
	assert_non_null(told);
	assert_non_null(strstr(told, " inode:cells"));
}

NOTIFY_STORES(an_entrys_name_is_dropped_when_it_comes_and_when_it_goes)
{
	struct world_fixture *const world = fixture->shown->world;
	char ids[3][MEMORY_ID_TEXT_SIZE];

	json_decref(memory_call(world, "alice", "genesis_memory", "create",
		"[{'id':'notes','config':{'max_entries':2}}]"));
	memory_remember(world, "alice", "notes", memory_texts[0], ids[0]);
	memory_remember(world, "alice", "notes", memory_texts[1], ids[1]);
	fixture->told[0] = '\0';
	memory_remember(world, "alice", "notes", memory_texts[2], ids[2]);
	assert_entry_told(ids[2]);
	assert_entry_told(ids[0]); /* the store had no room for it */
	fixture->told[0] = '\0';
	memory_forget(world, "notes", ids[1]);

	assert_entry_told(ids[1]);
	assert_null(told_of("entries")); /* its name stays */
}

NOTIFY_STORES(of_entries_that_linux_does_not_know_no_name_is_told)
{
	char id[MEMORY_ID_TEXT_SIZE];
	char name[64];

	memory_make(fixture->shown->world, "notes");
	fixture->told[0] = '\0';
	fixture->failing = "inode";
	fixture->failure = -ENOENT;
	memory_remember(fixture->shown->world, "alice", "notes", memory_texts[0], id);

	snprintf(name, sizeof(name), "%s.json", id);
	assert_null(told_of(name));
	assert_int_equal(fixture->ended, 0);
}

NOTIFY_STORES(what_becomes_a_memory_store_and_what_is_none_any_more_is_told)
{
	struct world_fixture *const world = fixture->shown->world;

	memory_make(world, "notes");
	assert_non_null(told_of("entries"));
	fixture->told[0] = '\0';
	assert_done(world, "alice", WRITE("'artifact_id':'notes','access':'public'"));
	assert_null(told_of("entries"));
	assert_done(world, "alice", WRITE("'artifact_id':'notes','type':'data'"));
	assert_non_null(told_of("entries"));
	fixture->told[0] = '\0';
	assert_done(world, "alice", WRITE("'artifact_id':'notes','type':'memory_store'"));
	fixture->told[0] = '\0';
	assert_done(world, "alice", ACTION("delete_artifact", "'artifact_id':'notes'"));

	assert_non_null(told_of("entries"));
}

static size_t count_of(const char *word);

/* How many inodes are dropped when alice gives bob a private store. */
static size_t told_of_transfer(const char *id)
{
	char action[128];

	fixture->told[0] = '\0';
	snprintf(action, sizeof(action),
		"{'action_type':'transfer_ownership','artifact_id':'%s','to':'bob'}", id);
	assert_done(fixture->shown->world, "alice", action);
	return count_of("inode:cells");
}

/* Alice cannot read the entries any more, neither now nor at older heights. */
NOTIFY_STORES(entries_that_may_not_be_read_any_more_are_dropped)
{
	struct world_fixture *const world = fixture->shown->world;
	char ids[2][MEMORY_ID_TEXT_SIZE];

	memory_make(world, "first");
	memory_make(world, "empty");
	memory_make(world, "notes");
	memory_remember(world, "alice", "notes", memory_texts[0], ids[0]);
	memory_remember(world, "alice", "notes", memory_texts[1], ids[1]);
	memory_forget(world, "notes", ids[0]);
	(void)told_of_transfer("first"); /* bob has resources afterwards */
	const size_t of_empty = told_of_transfer("empty");

	/* Each entry has two numbers, the removed one, too. */
	assert_int_equal(told_of_transfer("notes"), of_empty + 4);
}

NOTIFY_STORES(private_texts_are_dropped_with_any_artifact_that_is_lost)
{
	struct world_fixture *const world = fixture->shown->world;
	const struct wfs_node text = {.kind = WFS_NODE_TEXT, .number = 1};

	memory_make(world, "notes");
	(void)told_of_transfer("notes");
	assert_int_equal(count_of("inode:text"), 0);
	memory_make(world, "more");
	atomic_store(&fixture->notify.texts_seen, true);
	assert_int_equal(
		wfs_known_add(fixture->known, FUSE_ROOT_ID, wfs_ino_encode(&text), "hash"), 0);
	fixture->told[0] = '\0';
	assert_done(world, "alice", WRITE("'artifact_id':'more','access':'public'"));
	assert_int_equal(count_of("inode:text"), 0);

	(void)told_of_transfer("more");
	assert_int_equal(count_of("inode:text"), 0); /* everybody may read the store */
	fixture->told[0] = '\0';
	assert_done(world, "bob", WRITE("'artifact_id':'more','access':'private'"));

	assert_int_equal(count_of("inode:text"), 1);
}

/* Each time looks at all names that Linux knows. The test makes the commit up: it has the
 * changes of two records. */
NOTIFY_STORES(private_texts_are_dropped_once_for_all_artifacts_that_are_lost)
{
	struct world_fixture *const world = fixture->shown->world;
	const struct wfs_node text = {.kind = WFS_NODE_TEXT, .number = 1};
	struct wfs_observer *const observer = &fixture->notify.observer;
	struct wfs_change changes[] = {
		{.key = wfs_bytes_text("notes"), .was_live = true, .is_live = true},
		{.key = wfs_bytes_text("more"), .was_live = true, .is_live = true}};
	struct wfs_commit commit = {.changes = changes, .change_count = WFS_ARRAY_COUNT(changes)};

	memory_make(world, "notes");
	memory_make(world, "more");
	assert_done(world, "alice", WRITE("'artifact_id':'notes','access':'public'"));
	assert_done(world, "alice", WRITE("'artifact_id':'more','access':'public'"));
	(void)told_of_transfer("notes");
	(void)told_of_transfer("more");
	commit.from_height = height_of(world);
	assert_done(world, "bob", WRITE("'artifact_id':'notes','access':'private'"));
	assert_done(world, "bob", WRITE("'artifact_id':'more','access':'private'"));
	commit.to_height = height_of(world);
	WFS_AUTO_VIEW struct wfs_view view = view_at(world, WFS_HEIGHT_HEAD);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(changes); i++)
		assert_int_equal(
			wfs_unjudged_builtin(&view, WFS_BUILTIN_ARTIFACT, &changes[i].reducer_id),
			0);
	atomic_store(&fixture->notify.texts_seen, true);
	assert_int_equal(
		wfs_known_add(fixture->known, FUSE_ROOT_ID, wfs_ino_encode(&text), "hash"), 0);
	fixture->told[0] = '\0';

	observer->committed(observer, &commit);

	assert_int_equal(count_of("inode:text"), 1);
}

/* No action changes the state of a workflow here: the test makes the commit up. */
NOTIFY_STORES(what_a_workflow_is_at_is_dropped)
{
	struct wfs_change change = {.key = wfs_bytes_text("worker"), .is_live = true};
	const struct wfs_commit commit = {
		.from_height = 2, .to_height = 3, .changes = &change, .change_count = 1};
	struct wfs_observer *const observer = &fixture->notify.observer;
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture->shown->world, WFS_HEIGHT_HEAD);

	assert_int_equal(wfs_unjudged_builtin(&view, WFS_BUILTIN_WORKFLOW, &change.reducer_id), 0);
	assert_done(fixture->shown->world, "alice", WRITE("'artifact_id':'worker'"));
	fixture->told[0] = '\0';
	observer->committed(observer, &commit);
	assert_string_equal(fixture->told,
		" entry:worker inode:cells entry:state inode:cells entry:head inode:journal");
	fixture->told[0] = '\0';
	change.was_live = true;
	observer->committed(observer, &commit);

	assert_string_equal(fixture->told, " entry:worker entry:state entry:head inode:journal");
}

NOTIFY(grants_are_dropped_of_who_has_them_and_had_them)
{
	act("{'action_type':'principal','id':'alice'}");
	fixture->told[0] = '\0';
	act("{'action_type':'grant','cap':'sys/blob@1','to':'alice','params':{},'name':'g'}");
	assert_non_null(strstr(fixture->told, "entry:grants.json"));
	fixture->told[0] = '\0';

	act("{'action_type':'revoke','name':'g'}");

	assert_non_null(strstr(fixture->told, "entry:grants.json"));
}

static size_t count_of(const char *word)
{
	size_t count = 0;

	for (const char *at = fixture->told; (at = strstr(at, word)) != NULL; at++)
		count++;
	return count;
}

/* The operator administers the world, and reads all content until it is deleted. */
NOTIFY(content_that_may_not_be_read_any_more_is_dropped)
{
	act("{'action_type':'write_artifact','artifact_id':'a','content':'one'}");
	act("{'action_type':'write_artifact','artifact_id':'a','content':'two'}");
	fixture->told[0] = '\0';
	act("{'action_type':'write_artifact','artifact_id':'a','access':'private'}");
	const size_t kept = count_of("inode:cells");
	fixture->told[0] = '\0';

	act("{'action_type':'delete_artifact','artifact_id':'a'}");

	/* Two versions with two numbers each, and the listings of artifacts and of cells. */
	assert_true(count_of("inode:cells") >= kept + 5);
}

NOTIFY(a_mount_that_cannot_be_told_of_a_name_is_ended)
{
	fixture->failing = "entry";
	fixture->failure = -ENOMEM;

	tell(fixture->shown->world, "{'key':'a','op':'set'}");

	assert_string_equal(fixture->told, " entry:a");
	assert_int_equal(fixture->ended, 1);
}

NOTIFY(a_mount_that_cannot_be_told_of_a_listing_is_ended)
{
	fixture->failing = "inode";
	fixture->failure = -ENOMEM;

	tell(fixture->shown->world, "{'key':'a','op':'set'}");

	assert_int_equal(fixture->ended, 1);
}

NOTIFY(a_teller_that_was_given_up_has_ended_it_itself)
{
	fixture->failing = "entry";
	fixture->failure = -ECANCELED;

	tell(fixture->shown->world, "{'key':'a','op':'set'}");

	assert_string_equal(fixture->told, " entry:a");
	assert_int_equal(fixture->ended, 0);
}

NOTIFY(who_waits_for_the_log_to_grow_is_answered)
{
	atomic_store(&fixture->notify.log_seen, true);
	fixture->asks = true;

	tell(fixture->shown->world, "{'key':'a','op':'set'}");

	assert_true(fixture->asked);
	assert_int_equal(fixture->answered, 1);
}

NOTIFY(who_waits_for_the_log_is_answered_when_it_cannot_grow)
{
	atomic_store(&fixture->notify.log_seen, true);
	fixture->asks = true;
	fixture->failing = "store";
	fixture->failure = -ENOMEM;

	tell(fixture->shown->world, "{'key':'a','op':'set'}");

	assert_true(fixture->asked);
	assert_int_equal(fixture->answered, 1);
	assert_int_equal(fixture->ended, 1);
	assert_false(wfs_notify_defer(&fixture->notify, NULL, 0, answer));
}

NOTIFY(lines_without_memory_are_read_again)
{
	atomic_store(&fixture->notify.log_seen, true);
	fixture->unread = 2;

	tell(fixture->shown->world, "{'key':'a','op':'set'}");

	assert_int_equal(fixture->ended, 0);
	assert_int_equal(atomic_load(&fixture->notify.log_end_bytes), journal_size());
}

NOTIFY(a_mount_whose_log_cannot_be_read_is_ended)
{
	atomic_store(&fixture->notify.log_seen, true);
	fixture->unread = 1000;

	tell(fixture->shown->world, "{'key':'a','op':'set'}");

	assert_int_equal(fixture->ended, 1);
}

NOTIFY(a_log_that_may_not_be_seen_is_not_stored)
{
	const int reasons[] = {-EACCES, -ENOENT};

	atomic_store(&fixture->notify.log_seen, true);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(reasons); i++) {
		print_message("%s\n", strerrorname_np(-reasons[i]));
		fixture->unseen = reasons[i];
		fixture->told[0] = '\0';

		tell(fixture->shown->world, "{'key':'a','op':'set'}");

		assert_null(strstr(fixture->told, "log"));
		assert_int_equal(fixture->ended, 0);
		assert_false(wfs_notify_defer(&fixture->notify, NULL, 0, answer));
	}
}

NOTIFY(a_log_that_may_be_seen_again_begins_where_the_journal_ends)
{
	atomic_store(&fixture->notify.log_seen, true);
	fixture->unseen = -EACCES;
	tell(fixture->shown->world, "{'key':'a','op':'set'}");
	assert_int_equal(wfs_notify_log_anew(&fixture->notify), 0);
	fixture->unseen = 0;
	fixture->told[0] = '\0';

	assert_int_equal(wfs_notify_log_anew(&fixture->notify), 0);

	assert_string_equal(fixture->told, " inode:log");
	assert_int_equal(atomic_load(&fixture->notify.log_end_bytes), journal_size());
}

NOTIFY(a_mount_is_made_for_one_who_may_not_see_the_log)
{
	struct wfs_notify other;

	fixture->unseen = -EACCES;

	assert_int_equal(wfs_notify_init(&other, &fixture->shown->tree,
				 (struct wfs_teller *)fixture, fixture->known),
		0);

	wfs_notify_stop(&other);
	wfs_notify_done(&other);
}
