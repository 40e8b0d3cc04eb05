"""What came of a deed, as a value, and what deeds are done to."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec

from model.sandbox.cluster.sandbox_cluster import SandboxCluster
from model.sandbox.errors import SandboxError
from model.sandbox.faults.faults import Repair


class Outcome(msgspec.Struct, frozen=True):
    """A sentence for the operator, and the way back."""

    text: str
    subject: str
    repair: Repair | None = None


class Traffic(Protocol):
    """The load, as far as it is ordered about. Each raises SandboxError."""

    async def stop_consumer(self, group: str, member: str) -> str: ...

    async def start_consumer(self, group: str, member: str) -> str: ...

    async def set_rate(self, rate: float) -> str: ...


class Site:
    """The cluster, its load if there is one, and the bytes that were flipped."""

    def __init__(self, cluster: SandboxCluster, load: Callable[[], Traffic | None]) -> None:
        self.cluster = cluster
        self._load = load
        self.flipped: dict[tuple[int, str], FlippedBytes] = {}
        self.armed: dict[int, str] = {}
        """Brokers that are to die in their failover, and at which step."""

    @property
    def load(self) -> Traffic:
        """Raises SandboxError where there is none."""
        load = self._load()
        if load is None:
            raise SandboxError("there is no load: start the sandbox with --load")
        return load


class FlippedBytes(msgspec.Struct, frozen=True):
    """What a segment file had and has now, from one position on."""

    path: str
    position: int
    before: bytes
    after: bytes


CarryOut = Callable[[Site, Any], Awaitable[Outcome]]
