"""What a source is: something that tells a sink records and how it fares, from a thread of its own."""

from typing import Literal, Protocol

import msgspec

from model.cluster.records import Record

Phase = Literal["connecting", "loading", "live", "stale", "denied", "snapshot", "closed"]
"""connecting: nothing known yet; loading: reading everything; live: following; stale: the link is broken, the last
image stands; denied: the credentials were refused; snapshot: a file, it will not change; closed: at an end."""


class SourceStatus(msgspec.Struct, frozen=True):
    """How a source fares. `since_ms` is when this phase began; `reason` one line, empty when all is well."""

    phase: Phase = "connecting"
    since_ms: int = 0
    reason: str = ""
    verified_ms: int = 0
    """When the source was last known to be as told: a live source's image is as fresh as this."""
    done: int = 0
    total: int = 0
    server: str = ""
    """The server behind the connection, as `host:port version mode`; empty where there is none."""
    warning: str = ""
    """Something the operator should know although it works, one line."""


class Batch(msgspec.Struct, frozen=True):
    """Facts learnt together. `listing`: they are everything there is, what they do not mention is gone."""

    records: tuple[Record, ...]
    zxid: int
    time_ms: int
    listing: bool = False
    fresh: bool = False
    """The cluster behind the name is another one, or was restored: forget what was known."""
    touched: tuple[str, ...] = ()
    """Every path that changed, Kafka's or not, so that a browser of znodes can mark it."""


class Sink(Protocol):
    """Takes what a source tells. Called from the source's thread, one call at a time."""

    def take(self, batch: Batch) -> None:
        """Facts arrived."""
        ...

    def report(self, status: SourceStatus) -> None:
        """The source fares differently now."""
        ...


class SourceError(Exception):
    """A source that cannot be opened at all; the message is one line that names it and the way out."""


class Source(Protocol):
    """A place facts come from."""

    @property
    def name(self) -> str:
        """How the operator calls it: `zk://…`, a file's path."""
        ...

    def open(self, sink: Sink) -> None:
        """Begins to tell `sink`, from another thread; returns at once.

        Raises SourceError where it is plain at once that this cannot work.
        """
        ...

    def close(self) -> None:
        """Stops telling; returns within two seconds whatever the other side does."""
        ...
