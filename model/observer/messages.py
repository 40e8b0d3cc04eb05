"""What an observer of a KRaft quorum may ask of controllers, what they answer, and what the observer hands on.

Values only. These four questions are all that can be asked: none of them changes anything at a controller.
Sources: KIP-595 (Fetch by replicas of the metadata log), KIP-630 (FetchSnapshot), KIP-836 and KIP-853 (DescribeQuorum
with nodes), KIP-919 (DescribeCluster at controllers), KIP-1166 (the high watermark in a Fetch, 4.1).
"""

from collections.abc import Mapping

import msgspec

from model.cluster.image_parts import Quorum

Address = tuple[str, int]
"""Host and port."""
NOBODY = -1
"""No node's id: nobody leads."""
UNKNOWN = -1
"""An offset, an epoch or a high watermark that is not known."""


def place(address: Address) -> str:
    """`host:port`, with brackets around an IPv6 address."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class LogPosition(msgspec.Struct, frozen=True, order=True):
    """An end of a log: the offset after the last record, and that record's epoch; 0 and 0 of an empty log.

    A snapshot's id is one: it holds what the log has below its offset.
    """

    offset: int = 0
    epoch: int = 0

    def __str__(self) -> str:
        return f"{self.offset}-{self.epoch}"


class FetchLog(msgspec.Struct, frozen=True):
    """The records after `end`. `epoch` is the leader's, 0 where it is not known; `high_watermark` the last one told."""

    epoch: int = 0
    end: LogPosition = LogPosition()
    high_watermark: int = UNKNOWN
    cluster_id: str | None = None


class FetchSnapshot(msgspec.Struct, frozen=True):
    """A piece of a snapshot, from `position` on (bytes)."""

    epoch: int
    snapshot: LogPosition
    position: int = 0
    cluster_id: str | None = None


class DescribeQuorum(msgspec.Struct, frozen=True):
    """Voters and observers, as the leader knows them."""


class DescribeControllers(msgspec.Struct, frozen=True):
    """The cluster's id, and where controllers listen. Known since 3.7."""


Question = FetchLog | FetchSnapshot | DescribeQuorum | DescribeControllers


class KnownLeader(msgspec.Struct, frozen=True):
    """Who leads, as a controller knows: `id` NOBODY while nobody is elected; an epoch of UNKNOWN tells nothing."""

    id: int = NOBODY
    epoch: int = UNKNOWN


class LogFetched(msgspec.Struct, frozen=True):
    """The answer to a FetchLog. Errors by Kafka's names, `NONE` where all is well."""

    top_error: str = "NONE"
    """Of the whole request."""
    error: str = "NONE"
    """Of the partition."""
    leader: KnownLeader = KnownLeader()
    endpoints: Mapping[int, Address] = {}
    """Where the leader listens, by id; since Fetch v17 (3.9)."""
    high_watermark: int = UNKNOWN
    snapshot: LogPosition | None = None
    """The records have to be taken from this snapshot first."""
    diverging: LogPosition | None = None
    """The asker's log is another one: the largest epoch not above the asker's, and where it ends (KIP-595)."""
    records: bytes = b""
    log_start: int = UNKNOWN
    """The first offset that the log still has."""


class SnapshotFetched(msgspec.Struct, frozen=True):
    """The answer to a FetchSnapshot.

    Real controllers up to 4.4 tell each error as a `top_error` of UNKNOWN_SERVER_ERROR, whatever it is: their own error
    answer cannot be written, since its records may not be null.
    """

    top_error: str = "NONE"
    error: str = "NONE"
    leader: KnownLeader = KnownLeader()
    endpoints: Mapping[int, Address] = {}
    snapshot: LogPosition = LogPosition()
    size: int = 0
    """Of the whole snapshot, bytes."""
    position: int = 0
    data: bytes = b""


class QuorumDescribed(msgspec.Struct, frozen=True):
    """The answer to a DescribeQuorum; `quorum` None where the one asked is not the leader, or may not say."""

    quorum: Quorum | None = None
    endpoints: Mapping[int, Address] = {}


class ControllersDescribed(msgspec.Struct, frozen=True):
    """The answer to a DescribeControllers."""

    cluster_id: str | None = None
    endpoints: Mapping[int, Address] = {}


class Unanswered(msgspec.Struct, frozen=True):
    """No answer: not connected, the connection lost, nothing in time, or bytes that are no answer."""

    why: str


class NoController(msgspec.Struct, frozen=True):
    """Who listens there is no controller of a quorum; asking again changes nothing. `why`: one clause."""

    why: str


class LoginRefused(msgspec.Struct, frozen=True):
    """The login or the certificate was refused; asking again changes nothing."""

    why: str


Answer = (
    LogFetched | SnapshotFetched | QuorumDescribed | ControllersDescribed | Unanswered | NoController | LoginRefused
)


class Answered(msgspec.Struct, frozen=True):
    """The event that an `Ask` of this number came to an end."""

    number: int
    answer: Answer


class TimePassed(msgspec.Struct, frozen=True):
    """The event that it is as late as was wished for."""


Event = Answered | TimePassed


class Ask(msgspec.Struct, frozen=True):
    """Send this to whoever listens there, and tell how it ended by `Answered`, with the same number."""

    number: int
    address: Address
    question: Question


class HangUp(msgspec.Struct, frozen=True):
    """End the connection to this address: what was asked there is of no interest any more."""

    address: Address


class SnapshotGrew(msgspec.Struct, frozen=True):
    """A piece of a snapshot that is being read; nothing of it is checked before all of it is there (SnapshotRead).

    Pieces come in their order. Where one at position 0 comes again, or another snapshot's, those before it are void.
    """

    id: LogPosition
    position: int
    data: bytes
    size: int
    """Of the whole snapshot, in bytes."""


class SnapshotRead(msgspec.Struct, frozen=True):
    """A whole snapshot, checked: it replaces everything that was handed on before."""

    id: LogPosition
    data: bytes


class LogBatch(msgspec.Struct, frozen=True, gc=False):
    """A record batch as it is in the log; its CRC holds."""

    base_offset: int
    next_offset: int
    epoch: int
    timestamp_ms: int
    """Of the batch's newest record, ms since the epoch."""
    data: bytes


class BatchesCommitted(msgspec.Struct, frozen=True):
    """What comes next in the log, without a gap."""

    batches: tuple[LogBatch, ...]
    high_watermark: int


class QuorumSeen(msgspec.Struct, frozen=True):
    """How far voters and observers are, by the leader; told every two seconds."""

    quorum: Quorum


Handed = SnapshotGrew | SnapshotRead | BatchesCommitted | QuorumSeen
Command = Ask | HangUp | Handed
