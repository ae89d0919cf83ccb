class KernelQueryHandler:
    def __init__(self, world: World):
        self._world = world

    def query_artifacts(self, params: dict) -> dict[str, Any]:
        """Query artifacts with filters."""
        # Extract and validate params
        owner = params.get("owner")
        artifact_type = params.get("type")
        executable = params.get("executable")
        name_pattern = params.get("name_pattern")
        limit = params.get("limit", 50)
        offset = params.get("offset", 0)

        # Build filtered results
        results = []
        for artifact in self._world.artifacts.list_all():
            if owner and artifact["created_by"] != owner:
                continue
            if artifact_type and artifact["type"] != artifact_type:
                continue
            if executable is not None and artifact.get("executable") != executable:
                continue
            if name_pattern and not re.match(name_pattern, artifact["id"]):
                continue
            results.append(artifact)

        # Apply pagination
        total = len(results)
        results = results[offset:offset + limit]

        return {
            "success": True,
            "query_type": "artifacts",
            "total": total,
            "returned": len(results),
            "results": results
        }

    # ... similar for other query types
