/* SPDX-License-Identifier: Apache-2.0 */
/* Record lines: writing from canonical parts, parsing back. */
#include "kernel/read/record.h"

#include <inttypes.h>

#include "kernel/base/encode.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"

enum {
	RECORD_VERSION = 1,
	RECORD_MEMBERS = 9, /* all are required, so a record with more has an unknown one */
};

static const char *const kind_names[] = {
#define KIND_NAME(constant, name) #name,
	WFS_RECORD_KINDS(KIND_NAME)
#undef KIND_NAME
};

const char *wfs_record_kind_name(enum wfs_record_kind kind)
{
	wfs_require(kind < WFS_RECORD_KIND_COUNT);
	return kind_names[kind];
}

static void append_hash(struct wfs_buffer *buffer, const struct wfs_hash *hash)
{
	wfs_buffer_append_byte(buffer, '"');
	wfs_buffer_append(buffer, WFS_HASH_TEXT(hash), WFS_HASH_TEXT_SIZE - 1);
	wfs_buffer_append_byte(buffer, '"');
}

/* Writes members in the order that RFC 8785 asks for. */
void wfs_record_write(struct wfs_buffer *buffer, const struct wfs_record *record)
{
	wfs_buffer_append_text(buffer, "{\"at_ns\":");
	wfs_buffer_append_int(buffer, record->at_ns);
	wfs_buffer_append_text(buffer, ",\"body\":");
	wfs_buffer_append(buffer, record->body.data, record->body.size);
	wfs_buffer_append_text(buffer, ",\"cause\":");
	if (record->derived)
		wfs_buffer_append_int(buffer, (int64_t)record->cause);
	else
		wfs_buffer_append_text(buffer, "null");
	wfs_buffer_append_text(buffer, ",\"changes\":");
	if (record->changed)
		append_hash(buffer, &record->changes);
	else
		wfs_buffer_append_text(buffer, "null");
	wfs_buffer_append_text(buffer, ",\"kind\":\"");
	wfs_buffer_append_text(buffer, wfs_record_kind_name(record->kind));
	wfs_buffer_append_text(buffer, "\",\"prev\":");
	append_hash(buffer, &record->prev);
	wfs_buffer_append_text(buffer, ",\"principal\":");
	wfs_json_write_string(buffer, record->principal, strlen(record->principal));
	wfs_buffer_append_text(buffer, ",\"seq\":");
	wfs_buffer_append_int(buffer, (int64_t)record->seq);
	wfs_buffer_append_text(buffer, ",\"v\":1}\n");
}

/* Records have one form of a hash; wfs_hash_parse() takes others, too, which people may type. */
static int parse_hash_member(const json_t *json, const char *name, struct wfs_hash *ret_hash)
{
	const char *member;
	int r = wfs_json_get_string(json, name, &member, NULL);

	if (!r)
		r = wfs_hash_parse(member, strlen(member), ret_hash, NULL);
	return !r && strcmp(member, WFS_HASH_TEXT(ret_hash)) == 0 ? 0 : -EINVAL;
}

