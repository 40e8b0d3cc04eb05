"""What the doctor says of Java and of what needs it: the sandbox's ZooKeeper, Spark, stores of keys."""

import importlib.metadata
from collections.abc import Iterator

from model.hosts.client_security.java_keystores import keytool_program, openssl_program
from model.sandbox.errors import SandboxError
from model.sandbox.java import Java, find_java
from model.sandbox.zookeeper_jars import zookeeper_jars
from spark_tasks.options import SparkOptions
from spark_tasks.session.archive import class_archive
from tui.command_line.doctor_fact import Fact, Machine
from tui.command_line.doctor_packages import installing

REINSTALL = "pip install --force-reinstall pyspark"


def java_facts(machine: Machine) -> Iterator[Fact]:
    """The Java that is used, if there is one, and what is made of it."""
    try:
        java = find_java(machine.environment)
    except SandboxError as error:
        mend = "unset KDRILL_JAVA" if machine.environment.get("KDRILL_JAVA") else installing("java", machine)
        yield Fact("Java", "missing", str(error), mend)
        java = None
    else:
        yield Fact("Java", "ok", str(java))
        home = machine.environment.get("JAVA_HOME")
        if home and java.found_by == "PATH":
            yield Fact("JAVA_HOME", "note", f"no Java that is new enough in {home}: passed over", "unset JAVA_HOME")
    yield from _zookeeper()
    yield from _keystores(machine)
    yield from _spark(java)


def _zookeeper() -> Iterator[Fact]:
    try:
        jars = zookeeper_jars()
    except SandboxError as error:
        yield Fact("ZooKeeper", "missing", str(error), REINSTALL)
        return
    server = next(jar.stem for jar in jars if jar.name.startswith("zookeeper-3"))
    yield Fact("ZooKeeper", "ok", f"{server} from PySpark")


def _keystores(machine: Machine) -> Iterator[Fact]:
    """Most clusters need none of them."""
    programs = {
        "keytool": (keytool_program(), "reads PKCS12 and JKS stores", "java"),
        "openssl": (openssl_program(), "reads the keys in them", "openssl"),
    }
    for name, (place, use, package) in programs.items():
        if place:
            yield Fact(name, "ok", f"{place}, which {use}")
        else:
            lost = f"not found; it {use}: without it give keys and certificates as PEM"
            yield Fact(name, "note", lost, installing(package, machine))


def _spark(java: Java | None) -> Iterator[Fact]:
    try:
        yield Fact("Spark", "ok", f"PySpark {importlib.metadata.version('pyspark')}")
    except importlib.metadata.PackageNotFoundError:
        yield Fact("Spark", "missing", "PySpark is not installed, which kdrill depends on", REINSTALL)
        return
    if java is None:
        return
    archive = class_archive(java, SparkOptions())
    if archive.is_built():
        yield Fact("Spark start", "ok", f"with the class archive {archive.path}")
    else:
        yield Fact(
            "Spark start", "note", "without a class archive, at half speed: the dashboard builds one in a minute"
        )
