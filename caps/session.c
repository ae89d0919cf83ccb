/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: making and freeing them, judging, and waiting for requests in progress. */
#include "caps/caps-impl.h"

#include <inttypes.h>

#include "kernel/base/clock.h"

static struct session_pins *pins_new(void)
{
	struct session_pins *pins = calloc(1, sizeof(*pins));

	if (!pins)
		return NULL;
	pthread_mutex_init(&pins->lock, NULL);
	pthread_cond_init(&pins->unpinned, NULL);
	return pins;
}

static void pins_free(struct session_pins *pins)
{
	if (!pins)
		return;
	pthread_cond_destroy(&pins->unpinned);
	pthread_mutex_destroy(&pins->lock);
	free(pins);
}

int wfs_session_new(struct wfs_authority *authority, const char *principal,
	struct wfs_session **ret_session, struct wfs_error *error)
{
	WFS_AUTO_SESSION struct wfs_session *session = calloc(1, sizeof(*session));

	if (session)
		session->pins = pins_new();
	if (!session || !session->pins)
		return wfs_error_from_errno(error, -ENOMEM, "begin a session");
	session->authority = authority;
	int r = wfs_authority_hold(authority, principal, &session->holder, error);
	if (r)
		return r;
	*ret_session = WFS_STEAL(session);
	return 0;
}

void wfs_session_connect(struct wfs_session *session, uint64_t connection)
{
	session->connection = connection;
	if (strcmp(wfs_session_principal(session), WFS_PRINCIPAL_OPERATOR) == 0)
		/* No principal has a name with a slash. */
		snprintf(session->queue, sizeof(session->queue), WFS_PRINCIPAL_OPERATOR "/%" PRIu64,
			connection);
}

void wfs_session_connect_as(struct wfs_session *session, const struct wfs_session *other)
{
	session->connection = other->connection;
	memcpy(session->queue, other->queue, sizeof(session->queue));
}

void session_sign(const struct wfs_session *session, struct wfs_request *request)
{
	request->principal = wfs_session_principal(session);
	request->connection = session->connection;
	request->queued_as = session->queue[0] ? session->queue : NULL;
}

void wfs_session_free(struct wfs_session *session)
{
	if (!session)
		return;
	wfs_authority_release(session->authority, session->holder);
	pins_free(session->pins);
	session_notes_free(session->notes);
	free(session);
}

const char *wfs_session_principal(const struct wfs_session *session)
{
	return wfs_holder_principal(session->holder);
}

struct wfs_authority *wfs_session_authority(const struct wfs_session *session)
{
	return session->authority;
}

struct wfs_world *session_world(const struct wfs_session *session)
{
	return wfs_authority_world(session->authority);
}

/* --- judging --- */

int session_rights(const struct wfs_session *session, struct wfs_rights **ret_rights,
	struct wfs_question *question)
{
	*ret_rights = wfs_authority_rights(session->authority, session->holder, &question->height);
	question->origin = WFS_ORIGIN_HOST;
	question->now_ns = wfs_clock_realtime_ns();
	question->approved |= session->approved && question->effect == session->approves;
	return *ret_rights ? 0 : -ENOMEM;
}

int session_refused(const struct wfs_session *session, const struct wfs_rights *rights,
	const struct wfs_question *question, const struct wfs_verdict *verdict,
	struct wfs_error *error)
{
	if (verdict->code == WFS_OK)
		return 0;
	wfs_authority_refused(session->authority);
	return wfs_rights_explain(rights, question, verdict, error);
}

int wfs_session_judge(
	const struct wfs_session *session, enum wfs_effect effect, struct wfs_error *error)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = {.effect = effect, .of_any = true};
	int r = session_rights(session, &rights, &question);

	if (r)
		return wfs_error_from_errno(error, r, "judge a request");
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	return session_refused(session, rights, &question, &verdict, error);
}

bool wfs_session_may(const struct wfs_session *session, enum wfs_effect effect)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = {.effect = effect, .of_any = true};

	return session_rights(session, &rights, &question) == 0 &&
		wfs_rights_judge(rights, &question).code == WFS_OK;
}

/* --- rights that change --- */

int wfs_session_watch(const struct wfs_session *session, struct wfs_rights_watcher *watcher)
{
	return wfs_authority_watch(session->authority, session->holder, watcher);
}

void wfs_session_unwatch(const struct wfs_session *session, struct wfs_rights_watcher *watcher)
{
	wfs_authority_unwatch(session->authority, session->holder, watcher);
}

void wfs_session_pin(const struct wfs_session *session, struct wfs_session_pin *ret_pin)
{
	struct session_pins *const pins = session->pins;
	WFS_GUARD(&pins->lock);

	*ret_pin = (struct wfs_session_pin){session, pins->generation};
	pins->counts[pins->generation & 1]++;
}

void wfs_session_unpin(struct wfs_session_pin *pin)
{
	if (!pin->session)
		return;
	struct session_pins *const pins = pin->session->pins;
	WFS_GUARD(&pins->lock);

	if (--pins->counts[pin->generation & 1] == 0)
		pthread_cond_signal(&pins->unpinned);
	pin->session = NULL;
}

void wfs_session_settle(const struct wfs_session *session)
{
	struct session_pins *const pins = session->pins;
	WFS_GUARD(&pins->lock);
	const unsigned int old = pins->generation++ & 1;

	while (pins->counts[old] > 0)
		pthread_cond_wait(&pins->unpinned, &pins->lock);
}

bool wfs_session_queries(const struct wfs_session *session)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = {.effect = WFS_EFFECT_INTROSPECT_JOURNAL_HEAD};

	return session_rights(session, &rights, &question) == 0 &&
		wfs_rights_hold(rights, wfs_effect_cap_type(question.effect), question.now_ns);
}
