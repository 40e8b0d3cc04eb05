"""No module keeps state of its own: no `global`, no container at module level that something changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source_tree import PACKAGES, dotted, modules, syntax

CONTAINERS = (ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Set, ast.SetComp)
CONTAINER_MAKERS = frozenset({"Counter", "OrderedDict", "bytearray", "defaultdict", "deque", "dict", "list", "set"})
ALWAYS_STATE = frozenset(
    {"Condition", "ContextVar", "Event", "Lock", "Queue", "RLock", "Semaphore", "SimpleQueue", "count", "iter", "local"}
    | {"WeakKeyDictionary", "WeakSet", "WeakValueDictionary"}
)
CHANGING = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove"}
    | {"reverse", "setdefault", "sort", "update"}
)


def names_at_top(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names assigned at module level, and what to."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def made_by(value: ast.expr) -> str:
    """The last name of what is called to make a value: `count` of `itertools.count()`."""
    called = value.func if isinstance(value, ast.Call) else None
    if isinstance(called, ast.Subscript):
        called = called.value
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def containers_of(tree: ast.Module) -> set[str]:
    """Module-level names of containers that could be changed."""
    return {
        name
        for name, value in names_at_top(tree)
        if isinstance(value, CONTAINERS) or made_by(value) in CONTAINER_MAKERS
    }


def changed_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names whose contents the module changes, and the line."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name, node.lineno
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=verb)) if verb in CHANGING:
                yield name, node.lineno
            case ast.AugAssign(target=ast.Name(id=name)):
                yield name, node.lineno


def imported_containers(tree: ast.Module, containers: dict[str, set[str]]) -> set[str]:
    """Names by which the module knows containers of other modules."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in containers.get(node.module or "", set())
    }


def state_in(trees: dict[str, ast.Module]) -> Iterator[str]:
    """Where modules, by name, keep or change state at module level."""
    containers = {module: containers_of(tree) for module, tree in trees.items()}
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Global):
                yield f"{module}:{node.lineno} global {', '.join(node.names)}"
        for name, value in names_at_top(tree):
            if made_by(value) in ALWAYS_STATE:
                yield f"{module}:{value.lineno} {name}"
        known = containers[module] | imported_containers(tree, containers)
        for name, line in changed_in(tree):
            if name in known:
                yield f"{module}:{line} changes {name}"


def test_no_module_keeps_state() -> None:
    assert not list(state_in({dotted(path): syntax(path) for path in modules(*PACKAGES)}))


@pytest.mark.parametrize(
    "sources",
    [
        {"a": "seen = []\ndef f(): seen.append(1)"},
        {"a": "seen: dict[str, int] = {}\ndef f(): seen['x'] = 1"},
        {"a": "seen = set[str]()", "b": "from a import seen\ndef f(): seen.add('x')"},
        {"a": "ids = itertools.count()"},
        {"a": "def f():\n    global x\n    x = 1"},
    ],
)
def test_the_rule_sees_state(sources: dict[str, str]) -> None:
    assert list(state_in({module: ast.parse(source) for module, source in sources.items()}))
