/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: which callers may begin one, by which rights its requests are judged, and that it
 * passes them on. */
#include "caps/authority.h"
#include "caps/session-act.h"
#include "caps/session-blob.h"
#include "caps/session-query.h"
#include "caps/session-read.h"
#include "caps/session-upkeep.h"
#include "kernel/manifest/manifest.h"
#include "tests/fixture/session.h"

#include "caps/seen.h"
#include "kernel/base/clock.h"
#include "kernel/manifest/grant.h"

TEST(every_effect_has_a_kind_and_a_capability)
{
	for (int effect = 0; effect < WFS_EFFECT_COUNT; effect++) {
		const char *kind = wfs_effect_kind((enum wfs_effect)effect);

		print_message("%s\n", kind);
		assert_non_null(strchr(kind, '.'));
		assert_true(*wfs_effect_cap_type((enum wfs_effect)effect));
		for (int other = 0; other < effect; other++)
			assert_string_not_equal(kind, wfs_effect_kind((enum wfs_effect)other));
	}
}

AT_WORK(a_session_is_a_principal_in_a_world)
{
	struct world_fixture *fixture = work->world;
	struct wfs_session *session = work->operator;

	assert_string_equal(wfs_session_principal(session), "operator");
	assert_ptr_equal(wfs_authority_world(wfs_session_authority(session)), fixture->world);
}

AT_WORK(an_unknown_principal_is_refused)
{
	struct wfs_session *session = NULL;

	assert_int_equal(
		wfs_session_new(work->authority, "mallory", &session, &work->error), -ENOENT);

	assert_int_equal(work->error.code, WFS_E_NOT_FOUND);
	assert_non_null(strstr(work->error.message, "mallory"));
	assert_null(session);
}

AT_WORK(the_operator_may_do_everything)
{
	struct wfs_session *session = work->operator;

	for (int effect = 0; effect < WFS_EFFECT_COUNT; effect++)
		assert_int_equal(wfs_session_judge(session, (enum wfs_effect)effect, NULL), 0);
}

AT_WORK(an_event_is_recorded_as_the_sessions_principal)
{
	struct world_fixture *fixture = work->world;
	struct wfs_session *session = work->operator;
	WFS_AUTO_JSON json_t *value = json_pack("{s:s,s:s}", "key", "a", "op", "set");
	struct wfs_request request = {.kind = WFS_REQUEST_EVENT,
		.principal = "somebody else",
		.event.schema = "test/Do@1",
		.event.value = value};

	assert_int_equal(wfs_session_call(session, &request), 0);

	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, ALICE_HEIGHT);
	assert_string_equal(parsed.record.principal, "operator");
}

AT_WORK(a_connection_of_the_operator_has_a_queue_that_no_principal_has)
{
	WFS_AUTO_JSON json_t *value = json_pack("{s:s,s:s}", "key", "a", "op", "set");
	struct wfs_request request = {
		.kind = WFS_REQUEST_EVENT, .event.schema = "test/Do@1", .event.value = value};

	wfs_session_connect(work->operator, 7);
	assert_int_equal(wfs_session_call(work->operator, & request), 0);
	assert_non_null(request.queued_as);
	assert_false(wfs_grant_name_valid(request.queued_as));
}

/* Revokes a grant that does not exist. Return: does the request count as an administrator's? */
static bool administers(struct at_work *work, const struct wfs_session *session)
{
	WFS_AUTO_JSON json_t *revocation = json_pack("{s:s}", "name", "none");
	BEGIN_REQUEST(request, done);

	assert_true(wait_for(work, &request, &done,
			    wfs_session_revoke(session, revocation, &request)) < 0);
	return request.kind == WFS_REQUEST_ACTION && request.urgent && request.administers;
}

AT_WORK(code_gives_way_to_administrators_always)
{
	assert_true(administers(work, work->operator));
	assert_false(administers(work, work->alice));
	assert_int_equal(
		give(work, work->operator, "{'to':'alice','cap':'sys/admin@1','params':{}}"), 0);
	assert_true(administers(work, work->alice));
}

/* Stops the kernel's thread once, when it looks at the clock. */
struct held_clock {
	atomic_int_least64_t now_ns;
	atomic_bool holds;
	sem_t held;
	sem_t released;
};

static int64_t held_clock_ns(void *context)
{
	struct held_clock *const clock = context;

	if (atomic_exchange(&clock->holds, false)) {
		(void)sem_post(&clock->held);
		while (sem_wait(&clock->released) != 0)
			;
	}
	return atomic_fetch_add(&clock->now_ns, 1);
}

