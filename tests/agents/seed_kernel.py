# SPDX-License-Identifier: Apache-2.0
"""What the kernel of tests/data/seeds/1-agent-kernel imports, as far as it uses it, and a client that
asks tests/agents/model_server.py.

The kernel itself is a block of the seed, which runs unchanged (see `install`)."""
import json
import os
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

PACKAGE = {"kernel": None, "client.protocol": ("CompletionResponse", "LLMClient"),
           "events.observer": ("NullObserver", "Observer"), "exceptions": ("KernelError", "ToolExecutionError"),
           "events.types": ("Event", "KernelStartEvent", "KernelEndEvent", "ModelRequestEvent",
                            "ModelResponseEvent", "ToolCallEvent", "ToolResultEvent", "TurnCompleteEvent"),
           "models.adapter": ("ModelAdapter",), "tools.protocol": ("Tool",),
           "types": ("Message", "RunResult", "StepResult", "TokenUsage", "ToolCall", "ToolResult", "ToolSchema")}


def install(directory, text):
    """Makes the package `structured_agents`, whose kernel is this text."""
    for module, names in PACKAGE.items():
        path = os.path.join(directory, "structured_agents", *module.split(".")) + ".py"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"from seed_kernel import {', '.join(names)}  # noqa: F401\n" if names else text)


class KernelError(Exception):
    pass


class ToolExecutionError(Exception):
    pass


LLMClient = Tool = Observer = Protocol


class NullObserver:
    async def emit(self, event):
        pass


class Events:
    """An observer that keeps the events that it gets."""

    def __init__(self):
        self.events = []

    async def emit(self, event):
        self.events.append((type(event).__name__.removesuffix("Event"), vars(event)))


class Event:
    def __init__(self, **members):
        self.__dict__.update(members)


(KernelStartEvent, KernelEndEvent, ModelRequestEvent, ModelResponseEvent, ToolCallEvent, ToolResultEvent,
 TurnCompleteEvent) = (type(name + "Event", (Event,), {}) for name in (
     "KernelStart", "KernelEnd", "ModelRequest", "ModelResponse", "ToolCall", "ToolResult", "TurnComplete"))


@dataclass
class ToolSchema:
    name: str
    description: str = ""
    parameters: dict = field(default_factory=dict)


@dataclass
class ToolCall:
    id: str
    name: str
    arguments: dict


@dataclass
class Message:
    role: str
    content: Any = None
    tool_calls: Any = None
    tool_call_id: Any = None


@dataclass
class ToolResult:
    call_id: str
    name: str
    output: str
    is_error: bool = False

    def to_message(self):
        return Message("tool", self.output, tool_call_id=self.call_id)


@dataclass
class TokenUsage:
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


@dataclass
class CompletionResponse:
    content: Any
    tool_calls: Any
    usage: Any


@dataclass
class StepResult:
    response_message: Message
    tool_calls: list
    tool_results: list
    usage: Any


@dataclass
class RunResult:
    final_message: Message
    history: list
    turn_count: int
    termination_reason: str


class Parser:
    @staticmethod
    def parse(content, tool_calls):
        return content, tool_calls


class ModelAdapter:
    """Messages and tools as servers of chat completions want them."""

    grammar_builder = grammar_config = None
    response_parser = Parser

    @staticmethod
    def format_messages(messages):
        formatted = []
        for message in messages:
            value = {name: part for name, part in asdict(message).items() if part is not None}
            if message.tool_calls:
                value["tool_calls"] = [
                    {"id": call.id, "type": "function", "function": {
                        "name": call.name, "arguments": json.dumps(call.arguments)}}
                    for call in message.tool_calls]
            formatted.append(value)
        return formatted

    @staticmethod
    def format_tools(tools):
        return [{"type": "function", "function": asdict(tool)} for tool in tools]


class Client:
    model = "m"

    def __init__(self, url):
        self.url = url

    async def chat_completion(self, messages, tools, tool_choice, max_tokens, temperature, extra_body):
        body = {"model": self.model, "messages": messages, "max_tokens": max_tokens,
                "temperature": temperature, **(extra_body or {})}
        # "Then, only include it in the API call if it's not `None`."
        body.update({name: value for name, value in (("tools", tools), ("tool_choice", tool_choice)) if value})
        request = urllib.request.Request(self.url + "/chat/completions", data=json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request) as answer:
                message = json.load(answer)["choices"][0]["message"]
        except urllib.error.HTTPError as error:
            with error:
                raise RuntimeError(error.read().decode()) from error
        calls = [ToolCall(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
                 for call in message.get("tool_calls") or []]
        return CompletionResponse(message["content"], calls, None)

    async def close(self):
        pass


class Add:
    """Does what the artifact `add` of tests/agents/field.py does."""

    schema = ToolSchema("add", "adds")

    def __init__(self):
        self.contexts = []

    async def execute(self, arguments, context):
        self.contexts.append(context)
        return ToolResult(context.id, "add", str(arguments["x"] + arguments["y"]))
