/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the private texts of an action: the members for which its record has stand-ins
 * (kernel/read/text.h), and the private artifacts to which its output belongs.
 *
 * They are found before the action is done: a rule that the action itself changes does not count.
 */
#include "kernel/domain/action/invoke.h"

#include "kernel/base/json.h"
#include "kernel/domain/action/service.h"
#include "kernel/read/view-document.h"

/* --- which texts are private --- */

/* A sender may repeat in `reasoning` what another member hides. */
static const char *const hides_arguments[] = {"args", "reasoning", NULL};
static const char *const hides_edit[] = {"old_string", "new_string", "reasoning", NULL};
static const char *const hides_write[] = {"reasoning", NULL};

/* Finds artifacts. Embedded in a struct that has the source. */
struct finder {
	/* @ret_artifact: its `own.json` is NULL if no artifact has this id */
	int (*find)(struct finder *finder, const char *id,
		struct wfs_document_artifact *ret_artifact, struct wfs_error *error);
};

/* An action whose private texts are sought. */
struct looking {
	const struct wfs_domain *const *domains;
	struct finder *finder;
	const json_t *action;
	struct wfs_document_artifact artifact; /* found for the action; zeros: none */
	struct wfs_privacy privacy;
	struct wfs_error *error;
};

static const char *method_of(const struct looking *looking)
{
	const json_t *const method = json_object_get(looking->action, "method");

	return json_is_string(method) ? json_string_value(method) : "run";
}

/* Finds looking->artifact. */
static int find(struct looking *looking, const char *id)
{
	return wfs_grant_name_valid(id)
		? looking->finder->find(looking->finder, id, &looking->artifact, looking->error)
		: 0;
}

/* Finds an artifact, and adds it to `privacy.of` if it is private.
 * Return: 1 (it exists, and is open to everybody), 0, -errno. */
static int note_artifact(struct looking *looking, const char *id)
{
	int r = find(looking, id);

	if (r || !looking->artifact.own.json)
		return wfs_trace(r);
	if (wfs_artifact_is_open(&looking->artifact))
		return 1;
	return json_array_append_new(looking->privacy.of, json_string(id)) < 0
		? fold_no_memory(looking->error)
		: 0;
}

/* Hides the arguments of a service, unless they can be parsed and name no memory store, or one
 * that everybody may read. */
static int look_at_service(struct looking *looking, const struct service *service)
{
	SERVICE_CALL_AUTO struct service_call call = {.act = NULL};
	const json_t *const args = json_object_get(looking->action, "args");
	WFS_AUTO_JSON json_t *none = json_array();
	struct wfs_error reason = {0};

	if (!none)
		return fold_no_memory(looking->error);
	int r = service_parse(
		service, method_of(looking), json_is_array(args) ? args : none, &call, &reason);
	const char *const memory = r ? "" : service_text(&call, "memory");
	if (!r && !*memory)
		return 0;
	r = r ? 0 : note_artifact(looking, memory);
	if (r == 0)
		looking->privacy.members = hides_arguments;
	return r < 0 ? wfs_trace(r) : 0;
}

static int look_at_invocation(struct looking *looking, const char *id)
{
	const struct service *const service = service_find(looking->domains, id);

	if (service)
		return wfs_trace(look_at_service(looking, service));
	int r = note_artifact(looking, id);
	const bool found = r >= 0 && looking->artifact.own.json;
	looking->privacy.secret =
		found && interface_has_secrets(looking->artifact.interface, method_of(looking));
	if (looking->privacy.secret || (r == 0 && found))
		looking->privacy.members = hides_arguments;
	return r < 0 ? wfs_trace(r) : 0;
}

/* A written text belongs to the artifact by the rule that the artifact has after the write. A new
 * artifact is not noted yet: the write may fail, and somebody else may make an artifact with that
 * id. */
static int look_at_write(struct looking *looking, const char *id)
{
	const json_t *const access = json_object_get(looking->action, "access");
	const json_t *const price =
		json_object_get(json_object_get(looking->action, "policy"), "read_price");
	int r = find(looking, id);

	if (r)
		return wfs_trace(r);
	const bool found = looking->artifact.own.json != NULL;
	struct wfs_document_artifact after = looking->artifact;
	if (!found) {
		after.access = "freeware";
		after.id = id;
		after.owner = id;
	}
	if (json_is_string(access))
		after.access = json_string_value(access);
	if (price)
		after.read_price = json_integer_value(price);
	looking->privacy.writes = !wfs_artifact_is_open(&after);
	if (!looking->privacy.writes)
		return 0;
	looking->privacy.members = hides_write;
	return found && json_array_append_new(looking->privacy.of, json_string(id)) < 0
		? fold_no_memory(looking->error)
		: 0;
}

