   pytest tests/ -k "kernel" -v
