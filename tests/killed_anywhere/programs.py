"""What is started to be killed: command lines, which processes they are made of, and how one sees that they are up."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from tests.harness.command import NO_SPARK

SMALL = ("--brokers", "2", "--topics", "2")
"""Of a sandbox: quick to start, and enough to lose one of."""

KINDS = (
    ("--build-archive", "archive builder"),
    ("ArchiveClassesAtExit", "archive builder"),
    ("QuorumPeerMain", "ZooKeeper"),
    ("model.hosts.live_broker", "broker"),
    ("model.sandbox.load", "load"),
    ("model.hosts.zookeeper_consumer", "consumer"),
    ("model.sandbox.control", "supervisor"),
    ("SparkSubmit", "Spark's Java"),
    ("/bin/spark-", "Spark's Java"),
    ("pyspark.daemon", "Spark's worker"),
    ("spark_tasks", "Spark"),
    ("tui.engine", "data process"),
    ("tui.cli", "program"),
)
"""A word of a command line → what the process is; the first that is found. A guard is one, whatever it
guards. An archive builder works for the next start: nobody is told of its end."""


def kind_of(command: tuple[str, ...]) -> str:
    """What a process is, by its command line."""
    if os.path.basename(command[0]) in ("sh", "bash", "dash") and "-c" in command[1:2]:
        return "guard"
    return next((kind for word, kind in KINDS if any(word in each for each in command)), os.path.basename(command[0]))


class Program(NamedTuple):
    """`told`: a kind of process → what is read on the screen, or at the end, once one of it was killed."""

    name: str
    arguments: tuple[str, ...]
    is_up: str
    """Read once everything serves: a regular expression."""
    processes: int
    """About so many there are then."""
    told: Mapping[str, str]
    environment: Mapping[str, str] = NO_SPARK
    in_terminal: bool = True

    def shows(self, text: str) -> bool:
        """Whether it is up, by what it says."""
        return re.search(self.is_up, text) is not None


LOST = {"data process": r"kdrill: the data process ended \(killed by SIGKILL\)"}
PROGRAMS = (
    Program(
        "sandbox",
        ("sandbox", *SMALL),
        r"LIVE.*2 brokers up",
        12,
        {**LOST, "broker": r"1 DOWN", "ZooKeeper": r"STALE", "supervisor": r"the sandbox's process|ZK LOST"},
    ),
    Program(
        "sandbox --headless",
        ("sandbox", "--headless", *SMALL),
        r'"bootstrap"',
        10,
        {"broker": r"broker \d ended unasked", "ZooKeeper": r"ZooKeeper 1 ended unasked"},
        in_terminal=False,
    ),
    Program(
        "sandbox --headless --load --dir",
        ("sandbox", "--headless", "--load", *SMALL, "--dir", "DIR"),
        r'"bootstrap"',
        11,
        {"broker": r"broker \d ended unasked", "ZooKeeper": r"ZooKeeper 1 ended unasked", "load": r"load"},
        in_terminal=False,
    ),
    Program("demo", ("--demo",), r"LIVE", 4, {**LOST, "ZooKeeper": r"STALE"}),
    Program(
        "sandbox --serve",
        ("sandbox", *SMALL, "--serve", "0"),
        r"http://",
        11,
        {"broker": r"broker \d ended unasked", "supervisor": r"the sandbox's process ended"},
        in_terminal=False,
    ),
    Program(
        "demo with Spark",
        ("--demo",),
        r"LIVE(.|\n)*Spark +local\[2\] ready",
        8,
        {**LOST, "ZooKeeper": r"STALE", "Spark": r"no Spark", "Spark's Java": r"no Spark"},
        environment={"KDRILL_SPARK_MASTER": "local[2]"},
    ),
)
