"""What a sandbox says of itself: that it is ready, what happened in it, and how it stands. Values only."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from model.sandbox.faults.faults import Fault, Place, Repair

ProcessKind = Literal["broker", "zookeeper", "producer", "consumer"]
ProcessStatus = Literal["starting", "running", "paused", "stopped", "killed", "crashed"]
"""stopped: in order. killed: by a fault. crashed: it ended and nobody had asked for it."""
EventKind = Literal["fault", "repair", "process", "load", "audit", "step", "expectation"]


class SandboxReady(msgspec.Struct, frozen=True, kw_only=True):
    """The one line of `kdrill sandbox --headless`."""

    format: str = "kdrill.sandbox/1"
    zookeeper: str
    """`127.0.0.1:40001/kafka`; servers are separated by commas."""
    bootstrap: str
    """The brokers' addresses for clients, separated by commas."""
    pids: Mapping[str, int]
    """`zookeeper-1`, `broker-1`, and `load`."""
    dir: str


class SandboxEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the sandbox did or noticed. What the cluster makes of it, ZooKeeper shows."""

    number: int
    at_ms: int
    kind: EventKind
    text: str
    """One line."""
    subject: str = ""
    """A process's name, or `link 1-zookeeper`."""
    fault: int | None = None
    """The number of the fault that this is, that it repairs, or that is known to have caused it."""
    details: tuple[str, ...] = ()
    """The last lines of a log, where a process ended unasked."""


class ProcessView(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that runs and can stop: of the load, the producer and each consumer, though they share a process."""

    name: str
    """`broker 1`, `zookeeper 1`, `producer`, `consumer GROUP/MEMBER`."""
    kind: ProcessKind
    status: ProcessStatus
    pid: int | None = None
    address: str = ""
    """Where clients reach it."""
    since_ms: int = 0
    """When it came to this status."""
    detail: str = ""
    """A rack; what a consumer owns; the last error."""
    log: str = ""
    """The file that has what it said."""


class LinkView(msgspec.Struct, frozen=True, kw_only=True):
    """What two places can say to each other, both ways: as in `cut`, `slow` and `heal`."""

    between: tuple[Place, Place]
    status: Literal["open", "cut", "slow"] = "open"
    delay_ms: float = 0.0


class OpenFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that was done and not yet repaired."""

    number: int
    at_ms: int
    fault: Fault
    text: str
    repair: Repair | None
    """None where it can't be undone."""


class LoadView(msgspec.Struct, frozen=True, kw_only=True):
    """The traffic, as of a second ago at most."""

    rate: float
    """Records a second, asked for."""
    acknowledged_per_s: float = 0.0
    acknowledged: int = 0
    waiting: int = 0
    """Records sent and not acknowledged yet."""
    consumed_per_s: float = 0.0
    consumed: int = 0
    lost: int = 0
    """Acknowledged records known to be lost so far: partitions were cut back behind them. The audit proves it."""
    error: str = ""
    """What the producer was told last, while it has to repeat."""


class SandboxState(msgspec.Struct, frozen=True, kw_only=True):
    """How everything stands."""

    processes: tuple[ProcessView, ...] = ()
    links: tuple[LinkView, ...] = ()
    """Each broker's with `zookeeper` and `clients`, and of each two brokers."""
    faults: tuple[OpenFault, ...] = ()
    """The newest last."""
    load: LoadView | None = None
