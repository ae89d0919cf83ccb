@dataclass
class QueryKernelIntent(ActionIntent):
    action_type: Literal["query_kernel"] = "query_kernel"
    query_type: str = ""
    params: dict[str, Any] = field(default_factory=dict)
