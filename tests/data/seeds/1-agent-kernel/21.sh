   python -c "from structured_agents.kernel import AgentKernel; print('OK')"
