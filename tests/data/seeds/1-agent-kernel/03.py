def __post_init__(self) -> None:
    self._tool_map: dict[str, Tool] = {t.schema.name: t for t in self.tools}
