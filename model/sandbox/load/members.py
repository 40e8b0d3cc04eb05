"""Members of ZooKeeper groups, each a process with a link of its own to ZooKeeper, and what is known of such a group.

A member decides alone when it rebalances and what it owns (`kafka.consumer.ZookeeperConsumerConnector`): only what each
says of itself shows that all stop for one change, that two read one partition, and that some have given up. Two kinds
are run: kdrill's own consumer, which prints JSON lines, and the ConsoleConsumer of Kafka 0.8.2.2, whose log is read.
A member is killed when it is stopped. Nothing is decided here; ZooKeeper is not asked.
"""

import asyncio
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec
from platformdirs import user_cache_path

from model.cluster.texts import listed
from model.consumers.ownership import partition_ranges
from model.sandbox.java import fetched_jars, find_java, java_environment
from model.sandbox.messages import ConsumerStatus
from model.sandbox.processes import GuardedProcess
from model.sandbox.server_process import started
from model.sandbox.switchboard import CLIENT, ZooKeeperLink

SaidKind = Literal["began", "owns", "waits", "gave-up", "expired", "ended"]


class MemberReport(msgspec.Struct, frozen=True):
    """What a member said of itself, at a time in ms since the epoch; ended: its process did, unasked."""

    at_ms: int
    kind: SaidKind
    partitions: tuple[str, ...] = ()
    """`orders-3`: what it owns now, or waits for."""
    attempt: int = 0


COMMIT_EVERY_MS = 5_000


