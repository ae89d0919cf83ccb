/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents that turns are made from must have their form when they are written
 * (kernel/mind/form.h).
 *
 * Folding a record again follows the record: content that an older program accepted stays
 * accepted, and content that it refused stays refused. For this the record of an invocation has
 * the numbers of its refused writes. When it is folded again, code also gets the message of the
 * check, and may have stored it: so messages of kernel/mind/ are part of folding, like everything
 * that code gets.
 */
#include "kernel/domain/action/invoke.h"
#include "kernel/mind/form.h"

/* May the actor learn what is wrong with the content? Only if it has sent the content, or may read
 * it. */
static bool may_be_told(const struct act *act, const struct wfs_document_artifact *artifact)
{
	return act->content.given || wfs_artifact_reads(artifact, act->actor);
}

/* Checks the content as it will be after the action. Return: 0, or the error of a refusal. */
static int check(
	struct act *act, const struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	const struct wfs_mind_compiler compiler = {
		.box = act->fold->box, .author = author_now(act), .budget = &act->fold->budget};
	struct wfs_bytes content;
	int r = artifact_text(act->fold, WFS_BUILTIN_CONTENT, artifact->id, &content, error);

	if (!r)
		r = wfs_mind_form_check(artifact->type, content, &compiler, error);
	if (!r || invoke_fails_all(error) || may_be_told(act, artifact))
		return wfs_trace(r);
	return wfs_error_set(error, error->code,
		"'content': expected one that the type '%s' has, got another one", artifact->type);
}

static bool was_refused(const struct nest *nest, size_t number)
{
	const json_t *const list = json_object_get(nest->recorded, "refused_contents");
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one) {
		if (json_integer_value(one) == (json_int_t)number)
			return true;
	}
	return false;
}

/* Checks a write by running code. */
static int check_within(struct act *act, const struct wfs_document_artifact *artifact,
	size_t number, struct wfs_error *error)
{
	const bool again = act->fold->input.recorded != NULL;

	if (again && !was_refused(act->nest, number))
		return 0;
	int r = check(act, artifact, error);
	if (!r && again)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "refused, as it was before");
	if (!r || invoke_fails_all(error))
		return wfs_trace(r);
	/* On another machine the check may pass. So the code that caused it ends here, which its
	 * record says. */
	if (error->code == WFS_E_RUNTIME_ERROR) {
		act->within->stopped = true;
		return wfs_trace(r);
	}
	return json_array_append_new(
		       act->nest->refused_contents, json_integer((json_int_t)number)) < 0
		? fold_no_memory(error)
		: wfs_trace(r);
}

int artifact_check_content(
	struct act *act, const struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	/* Writes of all types are counted, so that numbers in old records stay right when another
	 * type gets a form. */
	const size_t number = act->within ? act->nest->content_count++ : 0;

	if (!wfs_mind_form_has(artifact->type))
		return 0;
	if (act->within)
		return wfs_trace(check_within(act, artifact, number, error));
	/* The record refuses a refused action before it gets here. */
	return act->fold->input.recorded ? 0 : wfs_trace(check(act, artifact, error));
}
