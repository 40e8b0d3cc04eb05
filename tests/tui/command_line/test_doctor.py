"""What the doctor says of machines that lack something: what it is, and the command that mends it."""

from __future__ import annotations

import json
import os
import resource
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.harness.command import kdrill
from tui.cli.doctor import between_facts, folder_facts, free_memory, resource_facts, terminal_facts
from tui.cli.doctor_programs import (
    FAMILIES,
    INSTALL,
    PACKAGES,
    DoctorFact,
    Look,
    Machine,
    facts_for_tests,
    installing,
    java_facts,
    this_machine,
)

NO_PROGRAMS = {"PATH": os.devnull}
DEBIAN = {"ID": "debian", "VERSION_ID": "12"}


def facts(look: Look, environment: Mapping[str, str] = NO_PROGRAMS, **machine: object) -> dict[str, DoctorFact]:
    """By name."""
    return {fact.name: fact for fact in look(Machine(environment, **{"release": DEBIAN, **machine}))}  # pyright: ignore


def old_java(folder: Path) -> Path:
    """A JAVA_HOME of long ago."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    program.chmod(0o755)
    return folder


def test_it_names_what_there_is() -> None:
    done = kdrill("doctor", "--json")
    document = json.loads(done.stdout)
    named = {fact["name"]: fact for fact in document["facts"]}
    assert (done.returncode, document["format"]) == (0, "kdrill.doctor/1")
    assert {"Python", "Java", "ZooKeeper", "keytool", "openssl", "Spark", "memory", "open files", "loopback"} <= set(
        named
    )
    assert {"clock", "scratch", "cache", "state", "terminal", "colour", "encoding", "Maven", "config"} <= set(named)
    assert not [fact for fact in named.values() if fact["state"] == "ok" and fact["mend"]]


def test_below_what_is_missing_stands_what_to_type() -> None:
    done = kdrill("doctor", environment={**NO_PROGRAMS, "JAVA_HOME": "", "KDRILL_JAVA": "/nowhere"})
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("X  Java"))
    assert lines[place + 1] == f"{'':15}unset KDRILL_JAVA"
    assert any(line.startswith("~  openssl") for line in lines)


def test_without_java() -> None:
    java = facts(java_facts)["Java"]
    assert (java.state, java.mend) == ("missing", "sudo apt install openjdk-17-jre-headless")
    assert "Java 17 or newer" in java.text


@pytest.mark.parametrize(
    ("machine", "mend"),
    [
        (Machine({}, release={"ID": "debian", "VERSION_ID": "13"}), "sudo apt install openjdk-21-jre-headless"),
        (Machine({}, release={"ID": "ubuntu", "VERSION_ID": "22.04"}), "sudo apt install openjdk-17-jre-headless"),
        (
            Machine({}, release={"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}),
            "sudo apt install openjdk-17-jre-headless",
        ),
        (
            Machine({}, release={"ID": "rocky", "ID_LIKE": "rhel centos fedora"}),
            "sudo dnf install java-21-openjdk-headless",
        ),
        (Machine({}, release={"ID": "fedora"}, is_root=True), "dnf install java-21-openjdk-headless"),
        (Machine({}, release={"ID": "opensuse-leap"}), "sudo zypper install java-21-openjdk-headless"),
        (Machine({}, system="darwin"), 'brew install openjdk@21 && export JAVA_HOME="$(brew --prefix openjdk@21)"'),
        (Machine({}, release={"ID": "plan9"}), ""),
    ],
)
def test_what_installs_java(machine: Machine, mend: str) -> None:
    assert installing("java", machine) == mend


def test_every_package_manager_knows_every_package() -> None:
    assert set(FAMILIES.values()) | {"brew"} == set(INSTALL)
    assert all(set(names) == set(INSTALL) for names in PACKAGES.values())


def test_an_old_java_is_named_and_one_that_is_passed_over_too(tmp_path: Path) -> None:
    home = str(old_java(tmp_path))
    java = facts(java_facts, {**NO_PROGRAMS, "JAVA_HOME": home})["Java"]
    assert (java.state, java.mend) == ("missing", "sudo apt install openjdk-17-jre-headless")
    assert "found Java 11.0.2" in java.text
    here = facts(java_facts, {"PATH": os.environ["PATH"], "JAVA_HOME": home})
    if here["Java"].state == "ok":
        assert here["JAVA_HOME"].mend == "unset JAVA_HOME"
        assert home in here["JAVA_HOME"].text


@pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.ISO-8859-1"])
def test_a_locale_that_is_not_utf_8(locale: str) -> None:
    encoding = facts(terminal_facts, {"LANG": locale})["encoding"]
    assert (encoding.state, encoding.mend) == ("note", "export LANG=C.UTF-8")
    assert f"LANG is {locale}" in encoding.text
    assert facts(terminal_facts, {"LC_ALL": "C.UTF-8", "LANG": locale})["encoding"].state == "ok"


def test_a_terminal_that_cannot_do_it_and_what_stands_between() -> None:
    assert facts(terminal_facts, {"TERM": "dumb"})["terminal"].mend == "export TERM=xterm-256color"
    assert facts(terminal_facts, {"NO_COLOR": "1"})["colour"].text == "none (NO_COLOR is set)"
    assert facts(terminal_facts, {"COLORTERM": "truecolor"})["colour"].text == "24-bit"
    assert facts(between_facts, {"TMUX": "/tmp/x", "SSH_CONNECTION": "1 2"}).keys() == {"tmux", "ssh"}
    assert not facts(between_facts, {})


def test_folders_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, f"{os.devnull}/none")
    found = facts(folder_facts, {"TMPDIR": "/dev/null/none"})
    for name, variable in (("state", "XDG_STATE_HOME"), ("cache", "XDG_CACHE_HOME")):
        assert (found[name].state, found[name].mend) == ("note", f'export {variable}="$(mktemp -d)"')
        assert f"{os.devnull}/none/kdrill is not writable" in found[name].text
    assert (found["scratch"].state, found["scratch"].mend) == ("note", "unset TMPDIR")


def test_few_files_at_a_time() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, limits[1]))
    try:
        few = facts(resource_facts)["open files"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert (few.state, few.text) == ("note", "512 at a time, too few for a large sandbox")
    assert few.mend.startswith("ulimit -n ")


def test_memory_is_told() -> None:
    assert 1 << 20 < free_memory() < 1 << 50


def test_programs_that_only_the_tests_use() -> None:
    found = facts(facts_for_tests)
    assert {name: fact.mend for name, fact in found.items()} == {
        "Maven": "sudo apt install maven",
        "JDK": "sudo apt install default-jdk-headless",
        "ps": "sudo apt install procps",
        "Chromium": "sudo apt install chromium",
        "tmux": "sudo apt install tmux",
    }
    assert {fact.state for fact in found.values()} == {"note"}


def test_every_command_that_mends_is_one_for_a_shell() -> None:
    here = this_machine()
    poor = Machine({**NO_PROGRAMS, "TMUX": "x", "LANG": "C", "TERM": "dumb"}, here.system, here.release, here.is_root)
    looks = (java_facts, resource_facts, folder_facts, terminal_facts, between_facts, facts_for_tests)
    mends = [fact.mend for look in looks for fact in look(poor) if fact.mend]
    assert len(mends) >= 6
    assert all(shlex.split(mend) for mend in mends)
