# genesis_embedder - Generate embeddings (costs scrip)
def run(caller_id, text):
    """Generate embedding vector for text. Costs 1 scrip per call."""
    # Deduct cost
    kernel_actions.transfer_scrip(caller_id, "genesis_embedder", 1)
    # Generate embedding via configured model
    embedding = generate_embedding(text)
    return {"embedding": embedding, "dims": len(embedding)}

# genesis_memory_search - Semantic search within memory artifact
def run(caller_id, memory_artifact_id, query, limit=5):
    """Search memory artifact semantically. Costs 1 scrip."""
    kernel_actions.transfer_scrip(caller_id, "genesis_memory_search", 1)

    # Check read permission on memory artifact
    memory = kernel_state.get_artifact(memory_artifact_id)
    if not memory:
        return {"error": "Memory artifact not found"}

    # Generate query embedding
    query_embedding = genesis_embedder.run(caller_id, query)["embedding"]

    # Search entries
    results = []
    for entry in memory.content.get("entries", []):
        score = cosine_similarity(query_embedding, entry["embedding"])
        results.append({
            "text": entry["text"],
            "tick": entry["tick"],
            "score": score,
            "tags": entry.get("tags", [])
        })

    return {"results": sorted(results, key=lambda x: -x["score"])[:limit]}

# genesis_memory_add - Add entry to memory artifact
def run(caller_id, memory_artifact_id, text, tags=None, importance=0.5):
    """Add memory entry with auto-generated embedding."""
    # Must own or have write permission
    memory = kernel_state.get_artifact(memory_artifact_id)

    # Generate embedding (costs scrip)
    embedding = genesis_embedder.run(caller_id, text)["embedding"]

    # Create entry
    entry = {
        "id": f"mem_{uuid4().hex[:8]}",
        "tick": kernel_state.current_tick,
        "text": text,
        "tags": tags or [],
        "embedding": embedding,
        "importance": importance
    }

    # Append to memory artifact
    entries = memory.content.get("entries", [])
    entries.append(entry)

    # Prune if over limit
    max_entries = memory.content.get("config", {}).get("max_entries", 1000)
    if len(entries) > max_entries:
        # Remove lowest importance entries
        entries.sort(key=lambda x: x.get("importance", 0))
        entries = entries[-max_entries:]

    kernel_actions.write_artifact(memory_artifact_id, {"entries": entries})
    return {"success": True, "entry_id": entry["id"]}
