"""A Java that can run ZooKeeper and Spark, jars for it, and archives of the classes it loads.

`KDRILL_JAVA` (the path of a `java` program) is an order: nothing else is tried. Without it JAVA_HOME and then PATH
are looked at, and the first Java that is new enough wins. ZooKeeper's jars are PySpark's own, which is not imported;
jars of old Kafka are fetched from Maven Central by `mvn`, once, for whoever asks for them. Nothing else is downloaded.

A cached class archive (Java's AppCDS) shortens a server's start by a third. It is only a convenience: when anything
about it fails, the server starts without it. There is one per Java and set of jars; the caller trains it (`build`).
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from model.sandbox.processes import SandboxError

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


# Without snappy-java the server answers `imok` and never serves; without an slf4j binding it starts fastest.
NEEDED = ("zookeeper", "zookeeper-jute", "slf4j-api", "metrics-core", "snappy-java")


def zookeeper_jars(folder: Path | None = None) -> tuple[Path, ...]:
    """The jars of `NEEDED`, in that order, in `folder` or PySpark's `jars`. Raises SandboxError when one is absent."""
    folder = folder or pyspark_jars_folder()
    # `zookeeper-3.9.5.jar` but not `zookeeper-jute-3.9.5.jar`: a version begins with a digit.
    found = {name: sorted(folder.glob(f"{name}-[0-9]*.jar")) for name in NEEDED}
    if absent := [name for name, jars in found.items() if not jars]:
        raise SandboxError(f"{folder} lacks the jar of {', '.join(absent)}. Reinstall pyspark 4.")
    return tuple(jars[-1] for jars in found.values())


def pyspark_jars_folder() -> Path:
    """Where the installed PySpark keeps its jars. Raises SandboxError when PySpark is not installed."""
    spec = find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise SandboxError("pyspark is not installed, and ZooKeeper comes out of its jars. Install pyspark 4.")
    return Path(spec.submodule_search_locations[0]) / "jars"


FETCH_TIMEOUT_S = 600
_NEVER = ("org.slf4j", "slf4j-simple")  # a second binding beside slf4j-reload4j: slf4j would pick either


def fetched_jars(name: str, artifacts: Sequence[str], cache: Path) -> Path:
    """A folder with the jars of `artifacts` (group:artifact:version) and of what they need to run.

    Maven (`mvn`) fetches them into `cache` at first use. `name` is for people who look there. Raises SandboxError
    without Maven or the network.
    """
    pom = _pom(artifacts)
    # What was asked for is part of the name, so a changed list of artifacts never meets an old folder.
    digest = hashlib.sha256(pom.encode()).hexdigest()[:8]
    folder = cache / f"{name}-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            jars = _fetch(name, pom, Path(scratch))
            try:
                jars.rename(folder)  # atomic: a folder with this name is always complete
            except OSError:
                if not folder.is_dir():  # otherwise another process was quicker
                    raise
    return folder


def _fetch(name: str, pom: str, scratch: Path) -> Path:
    if shutil.which("mvn") is None:
        raise SandboxError(f"{name} is fetched by Maven, and there is no mvn on PATH: install Maven")
    (scratch / "pom.xml").write_text(pom)
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"]
    command.append("-DincludeScope=runtime")
    try:
        done = subprocess.run(
            command, cwd=scratch, capture_output=True, text=True, check=False, timeout=FETCH_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise SandboxError(f"Maven did not fetch {name} within {FETCH_TIMEOUT_S} s") from None
    if done.returncode != 0:
        reasons = [line.partition("[ERROR]")[2] for line in done.stdout.splitlines() if "[ERROR]" in line]
        raise SandboxError(f"Maven could not fetch {name}: {(reasons or [done.stderr])[0].strip()}")
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


UNUSED_AFTER_S = 60 * 24 * 3600


@dataclass(frozen=True)
class ClassArchive:
    """The place of one archive, whether it is there yet or not."""

    path: Path

    @classmethod
    def of(cls, java: Java, jars: Sequence[Path], folder: Path, server: str = "zookeeper") -> "ClassArchive":
        """Named by what it depends on: Java checks the jars' paths, sizes and times, and its own build."""
        told = [str(java.program.resolve()), java.version]
        for jar in jars:
            status = jar.stat()
            told += [str(jar), str(status.st_size), str(status.st_mtime_ns)]
        digest = hashlib.blake2b("\n".join(told).encode(errors="surrogateescape"), digest_size=8)
        return cls(folder / f"{server}-{digest.hexdigest()}.jsa")

    def is_built(self) -> bool:
        return self.path.exists()

    def flags(self) -> list[str]:
        """Java's flags to use the archive: none when it is absent. Java checks its sums and ignores a damaged one."""
        if not self.is_built():
            return []
        with suppress(OSError):
            os.utime(self.path)
        return [f"-XX:SharedArchiveFile={self.path}", "-XX:+VerifySharedSpaces"]

    def discard(self) -> None:
        """Remove an archive that did harm; the next start builds another."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def build(self, train: Callable[[Path], None]) -> bool:
        """Whether the archive is there now. Raises nothing: False when another process builds it or it can't be built.

        `train` runs the server once with `-XX:ArchiveClassesAtExit` on the path it is given.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not self.is_built():
                    self._remove_unused()
                    part = self.path.with_suffix(".part")
                    part.unlink(missing_ok=True)
                    train(part)
                    part.rename(self.path)
        except Exception:  # a cache must not stop what it serves
            return False
        return True

    def _remove_unused(self) -> None:
        oldest = time.time() - UNUSED_AFTER_S
        for file in self.path.parent.glob(f"{self.path.stem.partition('-')[0]}-*"):
            if file.stat().st_mtime < oldest:
                file.unlink()
