tool_choice=self.tool_choice if resolved_tools else "none"
