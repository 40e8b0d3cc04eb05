"""What functions say of themselves, read in their source: nothing is imported for it."""

import ast
from importlib.util import find_spec


def docstring(module: str, function: str) -> str:
    """Of a function at the top of a module, without its indentation; empty where there is none, or no source."""
    spec = find_spec(module)
    source = getattr(spec and spec.loader, "get_source", lambda _: None)(module)
    for node in ast.parse(source or "").body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return ast.get_docstring(node) or ""
    return ""
