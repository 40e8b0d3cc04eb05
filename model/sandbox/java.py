"""Finds a Java that can run ZooKeeper and Spark. It does not install one and keeps nothing it found.

`KDRILL_JAVA` (the path of a `java` program) is an order: nothing else is tried. Without it JAVA_HOME and then PATH
are looked at, and the first Java that is new enough wins.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from model.sandbox.errors import SandboxError

OLDEST_JAVA = 17
"""Spark 4 and the class files of the newest ZooKeeper both run on it."""

FIX = f"Install Java {OLDEST_JAVA} or newer, or set KDRILL_JAVA to its java program."
# They carry flags and agents meant for other programs, and print to standard error.
FOREIGN_SETTINGS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")
_VERSION = re.compile(r'version "([^"]+)"')
_RELEASE_VERSION = re.compile(r'^JAVA_VERSION="([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Java:
    """A `java` program that was found, new enough or not."""

    program: Path
    version: str
    """As Java says it: `17.0.15`, `25`, `1.8.0_402`."""
    found_by: str
    """The variable that named it: KDRILL_JAVA, JAVA_HOME or PATH."""

    @property
    def feature(self) -> int:
        """The number people call it by: 17 of `17.0.15`, 8 of `1.8.0_402`; 0 when the version can't be read."""
        numbers = [int(number) for number in re.findall(r"\d+", self.version)[:2]]
        return numbers[1] if numbers[:1] == [1] and len(numbers) == 2 else (numbers or [0])[0]

    def __str__(self) -> str:
        return f"Java {self.version} at {self.program} ({self.found_by})"


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """The first Java of at least version 17.

    Raises SandboxError: none was found, the named one can't run, or all are too old.
    """
    candidates = list(_candidates(environment))
    found = [java for program, found_by in candidates if (java := _examine(program, found_by))]
    for java in found:
        if java.feature >= OLDEST_JAVA:
            return java
    if found:
        raise SandboxError(f"Java {OLDEST_JAVA} or newer is needed; found {' and '.join(map(str, found))}. {FIX}")
    if candidates:
        tried = " and ".join(f"{program} ({found_by})" for program, found_by in candidates)
        raise SandboxError(f"no working Java at {tried}. {FIX}")
    raise SandboxError(f"no Java found on PATH or in JAVA_HOME. {FIX}")


def java_environment() -> dict[str, str]:
    """This process's environment without other programs' Java settings.

    The locale is UTF-8 because Java can't open a path with an umlaut under the C locale.
    """
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN_SETTINGS}
    return kept | {"LC_ALL": "C.UTF-8"}


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if named := environment.get("KDRILL_JAVA"):
        yield Path(named), "KDRILL_JAVA"
        return
    if home := environment.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java", "JAVA_HOME"
    if on_path := shutil.which("java", path=environment.get("PATH", os.defpath)):
        yield Path(on_path), "PATH"


def _examine(program: Path, found_by: str) -> Java | None:
    version = _version_in_release_file(program) or _version_by_asking(program)
    return Java(program, version, found_by) if version else None


def _version_in_release_file(program: Path) -> str | None:
    """Read from the file `release` that every JDK since 7 carries: asking Java itself takes 0.1 s."""
    if not os.access(program, os.X_OK):
        return None
    try:
        release = (program.resolve().parent.parent / "release").read_text(errors="replace")
    except OSError:
        return None
    found = _RELEASE_VERSION.search(release)
    return found[1] if found else None


def _version_by_asking(program: Path) -> str | None:
    try:
        answer = subprocess.run(
            [program, "-version"],
            capture_output=True,
            check=False,
            errors="replace",
            timeout=20,
            env=java_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(answer.stderr + answer.stdout)
    return found[1] if found else None
