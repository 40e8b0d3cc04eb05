"""One replica of the metadata log between two events: what it is in its epoch, its log, and whom it waits for.

Times in ms of one clock, which starts anywhere. Sources: `org.apache.kafka.raft.QuorumState` and its states (4.3).
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from model.observer.messages import NOBODY, UNKNOWN, Address, LogPosition
from model.raft.messages import (
    AddVoter,
    Command,
    ElectionState,
    Fetch,
    RemoveVoter,
    Request,
    UpdateVoter,
)
from model.raft.raft_log import RaftLog, ReplicaKey, Voter

RETRY_MS: Final = 20
"""Before the next request to an address where the last one failed (`retry.backoff.ms`)."""
STOP_MS: Final = 5_000
"""So long a leader that stops waits for the next one."""


class QuorumSettings(msgspec.Struct, frozen=True):
    """Keys of `controller.quorum.`, with Kafka's defaults."""

    election_timeout_ms: int = 1_000
    fetch_timeout_ms: int = 2_000
    election_backoff_max_ms: int = 1_000
    request_timeout_ms: int = 2_000
    auto_join: bool = False
    """`auto.join.enable` (4.2): who does not vote asks to."""

    @property
    def check_quorum_ms(self) -> int:
        """A leader that no majority fetched from for so long resigns."""
        return self.fetch_timeout_ms * 3 // 2

    @property
    def begin_ms(self) -> int:
        """So often a leader tells a voter that does not fetch that it leads."""
        return self.fetch_timeout_ms // 2


class Unattached(msgspec.Struct, frozen=True):
    """It follows nobody. An observer never stands for election: no time."""

    elect_at_ms: int | None


class Download(msgspec.Struct, frozen=True):
    """A snapshot that is read from the leader: `position` bytes are stored. Whole, its host is loading it."""

    snapshot: LogPosition
    position: int = 0
    is_whole: bool = False


class Follower(msgspec.Struct, frozen=True):
    """It fetches from a leader."""

    address: Address
    fetch_until_ms: int
    """Without a successful answer by then a voter stands for election."""
    has_fetched: bool = False
    update_at_ms: int = 0
    """When it looks next whether the voters' record says of it what is true."""
    download: Download | None = None
    has_told: bool = False
    """Whether it told this leader what is true of it, though no voters' record can say so (kraft.version 0)."""


class Prospective(msgspec.Struct, frozen=True):
    """It asks who would vote for it, in the epoch that it is in."""

    elect_at_ms: int
    granted: frozenset[int]
    refused: frozenset[int] = frozenset()
    address: Address | None = None
    """Of the leader that it followed; it goes back to it if nobody would vote for it."""


class Candidate(msgspec.Struct, frozen=True):
    """It stands for election."""

    elect_at_ms: int
    granted: frozenset[int]
    refused: frozenset[int] = frozenset()


class ReplicaProgress(msgspec.Struct, frozen=True):
    """How far a replica has fetched."""

    key: ReplicaKey
    end: int
    fetched_ms: int
    leader_end: int
    """The leader's end then."""
    caught_up_ms: int | None = None
    """When it had all that the leader had, last."""


class ParkedFetch(msgspec.Struct, frozen=True):
    """A Fetch that is answered once there is news."""

    number: int
    request: Fetch
    until_ms: int


class VoterChange(msgspec.Struct, frozen=True):
    """A change of the voters that somebody waits for."""

    number: int
    request: AddVoter | RemoveVoter | UpdateVoter
    until_ms: int
    offset: int = UNKNOWN
    """Of its record, once it is written."""


class Leader(msgspec.Struct, frozen=True):
    """It writes."""

    start: int
    """Its epoch's first offset: its own LeaderElected."""
    check_at_ms: int
    high_watermark: int = UNKNOWN
    """As it tells it: nothing, before a record of its epoch is committed."""
    replicas: Mapping[int, ReplicaProgress] = {}
    fetched_by: frozenset[int] = frozenset()
    """Voters that fetched since the quorum was checked last."""
    begun_ms: Mapping[int, int] = {}
    """When each voter was told last that there is a leader."""
    waiting: tuple[ParkedFetch, ...] = ()
    change: VoterChange | None = None
    told: Mapping[int, Voter] = {}
    """What voters told of themselves, until a voters' record can say so."""