/* Opens the world again, with that clock. */
static void open_held(struct at_work *work, struct held_clock *clock)
{
	wfs_session_free(work->operator);
	wfs_session_free(work->alice);
	wfs_authority_free(work->authority);
	atomic_init(&clock->now_ns, atomic_load(&work->world->now_ns));
	atomic_init(&clock->holds, false);
	assert_int_equal(sem_init(&clock->held, 0, 0) | sem_init(&clock->released, 0, 0), 0);
	work->world->options.clock_ns = held_clock_ns;
	work->world->options.clock_context = clock;
	assert_int_equal(world_fixture_open(work->world), 0);
	assert_int_equal(wfs_authority_new(work->world->world, &work->authority, &work->error), 0);
	assert_int_equal(wfs_session_new(work->authority, WFS_PRINCIPAL_OPERATOR,
				 &work->operator, & work->error),
		0);
	assert_int_equal(wfs_session_new(work->authority, "alice", &work->alice, &work->error), 0);
}

AT_WORK(a_request_that_waits_is_not_done_by_a_grant_that_was_revoked)
{
	struct held_clock clock;
	WFS_AUTO_JSON json_t *value = json_pack("{s:s,s:s}", "key", "a", "op", "set");
	WFS_AUTO_JSON json_t *revocation = json_pack("{s:s}", "name", "alice.act.1");
	sem_t done[3];
	struct wfs_request first = {.kind = WFS_REQUEST_EVENT,
		.event.schema = "test/Do@1",
		.event.value = value,
		.done = wake_caller,
		.context = &done[0]};
	struct wfs_request waiting = first;
	struct wfs_request revoking = {.done = wake_caller, .context = &done[2]};

	let(work, "{'to':'alice','cap':'sys/act@1','params':{}}");
	open_held(work, &clock);
	waiting.context = &done[1];
	for (size_t i = 0; i < WFS_ARRAY_COUNT(done); i++)
		assert_int_equal(sem_init(&done[i], 0, 0), 0);
	atomic_store(&clock.holds, true);
	assert_int_equal(wfs_session_submit(work->operator, & first), 0);
	while (sem_wait(&clock.held) != 0)
		;
	assert_int_equal(wfs_session_submit(work->alice, &waiting), 0);
	assert_int_equal(wfs_session_revoke(work->operator, revocation, &revoking), 0);

	(void)sem_post(&clock.released);

	assert_int_equal(wait_for(work, &first, &done[0], 0), 0);
	assert_int_equal(wait_for(work, &revoking, &done[2], 0), 0);
	assert_int_equal(wait_for(work, &waiting, &done[1], 0), -EACCES);
	assert_int_equal(work->error.code, WFS_E_NOT_AUTHORIZED);
	assert_non_null(strstr(work->error.message, "alice.act.1"));
	sem_destroy(&clock.held);
	sem_destroy(&clock.released);
}

AT_WORK(a_request_that_waits_is_not_done_by_a_grant_that_has_expired)
{
	enum { PART_NS = 50 * 1000 * 1000 };
	struct held_clock clock;
	WFS_AUTO_JSON json_t *value = json_pack("{s:s,s:s}", "key", "a", "op", "set");
	sem_t done[2];
	struct wfs_request first = {.kind = WFS_REQUEST_EVENT,
		.event.schema = "test/Do@1",
		.event.value = value,
		.done = wake_caller,
		.context = &done[0]};
	struct wfs_request waiting = first;
	char grant[160];

	open_held(work, &clock);
	waiting.context = &done[1];
	for (size_t i = 0; i < WFS_ARRAY_COUNT(done); i++)
		assert_int_equal(sem_init(&done[i], 0, 0), 0);
	const int64_t end_ns = wfs_clock_realtime_ns() + INT64_C(40) * PART_NS;
	snprintf(grant, sizeof(grant),
		"{'to':'alice','cap':'sys/act@1','params':{},'expires_at_ns':%lld}",
		(long long)end_ns);
	let(work, grant);
	atomic_store(&clock.holds, true);
	assert_int_equal(wfs_session_submit(work->operator, & first), 0);
	while (sem_wait(&clock.held) != 0)
		;
	assert_int_equal(wfs_session_submit(work->alice, &waiting), 0);
	while (wfs_clock_realtime_ns() < end_ns)
		(void)nanosleep(&(struct timespec){.tv_nsec = PART_NS}, NULL);

	(void)sem_post(&clock.released);

	assert_int_equal(wait_for(work, &first, &done[0], 0), 0);
	assert_int_equal(wait_for(work, &waiting, &done[1], 0), -EACCES);
	assert_int_equal(work->error.code, WFS_E_EXPIRED);
	assert_non_null(strstr(work->error.message, "alice.act.1"));
	sem_destroy(&clock.held);
	sem_destroy(&clock.released);
}

