/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding actions again. Their records name texts only by hash and size, so the texts come from the
 * source; and one of them may be lost.
 */
#include "kernel/check/refold.h"

/* Finds the texts that the record of an action names. */
struct texts {
	struct wfs_action_recorded recorded; /* first: the callback casts back */
	struct wfs_refold *refold;
	uint64_t seq;
};

static int give_text(struct wfs_action_recorded *recorded, const struct wfs_action_text *text,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	const struct texts *const texts = (const struct texts *)recorded;
	const struct wfs_refold_source *const source = texts->refold->source;
	struct wfs_refold_lost *const lost = &texts->refold->lost;
	int r = source->text(source->context, texts->seq, text, buffer, error);

	if (r == -ENODATA && source->unfolded) {
		*lost = (struct wfs_refold_lost){
			.seq = texts->seq, .code = text->code, .hash = text->hash};
		snprintf(lost->artifact_id, sizeof(lost->artifact_id), "%s", text->artifact_id);
	}
	return wfs_trace(r);
}

static int give_hidden(struct wfs_action_recorded *recorded, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	const struct texts *const texts = (const struct texts *)recorded;

	return wfs_trace(wfs_refold_hidden(texts->refold, hash, buffer, error));
}

static bool was_done(const struct wfs_record_parsed *parsed)
{
	return json_is_true(json_object_get(parsed->body.action.result, "ok"));
}

/* Can the action be folded although a text before it is lost? Actions on principals and grants can,
 * if they were done: the reason of a refusal may depend on what is not known. */
static bool is_foldable(const struct wfs_record_parsed *parsed)
{
	return wfs_action_effect(parsed->body.action.action) == WFS_EFFECT_COUNT &&
		was_done(parsed);
}

/* Writes only the line of a record. */
static int append_line(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	struct wfs_bytes line;
	int r = wfs_refold_line(refold, parsed->record.seq, &line, error);

	if (r)
		return wfs_trace(r);
	r = wfs_head_append_line(&refold->head, line, parsed->record.at_ns);
	return r ? wfs_error_from_errno(error, r, "write the folded store") : 0;
}

/* Writes only the line of an action, and tells the source if the action was done. After an auction,
 * records of a score may follow. */
static int take_line(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	const struct wfs_refold_source *const source = refold->source;
	int r = append_line(refold, parsed, error);

	if (r || !was_done(parsed))
		return wfs_trace(r);
	if (wfs_action_effect(parsed->body.action.action) == WFS_EFFECT_ACTION_RESOLVE_MINT)
		refold->lost.asked = parsed->record.seq;
	return wfs_trace(source->unfolded(source->context, parsed, error));
}

/* Takes an action that cannot be folded. If it is a tool call, its answer is folded, so the turn
 * goes on. */
static int take_unfolded(struct wfs_refold *refold, const struct wfs_record_parsed *parsed,
	struct wfs_fold_input *input, struct wfs_error *error)
{
	const struct wfs_refold_source *const source = refold->source;

	if (!input->intent_id)
		return wfs_trace(take_line(refold, parsed, error));
	input->unacted = true;
	int r = wfs_refold_again(refold, parsed, input, error);
	return wfs_trace(r || refold->differs || !was_done(parsed)
			? r
			: source->unfolded(source->context, parsed, error));
}

int wfs_refold_action(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	const struct wfs_body_action *const body = &parsed->body.action;
	const uint64_t seq = parsed->record.seq;
	struct texts texts = {
		.recorded = {give_hidden, give_text, body->result}, .refold = refold, .seq = seq};
	struct wfs_fold_input input = {.action = body->action,
		.intent_id = body->intent_id,
		.charge = body->grant,
		.recorded = &texts.recorded};
	int r = 0;

	if (!refold->lost.seq || is_foldable(parsed))
		r = wfs_refold_again(refold, parsed, &input, error);
	else
		return wfs_trace(take_unfolded(refold, parsed, &input, error));
	if (!r && refold->lost.seq == seq)
		r = take_unfolded(refold, parsed, &input, error);
	return wfs_trace(r);
}

/* An auction asks for one score; its intent and the answer are the next two records. */
int wfs_refold_score(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	const uint64_t asked = refold->lost.asked;
	const struct wfs_record *const record = &parsed->record;
	const bool is_intent = record->kind == WFS_RECORD_INTENT && record->seq == asked + 1 &&
		strcmp(parsed->body.intent.effect, wfs_effect_kind(WFS_EFFECT_MINT_SCORE)) == 0;
	const bool is_answer =
		(record->kind == WFS_RECORD_RECEIPT || record->kind == WFS_RECORD_DECISION) &&
		record->seq == asked + 2;

	if (!asked || record->cause + 1 != record->seq || (!is_intent && !is_answer))
		return wfs_refold_differs(refold, record->seq, "is in the wrong place");
	return wfs_trace(append_line(refold, parsed, error));
}

/* Is the line what folding gives, but for `changes`, which depend on cells of built-in reducers?
 * Return: 1, 0, or -ENOMEM. */
static int is_folded(const struct wfs_refold *refold, size_t index, struct wfs_bytes line)
{
	struct wfs_record record = wfs_fold_record(refold->fold, &refold->head, index);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	WFS_AUTO_BUFFER struct wfs_buffer ours = {0};
	int r = wfs_record_parse(line, &parsed, NULL);

	if (r)
		return r == -ENOMEM ? r : 0;
	record.changed = parsed.record.changed;
	record.changes = parsed.record.changes;
	wfs_record_write(&ours, &record);
	r = wfs_buffer_check(&ours);
	return r ? r : wfs_bytes_equal(wfs_buffer_bytes(&ours), line);
}

int wfs_refold_apply(struct wfs_refold *refold, size_t index, struct wfs_error *error)
{
	const uint64_t seq = refold->head.height;
	struct wfs_bytes line;
	int r = wfs_refold_line(refold, seq, &line, error);

	if (r == -ENOENT)
		return wfs_refold_differs(refold, seq, "is missing: folding gives one more record");
	if (r)
		return wfs_trace(r);
	r = is_folded(refold, index, line);
	if (r == 0)
		return wfs_refold_differs(refold, seq, "is not the one that folding gives");
	if (r > 0)
		r = wfs_fold_apply_record(refold->fold, &refold->head, index, &line);
	return r ? wfs_error_from_errno(error, r, "write the folded store") : 0;
}
