   mypy src/structured_agents/kernel.py --strict
