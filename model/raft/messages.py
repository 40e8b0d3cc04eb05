"""What replicas of the metadata log say to each other, what happens to one, and what it has its host do.

Values only; errors by Kafka's names. Sources: KIP-595 (Vote, BeginQuorumEpoch, EndQuorumEpoch, Fetch), KIP-630
(FetchSnapshot), KIP-853 (directories, voter changes), KIP-996 (PreVote), KIP-1166 (the high watermark in a Fetch).
"""

import msgspec

from model.observer.messages import NOBODY, UNKNOWN, Address, LogPosition
from model.raft.raft_log import RaftBatch, ReplicaKey, Voter, VoterSet


class Vote(msgspec.Struct, frozen=True):
    """Asks a voter for its vote, or, as a `pre_vote`, whether it would give it."""

    cluster_id: str | None
    voter: ReplicaKey
    candidate: ReplicaKey
    epoch: int
    """The candidate's own; of a pre-vote the one it is in."""
    last: LogPosition
    """The end of the candidate's log."""
    pre_vote: bool = False


class BeginQuorumEpoch(msgspec.Struct, frozen=True):
    """Tells a voter that it has a leader."""

    cluster_id: str | None
    voter: ReplicaKey
    leader: int
    epoch: int
    address: Address | None = None


class EndQuorumEpoch(msgspec.Struct, frozen=True):
    """Tells a voter that its leader leads no more; the first of `successors` may stand for election at once."""

    cluster_id: str | None
    leader: int
    epoch: int
    successors: tuple[ReplicaKey, ...] = ()


class Fetch(msgspec.Struct, frozen=True):
    """The records after `end`. A `replica` of id NOBODY only looks on."""

    cluster_id: str | None
    replica: ReplicaKey
    epoch: int
    end: LogPosition
    high_watermark: int = UNKNOWN
    max_wait_ms: int = 500


class FetchSnapshot(msgspec.Struct, frozen=True):
    """A piece of a snapshot from `position` on (bytes)."""

    cluster_id: str | None
    replica: ReplicaKey
    epoch: int
    snapshot: LogPosition
    position: int = 0


class AddVoter(msgspec.Struct, frozen=True):
    """Asks the leader to make an observer that has caught up a voter."""

    cluster_id: str | None
    voter: Voter
    when_committed: bool = True
    """Answered once it is; otherwise at once (AddRaftVoter v1, 4.2)."""


class RemoveVoter(msgspec.Struct, frozen=True):
    """Asks the leader to go on without a voter, itself perhaps."""

    cluster_id: str | None
    voter: ReplicaKey


class UpdateVoter(msgspec.Struct, frozen=True):
    """A voter tells the leader where it listens now, and which kraft.versions it knows."""

    cluster_id: str | None
    epoch: int
    voter: Voter


class UpgradeKraftVersion(msgspec.Struct, frozen=True):
    """The state machine of a leader wants this kraft.version; `dry`: whether that would do."""

    version: int
    dry: bool = False


class AskVersions(msgspec.Struct, frozen=True):
    """Which kraft.versions does it know (ApiVersions)."""


LeaderRequest = Fetch | FetchSnapshot | UpdateVoter
VoterRequest = Vote | BeginQuorumEpoch | EndQuorumEpoch
ChangeRequest = AddVoter | RemoveVoter
Request = LeaderRequest | VoterRequest | ChangeRequest | UpgradeKraftVersion | AskVersions


class AnswerHeader(msgspec.Struct, frozen=True):
    """What each answer tells of the one that gives it."""

    error: str = "NONE"
    epoch: int = 0
    leader: int = NOBODY
    address: Address | None = None
    """Where that leader listens."""


class VoteAnswer(msgspec.Struct, frozen=True):
    """To a Vote."""

    known: AnswerHeader
    granted: bool = False


class EpochAnswer(msgspec.Struct, frozen=True):
    """To a BeginQuorumEpoch or an EndQuorumEpoch."""

    known: AnswerHeader


class FetchAnswer(msgspec.Struct, frozen=True):
    """To a Fetch: records, or why there are none."""

    known: AnswerHeader
    high_watermark: int = UNKNOWN
    diverging: LogPosition | None = None
    snapshot: LogPosition | None = None
    batches: tuple[RaftBatch, ...] = ()
    """Whole ones from the offset asked for; a host that answers puts them in (`SendAnswer.records_from`)."""
    log_start: int = UNKNOWN
    """The leader's first offset."""


