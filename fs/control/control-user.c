/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The users of a control connection. With --allow-other any local user reaches the files. Each
 * acts as the principal that it is at the control socket, or cannot act, and has a `last` of its
 * own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "caps/session.h"
#include "fs/control/control-impl.h"
#include "kernel/manifest/manifest.h"

/* @ret_principal: of the user; "": none */
static void user_principal(const struct wfs_control *control, uid_t uid,
	char ret_principal[static WFS_GRANT_NAME_MAX + 1])
{
	ret_principal[0] = '\0';
	if (!control->allow_other || control->act || uid == control->uid)
		snprintf(ret_principal, WFS_GRANT_NAME_MAX + 1, "%s",
			wfs_session_principal(control->session));
	else if (control->trusted)
		(void)wfs_peers_principal(control->peers, uid, ret_principal);
}

/* Lock: control->mutex. */
static struct wfs_control_user *user_find(
	struct wfs_control *control, uid_t uid, const char *principal)
{
	struct wfs_control_user *user = control->users;

	while (user && (user->uid != uid || strcmp(user->principal, principal) != 0))
		user = user->next;
	return user;
}

/* Lock: control->mutex. */
static bool has_room(const struct wfs_control *control, bool stranger)
{
	return control->user_count < WFS_CONTROL_USERS_MAX &&
		(!stranger || control->stranger_count < WFS_CONTROL_STRANGERS_MAX);
}

/* Lock: control->mutex. Return: NULL without memory, or room. */
static struct wfs_control_user *user_add(
	struct wfs_control *control, uid_t uid, const char *principal)
{
	const bool stranger = !*principal;
	struct wfs_control_user *const user =
		has_room(control, stranger) ? calloc(1, sizeof(*user)) : NULL;

	if (!user)
		return NULL;
	control->stranger_count += stranger;
	user->uid = uid;
	snprintf(user->principal, sizeof(user->principal), "%s", principal);
	user->operates = strcmp(principal, WFS_PRINCIPAL_OPERATOR) == 0;
	user->next = control->users;
	control->users = user;
	control->user_count++;
	return user;
}

/* Puts an error into the user's `last`. Lock: control->mutex. */
static void user_refuse(struct wfs_control_user *user, const struct wfs_error *error, int r)
{
	const struct wfs_call call = {.status = r, .error = *error};

	wfs_buffer_reset(&user->last);
	wfs_control_render(&call, &user->last);
}

/* Gives the user a session. Lock: control->mutex. Return: 0, or -errno with @error. */
static int user_enter(
	struct wfs_control *control, struct wfs_control_user *user, struct wfs_error *error)
{
	const struct wfs_session *const own = control->session;

	if (user->session)
		return 0;
	if (!*user->principal)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"user %u is not a principal of this world and may only read the tree; %s",
			(unsigned int)user->uid,
			control->trusted
				? "'uids' in the world's host.json names the users who may act"
				: "in a mount that the operator did not make, or made in another "
				  "user namespace (a container), or that root made of a world "
				  "which another user serves, only its user acts");
	if (strcmp(user->principal, wfs_session_principal(own)) == 0) {
		user->session = own;
		return 0;
	}
	const int r =
		wfs_session_new(wfs_session_authority(own), user->principal, &user->owned, error);
	user->session = r ? NULL : user->owned;
	return r;
}

int wfs_control_user_find(
	struct wfs_control *control, uid_t uid, bool acts, struct wfs_control_user **ret_user)
{
	char principal[WFS_GRANT_NAME_MAX + 1];
	struct wfs_error error = {.code = WFS_OK};
	int r;

	user_principal(control, uid, principal);
	WFS_GUARD(&control->mutex);
	struct wfs_control_user *user = user_find(control, uid, principal);
	if (!user)
		user = user_add(control, uid, principal);
	if (!user)
		return has_room(control, !*principal) ? -ENOMEM : -ENFILE;
	r = acts ? user_enter(control, user, &error) : 0;
	if (r)
		user_refuse(user, &error, r);
	else
		*ret_user = user;
	return r;
}

void wfs_control_user_refuse(struct wfs_control *control, struct wfs_control_user *user,
	const struct wfs_error *error, int r)
{
	WFS_GUARD(&control->mutex);

	user_refuse(user, error, r);
}

void wfs_control_users_free(struct wfs_control *control)
{
	while (control->users) {
		struct wfs_control_user *const user = control->users;

		control->users = user->next;
		wfs_session_free(user->owned);
		wfs_buffer_done(&user->last);
		free(user);
	}
}
