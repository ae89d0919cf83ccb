async def step(self, messages: list[Message], tools: Sequence[ToolSchema] | Sequence[str], turn: int = 0) -> StepResult:
