"""Groups of real consumers, each a process, and what both they and their coordinator say of who owns what."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import ConsumerGroupState, KafkaException
from confluent_kafka.admin import AdminClient

from tests.harness.logged_process import LoggedProcess
from tests.harness.waiting import PATIENCE_S, eventually

MODULE = "tests.model.hosts.live_broker.groups.group_member"
TOPIC, PARTITIONS = "orders", 6


class GroupMember(LoggedProcess):
    """Runs from its making on, until it is killed."""

    def __init__(self, name: str, arguments: Sequence[str], folder: Path) -> None:
        self.name = name
        self.library = arguments[0]
        super().__init__([sys.executable, "-m", MODULE, *arguments], folder / f"{name}.log")
        self.start()

    @property
    def owned(self) -> list[int]:
        """The partitions it has, by its own account."""
        return next((each["owns"] for each in reversed(self._said()) if "owns" in each), [])

    @property
    def last_words(self) -> str:
        """The end of its log."""
        return self.log[-500:]

    @property
    def read(self) -> set[str]:
        """All it has ever read."""
        return {each["read"] for each in self._said() if "read" in each}

    @property
    def is_silent(self) -> bool:
        """Whether it has never said anything."""
        return not self._said()

    def _said(self) -> list[dict[str, Any]]:
        lines = self.log.splitlines()
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


class RealGroup:
    """A group of one topic's consumers."""

    def __init__(
        self, name: str, bootstrap: str, folder: Path, strategy: str = "range", session_ms: int = 6_000
    ) -> None:
        self.name = name
        self.members: list[GroupMember] = []
        self._gone: list[GroupMember] = []
        self._bootstrap = bootstrap
        self._folder = folder
        self._settings = (strategy, str(session_ms))
        self._session_s = session_ms / 1000
        self._admin = self._new_admin()
        self._numbers = itertools.count()

    def start(self, *libraries: str) -> None:
        """More members."""
        for library in libraries:
            arguments = (library, self._bootstrap, self.name, TOPIC, *self._settings)
            self.members.append(GroupMember(f"{self.name}-{next(self._numbers)}-{library}", arguments, self._folder))

    def kill_one(self) -> None:
        """kill -9 of the member that has been there longest."""
        self._gone.append(self.members.pop(0))
        self._gone[-1].kill()

    def replace_silent(self) -> bool:
        """kill -9 of those that have never said anything, and others in their place; whether there were any."""
        silent = [member for member in self.members if member.is_silent]
        for member in silent:
            member.kill()
            self.members.remove(member)
            self.start(member.library)
        return bool(silent)

    def close(self) -> None:
        """Kill all."""
        for member in self.members:
            member.kill()

    def await_balance(self, others: int = 0) -> None:
        """Wait until the coordinator and all members agree: each partition has one owner, and nobody has much more.

        `others` are members that say nothing themselves. A client that gave up a slow request to join joins anew as
        another member, and the coordinator waits for the first one as long as a session lasts.
        """
        try:
            eventually(
                lambda: self._is_balanced(others), f"group {self.name} to be balanced", PATIENCE_S + self._session_s
            )
        except AssertionError as late:
            told = {member.name: member.last_words for member in self.members}
            raise AssertionError(f"{late}: {self._told()}; members said {told}") from None

    def await_read(self, values: Iterable[str]) -> None:
        """Wait until the group has read all these."""
        wanted = set(values)
        eventually(lambda: wanted <= self.read, f"group {self.name} to read all records")

    @property
    def read(self) -> set[str]:
        """All that members have read, those who are gone included."""
        return set().union(*(member.read for member in self.members + self._gone))

    def shares(self) -> dict[str, list[int]] | None:
        """What the coordinator says: the partitions of each member; None while it is not stable, or not there."""
        described = self._described()
        if described is None or described.state != ConsumerGroupState.STABLE:
            return None
        return {
            member.member_id: sorted(each.partition for each in member.assignment.topic_partitions)
            for member in described.members
        }

    def await_empty(self) -> None:
        """Wait until the coordinator has given all members up."""
        eventually(
            lambda: (told := self._described()) is not None and told.state == ConsumerGroupState.EMPTY,
            f"group {self.name} to be empty",
        )

    def _described(self) -> Any:
        try:
            return self._admin.describe_consumer_groups([self.name], request_timeout=10)[self.name].result(20)
        except KafkaException:
            self._admin = self._new_admin()  # librdkafka's keeps asking the coordinator that it knows
            return None

    def _told(self) -> str:
        described = self._described()
        return str(described and (described.state, [member.member_id for member in described.members]))

    def _new_admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self._bootstrap, "log_level": 0})

    def _is_balanced(self, others: int) -> bool:
        shares = list((self.shares() or {}).values())
        if not shares or len(shares) != len(self.members) + others:
            return False
        each = PARTITIONS // len(shares)
        is_fair = all(len(share) in (each, each + 1) for share in shares)
        is_whole = sorted(itertools.chain(*shares)) == list(range(PARTITIONS))
        by_members = [member.owned for member in self.members]
        return is_fair and is_whole and all(share in shares for share in by_members) and all(by_members)
