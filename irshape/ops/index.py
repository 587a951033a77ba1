MODULES: dict[str, str] = {}