class SnapshotAnswer(msgspec.Struct, frozen=True):
    """To a FetchSnapshot; `size` in bytes of the whole."""

    known: AnswerHeader
    snapshot: LogPosition = LogPosition()
    size: int = 0
    position: int = 0
    data: bytes = b""


class ChangeAnswer(msgspec.Struct, frozen=True):
    """To a change of the voters; `why` is a clause for people."""

    known: AnswerHeader
    why: str = ""


class VersionsAnswer(msgspec.Struct, frozen=True):
    """To AskVersions: the least and the largest kraft.version."""

    known: AnswerHeader
    versions: tuple[int, int] = (0, 1)


Reply = VoteAnswer | EpochAnswer | FetchAnswer | SnapshotAnswer | ChangeAnswer | VersionsAnswer


class RequestReceived(msgspec.Struct, frozen=True):
    """`number` is the host's, for the answer, which may come later."""

    number: int
    request: Request


class ReplyReceived(msgspec.Struct, frozen=True):
    """To the request that was sent under this number."""

    number: int
    reply: Reply


class RequestFailed(msgspec.Struct, frozen=True):
    """The request of this number will not be answered."""

    number: int


class RecordsProposed(msgspec.Struct, frozen=True):
    """The state machine of a leader has records to write, a batch each, of so many records."""

    epoch: int
    """Of the leader that the state machine takes itself for; records of an older one are dropped."""
    batches: tuple[tuple[int, bytes], ...]


class SnapshotMade(msgspec.Struct, frozen=True):
    """The state machine has written a snapshot of what is committed."""

    snapshot: LogPosition


class SnapshotLoaded(msgspec.Struct, frozen=True):
    """A snapshot that was read from the leader is whole and on disk; these are the voters in it."""

    snapshot: LogPosition
    voters: VoterSet


class LogCleaned(msgspec.Struct, frozen=True):
    """What is below this snapshot's end was deleted, older snapshots with it."""

    snapshot: LogPosition


class StopWanted(msgspec.Struct, frozen=True):
    """An orderly stop."""


class TimePassed(msgspec.Struct, frozen=True):
    """Nothing happened until the time that the last decision wanted to be woken at."""


Event = (
    RequestReceived
    | ReplyReceived
    | RequestFailed
    | RecordsProposed
    | SnapshotMade
    | SnapshotLoaded
    | LogCleaned
    | StopWanted
    | TimePassed
)


class ElectionState(msgspec.Struct, frozen=True):
    """What the file `quorum-state` keeps."""

    epoch: int = 0
    leader: int = NOBODY
    voted: ReplicaKey | None = None


class Persist(msgspec.Struct, frozen=True):
    """Write and flush this before anything that comes later."""

    state: ElectionState


class Append(msgspec.Struct, frozen=True):
    """Write these to the log's end and flush it before anything that comes later."""

    batches: tuple[RaftBatch, ...]


class Truncate(msgspec.Struct, frozen=True):
    """Cut the log: this offset is its end now."""

    offset: int


class StoreSnapshot(msgspec.Struct, frozen=True):
    """Write this piece of a snapshot that is being read. `is_last`: check it, give it its name, tell SnapshotLoaded."""

    snapshot: LogPosition
    position: int
    data: bytes
    is_last: bool


class StartLogAt(msgspec.Struct, frozen=True):
    """Empty the log: it starts at the end of this snapshot, and the state machine from what is in it."""

    snapshot: LogPosition


class Send(msgspec.Struct, frozen=True):
    """To whoever listens there; one request at a time is sent to each address."""

    number: int
    address: Address
    request: Request


class SendAnswer(msgspec.Struct, frozen=True):
    """To the request of this number. `records_from`: put in what the log has from there on, at least a whole batch."""

    number: int
    reply: Reply
    records_from: int = UNKNOWN


class Lead(msgspec.Struct, frozen=True):
    """The state machine may write in this epoch as soon as it has read the log up to this offset."""

    epoch: int
    start: int


class StepDown(msgspec.Struct, frozen=True):
    """The state machine leads no more."""

    epoch: int


class Commit(msgspec.Struct, frozen=True):
    """Everything below this offset is committed: the state machine may read it."""

    high_watermark: int


class Exit(msgspec.Struct, frozen=True):
    """The orderly stop is done; or a `fault`, one clause, that must not be survived."""

    fault: str = ""


Command = Persist | Append | Truncate | StoreSnapshot | StartLogAt | Send | SendAnswer | Lead | StepDown | Commit | Exit
