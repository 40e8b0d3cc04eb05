"""What the doctor says of other programs: Java and what needs it, what kdrill's own tests use; how to install them.

A finding is a `DoctorFact`. Commands that install are a table by package manager; none of them is run.
"""

import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from model.hosts.tls import keytool_program, openssl_program
from model.sandbox.java import Java, find_java, zookeeper_jars
from model.sandbox.processes import SandboxError
from spark_tasks.messages import SparkOptions
from spark_tasks.session.java_process import class_archive


class DoctorFact(NamedTuple):
    """One thing looked at: `state` is ok, missing (something will not work) or note (good to know)."""

    name: str
    state: str
    text: str
    mend: str = ""
    """A command for the shell that mends it; empty where none is known, or nothing is to be mended."""


class Machine(msgspec.Struct, frozen=True):
    """What decides which command mends a thing. `system` is as in sys.platform, `release` the fields of os-release."""

    environment: Mapping[str, str]
    system: str = "linux"
    release: Mapping[str, str] = {}
    is_root: bool = False


Look = Callable[[Machine], Iterator[DoctorFact]]


def this_machine() -> Machine:
    release: dict[str, str] = {}
    with suppress(OSError):
        release = platform.freedesktop_os_release()
    return Machine(os.environ, sys.platform, release, os.geteuid() == 0)


INSTALL: Mapping[str, str] = {
    "apt": "apt install",
    "dnf": "dnf install",
    "zypper": "zypper install",
    "pacman": "pacman -S",
    "apk": "apk add",
    "brew": "brew install",
}
FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("debian", "ubuntu"), "apt"),
    **dict.fromkeys(("fedora", "rhel", "centos"), "dnf"),
    **dict.fromkeys(("suse", "opensuse"), "zypper"),
    "arch": "pacman",
    "alpine": "apk",
}
"""ID or ID_LIKE of os-release → its package manager."""

PACKAGES: Mapping[str, Mapping[str, str]] = {
    "java": {
        "apt": "openjdk-17-jre-headless",
        "dnf": "java-21-openjdk-headless",
        "zypper": "java-21-openjdk-headless",
        "pacman": "jre-openjdk-headless",
        "apk": "openjdk21-jre-headless",
        "brew": 'openjdk@21 && export JAVA_HOME="$(brew --prefix openjdk@21)"',
    },
    "jdk": {
        "apt": "default-jdk-headless",
        "dnf": "java-21-openjdk-devel",
        "zypper": "java-21-openjdk-devel",
        "pacman": "jdk-openjdk",
        "apk": "openjdk21-jdk",
        "brew": "openjdk@21",
    },
    "openssl": dict.fromkeys(INSTALL, "openssl"),
    "maven": dict.fromkeys(INSTALL, "maven"),
    "ps": {**dict.fromkeys(INSTALL, "procps"), "dnf": "procps-ng", "pacman": "procps-ng"},
    "tmux": dict.fromkeys(INSTALL, "tmux"),
    "chromium": {**dict.fromkeys(INSTALL, "chromium"), "brew": "--cask chromium"},
}
"""What a thing is called there."""
DEBIAN_WITHOUT_17 = 13


def installing(thing: str, machine: Machine) -> str:
    """The command that installs one of PACKAGES; empty where the machine's package manager is not known."""
    manager = _manager(machine)
    if not manager:
        return ""
    package = PACKAGES[thing][manager]
    if thing == "java" and machine.release.get("ID") == "debian" and _number(machine) >= DEBIAN_WITHOUT_17:
        package = "openjdk-21-jre-headless"
    rights = "" if manager == "brew" or machine.is_root else "sudo "
    return f"{rights}{INSTALL[manager]} {package}"


def _manager(machine: Machine) -> str:
    if machine.system == "darwin":
        return "brew"
    names = f"{machine.release.get('ID', '')} {machine.release.get('ID_LIKE', '')}".split()
    return next((FAMILIES[name.partition("-")[0]] for name in names if name.partition("-")[0] in FAMILIES), "")


