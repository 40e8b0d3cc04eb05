"""What kdrill is built on: locked as declared, from one index with hashes, each for a reason, under a fitting licence.

Whether a locked release has become known as vulnerable or was withdrawn only the network can tell: `uv audit`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.architecture.source_tree import PACKAGES, modules, read

PROJECT: Mapping[str, Any] = tomllib.loads(read(Path("pyproject.toml")))
LOCK: Mapping[str, Any] = tomllib.loads(read(Path("uv.lock")))
INDEX = "https://pypi.org/simple"
FILES = "https://files.pythonhosted.org/packages/"
IMPORT = re.compile(r"^ *(?:from (\w+)[\w.]* import |import (\w+)[\w.]*(?: as \w+)? *(?:#.*)?$)", re.MULTILINE)
"""A line that imports; the house has one module a line."""
NAMED_OTHERWISE = {"PIL": "pillow", "kafka": "kafka-python"}
"""What is imported by another name than it is installed by."""
NEEDED_BUT_NOT_IMPORTED = {"pure-sasl"}
"""kazoo imports it when somebody logs in to ZooKeeper, and does not require it."""
WITH_A_DECLARED_ONE = {"rich": "textual", "aiohttp": "textual-serve"}
"""Imported, and not declared: the declared one's own interface takes and gives their types, in the release it wants."""
PERMISSIVE = re.compile(r"(Apache|MIT|BSD|0BSD|ISC|PSF|Python Software Foundation|Zlib|CC0)\b", re.IGNORECASE)
WEAK_COPYLEFT = {"crc32c": "LGPL-2.1-or-later"}
"""Used as they are, and replaceable by whoever installs kdrill, which is what this licence asks for."""


def declared(group: str | None = None) -> dict[str, Requirement]:
    lines = PROJECT["project"]["dependencies"] if group is None else PROJECT["dependency-groups"][group]
    return {canonicalize_name(each.name): each for each in map(Requirement, lines)}


@cache
def locked() -> Mapping[str, list[Mapping[str, Any]]]:
    """By name; a package may be locked in several releases, for several Pythons."""
    packages: dict[str, list[Mapping[str, Any]]] = {}
    for package in LOCK["package"]:
        packages.setdefault(package["name"], []).append(package)
    return packages


def of_others() -> list[Mapping[str, Any]]:
    return [package for name, packages in locked().items() for package in packages if name != "kdrill"]


def needed_at_run_time() -> list[str]:
    """What is installed with kdrill: its dependencies and theirs."""
    found: dict[str, None] = dict.fromkeys(declared())
    waiting = list(found)
    while waiting:
        for package in locked()[waiting.pop()]:
            extras = package.get("optional-dependencies", {}).values()
            for name in (each["name"] for group in (package.get("dependencies", ()), *extras) for each in group):
                if name not in found:
                    found[name] = None
                    waiting.append(name)
    return sorted(found)


def imported_from_others() -> Iterator[str]:
    """Distributions' names."""
    for module in modules(*PACKAGES):
        tops: set[str] = {name for pair in IMPORT.findall(read(module)) for name in pair if name}
        for top in tops:
            if top not in sys.stdlib_module_names and top not in PACKAGES:
                yield canonicalize_name(NAMED_OTHERWISE.get(top, top))


def as_locked(requirement: Requirement) -> tuple[str, str, frozenset[str]]:
    return canonicalize_name(requirement.name), str(requirement.specifier), frozenset(requirement.extras)


def as_written_in_lock(entry: Mapping[str, Any]) -> tuple[str, str, frozenset[str]]:
    specifier = Requirement(entry["name"] + entry.get("specifier", "")).specifier
    return entry["name"], str(specifier), frozenset(entry.get("extras", ()))


def test_the_lock_file_is_of_what_is_declared() -> None:
    [kdrill] = locked()["kdrill"]
    metadata = kdrill["metadata"]
    assert LOCK["requires-python"] == PROJECT["project"]["requires-python"]
    assert set(map(as_written_in_lock, metadata["requires-dist"])) == set(map(as_locked, declared().values()))
    assert metadata["requires-dev"].keys() == PROJECT["dependency-groups"].keys()
    for group, entries in metadata["requires-dev"].items():
        assert set(map(as_written_in_lock, entries)) == set(map(as_locked, declared(group).values()))


def test_every_declared_dependency_is_locked_in_a_release_that_it_allows() -> None:
    for name, requirement in (declared() | declared("dev")).items():
        assert name in locked()
        assert all(requirement.specifier.contains(package["version"]) for package in locked()[name]), name


def test_everything_comes_from_the_one_index_with_a_hash() -> None:
    assert locked()["kdrill"][0]["source"] == {"editable": "."}
    for package in of_others():
        files = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else [])]
        assert package["source"] == {"registry": INDEX}, package["name"]
        assert files, package["name"]
        for file in files:
            assert file["url"].startswith(FILES), package["name"]
            assert re.fullmatch(r"sha256:[0-9a-f]{64}", file["hash"]), package["name"]


def test_nothing_locked_is_a_pre_release() -> None:
    assert [each["name"] for each in of_others() if Version(each["version"]).is_prerelease] == []


def test_what_is_declared_is_imported_and_what_is_imported_is_declared() -> None:
    imported = set(imported_from_others())
    assert declared().keys() - imported == NEEDED_BUT_NOT_IMPORTED
    assert imported - declared().keys() == WITH_A_DECLARED_ONE.keys()
    for name, parent in WITH_A_DECLARED_ONE.items():
        requires = [entry["name"] for package in locked()[parent] for entry in package["dependencies"]]
        assert parent in declared() and name in requires


def test_the_reason_of_every_dependency_is_told() -> None:
    table = re.search(r"^\| dependency \| .*?(?=\n\n)", read(Path("CONTRIBUTING.md")), re.DOTALL | re.MULTILINE)
    assert table, "CONTRIBUTING.md has no table of dependencies"
    rows = re.findall(r"^\| `([^|`]+)` \| (.+?) \|$", table[0], re.MULTILINE)
    assert [name for name, _ in rows] == [*sorted(declared()), *sorted(declared("dev"))]
    assert all(len(reason.split()) >= 4 for _, reason in rows)


@pytest.mark.parametrize("name", needed_at_run_time())
def test_the_licence_of_what_is_installed_with_kdrill_fits_its_own(name: str) -> None:
    licences = licences_of(name)
    if name in WEAK_COPYLEFT:
        assert licences[0] == WEAK_COPYLEFT[name]
        return
    assert licences, f"{name} names no licence"
    assert all(PERMISSIVE.match(part) for part in licences), licences


def licences_of(name: str) -> list[str]:
    """As the installed distribution's metadata has them: an SPDX expression's parts, else the field or classifiers.

    Some have the licence's whole text in the field.
    """
    try:
        metadata: Any = distribution(name).metadata
    except PackageNotFoundError:
        pytest.skip(f"{name} is not for this machine")
    expression = metadata.get("License-Expression") or metadata.get("License") or ""
    if expression and "\n" not in expression:
        return re.split(r" AND | OR ", expression.strip("() "))
    classifiers = metadata.get_all("Classifier") or ()
    return [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License :: OSI Approved ::")]