class GroupMember:
    """Not started by the constructor. What kind it is, a subclass says."""

    def __init__(self, group: str, member: str, topics: Sequence[str], folder: Path, session_ms: int) -> None:
        """`folder` is where its log goes."""
        self.group = group
        self.member = member
        self.status: ConsumerStatus = "stopped"
        self.partitions: tuple[str, ...] = ()
        """What it believes to own."""
        self.consumed: int = 0
        """Records, ever; 0 where that is not told."""
        self.link = ZooKeeperLink()
        self.log = folder / f"consumer-{group}-{member}.log"
        self._topics, self._session_ms = topics, session_ms
        self._zookeeper = ""
        self._process: GuardedProcess | None = None
        self._read = 0

    async def open(self, zookeeper: str) -> None:
        """Make its link. Raises OSError."""
        self._zookeeper = await self.link.start(zookeeper)

    async def close(self) -> None:
        await self.cut_off()
        await self.link.close()

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return self._process.pid if self._process and self._process.exit_code() is None else None

    async def start(self) -> None:
        """Start it; it joins when it can. Raises SandboxError."""
        self.status = "joining"
        command = self._command()
        start = partial(GuardedProcess, command, folder=self.log.parent, log=self.log, environment=java_environment())
        self._process = await started(start, GuardedProcess.close)

    async def cut_off(self) -> None:
        """SIGKILL: its znodes stay until its session times out."""
        self.status, self.partitions = "stopped", ()
        if self._process is not None:
            await asyncio.to_thread(self._process.close)

    def look(self) -> list[MemberReport]:
        """Read what it said since the last time."""
        try:
            with self.log.open("rb") as file:
                file.seek(self._read)
                text = file.read()
        except OSError:
            return []
        text = text[: text.rfind(b"\n") + 1]
        self._read += len(text)
        if self.status == "stopped":
            return []
        said = [one for line in text.splitlines() for one in self._hear(line)]
        for one in said:
            self.status = "consuming" if one.kind == "owns" else "joining"
            self.partitions = one.partitions if one.kind == "owns" else ()
        if self.pid is None:
            self.status, self.partitions = "stopped", ()
            said.append(MemberReport(time.time_ns() // 1_000_000, "ended"))
        return said

    def _command(self) -> Sequence[str]:
        raise NotImplementedError

    def _hear(self, line: bytes) -> Iterable[MemberReport]:
        raise NotImplementedError


ZOOKEEPER_CONSUMER = (sys.executable, "-P", "-m", "model.hosts.zookeeper_consumer")
"""-P: whatever lies in the current folder is not ours."""
_KINDS: dict[str, SaidKind] = {
    "rebalance-began": "began", "claimed": "owns", "conflict": "waits", "session-expired": "expired",
}  # fmt: skip


class _Line(msgspec.Struct, frozen=True):
    happening: str
    at_ms: int = 0
    total: int = 0
    partitions: tuple[tuple[str | int, ...], ...] = ()
    partition: tuple[str, int] | None = None
    attempt: int = 0
    attempts: int = 0
    succeeded: bool = True


class OwnMember(GroupMember):
    """kdrill's own consumer."""

    _before: int = 0
    """Records that earlier processes consumed."""

    def _command(self) -> Sequence[str]:
        self._before = self.consumed
        return (
            *ZOOKEEPER_CONSUMER,
            *("--zookeeper", self._zookeeper, "--group", self.group, "--listener", CLIENT),
            *("--auto-commit-interval-ms", str(COMMIT_EVERY_MS), "--session-timeout-ms", str(self._session_ms)),
            *(word for topic in self._topics for word in ("--topic", topic)),
        )

    def _hear(self, line: bytes) -> Iterable[MemberReport]:
        try:
            one = msgspec.json.decode(line, type=_Line)
        except msgspec.MsgspecError:
            return
        if one.happening == "consumed":
            self.consumed = self._before + one.total
        named = [one.partition] if one.partition else one.partitions
        partitions = tuple(f"{each[0]}-{each[1]}" for each in named)
        if kind := _KINDS.get(one.happening):
            yield MemberReport(one.at_ms, kind, partitions, one.attempt)
        elif one.happening == "rebalance-ended" and not one.succeeded:
            yield MemberReport(one.at_ms, "gave-up", attempt=one.attempts)


OLD_KAFKA = "org.apache.kafka:kafka_2.11:0.8.2.2"
_SETTINGS = """\
group.id={group}
consumer.id={member}
zookeeper.session.timeout.ms={session_ms}
auto.commit.interval.ms={commit_ms}
"""
_LOGGING = """\
log4j.rootLogger=ERROR, out
log4j.logger.kafka.consumer.ZookeeperConsumerConnector=INFO
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %m%n
"""
_BEGAN = re.compile(r"begin rebalancing consumer \S+ try #(\d+)")
_WAITS = re.compile(r"waiting for the partition ownership to be deleted: (\d+)")
_OWNS = re.compile(r"selected partitions : ?(.*)")
_OWNED = re.compile(r"([\w.-]+):(\d+): fetched offset")
_GAVE_UP = re.compile(r"ConsumerRebalanceFailedException: \S+ can't rebalance after (\d+) retries")
_NEW_SESSION = "ZK expired; release old broker parition ownership"
_DATE_CELLS = len("2026-11-26 06:22:57,323")


class OldMember(GroupMember):
    """The high-level consumer of Kafka 0.8.2.2 in its ConsoleConsumer, which prints no records here.

    Its defaults of that time are kept: four tries of a rebalance (rebalance.max.retries), 2 s apart
    (rebalance.backoff.ms). Its session lives as long as the brokers'.
    """

    _said_ms: int = 0

    @staticmethod
    async def fetch() -> None:
        """Its jars, by Maven, at first use. Raises SandboxError."""
        await asyncio.to_thread(_old_jars)

    def _command(self) -> Sequence[str]:
        settings, logging = (self.log.with_suffix(f".{kind}") for kind in ("properties", "log4j"))
        values = {"group": self.group, "member": self.member, "session_ms": self._session_ms}
        settings.write_text(_SETTINGS.format(commit_ms=COMMIT_EVERY_MS, **values))
        logging.write_text(_LOGGING)
        return (
            *(str(find_java().program), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx64m"),
            *(f"-Dlog4j.configuration={logging.absolute().as_uri()}", "-cp", f"{_old_jars()}/*"),
            *("kafka.tools.ConsoleConsumer", "--zookeeper", self._zookeeper, "--consumer.config", str(settings)),
            *("--whitelist", "|".join(map(re.escape, self._topics))),
            *("--formatter", "kafka.tools.NoOpMessageFormatter"),
        )

    def _hear(self, line: bytes) -> Iterable[MemberReport]:
        text = line.decode(errors="replace")
        try:
            at = datetime.strptime(text[:_DATE_CELLS], "%Y-%m-%d %H:%M:%S,%f")
            self._said_ms = int(at.timestamp() * 1000)
        except ValueError:
            pass  # of an exception's text, below the line that has its time
        at_ms = self._said_ms
        if found := _BEGAN.search(text):
            yield MemberReport(at_ms, "began", attempt=int(found[1]) + 1)
        elif found := _WAITS.search(text):
            yield MemberReport(at_ms, "waits", (found[1],))
        elif found := _OWNS.search(text):
            yield MemberReport(at_ms, "owns", tuple(f"{topic}-{number}" for topic, number in _OWNED.findall(found[1])))
        elif found := _GAVE_UP.search(text):
            yield MemberReport(at_ms, "gave-up", attempt=int(found[1]))
        elif _NEW_SESSION in text:
            yield MemberReport(at_ms, "expired")


def _old_jars() -> Path:
    return fetched_jars("kafka-0.8.2.2", (OLD_KAFKA,), user_cache_path("kdrill") / "jars")


class _Standing:
    """What is known of one member."""

    def __init__(self) -> None:
        self.owned: frozenset[str] = frozenset()
        """What it believes to own, and reads."""
        self.is_reached = True
        """Whether it runs, and its link is whole."""
        self.has_settled = False
        """Since the last change."""
        self.has_given_up = False
        self.waited_for: tuple[str, ...] = ()


class GroupWatch:
    """One group, put together from what its members say: sentences for the feed, and how it stands."""

    def __init__(self, group: str) -> None:
        self.group = group
        self._members: dict[str, _Standing] = {}
        self._cause = ""
        self._began_ms = 0
        self._split_ms: dict[tuple[str, str], int] = {}
        """Since when two members own the same; the later owner first."""

    def changed(self, member: str, cause: str, *, reached: bool) -> None:
        """Something was done to a member: `cause` says what. `reached`: whether it still hears of changes."""
        for standing in self._members.values():
            standing.has_settled = False
        self._members.setdefault(member, _Standing()).is_reached = reached
        self._cause, self._began_ms = cause, 0

    def killed(self, member: str) -> None:
        """It runs no more: what it owned nobody reads."""
        self.changed(member, f"{member} was killed", reached=False)
        del self._members[member]
        self._split_ms = {pair: since for pair, since in self._split_ms.items() if member not in pair}

    @property
    def rebalanced(self) -> tuple[str, ...]:
        """Who has stopped and claimed anew since the last change."""
        return tuple(name for name, one in self._members.items() if one.has_settled)

    @property
    def is_rebalanced(self) -> bool:
        """Whether all have that hear of changes."""
        reached = [one for one in self._members.values() if one.is_reached]
        return bool(reached) and all(one.has_settled for one in reached)

    @property
    def given_up(self) -> tuple[str, ...]:
        """Who has used up its tries, and owns nothing until the next change."""
        return tuple(name for name, one in self._members.items() if one.has_given_up)

    @property
    def owned_twice(self) -> tuple[str, ...]:
        """Partitions that two members believe to own."""
        seen: set[str] = set()
        twice: set[str] = set()
        for one in self._members.values():
            twice |= seen & one.owned
            seen |= one.owned
        return tuple(sorted(twice))

    @property
    def read_on(self) -> dict[str, str]:
        """Partition → who reads it on, though it is another's in ZooKeeper."""
        return {
            partition: earlier
            for later, earlier in self._split_ms
            for partition in sorted(self._members[later].owned & self._members[earlier].owned)
        }

    def hear(self, member: str, said: MemberReport) -> Iterator[str]:
        """What is to be told of it."""
        standing = self._members.setdefault(member, _Standing())
        if said.kind == "owns":
            yield from self._owns(member, standing, said)
            return
        yield from self._lets_go(member, standing, said.at_ms)
        if said.kind == "began":
            standing.has_given_up = False
            self._began_ms = self._began_ms or said.at_ms
            if said.attempt > 1:
                waited = f": {self._whose(standing.waited_for)}" if standing.waited_for else ""
                yield f"{member} tries for the {_ordinal(said.attempt)} time{waited}"
        elif said.kind == "ended":
            standing.is_reached = False
            yield f"the process of {member} ended by itself"
        elif said.kind == "waits":
            standing.waited_for = said.partitions
        elif said.kind == "gave-up":
            standing.has_given_up = True
            waited = f"{self._whose(standing.waited_for)}; " if standing.waited_for else ""
            yield f"{member} gave up after {said.attempt} tries: {waited}it reads nothing until the next change"
        else:
            yield f"{member} hears that its session has expired: what it owned may belong to others"

    def _owns(self, member: str, standing: _Standing, said: MemberReport) -> Iterator[str]:
        was_rebalanced = self.is_rebalanced
        standing.owned, standing.waited_for = frozenset(said.partitions), ()
        standing.has_settled, standing.has_given_up = True, False
        for name, other in self._members.items():
            both = standing.owned & other.owned
            if name != member and both and (member, name) not in self._split_ms:
                self._split_ms[member, name] = said.at_ms
                yield (
                    f"{_named(both)} read by two: {member} owns {'it' if len(both) == 1 else 'them'} in ZooKeeper, "
                    f"and {name}, which does not hear that its session is over, reads on"
                )
        count = sum(one.is_reached for one in self._members.values())
        if self.is_rebalanced and not was_rebalanced and count > 1:
            took = f"{max(said.at_ms - self._began_ms, 0) / 1000:.1f} s"
            why = f"for one change ({self._cause}) " if self._cause else ""
            who = "both members" if count == 2 else f"all {count} members"
            yield f"{why}{who} that hear of changes stopped reading and claimed anew, within {took}"

    def _lets_go(self, member: str, standing: _Standing, at_ms: int) -> Iterator[str]:
        standing.owned = frozenset()
        for pair, since_ms in [*self._split_ms.items()]:
            if member in pair:
                del self._split_ms[pair]
                took = f"{max(at_ms - since_ms, 0) / 1000:.1f} s"
                yield f"{member} stopped reading after {took} of reading what {_other(pair, member)} reads, too"

    def _whose(self, partitions: tuple[str, ...]) -> str:
        """The old consumer says the number only."""
        holders = {
            name: {*one.owned, *(each.rpartition("-")[2] for each in one.owned)} for name, one in self._members.items()
        }
        owners = [name for name, held in holders.items() if held & {*partitions}]
        return f"partition {listed(partitions)} is owned{f' by {listed(owners)}' if owners else ''} still"


def _other(pair: tuple[str, str], member: str) -> str:
    return pair[0] if pair[1] == member else pair[1]


def _named(partitions: Iterable[str]) -> str:
    """`orders 0-2, payments 1`."""
    topics: dict[str, list[int]] = {}
    for each in partitions:
        topic, _, number = each.rpartition("-")
        topics.setdefault(topic, []).append(int(number))
    return listed(f"{topic} {partition_ranges(sorted(numbers))}" for topic, numbers in sorted(topics.items()))


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third", 4: "fourth"}.get(number, f"{number}th")
