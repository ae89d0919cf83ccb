/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a call: its parts, bounded by the server's output_max_bytes. */
#include <inttypes.h>
#include <string.h>

#include "agents/outside/outside-impl.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/base/text.h"
#include "kernel/schema/schema.h"

enum {
	LINK_MAX = 4096, /* bytes of a text of a link */
	NAMED_MAX = 200, /* bytes of a text in the name of a part */
};

void outside_reading_done(struct outside_reading *reading)
{
	wfs_buffer_done(&reading->text);
	json_decref(reading->content);
	for (size_t i = 0; i < reading->blob_count; i++)
		wfs_buffer_done(&reading->bytes[i]);
	free(reading->blobs);
	free(reading->bytes);
}

/* Return: -EBADMSG */
static int refuse(struct outside_reading *reading, enum wfs_error_code code, const char *fault)
{
	reading->code = code;
	snprintf(reading->fault, sizeof(reading->fault), "%s", fault);
	return -EBADMSG;
}

static int refuse_large(struct outside_reading *reading)
{
	snprintf(reading->fault, sizeof(reading->fault),
		"the result has more than %" PRId64 " bytes, of which a part would be of no use",
		reading->server->host.output_max_bytes);
	reading->code = WFS_E_TOO_LARGE;
	return -EBADMSG;
}

/* @part: taken. Return: 0, -ENOMEM. */
static int add_part(struct outside_reading *reading, json_t *part)
{
	return json_array_append_new(reading->content, part) < 0 ? -ENOMEM : 0;
}

static int add_text(struct outside_reading *reading, const json_t *part)
{
	const struct wfs_bytes text = wfs_text_of(part);
	const size_t size = text.size <= reading->left_bytes
		? text.size
		: wfs_utf8_cut(text.data, reading->left_bytes);

	if (!json_is_string(part))
		return refuse(reading, WFS_E_EFFECT_FAILED, "a part without its text");
	if (reading->text.size > 0 && size > 0)
		wfs_buffer_append_byte(&reading->text, '\n');
	wfs_buffer_append(&reading->text, text.data, size);
	reading->left_bytes = size < text.size ? 0 : reading->left_bytes - size;
	reading->cut_bytes += text.size - size;
	return add_part(reading,
		json_pack("{s:o, s:s}", "text", json_stringn(text.data, size), "type", "text"));
}

/* Adds a member of a part, after @before, if it is a text. */
static void name_member(
	struct outside_reading *reading, const char *before, const json_t *part, const char *member)
{
	const struct wfs_bytes text = wfs_text_of(json_object_get(part, member));

	if (text.size == 0)
		return;
	wfs_buffer_append_text(&reading->text, before);
	wfs_buffer_append(&reading->text, text.data,
		text.size <= NAMED_MAX ? text.size : wfs_utf8_cut(text.data, NAMED_MAX));
}

/* Writes a line for an image, a sound or a link into the text, which is all that a model gets.
 * @blob: its bytes; NULL: none */
static void name_part(
	struct outside_reading *reading, const json_t *part, const struct wfs_buffer *blob)
{
	if (reading->text.size > 0)
		wfs_buffer_append_byte(&reading->text, '\n');
	wfs_buffer_printf(&reading->text, "[%s", wfs_json_text(part, "type"));
	name_member(reading, " ", part, "uri");
	name_member(reading, ", ", part, "name");
	name_member(reading, ", ", part, "mimeType");
	if (blob)
		wfs_buffer_printf(&reading->text, ", %zu bytes", blob->size);
	wfs_buffer_append_byte(&reading->text, ']');
}

/* @type: of the part; @owner: has `mimeType`; @uri: may be NULL */
static int add_blob(struct outside_reading *reading, const char *type, const json_t *owner,
	const json_t *base64, json_t *uri)
{
	const struct wfs_bytes text = wfs_text_of(base64);
	struct wfs_buffer *const bytes = &reading->bytes[reading->blob_count];
	WFS_AUTO_BUFFER struct wfs_buffer decoded = {0};

	if (!json_is_string(base64))
		return refuse(reading, WFS_E_EFFECT_FAILED, "a part without its bytes");
	if (text.size / 4 * 3 > reading->left_bytes + 2)
		return refuse_large(reading);
	int r = wfs_base64_decode(text.data, text.size, &decoded, NULL);
	if (r)
		return r == -EINVAL ? refuse(reading, WFS_E_EFFECT_FAILED,
					      "a part with bytes that "
					      "are not base64")
				    : r;
	outside_mask_bytes(reading->server, &decoded);
	if (wfs_buffer_check(&decoded))
		return -ENOMEM;
	if (decoded.size > reading->left_bytes)
		return refuse_large(reading);
	reading->left_bytes -= decoded.size;
	*bytes = decoded;
	decoded = (struct wfs_buffer){0};
	const size_t index = reading->blob_count++;
	json_t *const part = json_pack("{s:I, s:s, s:s, s:O*}", "blob", (json_int_t)index,
		"mimeType", wfs_json_text(owner, "mimeType"), "type", type, "uri", uri);
	name_part(reading, part, bytes);
	r = add_part(reading, part);
	if (!r)
		reading->blobs[index] =
			(struct wfs_outside_blob){.mime_type = wfs_json_text(part, "mimeType"),
				.bytes = wfs_buffer_bytes(bytes)};
	return r;
}

