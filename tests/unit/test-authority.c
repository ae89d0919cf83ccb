/* SPDX-License-Identifier: Apache-2.0 */
/* The authority: rights follow grants at once, and watchers are notified before the principal
 * that changed the grants gets its answer. */
#include "caps/authority.h"
#include "caps/session-act.h"
#include "caps/session-read.h"
#include "tests/fixture/session.h"

#include "kernel/base/clock.h"

enum { WAIT_MS = 10000 };

/* A watcher that counts, and notes what the session could do when the watcher was notified. */
struct watching {
	struct wfs_rights_watcher watcher;
	const struct wfs_session *session;
	atomic_int told;
	atomic_bool could;
	sem_t changed;
};

static void on_changed(struct wfs_rights_watcher *watcher)
{
	struct watching *const watching = (struct watching *)watcher;

	atomic_store(&watching->could,
		wfs_session_may(watching->session, WFS_EFFECT_INTROSPECT_MANIFEST));
	atomic_fetch_add(&watching->told, 1);
	sem_post(&watching->changed);
}

static void watch(struct watching *watching, const struct wfs_session *session)
{
	*watching = (struct watching){.watcher.changed = on_changed, .session = session};
	sem_init(&watching->changed, 0, 0);
	assert_int_equal(wfs_session_watch(session, &watching->watcher), 0);
}

static void unwatch(struct watching *watching)
{
	wfs_session_unwatch(watching->session, &watching->watcher);
	sem_destroy(&watching->changed);
}

#define QUERY_ALL "{'to':'alice','cap':'sys/query@1','name':'g'}"

AT_WORK(a_grant_is_in_force_when_it_was_answered)
{
	assert_false(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));
	let(work, QUERY_ALL);
	assert_true(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));
	assert_int_equal(take_back(work, work->operator, "g"), 0);
	assert_false(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));
}

AT_WORK(watchers_are_told_before_the_answer)
{
	struct watching watching;

	watch(&watching, work->alice);

	let(work, QUERY_ALL);
	assert_int_equal(atomic_load(&watching.told), 1);
	assert_true(atomic_load(&watching.could));
	assert_int_equal(take_back(work, work->operator, "g"), 0);
	assert_int_equal(atomic_load(&watching.told), 2);
	assert_false(atomic_load(&watching.could));

	unwatch(&watching);
}

AT_WORK(who_is_not_concerned_is_not_told)
{
	struct watching watching;

	watch(&watching, work->alice);

	assert_int_equal(add_principal(work, work->operator, "bob"), 0);
	let(work, "{'to':'bob','cap':'sys/query@1'}");
	let(work, "{'to':'alice','cap':'sys/act@1'}"); /* the session shows nothing */
	tell(work->world, "{'key':'a','op':'set'}");
	assert_int_equal(atomic_load(&watching.told), 0);

	unwatch(&watching);
	let(work, QUERY_ALL);
	assert_int_equal(atomic_load(&watching.told), 0);
}

AT_WORK(time_ends_a_grant_and_tells)
{
	const int64_t ends_ns = wfs_clock_realtime_ns() + INT64_C(300000000);
	WFS_AUTO_JSON json_t *grant_json = json_pack("{s:s, s:s, s:I}", "to", "alice", "cap",
		"sys/query@1", "expires_at_ns", (json_int_t)ends_ns);
	struct timespec until = {.tv_sec = ends_ns / 1000000000 + WAIT_MS / 1000};
	struct watching watching;
	BEGIN_REQUEST(request, done);

	watch(&watching, work->alice);
	assert_int_equal(wait_for(work, &request, &done,
				 wfs_session_grant(work->operator, grant_json, &request)),
		0);
	assert_true(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));
	assert_int_equal(sem_timedwait(&watching.changed, &until), 0);

	assert_int_equal(sem_timedwait(&watching.changed, &until), 0);
	assert_true(wfs_clock_realtime_ns() >= ends_ns);
	assert_true(wfs_clock_realtime_ns() < ends_ns + INT64_C(5000000000));
	assert_false(atomic_load(&watching.could));
	assert_int_equal(
		wfs_session_judge(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST, &work->error),
		-EACCES);
	assert_int_equal(work->error.code, WFS_E_EXPIRED);
	unwatch(&watching);
}

/* --- rights that are lent, as in a replicated world --- */

