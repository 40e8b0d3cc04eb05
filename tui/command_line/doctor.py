"""`kdrill doctor`: what this machine has of what kdrill needs, and what is missing."""

import importlib.metadata
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import click
import msgspec

from model.sandbox.errors import SandboxError
from model.sandbox.java import find_java
from model.sandbox.zookeeper_jars import zookeeper_jars
from tui.command_line.options import common_options
from tui.config import Config

FORMAT = "kdrill.doctor/1"
SIGNS = {"ok": "ok", "missing": "X", "note": "~"}
OLDEST_PYTHON = (3, 11)


class Fact(NamedTuple):
    """One thing looked at: `state` is ok, missing (something will not work) or note (good to know)."""

    name: str
    state: str
    text: str


@click.command()
@common_options
@click.option("--json", "as_json", is_flag=True, help="one kdrill.doctor/1 object")
def doctor(config: Config, as_json: bool) -> int:
    """What this machine has, and what is missing. Exits 1 if something is.

    \b
    Example: kdrill doctor
    """
    facts = [*(fact for look in _LOOKS for fact in look()), _config(config)]
    if as_json:
        click.echo(msgspec.json.encode({"format": FORMAT, "facts": [fact._asdict() for fact in facts]}))
    else:
        for fact in facts:
            click.echo(f"{SIGNS[fact.state]:3}{fact.name:12}{fact.text}")
    return int(any(fact.state == "missing" for fact in facts))


def _config(config: Config) -> Fact:
    if not config.path.exists():
        return Fact("config", "note", f"none at {config.path}")
    return Fact("config", "ok", f"{config.path}: {', '.join(config.clusters) or 'no clusters'}")


def _python() -> Iterator[Fact]:
    found = ".".join(map(str, sys.version_info[:3]))
    yield Fact("Python", "ok" if sys.version_info >= OLDEST_PYTHON else "missing", f"{found} at {sys.executable}")


def _java() -> Iterator[Fact]:
    try:
        yield Fact("Java", "ok", str(find_java()))
    except SandboxError as error:
        yield Fact("Java", "missing", str(error))


def _zookeeper() -> Iterator[Fact]:
    try:
        jars = zookeeper_jars()
    except SandboxError as error:
        yield Fact("ZooKeeper", "missing", str(error))
        return
    yield Fact(
        "ZooKeeper", "ok", f"{next(jar.stem for jar in jars if jar.name.startswith('zookeeper-3'))} from PySpark"
    )


def _spark() -> Iterator[Fact]:
    try:
        yield Fact("Spark", "ok", f"PySpark {importlib.metadata.version('pyspark')}")
    except importlib.metadata.PackageNotFoundError:
        yield Fact("Spark", "missing", "PySpark is not installed; install kdrill with its dependencies: uv sync")


def _terminal() -> Iterator[Fact]:
    term = os.environ.get("TERM", "")
    columns, rows = shutil.get_terminal_size()
    if not sys.stdout.isatty():
        yield Fact("terminal", "note", "standard output is not a terminal: the dashboard needs one")
    elif term in ("", "dumb"):
        yield Fact(
            "terminal", "missing", f"TERM is {term or 'not set'}: the dashboard needs one that can move the cursor"
        )
    else:
        enough = columns >= 60 and rows >= 16
        yield Fact(
            "terminal", "ok" if enough else "note", f"{term}, {columns}x{rows}{'' if enough else ' (needs 60x16)'}"
        )
    yield Fact("colour", "ok", _colour())
    encoding = sys.stdout.encoding or "unknown"
    yield Fact("encoding", "ok" if encoding.lower().startswith("utf") else "note", encoding)


def _colour() -> str:
    if os.environ.get("NO_COLOR"):
        return "none (NO_COLOR is set)"
    return "24-bit" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "256 or fewer (COLORTERM is not set)"


_LOOKS: tuple[Callable[[], Iterator[Fact]], ...] = (_python, _java, _zookeeper, _spark, _terminal)
