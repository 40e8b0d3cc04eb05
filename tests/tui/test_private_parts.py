"""Private parts of Textual that the app uses: they are still there, and no others are used than those named here.

A release of Textual may change them without a word, so pyproject.toml allows one series of it.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import pytest
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.drivers.web_driver import WebDriver
from textual.screen import Screen
from textual.scroll_view import ScrollView

import tui.app

PARTS: dict[str, type] = {
    "_app": WebDriver,
    "_check_bindings": App,
    "_close_messages_no_wait": App,
    "_compositor": Screen,
    "_exception": App,
    "_exit_renderables": App,
    "_fatal_error": App,
    "_get_component_classes": Screen,
    "_parse_rules": Stylesheet,
    "_selector_names": Screen,
    "_size": WebDriver,
}
KINDS = (App, Screen, ScrollView, Stylesheet, WebDriver)


@cache
def parts_of(kind: type) -> frozenset[str]:
    """What Textual's own code of this class defines or sets, and does not promise."""
    sources = (inspect.getsource(each) for each in kind.__mro__ if each.__module__.startswith("textual"))
    return frozenset(name for source in sources for name in re.findall(r"\b(?:self\.|def )(_[a-z]\w*)", source))


def private_names(path: Path) -> set[str]:
    """Read from objects or defined in classes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) != "os"}
    methods = {
        one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for one in node.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return {name for name in read | methods if re.match(r"_[a-z]", name)}


def set_in(path: Path) -> set[str]:
    """What a module's own objects have of that name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}


@pytest.mark.parametrize(("name", "kind"), PARTS.items())
def test_what_is_used_is_still_there(name: str, kind: type) -> None:
    assert name in parts_of(kind)


def test_nothing_else_is_used() -> None:
    modules = Path(*tui.app.__path__).rglob("*.py")
    used = {name for path in modules for name in private_names(path) - (set_in(path) - PARTS.keys())}
    assert used & frozenset.union(*map(parts_of, KINDS)) == PARTS.keys()
