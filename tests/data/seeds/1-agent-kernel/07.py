if len(messages) > self.max_history_messages:
    # Keep the system prompt (first message) + most recent messages
    messages = [messages[0]] + messages[-(self.max_history_messages - 1):]