static int privacy_of(const struct wfs_domain *const *domains, struct finder *finder,
	const json_t *action, struct wfs_privacy *ret_privacy, struct wfs_error *error);

static const char *const hides_action[] = {"action", "reasoning", NULL};

/* Of a timer whose action has private texts, only the sender sees the action. */
static int look_at_schedule(struct looking *looking)
{
	const json_t *const action = json_object_get(looking->action, "action");
	WFS_AUTO_PRIVACY struct wfs_privacy privacy = {.of = NULL};
	int r = privacy_of(looking->domains, looking->finder, action, &privacy, looking->error);

	looking->privacy.secret = !r && wfs_privacy_hides(&privacy, action);
	if (looking->privacy.secret)
		looking->privacy.members = hides_action;
	return wfs_trace(r);
}

static int look(struct looking *looking)
{
	const char *const id = wfs_json_text(looking->action, "artifact_id");
	int r;

	switch (wfs_action_effect(looking->action)) {
	case WFS_EFFECT_ACTION_INVOKE_ARTIFACT:
		return wfs_trace(look_at_invocation(looking, id));
	case WFS_EFFECT_ACTION_READ_ARTIFACT:
		r = note_artifact(looking, id);
		return r < 0 ? wfs_trace(r) : 0;
	case WFS_EFFECT_ACTION_EDIT_ARTIFACT:
		r = note_artifact(looking, id);
		if (r == 0)
			looking->privacy.members = hides_edit;
		return r < 0 ? wfs_trace(r) : 0;
	case WFS_EFFECT_ACTION_WRITE_ARTIFACT:
		return wfs_trace(look_at_write(looking, id));
	case WFS_EFFECT_ACTION_SCHEDULE:
		return wfs_trace(look_at_schedule(looking));
	default:
		return 0;
	}
}

void wfs_privacy_done(struct wfs_privacy *privacy)
{
	json_decref(privacy->of);
	privacy->of = NULL;
}

static int privacy_of(const struct wfs_domain *const *domains, struct finder *finder,
	const json_t *action, struct wfs_privacy *ret_privacy, struct wfs_error *error)
{
	static const char *const none[] = {NULL};
	struct looking looking = {
		.domains = domains,
		.finder = finder,
		.action = action,
		.privacy = {.of = json_array(), .members = none},
		.error = error,
	};
	int r = looking.privacy.of ? look(&looking) : fold_no_memory(error);

	wfs_document_done(&looking.artifact);
	if (r)
		wfs_privacy_done(&looking.privacy);
	else
		*ret_privacy = looking.privacy;
	return wfs_trace(r);
}

bool wfs_privacy_hides(const struct wfs_privacy *privacy, const json_t *action)
{
	for (const char *const *member = privacy->members; *member; member++)
		if (json_object_get(action, *member))
			return true;
	return privacy->writes &&
		(json_object_get(action, "content") || json_object_get(action, "code"));
}

json_t *wfs_privacy_said(const struct wfs_privacy *privacy)
{
	return privacy->secret ? json_array() : json_incref(privacy->of);
}

/* --- finders --- */

struct view_finder {
	struct finder finder; /* first: the callback casts back */
	struct wfs_view *view;
};

static int find_in_view(struct finder *finder, const char *id,
	struct wfs_document_artifact *ret_artifact, struct wfs_error *error)
{
	const struct view_finder *const self = (const struct view_finder *)finder;
	int r = wfs_view_read_artifact(self->view, id, ret_artifact, error);

	return r == -ENOENT ? 0 : wfs_trace(r);
}

int action_privacy(const struct wfs_domain *const *domains, struct wfs_view *view,
	const json_t *action, struct wfs_privacy *ret_privacy, struct wfs_error *error)
{
	struct view_finder finder = {{find_in_view}, view};

	return wfs_trace(privacy_of(domains, &finder.finder, action, ret_privacy, error));
}

struct fold_finder {
	struct finder finder; /* first: the callback casts back */
	struct wfs_fold *fold;
};

static int find_in_fold(struct finder *finder, const char *id,
	struct wfs_document_artifact *ret_artifact, struct wfs_error *error)
{
	const struct fold_finder *const self = (const struct fold_finder *)finder;

	return wfs_trace(fold_read_artifact(self->fold, id, ret_artifact, error));
}

/* --- hiding --- */

