grammar_constraint = self.adapter.grammar_builder(resolved_tools, None)