def _number(machine: Machine) -> int:
    number = machine.release.get("VERSION_ID", "").partition(".")[0]
    return int(number) if number.isdecimal() else DEBIAN_WITHOUT_17  # testing and unstable have none


REINSTALL = "pip install --force-reinstall pyspark"


def java_facts(machine: Machine) -> Iterator[DoctorFact]:
    """Java, and what depends on it: ZooKeeper, keystores, Spark."""
    try:
        java = find_java(machine.environment)
    except SandboxError as error:
        mend = "unset KDRILL_JAVA" if machine.environment.get("KDRILL_JAVA") else installing("java", machine)
        yield DoctorFact("Java", "missing", str(error), mend)
        java = None
    else:
        yield DoctorFact("Java", "ok", str(java))
        home = machine.environment.get("JAVA_HOME")
        if home and java.found_by == "PATH":
            yield DoctorFact("JAVA_HOME", "note", f"no Java in {home} is new enough: skipped", "unset JAVA_HOME")
    yield from _zookeeper()
    yield from _keystores(machine)
    yield from _spark(java)


def _zookeeper() -> Iterator[DoctorFact]:
    try:
        jars = zookeeper_jars()
    except SandboxError as error:
        yield DoctorFact("ZooKeeper", "missing", str(error), REINSTALL)
        return
    server = next(jar.stem for jar in jars if jar.name.startswith("zookeeper-3"))
    yield DoctorFact("ZooKeeper", "ok", f"{server} from PySpark")


def _keystores(machine: Machine) -> Iterator[DoctorFact]:
    """Programs that read Java keystores; most clusters need neither."""
    programs = {
        "keytool": (keytool_program(), "reads PKCS12 and JKS stores", "java"),
        "openssl": (openssl_program(), "reads the keys in them", "openssl"),
    }
    for name, (place, use, package) in programs.items():
        if place:
            yield DoctorFact(name, "ok", f"{place}, which {use}")
        else:
            lost = f"not found; it {use}: without it, use keys and certificates in PEM"
            yield DoctorFact(name, "note", lost, installing(package, machine))


def _spark(java: Java | None) -> Iterator[DoctorFact]:
    try:
        yield DoctorFact("Spark", "ok", f"PySpark {importlib.metadata.version('pyspark')}")
    except importlib.metadata.PackageNotFoundError:
        yield DoctorFact("Spark", "missing", "PySpark is not installed; kdrill needs it", REINSTALL)
        return
    if java is None:
        return
    archive = class_archive(java, SparkOptions())
    if archive.is_built():
        yield DoctorFact("Spark start", "ok", f"with the class archive {archive.path}")
    else:
        yield DoctorFact(
            "Spark start", "note", "at half speed without a class archive; the dashboard builds one after a minute"
        )


PROGRAMS = {
    "Maven": ("maven", ("mvn",), "the tests fetch real Kafka with it"),
    "JDK": ("jdk", ("javac",), "compiles programs with which the tests call Kafka's own classes"),
    "ps": ("ps", ("ps",), "the tests use it to look for processes left behind"),
    "Chromium": ("chromium", ("chromium", "chromium-browser", "google-chrome"), "the tests of --serve use it"),
    "tmux": ("tmux", ("tmux",), "one test of the dashboard runs in it"),
}
"""Name → package, programs that will do, what for."""


def facts_for_tests(machine: Machine) -> Iterator[DoctorFact]:
    """Programs that kdrill's own tests need; only in a checkout."""
    if not (Path(__file__).parents[2] / "tests").is_dir():
        return
    for name, (package, programs, use) in PROGRAMS.items():
        path = machine.environment.get("PATH", "")
        found = next(filter(None, (shutil.which(program, path=path) for program in programs)), None)
        if found:
            yield DoctorFact(name, "ok", f"{found}: {use}")
        else:
            yield DoctorFact(name, "note", f"not found: {use}", installing(package, machine))
