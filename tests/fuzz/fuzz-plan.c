/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan that a model wrote, or that is imported. It must be refused with details, or give a plan
 * that can be recorded in parts; the text must give equal bytes of a plan again. Replies, answers
 * and placeholders in the text are read, too.
 */
#include "tests/fuzz/fuzz.h"

#include "agents/plan/normalize.h"
#include "agents/plan/placeholder.h"
#include "agents/plan/reply.h"
#include "kernel/base/json.h"

/* Appends what a plan's receipts would contain, one part a line. */
static void append_parts(const struct wfs_plan_made *plan, struct wfs_buffer *out)
{
	const size_t all = json_array_size(plan->parts);
	size_t offset = 0;

	wfs_buffer_append_text(out, plan->plan_id);
	do {
		size_t count = 0;
		WFS_AUTO_JSON json_t *payload = wfs_plan_payload(plan, offset, &count);

		FUZZ_MUST(payload && (count > 0 || all == 0) && offset + count <= all);
		wfs_json_write(payload, out);
		wfs_buffer_append_byte(out, '\n');
		offset += count;
	} while (offset < all);
}

static int normalize(const char *text, size_t size, bool imported, struct wfs_buffer *out)
{
	const struct wfs_plan_origin origin = {.chat_id = "c1", .goal = "g", .imported = imported};
	WFS_AUTO_PLAN_MADE struct wfs_plan_made plan = {.parts = NULL};
	WFS_AUTO_JSON json_t *details = NULL;
	struct wfs_error error = {.code = WFS_OK};
	char failed[WFS_PLAN_ID_SIZE + 1];
	const int r = wfs_plan_normalize(&origin, text, size, &plan, &error, &details);

	if (r == 0) {
		append_parts(&plan, out);
		return r;
	}
	fuzz_refused(&error);
	FUZZ_MUST(r == -EINVAL || r == -EFBIG);
	FUZZ_MUST(json_is_object(details) && json_is_string(json_object_get(details, "code")));
	wfs_plan_failed_id(&origin, text, size, failed);
	FUZZ_MUST(strlen(failed) == WFS_PLAN_ID_SIZE);
	wfs_buffer_append_text(out, error.message);
	wfs_json_write(details, out);
	return r;
}

static void check_normal(const char *text, size_t size, bool imported)
{
	WFS_AUTO_BUFFER struct wfs_buffer first = {.size = 0};
	WFS_AUTO_BUFFER struct wfs_buffer second = {.size = 0};

	FUZZ_MUST(normalize(text, size, imported, &first) ==
		normalize(text, size, imported, &second));
	FUZZ_MUST(wfs_bytes_equal(wfs_buffer_bytes(&first), wfs_buffer_bytes(&second)));
}

static void check_reply(const char *text, size_t size)
{
	WFS_AUTO_JSON json_t *reply = NULL;
	WFS_AUTO_JSON json_t *answer = NULL;
	struct wfs_error error = {.code = WFS_OK};
	bool is_plan = false;

	if (!wfs_utf8_valid(text, size) || memchr(text, '\0', size))
		return; /* the texts of models are checked before this */
	if (wfs_plan_reply(text, &is_plan, &reply, &error) == 0)
		FUZZ_MUST(json_is_string(reply));
	else
		fuzz_refused(&error);
	if (wfs_plan_answer(text, &answer, &error) == 0)
		FUZZ_MUST(json_is_string(answer));
	else
		fuzz_refused(&error);
}

static int resolve(void *context, const char *step_id, json_t **ret_value, struct wfs_error *error)
{
	(void)context;
	(void)error;
	if (strlen(step_id) % 2)
		return -ENOENT;
	*ret_value = json_pack("{s:[i,{s:s}],s:s}", "a", 1, "b", "${x}", "t", "v");
	return *ret_value ? 0 : -ENOMEM;
}

static void check_placeholders(const char *text, size_t size)
{
	WFS_AUTO_JSON json_t *indices = json_pack("{s:i,s:i,s:i}", "aa", 0, "a.b.c.", 1, "step", 2);
	WFS_AUTO_JSON json_t *refs = json_object();
	WFS_AUTO_JSON json_t *value = NULL;
	WFS_AUTO_JSON json_t *before = NULL;
	WFS_AUTO_JSON json_t *filled = NULL;
	struct wfs_error error = {.code = WFS_OK};

	if (wfs_json_parse_bounded(text, size, &value, &error) < 0)
		return;
	before = json_deep_copy(value);
	FUZZ_MUST(before && wfs_placeholder_refs(value, indices, refs) == 0);
	FUZZ_MUST(json_object_size(refs) <= json_object_size(indices));
	if (wfs_placeholder_fill(value, resolve, NULL, &filled, &error) < 0)
		fuzz_refused(&error);
	FUZZ_MUST(json_equal(value, before));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *const text = fuzz_text(WFS_BYTES(data, size));

	check_normal(text, size, false);
	check_normal(text, size, true);
	check_reply(text, size);
	check_placeholders(text, size);
	free(text);
	return 0;
}
