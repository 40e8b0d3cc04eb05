"""Private parts of libraries that are used: each library has a bound with its reason, and the parts are still there.

Textual's are in tests/tui/test_private_parts.py. kazoo's are listed by `missing_internals`, which every start asks.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from pyspark.core.context import SparkContext
from textual_serve.app_service import AppService
from textual_serve.server import Server

from model.hosts.zookeeper.connection import missing_internals
from tests.architecture.source_tree import modules, read

LIBRARIES = ("kazoo", "pyspark", "textual", "textual-serve")
SERVE = {
    (AppService, "_build_environment"): ["self", "width", "height"],
    (Server, "_make_app"): ["self"],
    (Server, "_process_messages"): ["self", "websocket", "app_service"],
}
"""What is overridden or called in textual-serve, and what it takes."""
SET_IN_SERVE = {"_process": AppService}
"""What is read from its objects."""


def private_names(kind: type) -> set[str]:
    """What a library's own code of a class defines or sets, and does not promise."""
    return set(re.findall(r"\b(?:self\.|def )(_[a-z]\w*)", inspect.getsource(kind)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_only_tried_releases_are_allowed_and_the_reason_is_told(library: str) -> None:
    (line,) = re.findall(rf'^    "{library}[<>=].*$', read(Path("pyproject.toml")), re.MULTILINE)
    requirement, _, reason = line.partition("#")
    assert "<" in requirement
    assert "private" in reason


def test_kazoos_are_there() -> None:
    assert missing_internals() == []


@pytest.mark.parametrize(("kind", "name"), SERVE)
def test_textual_serves_are_there(kind: type, name: str) -> None:
    assert list(inspect.signature(getattr(kind, name)).parameters) == SERVE[kind, name]


@pytest.mark.parametrize(("name", "kind"), SET_IN_SERVE.items())
def test_textual_serves_fields_are_there(name: str, kind: type) -> None:
    assert name in private_names(kind)


def test_no_others_of_textual_serve_are_used() -> None:
    used = set(re.findall(r"\b(?:self|session|super\(\))\.(_[a-z]\w*)|def (_[a-z]\w*)", read(Path("tui/cli/serve.py"))))
    named = {name for pair in used for name in pair if name}
    theirs = private_names(AppService) | private_names(Server)
    assert named & theirs == {name for _, name in SERVE} | SET_IN_SERVE.keys()


def test_sparks_is_there_and_is_the_only_one() -> None:
    source = "\n".join(map(read, modules("spark_tasks")))
    used = set(re.findall(r"\bcontext\.(_\w+)", source))
    assert used == {"_accumulatorServer"}
    assert used <= private_names(SparkContext)
