for i, result in enumerate(tool_results):
    if isinstance(result, Exception):
        tool_calls_ = tool_calls[i] if tool_calls else None
        tool_results[i] = ToolResult(
            call_id=tool_calls_.id if tool_calls_ else "",
            name=tool_calls_.name if tool_calls_ else "unknown",
            output=str(result),
            is_error=True,
        )
