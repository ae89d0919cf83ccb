/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of a turn, and reading artifacts as its agent. */
#include "agents/prepare/prepare-impl.h"

#include <semaphore.h>
#include <stdarg.h>

#include "agents/mind/template.h"
#include "caps/session-act.h"
#include "caps/session-read.h"
#include "caps/session.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/base/text.h"
#include "kernel/mind/turn-bounds.h"
#include "kernel/value/bounds.h"

int prepare_no_memory(struct wfs_error *error)
{
	return wfs_error_from_errno(error, -ENOMEM, "prepare a turn");
}

/* --- notes --- */

/* The reason and the reference may quote a private text, so the log has neither. */
void agents_log_fallback(const struct wfs_session *session, const char *stage, const char *fallback)
{
	wfs_log_for(wfs_session_principal(session), WFS_LOG_AGENTS, WFS_LOG_WARNING,
		"'%s': the artifact that its configuration names for %s is not used, using "
		"'%s' instead; the TurnNote in events.jsonl of the turn says why",
		wfs_session_principal(session), stage, fallback);
}

int prepare_note(struct preparing *turn, const char *stage, const char *reference,
	const char *fallback, struct wfs_error *error, const char *format, ...)
{
	char reason[WFS_TURN_NOTE_MAX + 1];
	char shown[WFS_TURN_NOTE_MAX + 1]; /* a reference may be any text */
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	wfs_utf8_clean(reason, strlen(reason));
	if (fallback)
		agents_log_fallback(turn->session, stage, fallback);
	snprintf(shown, sizeof(shown), "%s", reference);
	wfs_utf8_clean(shown, strlen(shown));
	return json_array_append_new(turn->notes,
		       json_pack("{s:s?, s:s, s:s, s:s}", "fallback", fallback, "reason", reason,
			       "reference", shown, "stage", stage)) < 0
		? prepare_no_memory(error)
		: 0;
}

/* A note is an event, which every principal that sees the turn can read. */
int prepare_not_quoted(const struct preparing *turn, int r, struct wfs_error *reason)
{
	if (r && !prepare_ends_all(r) && agents_origin_is_private(turn->origin))
		(void)wfs_error_set(reason, reason->code, "%s; " AGENTS_REASON_LEFT_OUT,
			wfs_error_info(reason->code)->name);
	return r;
}

/* --- acting as the agent --- */

/* An action for whose answer a thread waits. */
struct acting {
	struct wfs_request request;
	sem_t done;
};

static void acted(struct wfs_request *request)
{
	struct acting *const acting = (struct acting *)request;

	(void)sem_post(&acting->done);
}

int prepare_act(struct preparing *turn, const json_t *action, const json_t *of, json_t **ret_data,
	struct wfs_error *error)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct acting acting = {.request = {.done = acted, .action.of = of}};

	if (sem_init(&acting.done, 0, 0))
		return wfs_error_from_errno(error, -errno, "act");
	int r = wfs_session_act(turn->session, action, &acting.request);
	if (!r) {
		while (sem_wait(&acting.done) && errno == EINTR)
			;
		r = acting.request.result;
	}
	(void)sem_destroy(&acting.done);
	WFS_AUTO_JSON json_t *answer = acting.request.answer;
	if (r) {
		*error = acting.request.error;
		return r;
	}
	r = wfs_session_view(turn->session, WFS_HEIGHT_HEAD, &view, error);
	if (!r)
		r = agents_origin_add(turn->origin, &view, action, error);
	if (!r)
		*ret_data = json_incref(json_object_get(answer, "data"));
	return r;
}

bool prepare_ends_all(int r)
{
	return r == -ENOMEM || r == -ENOSPC || r == -EAGAIN || r == -EINTR;
}

int prepare_missing(struct preparing *turn, int r, const char *stage, const char *reference,
	const char *fallback, struct wfs_error *error)
{
	if (!prepare_ends_all(r))
		return prepare_note(
			turn, stage, reference, fallback, error, "%s", turn->reason.message);
	*error = turn->reason;
	return r;
}

/* --- reading --- */

int prepare_read_artifact(struct preparing *turn, const char *id, const json_t **ret_artifact,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *action =
		json_pack("{s:s, s:s}", "action_type", "read_artifact", "artifact_id", id);
	WFS_AUTO_JSON json_t *data = NULL;

	*ret_artifact = json_object_get(turn->read, id);
	if (*ret_artifact)
		return 0;
	int r = action ? prepare_act(turn, action, NULL, &data, error) : prepare_no_memory(error);
	if (r)
		return r;
	*ret_artifact = json_object_get(data, "artifact");
	return json_object_set(turn->read, id, (json_t *)(uintptr_t)*ret_artifact) < 0
		? prepare_no_memory(error)
		: 0;
}

int prepare_read_reference(struct preparing *turn, const char *reference,
	const json_t **ret_artifact, const char **ret_fragment, struct wfs_error *error)
{
	struct wfs_bytes id;
	char library[WFS_ARTIFACT_ID_MAX + 1];
	int r = -ENOENT;

	/* The library comes first: otherwise any principal could replace its prompts. */
	if (wfs_mind_reference_split(reference, &id, ret_fragment) && id.size < sizeof(library)) {
		snprintf(library, sizeof(library), "%.*s", (int)id.size, (const char *)id.data);
		r = prepare_read_artifact(turn, library, ret_artifact, error);
	}
	if (r != -ENOENT)
		return r;
	*ret_fragment = NULL;
	return prepare_read_artifact(turn, reference, ret_artifact, error);
}

int prepare_read_prompt(
	struct preparing *turn, const char *reference, json_t **ret_prompt, struct wfs_error *error)
{
	const json_t *artifact;
	const char *fragment;
	int r = prepare_read_reference(turn, reference, &artifact, &fragment, error);

	if (r)
		return r;
	r = wfs_mind_prompt_read(
		wfs_text_of(json_object_get(artifact, "content")), fragment, ret_prompt, error);
	return prepare_not_quoted(turn, r, error);
}

const char *prepare_reference_of(const json_t *object, const char *member)
{
	const char *const reference = json_string_value(json_object_get(object, member));

	return reference && *reference ? reference : NULL;
}

int prepare_set_variable(
	struct preparing *turn, const char *name, json_t *value, struct wfs_error *error)
{
	return json_object_set_new(turn->variables, name, value) < 0 ? prepare_no_memory(error) : 0;
}