static int parse_kind(const char *name, enum wfs_record_kind *ret_kind)
{
	for (size_t i = 0; i < WFS_RECORD_KIND_COUNT; i++) {
		if (strcmp(name, kind_names[i]) == 0) {
			*ret_kind = (enum wfs_record_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_members(const json_t *json, struct wfs_record_parsed *parsed)
{
	struct wfs_record *record = &parsed->record;
	const json_t *cause = json_object_get(json, "cause");
	const json_t *seq = json_object_get(json, "seq");
	const json_t *at_ns = json_object_get(json, "at_ns");
	const char *kind;
	int r = wfs_json_get_string(json, "kind", &kind, NULL);

	if (!r)
		r = parse_kind(kind, &record->kind);
	if (!r)
		r = wfs_json_get_string(json, "principal", &record->principal, NULL);
	if (r || json_integer_value(json_object_get(json, "v")) != RECORD_VERSION ||
		json_object_size(json) != RECORD_MEMBERS)
		return -EINVAL;
	if (!json_is_integer(seq) || json_integer_value(seq) < 0 || !json_is_integer(at_ns))
		return -EINVAL;
	if (!json_is_null(cause) && (!json_is_integer(cause) || json_integer_value(cause) < 0))
		return -EINVAL;
	record->seq = (uint64_t)json_integer_value(seq);
	record->at_ns = json_integer_value(at_ns);
	record->derived = json_is_integer(cause);
	record->cause = record->derived ? (uint64_t)json_integer_value(cause) : 0;
	record->changed = !json_is_null(json_object_get(json, "changes"));
	if (record->changed && parse_hash_member(json, "changes", &record->changes))
		return -EINVAL;
	return parse_hash_member(json, "prev", &record->prev);
}

struct wfs_fired wfs_fired_of(enum wfs_record_kind kind, const union wfs_body *body)
{
	if (kind == WFS_RECORD_ACTION)
		return (struct wfs_fired){
			.timer = body->action.timer, .due_ns = body->action.due_ns};
	if (kind == WFS_RECORD_EVENT)
		return (struct wfs_fired){.timer = body->event.timer, .due_ns = body->event.due_ns};
	if (kind != WFS_RECORD_DECISION)
		return (struct wfs_fired){.timer = NULL};
	return (struct wfs_fired){.timer = body->decision.timer,
		.due_ns = body->decision.due_ns,
		.how = strcmp(body->decision.decision, "skip") == 0   ? WFS_FIRED_LATE
			: strcmp(body->decision.decision, "end") == 0 ? WFS_FIRED_LAST
								      : WFS_FIRED_DUE};
}

void wfs_record_write_decision_body(
	struct wfs_buffer *buffer, const struct wfs_decision *decision, const char *code)
{
	static const char *const decisions[] = {
		[WFS_FIRED_DUE] = "deny", [WFS_FIRED_LATE] = "skip", [WFS_FIRED_LAST] = "end"};
	const struct wfs_body_decision body = {
		.code = code,
		.count = decision->count ? (int64_t)decision->count : -1,
		.decision = decisions[decision->fired.how],
		.due_ns = wfs_fired_due_ns(&decision->fired),
		.effect = decision->effect,
		.grant = decision->grant,
		.intent_id = decision->intent_id,
		.policy = decision->policy,
		.rule_index = decision->rule_known ? (int64_t)decision->rule_index : -1,
		.timer = decision->fired.timer,
	};

	wfs_body_write_decision(buffer, &body);
}

int wfs_record_parse(struct wfs_bytes line, struct wfs_record_parsed *ret, struct wfs_error *error)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	const struct wfs_record *const record = &parsed.record;
	struct wfs_error reason = {0};
	int r = wfs_json_parse(line.data, line.size, &parsed.json, NULL);

	if (!r)
		r = parse_members(parsed.json, &parsed);
	if (r && r != -ENOMEM)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"expected a journal record of version %d, got '%.*s'", RECORD_VERSION,
			(int)(line.size < 80 ? line.size : 80), (const char *)line.data);
	if (!r)
		r = wfs_body_read(
			record->kind, json_object_get(parsed.json, "body"), &parsed.body, &reason);
	if (r == -ENOMEM)
		return wfs_error_from_errno(error, r, "parse a journal record");
	if (r)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"the body of record %" PRIu64 ", of the kind %s, is damaged: %.300s",
			record->seq, wfs_record_kind_name(record->kind), reason.message);
	*ret = parsed;
	parsed.json = NULL;
	return 0;
}

void wfs_record_parsed_done(struct wfs_record_parsed *parsed)
{
	json_decref(parsed->json);
	parsed->json = NULL;
}

bool wfs_record_is_cut(const struct wfs_record_parsed *parsed)
{
	static const struct wfs_hash none = {0};

	return parsed->record.kind == WFS_RECORD_BASELINE &&
		!wfs_hash_equal(&parsed->body.baseline.next_prev, &none);
}

struct wfs_hash wfs_record_next_prev(const struct wfs_record_parsed *parsed, struct wfs_bytes line)
{
	return wfs_record_is_cut(parsed) ? parsed->body.baseline.next_prev
					 : wfs_hash_of(line.data, line.size);
}

int wfs_changes_compare(const char *reducer_a, struct wfs_bytes key_a, const char *reducer_b,
	struct wfs_bytes key_b)
{
	const size_t size = key_a.size < key_b.size ? key_a.size : key_b.size;
	int r = strcmp(reducer_a, reducer_b);

	if (!r && size > 0)
		r = memcmp(key_a.data, key_b.data, size);
	return r ? r : (key_a.size > key_b.size) - (key_a.size < key_b.size);
}

void wfs_changes_item(struct wfs_buffer *buffer, bool first, struct wfs_bytes reducer,
	struct wfs_bytes key, const struct wfs_hash *hash)
{
	wfs_buffer_append_text(buffer, first ? "[[\"" : ",[\"");
	wfs_buffer_append(buffer, reducer.data, reducer.size); /* plain ASCII by its pattern */
	wfs_buffer_append_text(buffer, "\",\"");
	wfs_base64_append(buffer, key.data, key.size);
	wfs_buffer_append_text(buffer, "\",");
	if (hash)
		append_hash(buffer, hash);
	else
		wfs_buffer_append_text(buffer, "null");
	wfs_buffer_append_byte(buffer, ']');
}

void wfs_changes_add(struct wfs_buffer *buffer, const char *reducer, struct wfs_bytes key,
	const struct wfs_hash *hash)
{
	wfs_changes_item(buffer, buffer->size == 0, wfs_bytes_text(reducer), key, hash);
}

void wfs_changes_end(struct wfs_buffer *buffer)
{
	wfs_buffer_append_text(buffer, "]\n");
}
