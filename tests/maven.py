"""Jars and what they depend on, fetched once from Maven Central by `mvn` and kept in the user's cache folder.

Does not run the jars, and does not call Maven again once they are there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from platformdirs import user_cache_path

_FETCH_TIMEOUT_S = 600
_NEVER = ("org.slf4j", "slf4j-simple")  # a second binding beside slf4j-reload4j: slf4j would pick either


class UnavailableError(Exception):
    """Something that the tests need is not on this machine; the message says what, in one line."""


def jars_folder(name: str, artifacts: Sequence[str]) -> Path:
    """A folder with the jars of `artifacts` (group:artifact:version) and of what they need to run.

    `name` is for people who look into the cache. Raises UnavailableError, at first use, without Maven or the network.
    """
    pom = _pom(artifacts)
    # What was asked for is part of the name, so a changed list of artifacts never meets an old folder.
    digest = hashlib.sha256(pom.encode()).hexdigest()[:8]
    folder = user_cache_path("kdrill") / "tests" / f"{name}-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            jars = _fetch(name, pom, Path(scratch))
            try:
                jars.rename(folder)  # atomic: a folder with this name is always complete
            except OSError:
                if not folder.is_dir():  # otherwise another test run was quicker
                    raise
    return folder


def skip_or_fail(reason: str) -> NoReturn:
    """Something is not on this machine: the test is skipped, or fails with KDRILL_REQUIRE_CONFORMANCE=1."""
    if os.environ.get("KDRILL_REQUIRE_CONFORMANCE") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _fetch(name: str, pom: str, scratch: Path) -> Path:
    if shutil.which("mvn") is None:
        raise UnavailableError(f"{name} is not in the cache and there is no Maven (mvn) to fetch it")
    (scratch / "pom.xml").write_text(pom)
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"]
    command.append("-DincludeScope=runtime")
    try:
        done = subprocess.run(
            command, cwd=scratch, capture_output=True, text=True, check=False, timeout=_FETCH_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"Maven did not fetch {name} within {_FETCH_TIMEOUT_S} s") from None
    if done.returncode != 0:
        reasons = [line.partition("[ERROR]")[2] for line in done.stdout.splitlines() if "[ERROR]" in line]
        raise UnavailableError(f"Maven could not fetch {name}: {(reasons or [done.stderr])[0].strip()}")
    return scratch / "jars"


def _pom(artifacts: Sequence[str]) -> str:
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>kdrill</groupId><artifactId>jars</artifactId><version>1</version>"
        f"<dependencies>{''.join(map(_dependency, artifacts))}</dependencies></project>"
    )


def _dependency(artifact: str) -> str:
    group, name, version = artifact.split(":")
    never_group, never_name = _NEVER
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
        f"<exclusions><exclusion><groupId>{never_group}</groupId><artifactId>{never_name}</artifactId></exclusion>"
        "</exclusions></dependency>"
    )