static int add_link(struct outside_reading *reading, const json_t *link)
{
	static const char *const members[] = {"uri", "name", "title", "description", "mimeType"};
	json_t *const part = json_pack("{s:s}", "type", "resource_link");

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++) {
		json_t *const text = json_object_get(link, members[i]);
		const size_t size = json_string_length(text);

		if (!json_is_string(text))
			continue;
		if (size > LINK_MAX || size > reading->left_bytes) {
			json_decref(part);
			return refuse_large(reading);
		}
		reading->left_bytes -= size;
		if (json_object_set(part, members[i], text) < 0) {
			json_decref(part);
			return -ENOMEM;
		}
	}
	name_part(reading, part, NULL);
	return add_part(reading, part);
}

static int add(struct outside_reading *reading, const json_t *part)
{
	const char *const type = wfs_json_text(part, "type");
	const json_t *const resource = json_object_get(part, "resource");

	if (strcmp(type, "text") == 0)
		return add_text(reading, json_object_get(part, "text"));
	if (strcmp(type, "image") == 0 || strcmp(type, "audio") == 0)
		return add_blob(reading, type, part, json_object_get(part, "data"), NULL);
	if (strcmp(type, "resource_link") == 0)
		return add_link(reading, part);
	if (strcmp(type, "resource") != 0)
		return refuse(reading, WFS_E_EFFECT_FAILED, "a part of an unknown type");
	if (json_object_get(resource, "text"))
		return add_text(reading, json_object_get(resource, "text"));
	return add_blob(reading, type, resource, json_object_get(resource, "blob"),
		json_object_get(resource, "uri"));
}

/* Checks structured content against the schema that the tool has promised. */
static int check_promised(struct outside_reading *reading, json_t *schema, const json_t *structured)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_SCHEMA struct wfs_schema *compiled = NULL;
	struct wfs_error reason = {.code = WFS_OK};

	if (!structured)
		return refuse(reading, WFS_E_EFFECT_FAILED,
			"no structured content, which its output schema promises");
	int r = wfs_schema_new(schema, NULL, "", &problems, &compiled);
	if (r == -EINVAL) {
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_INFO,
			"server of tools: a result is not checked: '%s': an output schema that is "
			"not valid",
			reading->server->name);
		return 0;
	}
	if (!r)
		r = wfs_schema_check(compiled, structured, &reason);
	if (r != -EINVAL)
		return r;
	reading->code = WFS_E_EFFECT_FAILED;
	snprintf(reading->fault, sizeof(reading->fault),
		"structured content that does not fit its output schema: %.300s", reason.message);
	return -EBADMSG;
}

static int read_structured(struct outside_reading *reading, const json_t *structured)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (structured && !json_is_object(structured))
		return refuse(
			reading, WFS_E_EFFECT_FAILED, "structured content that is not an object");
	if (structured)
		wfs_json_write(structured, &text);
	if (wfs_buffer_check(&text))
		return -ENOMEM;
	if (text.size > (size_t)reading->server->host.output_max_bytes)
		return refuse_large(reading);
	return 0;
}

int outside_reading_read(
	struct outside_reading *reading, const struct wfs_outside_tool *tool, const json_t *result)
{
	const json_t *const content = json_object_get(result, "content");
	const json_t *const structured = json_object_get(result, "structuredContent");
	const size_t count = json_array_size(content);

	if (!json_is_object(result) || (content ? !json_is_array(content) : !structured))
		return refuse(reading, WFS_E_EFFECT_FAILED, "expected an array 'content'");
	if (count > WFS_OUTSIDE_ITEMS_MAX)
		return refuse(reading, WFS_E_TOO_LARGE, "it has too many parts");
	reading->left_bytes = (size_t)reading->server->host.output_max_bytes;
	reading->content = json_array();
	reading->blobs = calloc(count + 1, sizeof(*reading->blobs));
	reading->bytes = calloc(count + 1, sizeof(*reading->bytes));
	int r = reading->content && reading->blobs && reading->bytes
		? read_structured(reading, structured)
		: -ENOMEM;
	if (!r && tool && tool->output_schema && !json_is_true(json_object_get(result, "isError")))
		r = check_promised(reading, tool->output_schema, structured);
	for (size_t i = 0; i < count && !r; i++)
		r = add(reading, json_array_get(content, i));
	if (!r && reading->cut_bytes > 0)
		wfs_buffer_printf(
			&reading->text, "\n[cut: %zu bytes were left out]", reading->cut_bytes);
	return r ? r : wfs_buffer_check(&reading->text);
}
