"""Kafka's own commands of each release, run as an operator would; in turn by one JVM (tool_server.py).

What they ask for happens later, in the controller: callers wait for the effect.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from model.sandbox.java import java_environment
from tests.conformance.kafka.describe import Partitions, parse_describe
from tests.conformance.kafka.releases import Installation
from tests.conformance.kafka.tool_server import TIMEOUT_S, tool_done
from tests.conformance.kafka.topic_znodes import Assignment

_OF_RECORDS = frozenset({"produce", "consume"})
"""They have a JVM of their own, in whose end they write what they still hold."""
UNKNOWN = "does not exist as expected"
KNOWN_WITHIN_S = 20.0
"""Brokers hear of a new topic one after the other."""


class Target(Protocol):
    """A cluster of Kafka's brokers or of ours. `folder` is for files that commands read."""

    @property
    def kafka(self) -> Installation: ...

    @property
    def folder(self) -> Path: ...

    @property
    def zookeeper(self) -> str: ...

    @property
    def bootstrap(self) -> str: ...


class Commands:
    """TopicCommand and its siblings against one cluster. Each raises RuntimeError with the command's output."""

    def __init__(self, cluster: Target) -> None:
        self._kafka = cluster.kafka
        self._folder = cluster.folder
        self._bootstrap = cluster.bootstrap
        self._ask_zookeeper = cluster.kafka.release.commands_use_zookeeper
        self._target = ("--zookeeper", cluster.zookeeper)
        if not self._ask_zookeeper:
            self._target = ("--bootstrap-server", cluster.bootstrap)

    def create(self, topic: str, assignment: Assignment, **config: str) -> None:
        """--create with explicit replicas. Keys of `config` have _ for Kafka's dots."""
        replicas = ",".join(":".join(map(str, assignment[p])) for p in sorted(assignment))
        settings = [f"--config={key.replace('_', '.')}={value}" for key, value in config.items()]
        self._run("topics", *self._target, "--create", "--topic", topic, "--replica-assignment", replicas, *settings)

    def add_partitions(self, topic: str, total: int) -> None:
        """--alter: the topic then has `total` partitions."""
        self._run_of_topic("--alter", "--topic", topic, "--partitions", str(total))

    def delete(self, topic: str) -> None:
        """--delete, which leaves a mark for the controller."""
        self._run_of_topic("--delete", "--topic", topic)

    def describe(self) -> Partitions:
        """--describe of every topic."""
        return parse_describe(self.describe_text())

    def describe_text(self, topic: str = "") -> str:
        """--describe of one topic, or of every one, as it is printed."""
        return self._run("topics", *self._target, "--describe", *(["--topic", topic] if topic else []))

    def configure(self, topic: str, **config: str) -> None:
        """ConfigCommand --alter --add-config, from 2.x on. Keys of `config` have _ for Kafka's dots."""
        added = ",".join(f"{key.replace('_', '.')}={value}" for key, value in config.items())
        self._run("configs", *self._target, "--alter", "--topic", topic, "--add-config", added)

    def upgrade(self, release: str) -> None:
        """FeatureCommand: to the feature levels of this release, from 4.0 on."""
        self._run("features", *self._target, "upgrade", "--release-version", release)

    def upgrade_feature(self, level: str) -> None:
        """FeatureCommand: one feature, as NAME=LEVEL."""
        self._run("features", *self._target, "upgrade", "--feature", level)

    def configuration(self, topic: str) -> str:
        """ConfigCommand --describe: what is set on the topic, as it prints it."""
        named = ("--entity-type", "topics", "--entity-name", topic)
        return self._run("configs", *self._target, "--describe", *named)

    def reassign(self, topic: str, assignment: Assignment, *more: str) -> None:
        """ReassignPartitionsCommand --execute."""
        moves = [{"topic": topic, "partition": p, "replicas": list(r)} for p, r in assignment.items()]
        plan = self._json_file("reassignment", moves)
        self._run("reassign", *self._target, "--reassignment-json-file", plan, "--execute", *more)

    def elect_preferred(self, topic: str, partitions: Sequence[int]) -> None:
        """PreferredReplicaLeaderElectionCommand, from 2.4 on LeaderElectionCommand."""
        self.elect_from(self._json_file("election", [{"topic": topic, "partition": p} for p in partitions]))

    def elect_from(self, file: str) -> None:
        """The same, of the partitions that a file names."""
        wish = ["--path-to-json-file", file]
        if not self._ask_zookeeper:
            wish += ["--election-type", "preferred"]
        self._run("elect", *self._target, *wish)

    def produce(self, topic: str, messages: Sequence[str]) -> None:
        """ConsoleProducer, one message a line."""
        lines = "".join(f"{message}\n" for message in messages)
        option = "--broker-list" if self._ask_zookeeper else "--bootstrap-server"
        self._run("produce", option, self._bootstrap, "--topic", topic, input_text=lines)

    def consume(self, topic: str, count: int) -> list[str]:
        """ConsoleConsumer from the beginning, until it has read `count` messages.

        Where an error ends it earlier its exit code is 0 all the same. Raises RuntimeError with what it said then.
        """
        wish = ["--topic", topic, "--from-beginning", "--max-messages", str(count)]
        done = self._done("consume", *self._target, *wish)
        messages = done.stdout.splitlines()
        if len(messages) < count:
            raise RuntimeError(f"consume {topic} ended after {len(messages)} of {count}:\n{done.stderr[-4000:]}")
        return messages

    def ask(self, name: str, *arguments: str) -> str:
        """Any command, and what it prints."""
        return self._run(name, *arguments)

    def java(self, name: str, *arguments: str) -> list[str]:
        """The command line of a command, for those that stay."""
        return self._kafka.java(self._kafka.release.classes[name], *arguments, heap_mb=128)

    def _run_of_topic(self, *arguments: str) -> None:
        """Again while the broker that is asked does not know the topic yet: any of them is."""
        deadline = time.monotonic() + KNOWN_WITHIN_S
        while True:
            try:
                self._run("topics", *self._target, *arguments)
                return
            except RuntimeError as failure:
                if UNKNOWN not in str(failure) or time.monotonic() > deadline:
                    raise
            time.sleep(0.2)

    def _run(self, name: str, *arguments: str, input_text: str = "") -> str:
        return self._done(name, *arguments, input_text=input_text).stdout

    def _done(self, name: str, *arguments: str, input_text: str = "") -> subprocess.CompletedProcess[str]:
        if name in _OF_RECORDS:
            done = subprocess.run(
                self.java(name, *arguments),
                input=input_text,
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_S,
                env=java_environment(),
            )
        else:
            done = tool_done(self._kafka, self._kafka.release.classes[name], *arguments)
        # TopicCommand of 0.8 ends with 0 after an error; all releases say "Error" first.
        if done.returncode != 0 or done.stdout.startswith("Error"):
            raise RuntimeError(f"{name} {' '.join(arguments)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def _json_file(self, name: str, partitions: list[dict[str, Any]]) -> str:
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps({"version": 1, "partitions": partitions}))
        return str(file)