/* Gives the record a stand-in for a member, if the action has it. */
static int hide(struct act_hiding *hiding, const json_t *action, const char *member,
	struct wfs_error *error)
{
	const json_t *const value = json_object_get(action, member);
	json_t *stand_in;

	if (!value)
		return 0;
	WFS_AUTO_JSON json_t *of = wfs_privacy_said(&hiding->privacy);
	if (!of)
		return fold_no_memory(error);
	int r = wfs_text_hide(&hiding->act->fold->texts, of, value, &stand_in);
	if (r)
		return wfs_error_from_errno(error, r, "hide a private text");
	return json_object_set_new(hiding->members, member, stand_in) < 0 ? fold_no_memory(error)
									  : 0;
}

/* Is it content or code of a write? Its record has only hash and size anyway. */
static bool is_hashed(const json_t *action, const char *member)
{
	return wfs_action_effect(action) == WFS_EFFECT_ACTION_WRITE_ARTIFACT &&
		(strcmp(member, "content") == 0 || strcmp(member, "code") == 0);
}

/* Hides members that look like stand-ins, so that everything in a record that looks like one is
 * one. */
static int hide_alike(struct act_hiding *hiding, const json_t *action, struct wfs_error *error)
{
	const char *member;
	json_t *value;
	int r = 0;

	json_object_foreach((json_t *)(uintptr_t)action, member, value) {
		if (!r && !is_hashed(action, member) && wfs_text_has_hidden(value) &&
			!json_object_get(hiding->members, member))
			r = hide(hiding, action, member, error);
	}
	return wfs_trace(r);
}

/* Hides arguments that the sender made of private texts, whichever artifact is invoked. If one of
 * the texts is only for the principal, all of them are. */
static int add_senders(struct act_hiding *hiding, const json_t *action, struct wfs_error *error)
{
	const json_t *const of = hiding->act->fold->input.of;
	struct wfs_privacy *const privacy = &hiding->privacy;
	const bool alone = json_array_size(of) == 0 ||
		(wfs_privacy_hides(privacy, action) && json_array_size(privacy->of) == 0);

	if (of && wfs_action_effect(action) == WFS_EFFECT_ACTION_SCHEDULE) {
		privacy->members = hides_action;
		privacy->secret = true;
	}
	if (!of || wfs_action_effect(action) != WFS_EFFECT_ACTION_INVOKE_ARTIFACT)
		return 0;
	privacy->members = hides_arguments;
	if (alone ? json_array_clear(privacy->of) : wfs_json_add_missing(privacy->of, of))
		return fold_no_memory(error);
	return 0;
}

int act_hide(struct act_hiding *hiding, const json_t *action, struct wfs_error *error)
{
	struct fold_finder finder = {{find_in_fold}, hiding->act->fold};
	int r = privacy_of(
		hiding->act->fold->domains, &finder.finder, action, &hiding->privacy, error);

	if (!r)
		r = add_senders(hiding, action, error);
	if (r)
		return wfs_trace(r);
	hiding->members = json_object();
	if (!hiding->members)
		return fold_no_memory(error);
	for (const char *const *member = hiding->privacy.members; !r && *member; member++)
		r = hide(hiding, action, *member, error);
	return wfs_trace(r ? r : hide_alike(hiding, action, error));
}

void act_hiding_done(struct act_hiding *hiding)
{
	wfs_privacy_done(&hiding->privacy);
	json_decref(hiding->members);
}

/* --- out of a journal --- */

/* Source of the texts that replace stand-ins. */
struct revealing {
	struct wfs_action_recorded *recorded;
	struct wfs_error *error;
};

static int reveal(void *context, const json_t *stand_in, json_t **ret_value)
{
	const struct revealing *const revealing = context;
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	struct wfs_hash hash;

	(void)wfs_text_is_hidden(stand_in, &hash);
	int r = revealing->recorded->hidden(revealing->recorded, &hash, &bytes, revealing->error);
	if (r)
		return wfs_trace(r);
	r = wfs_text_value(wfs_buffer_bytes(&bytes), ret_value);
	return r ? wfs_error_from_errno(revealing->error, r, "read a private text") : 1;
}

int act_reveal(struct wfs_action_recorded *recorded, const json_t *document, json_t **ret_copy,
	struct wfs_error *error)
{
	struct revealing revealing = {recorded, error};
	int r = wfs_text_reveal(document, reveal, &revealing, ret_copy);

	if (r && error->code == WFS_OK)
		return fold_no_memory(error);
	if (r && !invoke_fails_all(error))
		error->code = WFS_E_INTERNAL_ERROR; /* not the reason of the refusal */
	return wfs_trace(r);
}
