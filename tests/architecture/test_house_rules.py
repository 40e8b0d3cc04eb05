"""The rules of CONTRIBUTING.md that a machine can check, on the source itself."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source_tree import PACKAGES, ROOT, folders_with_modules, modules, read, syntax, texts

LONGEST_FILE = 400
LONGEST_FUNCTION = 40
BAD_NAMES = re.compile(r"(Manager|Helper|Handler|Utils?)$")
KAFKAS_OWN_NAMES = frozenset({"ReplicaManager"})
HOSTS = frozenset(
    {"127.0.0.1", "files.pythonhosted.org", "issues.apache.org", "localhost", "maven.apache.org", "pypi.org"}
    | {"kafka.apache.org", "keepachangelog.com", "spark.apache.org", "www.apache.org", "zookeeper.apache.org"}
)
"""Hosts that a file may name in a URL."""

EVERYTHING = modules(*PACKAGES, "tests")
SHIPPED = modules(*PACKAGES)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


def definitions(path: Path) -> Iterator[Definition]:
    return (node for node in ast.walk(syntax(path)) if isinstance(node, Definition))


def public(body: list[ast.stmt]) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node


def test_no_file_is_too_long() -> None:
    lengths = {str(path): len(read(path).splitlines()) for path in EVERYTHING}
    assert not {path: lines for path, lines in lengths.items() if lines > LONGEST_FILE}


def test_no_function_is_too_long() -> None:
    lengths = {
        f"{path}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in EVERYTHING
        for node in definitions(path)
        if isinstance(node, Function)
    }
    assert not {where: lines for where, lines in lengths.items() if lines > LONGEST_FUNCTION}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_of_modules_is_a_package(package: str) -> None:
    """Import rules do not see into a folder without `__init__.py`."""
    assert not [folder for folder in folders_with_modules(package) if not (ROOT / folder / "__init__.py").exists()]


def test_every_module_says_what_it_is() -> None:
    assert not [str(path) for path in EVERYTHING if read(path).strip() and not ast.get_docstring(syntax(path))]


@pytest.mark.parametrize("package", ["model", "spark_tasks"])
def test_everything_public_says_what_it_is(package: str) -> None:
    silent = [
        f"{path}:{node.lineno} {node.name}"
        for path in modules(package)
        for node in public(syntax(path).body)
        if not ast.get_docstring(node)
    ]
    assert not silent


def test_no_class_is_named_for_doing_everything() -> None:
    named = [node.name for path in SHIPPED for node in definitions(path) if isinstance(node, ast.ClassDef)]
    assert not [name for name in named if BAD_NAMES.search(name) and name not in KAFKAS_OWN_NAMES]


def test_imports_within_the_house_are_absolute() -> None:
    assert not [
        f"{path}:{node.lineno}"
        for path in EVERYTHING
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.ImportFrom) and node.level
    ]


READ_WHOLE = {
    "model/cluster/whole_file.py": "reads what users name, within bounds",
    "model/hosts/live_broker/replicas/log_dirs.py": "a number that the sandbox wrote",
    "model/sandbox/server_process.py": "logs of its own processes",
    "model/sandbox/java.py": "the release file of Java",
    "model/sandbox/load/members.py": "logs of its own processes",
    "model/sandbox/processes.py": "/proc",
    "model/sandbox/zookeeper_server.py": "logs of its own processes",
    "spark_tasks/spark_client.py": "what the Spark process wrote",
    "spark_tasks/session/java_process.py": "what the JVM wrote",
    "spark_tasks/session/spark_jobs.py": "batches that the client wrote",
    "tui/cli/doctor.py": "/proc",
    "tui/cli/reference.py": "the guides, which come with the program",
    "tui/engine/sandbox/pages.py": "the end of a log of its own",
    "tui/cli/serve.py": "the page, which comes with the program",
}
"""Where files are read to their end, and why no user can name those that `read_whole` does not read."""


def reads_to_the_end(node: ast.AST) -> bool:
    """Whether it reads all of a file, however much that is; a journal's `read` is no file's."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    of, name = ast.unparse(node.func.value), node.func.attr
    if name in ("read", "readall", "readlines"):
        return not node.args and "journal" not in of
    return name in ("read_bytes", "read_text") or (name == "load" and of in ("json", "tomllib"))


def test_files_that_users_name_are_read_in_one_place() -> None:
    found = {str(path) for path in SHIPPED if any(map(reads_to_the_end, ast.walk(syntax(path))))}
    assert found | {"model/cluster/whole_file.py"} == set(READ_WHOLE)


def test_no_file_leads_out_of_the_repository() -> None:
    """What lies beside this checkout lies nowhere else."""
    upwards = re.compile(r"(?:\.\./)+[\w-]+")
    assert not [
        f"{path}: {found}"
        for path in texts()
        for found in upwards.findall(read(path))
        if not (ROOT / path.parent / found).resolve().is_relative_to(ROOT)
    ]


@pytest.mark.skipif(ROOT.parent in (Path(tempfile.gettempdir()), Path("/")), reason="anybody may name that folder")
def test_no_file_names_the_place_it_lies_in() -> None:
    place = re.compile(rf"(?<![\w.-]){re.escape(str(ROOT.parent))}/")
    assert not [str(path) for path in texts() if place.search(read(path))]


def test_no_file_names_an_unknown_host() -> None:
    url = re.compile(r"https?://([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+|localhost)")
    found = {host: str(path) for path in texts() for host in url.findall(read(path))}
    assert not {host: path for host, path in found.items() if host not in HOSTS}
