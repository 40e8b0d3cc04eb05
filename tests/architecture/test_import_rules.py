"""The contracts in pyproject.toml about who may import whom hold, and no modules import each other in a circle."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

from tests.architecture.source_tree import PACKAGES, ROOT, dotted, modules, syntax


def test_every_import_contract_is_kept() -> None:
    lint_imports = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint_imports, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports within functions count: whoever needs them to start quickly is still one subject with what it loads."""
    known = {dotted(path): path for path in modules(*PACKAGES)}
    graph = nx.DiGraph((name, of) for name, path in known.items() for of in imported(path, known) if of != name)
    assert len(graph) > len(known) / 2
    assert not [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1]


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Modules of the house that a module imports when it runs; not what only type checkers see."""
    waiting: list[ast.AST] = [syntax(path)]
    while waiting:
        match waiting.pop():
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=otherwise):
                waiting.extend(otherwise)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (of for one in names if (of := f"{module}.{one.name}") in known or (of := module) in known)
            case node:
                waiting.extend(ast.iter_child_nodes(node))
