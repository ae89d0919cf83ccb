ActionType = Literal[
    "noop",
    "read_artifact",
    "write_artifact",
    "edit_artifact",
    "delete_artifact",
    "invoke_artifact",
    "query_kernel",  # New
]
