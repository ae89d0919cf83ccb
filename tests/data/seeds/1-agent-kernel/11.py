grammar_constraint = self.adapter.grammar_builder(resolved_tools, self.adapter.grammar_config)
