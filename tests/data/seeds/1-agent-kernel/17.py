tool_results = await asyncio.gather(*[bounded(tc) for tc in tool_calls])
