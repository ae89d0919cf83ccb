async def _agent_decide_action(self, agent: Agent) -> dict[str, Any] | None:
    # 1. Check reflex first (Plan #143)
    reflex_action = await self._try_reflex(agent)
    if reflex_action is not None:
        return reflex_action

    # 2. Load workflow artifact
    workflow = self._load_workflow_artifact(agent)
    current_state = agent.current_state

    # 3. Load prompt for current state
    step = workflow.get_step(current_state)
    prompt = self._load_prompt(step.prompt_artifact_id, step.prompt_inline)

    # 4. Inject long-term memory search results
    if agent.longterm_memory_artifact_id:
        memories = await self._search_memories(agent, prompt)
        prompt = prompt.replace("{recent_memories}", memories)

    # 5. Execute LLM with prompt
    action = await agent.propose_action_with_prompt(prompt)

    # 6. Determine next state
    next_state = await self._determine_next_state(agent, step, action)
    agent.current_state = next_state

    return action

async def _determine_next_state(self, agent, step, action_result):
    if step.transition_mode == "auto":
        return step.transition_to
    elif step.transition_mode == "condition":
        return self._evaluate_conditions(step.transition_conditions, agent)
    elif step.transition_mode == "llm":
        return await self._llm_transition(agent, step)

async def _llm_transition(self, agent, step):
    """Let LLM decide next state."""
    prompt = self._load_prompt(step.transition_prompt_artifact_id)
    # Fill in variables
    prompt = prompt.format(
        agent_id=agent.agent_id,
        current_state=agent.current_state,
        available_states=workflow.states,
        # ... etc
    )
    # LLM call that returns JSON
    result = await agent.llm_call(prompt, response_format="json")
    return result.get("next_state", agent.current_state)
