"""AgentKernel - the core agent loop orchestrator."""
from __future__ import annotations
import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Sequence
from structured_agents.client.protocol import CompletionResponse, LLMClient
from structured_agents.events.observer import NullObserver, Observer
from structured_agents.events.types import (
    Event, KernelStartEvent, KernelEndEvent, ModelRequestEvent,
    ModelResponseEvent, ToolCallEvent, ToolResultEvent, TurnCompleteEvent,
)
from structured_agents.exceptions import KernelError, ToolExecutionError
from structured_agents.models.adapter import ModelAdapter
from structured_agents.tools.protocol import Tool
from structured_agents.types import (
    Message, RunResult, StepResult, TokenUsage, ToolCall, ToolResult, ToolSchema,
)


@dataclass
class AgentKernel:
    client: LLMClient
    adapter: ModelAdapter
    tools: list[Tool] = field(default_factory=list)
    observer: Observer = field(default_factory=NullObserver)
    max_history_messages: int = 50
    max_concurrency: int = 1
    max_tokens: int = 4096
    temperature: float = 0.1
    tool_choice: str = "auto"

    def __post_init__(self) -> None:
        self._tool_map: dict[str, Tool] = {t.schema.name: t for t in self.tools}

    async def step(
        self, messages: list[Message], tools: Sequence[ToolSchema] | Sequence[str], turn: int = 0
    ) -> StepResult:
        resolved_tools = []
        for t in tools:
            if isinstance(t, ToolSchema):
                resolved_tools.append(t)
            elif isinstance(t, str):
                tool = self._tool_map.get(t)
                if tool:
                    resolved_tools.append(tool.schema)

        formatter = self.adapter.format_messages
        formatted_messages = formatter(messages) if formatter else []

        if resolved_tools:
            tool_formatter = self.adapter.format_tools
            formatted_tools = tool_formatter(resolved_tools) if tool_formatter else None
        else:
            formatted_tools = None

        grammar_constraint = None
        if self.adapter.grammar_builder:
            grammar_constraint = self.adapter.grammar_builder(
                resolved_tools, self.adapter.grammar_config
            )

        extra_body = grammar_constraint

        request_start = time.perf_counter()
        tool_choice_value = self.tool_choice if resolved_tools else None

        try:
            response = await self.client.chat_completion(
                messages=formatted_messages,
                tools=formatted_tools,
                tool_choice=tool_choice_value,
                max_tokens=self.max_tokens,
                temperature=self.temperature,
                extra_body=extra_body,
            )
        except Exception as e:
            raise KernelError(f"Model API call failed: {e}") from e

        request_duration = int((time.perf_counter() - request_start) * 1000)

        await self.observer.emit(
            ModelResponseEvent(
                turn=turn,
                duration_ms=request_duration,
                content=response.content,
                tool_calls_count=len(response.tool_calls) if response.tool_calls else 0,
                usage=response.usage,
            )
        )

        content, tool_calls = self.adapter.response_parser.parse(
            response.content, response.tool_calls
        )
        response_message = Message(
            role="assistant", content=content, tool_calls=tool_calls if tool_calls else None
        )

        tool_results = []

        async def execute_one(tc: ToolCall):
            call_start = time.perf_counter()
            await self.observer.emit(
                ToolCallEvent(turn=turn, tool_name=tc.name, call_id=tc.id, arguments=tc.arguments)
            )

            tool = self._tool_map.get(tc.name)
            if not tool:
                result = ToolResult(
                    call_id=tc.id,
                    name=tc.name,
                    output=f"Unknown tool: {tc.name}",
                    is_error=True,
                )
            else:
                try:
                    result = await tool.execute(tc.arguments, tc)
                except Exception as e:
                    result = ToolResult(
                        call_id=tc.id,
                        name=tc.name,
                        output=f"Tool execution failed: {e}",
                        is_error=True,
                    )

            duration = int((time.perf_counter() - call_start) * 1000)
            await self.observer.emit(
                ToolResultEvent(
                    turn=turn,
                    tool_name=result.name,
                    call_id=result.call_id,
                    is_error=result.is_error,
                    duration_ms=duration,
                    output_preview=result.output[:100] if result.output else "",
                )
            )
            return result

        if tool_calls:
            if self.max_concurrency <= 1:
                tool_results = [await execute_one(tc) for tc in tool_calls]
            else:
                sem = asyncio.Semaphore(self.max_concurrency)

                async def bounded(tc: ToolCall):
                    async with sem:
                        return await execute_one(tc)

                results = await asyncio.gather(
                    *[bounded(tc) for tc in tool_calls], return_exceptions=True
                )
                tool_results = []
                for i, result in enumerate(results):
                    if isinstance(result, Exception):
                        tc = tool_calls[i]
                        tool_results.append(
                            ToolResult(
                                call_id=tc.id,
                                name=tc.name,
                                output=str(result),
                                is_error=True,
                            )
                        )
                    else:
                        tool_results.append(result)

        return StepResult(
            response_message=response_message,
            tool_calls=list(tool_calls) if tool_calls else [],
            tool_results=tool_results,
            usage=response.usage,
        )

    async def run(
        self,
        initial_messages: list[Message],
        tools: Sequence[ToolSchema] | Sequence[str],
        max_turns: int = 20,
    ) -> RunResult:
        messages = list(initial_messages)
        turn_count = 0
        termination_reason = "max_turns"
        start_time = time.perf_counter()

        await self.observer.emit(
            KernelStartEvent(
                max_turns=max_turns,
                tools_count=len(self.tools),
                initial_messages_count=len(initial_messages),
            )
        )

        while turn_count < max_turns:
            turn_count += 1

            if len(messages) > self.max_history_messages:
                messages = [messages[0]] + messages[-(self.max_history_messages - 1) :]

            await self.observer.emit(
                ModelRequestEvent(
                    turn=turn_count,
                    messages_count=len(messages),
                    tools_count=len(self.tools),
                    model=getattr(self.client, "model", "unknown"),
                )
            )

            step_result = await self.step(messages, tools, turn=turn_count)

            messages.append(step_result.response_message)

            for result in step_result.tool_results:
                messages.append(result.to_message())

            errors_count = sum(1 for r in step_result.tool_results if r.is_error)
            await self.observer.emit(
                TurnCompleteEvent(
                    turn=turn_count,
                    tool_calls_count=len(step_result.tool_calls),
                    tool_results_count=len(step_result.tool_results),
                    errors_count=errors_count,
                )
            )

            if not step_result.tool_calls:
                termination_reason = "no_tool_calls"
                break

        total_duration_ms = int((time.perf_counter() - start_time) * 1000)

        await self.observer.emit(
            KernelEndEvent(
                turn_count=turn_count,
                termination_reason=termination_reason,
                total_duration_ms=total_duration_ms,
            )
        )

        final_message = messages[-1] if messages else Message(role="assistant", content="")

        return RunResult(
            final_message=final_message,
            history=messages,
            turn_count=turn_count,
            termination_reason=termination_reason,
        )

    async def close(self) -> None:
        await self.client.close()
