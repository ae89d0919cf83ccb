return await tool.execute(tc.arguments, tc)
