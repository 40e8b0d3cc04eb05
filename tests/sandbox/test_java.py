"""Which Java is taken, and what is said when none will do."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.sandbox.java import OLDEST_JAVA, Java, find_java
from model.sandbox.processes import SandboxError


def java_home(folder: Path, version: str) -> Path:
    """A JDK's folder whose `java` only knows its version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    program.chmod(0o755)
    return folder


def test_this_machine_has_a_java_that_will_do():
    assert find_java().feature >= OLDEST_JAVA


@pytest.mark.parametrize(
    ("version", "feature"),
    [("17.0.15", 17), ("25", 25), ("25-ea", 25), ("1.8.0_402", 8), ("11.0.2+9", 11), ("1", 1), ("unknown", 0)],
)
def test_feature(version: str, feature: int):
    assert Java(Path("java"), version, "PATH").feature == feature


@given(st.text())
def test_any_version_has_a_feature(version: str):
    assert Java(Path("java"), version, "PATH").feature >= 0


def test_kdrill_java_is_an_order(tmp_path: Path):
    old, new = java_home(tmp_path / "old", "11.0.2"), java_home(tmp_path / "new", "21.0.1")
    environment = {"KDRILL_JAVA": str(old / "bin" / "java"), "JAVA_HOME": str(new), "PATH": str(new / "bin")}
    with pytest.raises(SandboxError) as refused:
        find_java(environment)
    assert str(refused.value) == (
        f"Java 17 or newer is needed; found Java 11.0.2 at {old}/bin/java (KDRILL_JAVA). "
        "Install Java 17 or newer, or set KDRILL_JAVA to its java program."
    )


def test_the_first_java_that_is_new_enough(tmp_path: Path):
    old, new = java_home(tmp_path / "old", "1.8.0_402"), java_home(tmp_path / "new", "17.0.1")
    assert find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")}) == Java(new / "bin" / "java", "17.0.1", "PATH")
    assert find_java({"JAVA_HOME": str(new), "PATH": str(old / "bin")}).found_by == "JAVA_HOME"


def test_all_that_are_too_old_are_named(tmp_path: Path):
    old, older = java_home(tmp_path / "old", "16.0.1"), java_home(tmp_path / "older", "1.8.0_402")
    with pytest.raises(SandboxError, match=r"found Java 16.0.1 at .* \(JAVA_HOME\) and Java 1.8.0_402 at .* \(PATH\)"):
        find_java({"JAVA_HOME": str(old), "PATH": str(older / "bin")})


def test_no_java(tmp_path: Path):
    with pytest.raises(SandboxError, match=r"^no Java found on PATH or in JAVA_HOME\. Install Java 17"):
        find_java({"PATH": str(tmp_path)})


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho no version here\n", "not a program"])
def test_a_java_that_does_not_work(tmp_path: Path, script: str):
    program = tmp_path / "java"
    program.write_text(script)
    program.chmod(0o755)
    with pytest.raises(SandboxError, match=rf"^no working Java at {program} \(KDRILL_JAVA\)\."):
        find_java({"KDRILL_JAVA": str(program)})


def test_a_home_without_java(tmp_path: Path):
    with pytest.raises(SandboxError, match=rf"^no working Java at {tmp_path}/bin/java \(JAVA_HOME\)\."):
        find_java({"JAVA_HOME": str(tmp_path), "PATH": ""})


def test_the_release_file_spares_a_run(tmp_path: Path):
    home = java_home(tmp_path, "asked")
    (home / "release").write_text('IMPLEMENTOR="Somebody"\nJAVA_VERSION="21.0.4"\n')
    assert find_java({"JAVA_HOME": str(home)}).version == "21.0.4"
