return await tool.execute(tc.arguments, None)  # BUG-3: passes None instead of tc