AT_WORK(rights_that_were_lent_end_without_anybody_acting)
{
	struct watching watching;

	let(work, QUERY_ALL);
	watch(&watching, work->alice);
	wfs_authority_lend(work->authority, wfs_clock_boottime_ns() + INT64_C(200000000));
	assert_true(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));
	usleep(250000);

	assert_false(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));
	assert_true(wfs_session_may(work->operator, WFS_EFFECT_INTROSPECT_MANIFEST));
	assert_int_equal(atomic_load(&watching.told), 0);
	unwatch(&watching);
}

AT_WORK(who_watches_is_told_that_lent_rights_end_and_come_back)
{
	struct watching watching;

	let(work, QUERY_ALL);
	watch(&watching, work->alice);
	wfs_authority_lend(work->authority, INT64_MAX - 1);
	assert_int_equal(atomic_load(&watching.told), 0);

	wfs_authority_lend(work->authority, 0);
	assert_int_equal(atomic_load(&watching.told), 1);
	assert_false(atomic_load(&watching.could));
	wfs_authority_lend(work->authority, 0);
	assert_int_equal(atomic_load(&watching.told), 1);
	assert_int_equal(take_back(work, work->operator, "g"), 0);
	assert_int_equal(add_principal(work, work->operator, "bob"), 0);
	let(work, QUERY_ALL);
	assert_false(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));
	wfs_authority_lend(work->authority, INT64_MAX - 1);
	assert_true(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));
	assert_true(atomic_load(&watching.could));
	unwatch(&watching);
}

AT_WORK(lent_rights_that_ended_unnoticed_come_back)
{
	let(work, QUERY_ALL);
	wfs_authority_lend(work->authority, wfs_clock_boottime_ns() + 1);
	assert_false(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));

	wfs_authority_lend(work->authority, INT64_MAX - 1);
	assert_true(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));
}

AT_WORK(a_world_for_reading_is_looked_at_again)
{
	const struct wfs_world_options options = {.read_only = true};
	WFS_AUTO_WORLD struct wfs_world *world = NULL;
	WFS_AUTO_AUTHORITY struct wfs_authority *authority = NULL;
	WFS_AUTO_SESSION struct wfs_session *alice = NULL;
	struct wfs_view view;

	assert_int_equal(wfs_world_open(work->world->directory, &options, &world, &work->error), 0);
	assert_int_equal(wfs_authority_new(world, &authority, &work->error), 0);
	assert_int_equal(wfs_session_new(authority, "alice", &alice, &work->error), 0);
	assert_false(wfs_session_may(alice, WFS_EFFECT_INTROSPECT_MANIFEST));

	let(work, QUERY_ALL);
	assert_int_equal(wfs_session_view(alice, WFS_HEIGHT_HEAD, &view, NULL), 0);
	wfs_view_close(&view);
	assert_true(wfs_session_may(alice, WFS_EFFECT_INTROSPECT_MANIFEST));
}

AT_WORK(refused_reads_are_counted)
{
	const uint64_t before = wfs_authority_refused_total(work->authority);

	assert_int_equal(
		wfs_session_judge(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST, NULL), -EACCES);
	assert_false(wfs_session_may(work->alice, WFS_EFFECT_INTROSPECT_MANIFEST));

	assert_int_equal(wfs_authority_refused_total(work->authority), before + 1);
}

/* --- waiting for requests that were judged by older rights --- */

struct settling {
	const struct wfs_session *session;
	atomic_bool settled;
};

static void *settle(void *context)
{
	struct settling *const settling = context;

	wfs_session_settle(settling->session);
	atomic_store(&settling->settled, true);
	return NULL;
}

AT_WORK(settling_waits_for_requests_that_were_pinned_before)
{
	struct settling settling = {.session = work->alice};
	struct wfs_session_pin old;
	struct wfs_session_pin new;
	pthread_t thread;

	wfs_session_pin(work->alice, &old);
	assert_int_equal(pthread_create(&thread, NULL, settle, &settling), 0);
	/* The new pin does not have to wait, whether it comes before or after the other thread
	 * began to wait. */
	wfs_session_pin(work->alice, &new);
	assert_false(atomic_load(&settling.settled));
	wfs_session_unpin(&old);
	wfs_session_unpin(&new);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&settling.settled));

	wfs_session_pin(work->alice, &old);
	wfs_session_unpin(&old);
	wfs_session_unpin(&old); /* a second time has no effect */
	wfs_session_settle(work->alice);
}
