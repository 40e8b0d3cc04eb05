"""What a source is: it gives a sink records and says how it fares, from a thread of its own.

An attentive source asks for what is costly only as long as somebody wants it, and holds a tree to browse.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

import msgspec

from model.cluster.records import ClusterRecord
from model.hosts.zookeeper.protocol import BrowsesZnodes
from model.metadata_log.journal import Logged
from model.zookeeper import Unread, Znode

Phase = Literal["connecting", "loading", "live", "stale", "denied", "snapshot", "closed"]
"""connecting: nothing known yet; loading: reading everything; live: following; stale: the link is broken, the last
image stands; denied: the credentials were refused; snapshot: a file, it will not change; closed: at an end."""


class FollowingCost(msgspec.Struct, frozen=True):
    """What following costs a ZooKeeper server, over the last seconds."""

    requests_per_s: float = 0.0
    received_bytes_per_s: int = 0
    sent_bytes_per_s: int = 0
    in_flight: int = 0
    """Requests without an answer yet."""
    watches: int = 0
    latency_ms: float = 0.0
    """From a request to its answer, of late."""
    is_holding_back: bool = False
    """Answers became slow: less is asked than could be."""


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
    cost: FollowingCost | None = None
    """None where it is not known. That it differs is no news: nothing is drawn again for it."""
    poll_ms: int = 0
    """How often the source looks; 0: it is told of changes."""
    polled: str = ""
    """Why brokers are polled although the cluster's metadata log could be followed, one clause."""
    unread: str = ""
    """Why the log's records from before the source was opened are not read, one clause."""
    is_partial: bool = False
    """Brokers beside the source have not been heard of yet, neither good nor bad."""
    is_hopeless: bool = False
    """What `reason` says will not become right by trying again; it is tried now and then all the same."""


class Progress(msgspec.Struct, frozen=True):
    """How far a source has come with its first picture."""

    answers: int = 0
    """In the attempt that came farthest: what is only told again is no progress."""
    pieces: int = 0
    """Of long answers, in the same attempt."""
    connections: int = 0
    """That somebody answered on."""
    unread: str = ""
    """What was asked for last and never told whole, such as a path."""


@runtime_checkable
class TellsProgress(Protocol):
    """A source that may take long, or for ever, until its first picture is whole."""

    def progress(self) -> Progress:
        """From any thread."""
        ...


class FactBatch(msgspec.Struct, frozen=True):
    """Facts learnt together. `listing`: with the parts before they are all there is; what is not mentioned is gone."""

    records: tuple[ClusterRecord, ...]
    zxid: int
    time_ms: int
    listing: bool = False
    part: int = 0
    """Which part of a listing this is, counted from 1; `listing` is set in the last. 0: in one piece, or no listing."""
    fresh: bool = False
    """The cluster behind the name is another one, or was restored: forget what was known."""
    touched: tuple[str, ...] = ()
    """Every path that changed, Kafka's or not, so that a browser of znodes can mark it."""
    read: Sequence[Znode | Unread] = ()
    """The answers that said so, in the order in which they were read; of ZooKeeper only."""
    logged: Sequence[Logged] = ()
    """The records of the metadata log that said so; of KRaft only."""
    is_known_late: bool = False
    """It was so before, and is only heard of now, such as settings and groups after a first picture: no event."""

    @property
    def is_listed(self) -> bool:
        """Whether this is a listing, or a part of one."""
        return self.listing or self.part > 0

    @property
    def begins_listing(self) -> bool:
        """Whether this is a listing's first part."""
        return self.is_listed and self.part <= 1


class Sink(Protocol):
    """Takes what a source tells. Called from the source's thread, one call at a time."""

    def take(self, batch: FactBatch) -> None: ...

    def report(self, status: SourceStatus) -> None: ...


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


CONFIGS, GROUPS, LOG_DIRS = "configs", "groups", "log-dirs"
COSTLY = frozenset({CONFIGS, GROUPS, LOG_DIRS})
"""What costs much to ask for."""
LEASE_S = 60.0
"""So long something is wanted after somebody said so: what is in sight says so at least twice as often."""


@runtime_checkable
class Attentive(Protocol):
    """What is not wanted stays as it was told last."""

    @property
    def reader(self) -> BrowsesZnodes | None:
        """What was told last, to browse like znodes; None where an image of the cluster holds all of it."""
        ...

    def want(self, *what: str) -> None:
        """Some of COSTLY are in sight, or needed; from any thread. Others that nobody wanted of late rest."""
        ...
