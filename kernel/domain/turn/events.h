/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of turns, as `event` records, by which a turn (called a run in code) tells what it does.
 *
 * Each has `agent, event_seq, run_id, type` beside its own members. Only the kernel makes them.
 * Source: worldfs-journal(5).
 */
#pragma once

/* X(constant, type, further members, for readers) */
#define WFS_KERNEL_EVENTS(X)                                                                    \
	X(START, "KernelStart", "initial_messages_count, max_turns, tools_count")               \
	X(REQUEST, "ModelRequest",                                                              \
		"entry, messages_count, model, tools_count, turn, retry?, warning?")            \
	X(RESPONSE, "ModelResponse", "content, duration_ms, tool_calls_count, turn, usage")     \
	X(CALL, "ToolCall", "arguments, call_id, tool_name, turn")                              \
	X(RESULT, "ToolResult",                                                                 \
		"call_id, duration_ms, is_error, output_preview, output_size, tool_name, turn") \
	X(TURN, "TurnComplete", "errors_count, tool_calls_count, tool_results_count, turn")     \
	X(NOTE, "TurnNote", "fallback, reason, reference, stage")                               \
	X(ERROR, "KernelError", "code, message, phase, turn")                                   \
	X(END, "KernelEnd", "termination_reason, total_duration_ms, turn_count")

enum wfs_kernel_event {
#define WFS_KERNEL_EVENT_ENUM(constant, type, members) WFS_KERNEL_##constant,
	WFS_KERNEL_EVENTS(WFS_KERNEL_EVENT_ENUM)
#undef WFS_KERNEL_EVENT_ENUM
		WFS_KERNEL_EVENT_COUNT
};

/** wfs_kernel_event_find() - find an event by its schema, such as sys/KernelStart@1. Return:
 *  WFS_KERNEL_EVENT_COUNT if @schema is not that of an event of turns. */
enum wfs_kernel_event wfs_kernel_event_find(const char *schema);
