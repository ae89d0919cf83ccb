try:
    response = await self.client.chat_completion(
        messages=formatted_messages,
        tools=formatted_tools,
        tool_choice=...,
        max_tokens=self.max_tokens,
        temperature=self.temperature,
        extra_body=extra_body,
    )
except Exception as e:
    raise KernelError(f"Model API call failed: {e}") from e
