# In AgentConfigDict
class AgentConfigDict(TypedDict, total=False):
    llm_model: str
    system_prompt: str  # DEPRECATED - use personality_prompt_artifact_id

    # Artifact references (all soft references, may dangle)
    personality_prompt_artifact_id: str | None  # Base personality
    workflow_artifact_id: str | None            # Behavior patterns
    reflex_artifact_id: str | None              # Fast-path logic (Plan #143)
    working_memory_artifact_id: str | None      # Short-term context
    longterm_memory_artifact_id: str | None     # Experiences (NEW)
