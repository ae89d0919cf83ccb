formatted_messages = formatter(messages, []) if formatter else []
