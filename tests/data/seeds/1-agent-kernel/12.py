from structured_agents.types import (
    KernelConfig,  # <-- REMOVE THIS
    Message, RunResult, StepResult, TokenUsage, ToolCall, ToolResult, ToolSchema,
)
