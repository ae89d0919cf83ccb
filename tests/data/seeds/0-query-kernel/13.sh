# Unit tests for query handlers
pytest tests/unit/test_kernel_queries.py -v

# Integration test for query_kernel action
pytest tests/integration/test_query_kernel.py -v

# E2E: agent uses query_kernel to discover artifacts
pytest tests/e2e/test_agent_discovery.py -v
