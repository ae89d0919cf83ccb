tool_results = list(await asyncio.gather(*[bounded(tc) for tc in tool_calls], return_exceptions=True))