class Resigned(msgspec.Struct, frozen=True):
    """It led, and tells the others that it does no more. It never leads in this epoch again."""

    elect_at_ms: int
    successors: tuple[ReplicaKey, ...] = ()
    told: frozenset[int] = frozenset()


Role = Unattached | Follower | Prospective | Candidate | Leader | Resigned


class PeerLink(msgspec.Struct, frozen=True):
    """One address: the request that is on its way there, if any."""

    number: int = 0
    request: Request | None = None
    sent_ms: int = 0
    not_before_ms: int = 0
    has_failed: bool = False
    """The last request was not answered."""


class RaftNode(msgspec.Struct, frozen=True):
    """All of it."""

    me: Voter
    """What it would have the voters' record say of it."""
    persisted: ElectionState
    log: RaftLog
    role: Role
    cluster_id: str | None = None
    settings: QuorumSettings = QuorumSettings()
    bootstrap: tuple[Address, ...] = ()
    """Who is asked for the leader while it is not known."""
    reached: Mapping[int, Address] = {}
    """Where voters listen now, if that is known better than the log says it: all of them may have moved since."""
    links: Mapping[Address, PeerLink] = {}
    last_number: int = 0
    seed: int = 0
    """Of the random times."""
    stop_by_ms: int | None = None

    @property
    def key(self) -> ReplicaKey:
        return self.me.key

    @property
    def is_voter(self) -> bool:
        return self.log.voters.has(self.key)

    @property
    def may_stand(self) -> bool:
        """Whether it stands for election. So does one that was removed, as long as that may not be committed: nobody
        else may have a log that voters would elect (Ongaro's dissertation, 4.2.2). Kafka's would wait for ever."""
        if self.is_voter:
            return True
        sets = self.log.voter_sets
        return self.log.voters_offset >= self.log.high_watermark and len(sets) > 1 and sets[-2][1].has(self.key)

    @property
    def epoch(self) -> int:
        return self.persisted.epoch

    @property
    def others(self) -> tuple[Voter, ...]:
        """The voters but this one, as they are reached."""
        others = (voter for voter in self.log.voters.voters if not voter.key.is_same_as(self.key))
        if not self.reached:
            return tuple(others)
        return tuple(msgspec.structs.replace(each, address=self.voter_address(each.key.id)) for each in others)

    @property
    def leader_address(self) -> Address | None:
        match self.role:
            case Leader():
                return self.me.address
            case Follower(address) | Prospective(address=address):
                return address
            case _:
                return None

    def voter_address(self, node: int) -> Address | None:
        voter = self.log.voters.by_id(node)
        return self.reached.get(node, voter.address) if voter is not None and node != NOBODY else None


class Decision(msgspec.Struct, frozen=True):
    """What follows from an event. Commands are carried out in their order; TimePassed is told at `wake_ms`."""

    node: RaftNode
    commands: tuple[Command, ...]
    wake_ms: int


def wake_ms(node: RaftNode, now_ms: int) -> int:
    """When to look again although nothing happens."""
    times = [now_ms + node.settings.election_timeout_ms, *_role_times(node)]
    if node.stop_by_ms is not None:
        times.append(node.stop_by_ms)
    timeout = node.settings.request_timeout_ms
    times.extend(link.sent_ms + timeout if link.number else link.not_before_ms for link in node.links.values())
    return min((time for time in times if time > now_ms), default=now_ms + 1)


def _role_times(node: RaftNode) -> tuple[int, ...]:
    match node.role:
        case Leader() as leader:
            begins = [begin_due_ms(node, leader, voter.key.id) for voter in node.others]
            change = [leader.change.until_ms] if leader.change is not None else []
            return (leader.check_at_ms, *begins, *change, *(each.until_ms for each in leader.waiting))
        case Follower(_, fetch_until_ms, update_at_ms=update_at_ms):
            return (fetch_until_ms, update_at_ms)
        case Unattached(elect_at_ms):
            return () if elect_at_ms is None else (elect_at_ms,)
        case Prospective(elect_at_ms) | Candidate(elect_at_ms) | Resigned(elect_at_ms):
            return (elect_at_ms,)


def begin_due_ms(node: RaftNode, leader: Leader, voter: int) -> int:
    """When a voter that does not fetch is told of its leader next; 0: it never was."""
    progress = leader.replicas.get(voter)
    heard = [leader.begun_ms[voter]] if voter in leader.begun_ms else []
    heard += [progress.fetched_ms] if progress is not None else []
    return max(heard) + node.settings.begin_ms if heard else 0
