"""What a drill's rows are: the records of its journal, and what these come to, state by state.

What happens on KRaft alone has classes of its own; `model.drills.kraft_play` makes them. Sources: KIP-631 (brokers
register and send heartbeats; the active controller fences who is silent for broker.session.timeout.ms), KIP-500
(brokers learn by fetching the metadata log).
"""

from model.cluster import records as r
from model.cluster.ids import TopicPartition
from model.hosts.virtual import journal


class StateWritten(journal.JournalRecord, frozen=True, gc=False):
    """A partition's state was written. `before` None: it was made. `unclean`: its leader was not in sync.

    `by` is None where KRaft's controller wrote it.
    """

    by: int | None
    topic: str
    before: r.PartitionState | None
    after: r.PartitionState
    unclean: bool

    @property
    def partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.after.partition)


class ZnodeWritten(journal.JournalRecord, frozen=True):
    """Another znode was created, set or deleted; `says` is what that tells of the cluster.

    `before` and `after` are what it held: None where there was no znode, or is none any more.
    """

    by: int
    verb: str
    path: str
    version: int
    before: bytes | None
    after: bytes | None
    says: tuple[r.ClusterRecord, ...]


class WriteRefused(journal.JournalRecord, frozen=True):
    """ZooKeeper refused a write; `error` is its name of the reason."""

    by: int
    verb: str
    path: str
    error: str


class QuorumShrank(journal.JournalRecord, frozen=True):
    """Voters of a KRaft quorum died. `candidates` may be the active controller now: several are in a race.

    `unnoticed`: brokers that died with the majority. Nobody fences them, and nobody leads in their place.
    `moves`: the active controller is another one, or gone.
    """

    unnoticed: tuple[int, ...]
    text: str
    moves: bool
    candidates: tuple[int, ...]


class BrokerFellSilent(journal.BrokerCrashed, frozen=True, tag="broker-killed"):
    """A broker of a KRaft cluster died; its controller does not know yet."""


class VoterFellSilent(journal.JournalRecord, frozen=True, tag="voter-killed"):
    """A node of a KRaft cluster died that is a controller and no broker."""

    voter: int


class VoterBooted(journal.JournalRecord, frozen=True, tag="voter-started"):
    """Such a node started again."""

    voter: int


class FolderFailed(journal.JournalRecord, frozen=True, tag="folder-failed"):
    """A log folder of a broker failed; `partitions` had a replica there."""

    broker: int
    path: str
    partitions: int


class BrokerLeft(journal.BrokerStopped, frozen=True, tag="broker-stopped"):
    """A broker left a KRaft cluster, which has no retries of a controlled shutdown to count."""


class BrokerFenced(journal.SessionEnded, frozen=True):
    """KRaft's controller fenced a broker: `expired`, no heartbeat for broker.session.timeout.ms, or it stopped."""


class MetadataWritten(journal.JournalRecord, frozen=True):
    """KRaft's controller wrote something else; `says` is what that tells of the cluster, `place` where it stands."""

    place: str
    says: tuple[r.ClusterRecord, ...]


class MetadataLearnt(journal.JournalRecord, frozen=True, gc=False):
    """A broker of a KRaft cluster read in the metadata log what was written of partitions."""

    receiver: int
    written: tuple[StateWritten, ...]

    @property
    def partitions(self) -> int:
        return len(self.written)


AnyRow = (
    journal.BrokerCrashed
    | journal.BrokerStopped
    | journal.BrokerBooted
    | journal.ControllerAsked
    | journal.SessionEnded
    | journal.ControllerElected
    | QuorumShrank
    | VoterFellSilent
    | VoterBooted
    | FolderFailed
    | StateWritten
    | ZnodeWritten
    | MetadataWritten
    | WriteRefused
    | journal.RequestSent
    | MetadataLearnt
    | journal.Reasoned
)
"""What a drill's rows are. A ControllerAsked is one for a controlled shutdown."""
