/* SPDX-License-Identifier: Apache-2.0 */
/* A text is an expression if it compiles after `return`, as the rest of a chunk. */
#include "kernel/mind/expression.h"

#include "kernel/base/buffer.h"

const struct wfs_lua_limits wfs_mind_condition_limits = {
	.instructions = WFS_MIND_CONDITION_INSTRUCTIONS,
	.memory_bytes = WFS_MIND_CONDITION_MEMORY_BYTES,
	.output_bytes = WFS_MIND_CONDITION_OUTPUT_BYTES,
};

int wfs_mind_expression_check(
	const struct wfs_mind_compiler *compiler, struct wfs_bytes text, struct wfs_error *error)
{
	static const char *const functions[] = {"compiled", NULL};
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};

	wfs_buffer_append_text(&source, "function compiled() end do return end return ");
	wfs_buffer_append(&source, text.data, text.size);
	if (wfs_buffer_check(&source))
		return wfs_error_from_errno(error, -ENOMEM, "look at a condition");
	const struct wfs_code_options options = {
		.program = true,
		.limits = &wfs_mind_condition_limits,
		.name = "condition",
		.author = compiler->author,
		.source = wfs_buffer_bytes(&source),
		.functions = functions,
		.budget = compiler->budget,
	};
	return wfs_trace(wfs_code_new(compiler->box, &options, &program, error));
}
