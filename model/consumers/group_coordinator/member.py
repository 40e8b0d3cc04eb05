"""A member of a consumer group as its coordinator knows it. It decides nothing."""

from collections.abc import Collection
from typing import NamedTuple

import msgspec


class SupportedProtocol(NamedTuple):
    """An assignor by name, and what the member tells the leader for it (its subscription, for consumers)."""

    name: str
    metadata: bytes


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """`kafka.coordinator.group.MemberMetadata` (3.9). Protocols in the member's order of preference.

    `join` and `sync` are the numbers of its requests that wait for an answer. `deadline_ms`: when its session ends.
    """

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[SupportedProtocol, ...]
    assignment: bytes = b""
    deadline_ms: int = 0
    is_new: bool = False
    """It has not been part of a generation yet."""
    join: int | None = None
    sync: int | None = None

    @property
    def is_static(self) -> bool:
        """Whether it is known by a `group.instance.id` (KIP-345)."""
        return self.instance_id is not None

    @property
    def owner(self) -> str:
        """A name that outlives a restart of a static member."""
        return self.instance_id or self.member_id

    @property
    def expires_at_ms(self) -> int | None:
        """When it counts as gone. Who waits for an answer cannot send heartbeats; new ones time out all the same."""
        is_waiting = self.join is not None or self.sync is not None
        return None if is_waiting and not self.is_new else self.deadline_ms

    def renewed(self, at_ms: int) -> "Member":
        """With a session that begins anew."""
        return msgspec.structs.replace(self, deadline_ms=at_ms + self.session_timeout_ms)

    def metadata(self, protocol: str | None) -> bytes:
        """What it tells the leader for a protocol; nothing for one that it does not support."""
        return next((each.metadata for each in self.protocols if each.name == protocol), b"")

    def vote(self, candidates: Collection[str]) -> str:
        """The candidate it likes best. Raises StopIteration where it supports none."""
        return next(each.name for each in self.protocols if each.name in candidates)