AT_WORK(reads_give_what_the_view_gives)
{
	struct world_fixture *fixture = work->world;
	struct wfs_session *session = work->operator;
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_reducer reducer;
	struct wfs_seen seen;
	struct wfs_bytes name;
	struct wfs_bytes key;
	struct wfs_meta meta;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_int_equal(wfs_session_view(session, WFS_HEIGHT_HEAD, &view, &fixture->error), 0);

	assert_int_equal(wfs_session_meta(session, &view, &meta), 0);
	assert_int_equal(meta.journal_height, ALICE_HEIGHT + 1);
	assert_int_equal(wfs_session_reducer(session, &view, "cell", 4, &reducer), 0);
	assert_int_equal(wfs_session_reducer(session, &view, "none", 4, &reducer), -ENOENT);
	assert_int_equal(
		wfs_session_cell(session, &view, reducer.reducer_id, wfs_bytes_text("a"), &seen),
		0);
	assert_int_equal(
		wfs_session_cell(session, &view, reducer.reducer_id, wfs_bytes_text("b"), &seen),
		-ENOENT);
	assert_int_equal(wfs_seen_name(&view, &seen, &name, &key), 0);
	assert_true(wfs_bytes_equal(key, wfs_bytes_text("a")));
	assert_int_equal(
		wfs_session_content(session, &view, &seen, WFS_RANGE_ALL, &content, NULL), 0);
	assert_true(wfs_bytes_equal(content.bytes, wfs_bytes_text("{\"n\":1}\n")));
	assert_int_equal(wfs_session_manifest(session, &view, &seen), 0);
}

AT_WORK(a_view_of_a_height_to_come_says_so)
{
	struct world_fixture *fixture = work->world;
	struct wfs_session *session = work->operator;
	struct wfs_view view;

	assert_int_equal(wfs_session_view(session, 99, &view, &fixture->error), -ENOENT);

	assert_int_equal(fixture->error.code, WFS_E_HEIGHT_UNAVAILABLE);
}

AT_WORK(a_blob_is_received_and_put)
{
	struct world_fixture *fixture = work->world;
	struct wfs_session *session = work->operator;
	WFS_AUTO_UPLOAD struct wfs_upload *upload = NULL;
	WFS_AUTO_VIEW struct wfs_view view = {0};
	sem_t done;
	struct wfs_request request = {.done = wake_caller, .context = &done};
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	uint64_t last;

	assert_int_equal(sem_init(&done, 0, 0), 0);
	assert_int_equal(wfs_session_upload(session, &upload, &fixture->error), 0);
	assert_int_equal(wfs_upload_add(upload, "x", 1), 0);
	assert_int_equal(wfs_upload_submit(session, upload, &request), 0);
	assert_int_equal(wait_for(work, &request, &done, 0), 0);

	assert_int_equal(wfs_session_view(session, WFS_HEIGHT_HEAD, &view, NULL), 0);
	assert_int_equal(wfs_session_blob(session, &view, &request.blob.hash, &blob, &listing), 0);
	assert_int_equal(wfs_session_blob_last(session, &view, &last), 0);
	assert_int_equal(last, listing.listed_id);
}

AT_WORK(a_snapshot_is_computed_and_recorded)
{
	struct world_fixture *fixture = work->world;
	struct wfs_session *session = work->operator;
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_request request;
	struct wfs_meta meta;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_int_equal(wfs_session_snapshot(session, NULL, NULL, &request), 0);

	assert_int_equal(request.seq, ALICE_HEIGHT + 1);
	assert_int_equal(request.snapshot.height, ALICE_HEIGHT + 1);
	assert_int_equal(wfs_session_view(session, WFS_HEIGHT_HEAD, &view, NULL), 0);
	assert_int_equal(wfs_session_meta(session, &view, &meta), 0);
	assert_true(wfs_hash_equal(&meta.snapshot_hash, &request.snapshot.hash));
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, ALICE_HEIGHT + 1);
	assert_int_equal(parsed.record.kind, WFS_RECORD_SNAPSHOT);
	assert_string_equal(parsed.record.principal, "operator");
}

AT_WORK(a_failed_call_says_why)
{
	struct wfs_session *session = work->operator;
	WFS_AUTO_JSON json_t *value = json_object();
	struct wfs_request request = {
		.kind = WFS_REQUEST_EVENT, .event.schema = "no/Such@1", .event.value = value};

	assert_int_equal(wfs_session_call(session, &request), -ENOENT);

	assert_int_equal(request.error.code, WFS_E_NOT_FOUND);
}

AT_WORK(figures_are_those_of_the_world)
{
	struct wfs_session *session = work->operator;
	struct wfs_session_figures figures;

	assert_int_equal(wfs_session_figures(session, &figures, NULL), 0);

	assert_int_equal(figures.world.height, ALICE_HEIGHT);
}

AT_WORK(a_session_introspects)
{
	struct world_fixture *fixture = work->world;
	struct wfs_session *session = work->operator;
	WFS_AUTO_JSON json_t *params = json_object();
	WFS_AUTO_JSON json_t *head = NULL;
	WFS_AUTO_JSON json_t *failure = NULL;

	assert_int_equal(wfs_session_introspect(session, WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, params,
				 &head, &fixture->error),
		0);
	assert_int_equal(wfs_session_introspect(session, WFS_EFFECT_INTROSPECT_REDUCER_STATE,
				 params, &failure, &fixture->error),
		-EINVAL);

	assert_int_equal(
		json_integer_value(json_object_get(head, "journal_height")), height_of(fixture));
	assert_string_equal(
		json_string_value(json_object_get(failure, "code")), "missing_argument");
}
