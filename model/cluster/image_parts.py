"""Parts that images and records share: consumer groups, the controllers of a KRaft cluster, log folders."""

from collections.abc import Collection, Mapping
from zlib import crc32

import msgspec

from model.cluster.ids import TopicPartition

ZOOKEEPER, CLASSIC, CONSUMER, SHARE = "zookeeper", "classic", "consumer", "share"
"""Kinds of groups: members register in ZooKeeper, or at a broker: by JoinGroup, by heartbeats alone (KIP-848), or as
share groups (KIP-932). All but the first as `GroupType` has them (Kafka 4.0)."""

REBALANCING = ("PreparingRebalance", "CompletingRebalance", "AwaitingSync")
"""States in which a coordinator does not tell who owns what; 0.9 to 1.0 say AwaitingSync for the second."""


RECONCILING = ("Assigning", "Reconciling")
"""States in which owners are told, and are not yet as they are to be (`ConsumerGroupState`, 4.0)."""


class Member(msgspec.Struct, frozen=True):
    """One consumer. `subscription` is topic or pattern → threads; `pattern` is static, white_list or black_list.

    The last five are known of members of classic groups only; `reads` of those of share groups, where several members
    read one partition and nobody owns it, and `epoch`: the group's epoch (`generation`) whose share the member has.
    """

    subscription: Mapping[str, int]
    pattern: str = "static"
    joined_ms: int = 0
    client_id: str = ""
    host: str = ""
    instance_id: str | None = None
    reads: tuple[TopicPartition, ...] = ()
    epoch: int | None = None

    @property
    def threads(self) -> int:
        """Consumer threads, over all topics it names."""
        return sum(self.subscription.values())


class Rebalance(msgspec.Struct, frozen=True):
    """One rebalance as it was seen from outside: as exactly as the source looks, which is each second for brokers."""

    at_ms: int
    why: tuple[str, ...] = ()
    """What set it off, `c2 left`; empty where nothing was seen that did."""
    took_ms: int | None = None
    """None while it is under way."""
    generation: int | None = None
    """The one it led to; None where it is not known, and for ZooKeeper groups."""
    gained: Mapping[str, tuple[TopicPartition, ...]] = {}
    """Owner → partitions it did not have before."""
    lost: Mapping[str, tuple[TopicPartition, ...]] = {}
    generations: int = 1
    """How many it went through, at least: with more than one, others were over before the source looked again."""

    @property
    def moved(self) -> int:
        """Partitions that have another owner than before, or none any more."""
        return len({each for owned in (*self.gained.values(), *self.lost.values()) for each in owned})


class GroupImage(msgspec.Struct, frozen=True):
    """One group. Offsets are the next record to consume.

    Owners are consumer thread ids, `<consumer id>-<thread>`, in a ZooKeeper group, and member ids in a classic one.
    """

    name: str
    members: Mapping[str, Member] = {}
    owners: Mapping[TopicPartition, str] = {}
    offsets: Mapping[TopicPartition, int] = {}
    kind: str = ZOOKEEPER
    state: str = ""
    """As its coordinator says, `Stable`; empty for a ZooKeeper group. What follows is of classic groups only, too."""
    protocol_type: str = ""
    """`consumer`, `connect` …; empty for a group that only commits offsets."""
    protocol: str = ""
    """The assignor's name."""
    coordinator: int | None = None
    generation: int | None = None
    rebalances: tuple[Rebalance, ...] = ()
    """The last ones of either kind of group, newest last."""

    @property
    def tells_owners(self) -> bool:
        """Whether owners are as they are now, and mean partitions: Connect's workers share out other things."""
        return self.state not in REBALANCING and self.protocol_type in ("", "consumer")

    @property
    def is_rebalancing(self) -> bool:
        """Whether a group of brokers is, as its coordinator tells: by its state, or some members lag an epoch behind.

        States of KIP-848 are told while owners are; share groups (KIP-932) are Stable all the while.
        """
        late = (member.epoch not in (None, self.generation) for member in self.members.values())
        return self.state in (*REBALANCING, *RECONCILING) or any(late)

    @property
    def is_described(self) -> bool:
        """Whether its members are told: groups of other kinds, such as Streams' (KIP-1071), are only listed."""
        return self.kind in (ZOOKEEPER, CLASSIC, CONSUMER, SHARE)

    @property
    def has_owners(self) -> bool:
        """Whether a strategy deals each partition to one member: not in share groups, nor in those only listed."""
        return self.is_described and self.kind != SHARE

    @property
    def held(self) -> tuple[tuple[TopicPartition, str], ...]:
        """Partition and owner; of a share group, partition and reader: some partitions are there several times."""
        if self.kind != SHARE:
            return tuple(self.owners.items())
        return tuple((read, name) for name, member in self.members.items() for read in member.reads)

    def member_of(self, owner: str) -> str:
        return member_of(owner) if self.kind == ZOOKEEPER else owner


def member_of(owner: str) -> str:
    """The consumer id in a consumer thread id (`g_host-1-a1b2-0` → `g_host-1-a1b2`)."""
    return owner.rpartition("-")[0]


NO_QUORUM_LEADER = -1
LATE_VOTER_MS = 5_000
"""A voter that was up to date so long before another one was does not keep up: below, offsets differ all the time."""


class QuorumReplica(msgspec.Struct, frozen=True, order=True):
    """A voter or an observer. Offsets and lag count records of the metadata log; -1: not known.

    `caught_up_ms` is when it had read all there was, ms since the epoch. `directory_id` is that of the directory that
    holds its log (KIP-853); empty where nobody tells it. `endpoints` are known of voters: `CONTROLLER://host:port`.
    """

    id: int
    log_end_offset: int = -1
    lag_records: int = -1
    caught_up_ms: int = -1
    directory_id: str = ""
    endpoints: tuple[str, ...] = ()


class Quorum(msgspec.Struct, frozen=True):
    """As its leader sees it. Leader -1: nobody who was asked knows one, and the rest is as it was told before."""

    leader: int
    leader_epoch: int
    high_watermark: int = -1
    voters: tuple[QuorumReplica, ...] = ()
    observers: tuple[QuorumReplica, ...] = ()
    silent: tuple[int, ...] = ()
    """Voters that cannot be counted on: without a leader those that did not answer when they were asked themselves."""
    unconfirmed: tuple[int, ...] = ()
    """Without a leader: brokers that do not answer, so that only metadata from before says that they live."""

    @property
    def majority(self) -> int:
        return len(self.voters) // 2 + 1

    def late_voters(self, most_ms: int = LATE_VOTER_MS) -> tuple[QuorumReplica, ...]:
        """Those that were up to date last longer before the best voter was than this.

        None while there is no high watermark: the leader was elected just now, and nobody has fetched from it yet.
        """
        if self.high_watermark < 0:
            return ()
        newest_ms = max((each.caught_up_ms for each in self.voters), default=0)
        return tuple(each for each in self.voters if newest_ms - each.caught_up_ms > most_ms)

    @property
    def present(self) -> frozenset[int]:
        """Voters that can be counted on: with a leader those that are not late, without one those that answer."""
        late = () if self.leader == NO_QUORUM_LEADER else self.late_voters()
        return frozenset(each.id for each in self.voters if each not in late and each.id not in self.silent)

    @property
    def is_led(self) -> bool:
        """Whether there is a leader that a majority follows."""
        return self.leader != NO_QUORUM_LEADER and (len(self.present) >= self.majority or not self.voters)


class LogDir(msgspec.Struct, frozen=True):
    """One folder; `error` is Kafka's name of what is wrong with it, empty if nothing is. Bytes; -1: not known."""

    path: str
    error: str = ""
    sizes: Mapping[TopicPartition, int] = {}
    total_bytes: int = -1
    usable_bytes: int = -1


def largest_replicas(brokers: Mapping[int, tuple[LogDir, ...]]) -> dict[TopicPartition, int]:
    """Bytes of the largest replica of each partition: one that is still copying is smaller than it will be."""
    sizes: dict[TopicPartition, int] = {}
    for folders in brokers.values():
        for folder in folders:
            for name, size in folder.sizes.items():
                sizes[name] = max(size, sizes.get(name, 0))
    return sizes


class Acl(msgspec.Struct, frozen=True, order=True):
    """One rule of the metadata log, by Kafka's names: `TOPIC`, `LITERAL`, `READ`, `ALLOW`."""

    resource_type: str
    resource: str
    pattern: str
    principal: str
    host: str
    operation: str
    permission: str


class ControllerNode(msgspec.Struct, frozen=True, order=True):
    """A node with the controller role, as it registered (3.7 and later), with where it listens."""

    id: int
    endpoints: tuple[str, ...] = ()


NO_DIRECTORIES = {
    "AAAAAAAAAAAAAAAAAAAAAA": "migrating",
    "AAAAAAAAAAAAAAAAAAAAAQ": "unassigned",
    "AAAAAAAAAAAAAAAAAAAAAg": "lost",
}
"""Ids that are no directory's (`DirectoryId`, 3.7): nobody knows which it is, none was chosen yet, it failed."""


def directory_number(id: str) -> int:
    """Stands for the id of a log directory where there are many partitions: 0 to 2 for what is none."""
    return _NUMBERS[id] if id in _NUMBERS else crc32(id.encode()) & 0x7FFFFFFF


_NUMBERS = {id: number for number, id in enumerate(NO_DIRECTORIES)}


def are_all_cordoned(directories: Collection[str], cordoned: Collection[str]) -> bool:
    """Whether a broker gets no new replicas: it has told of log directories, and all are cordoned (KIP-1066)."""
    return bool(directories) and set(directories) <= set(cordoned)


class KraftMetadata(msgspec.Struct, frozen=True):
    """What only the metadata log knows, beside what brokers tell as well."""

    features: Mapping[str, int] = {}
    """Finalised feature → level; `metadata.version` says which records are written."""
    controllers: tuple[ControllerNode, ...] = ()
    acls: tuple[Acl, ...] = ()
    tokens: Mapping[str, str] = {}
    """Id of a delegation token → its owner."""
    next_producer_id: int = -1
    log_dirs: Mapping[int, tuple[str, ...]] = {}
    """Broker → ids of its log directories (KIP-858), as far as it told them."""
    cordoned: Mapping[int, tuple[str, ...]] = {}
    """Broker → ids of those of its log directories that get no new replicas (KIP-1066, 4.3)."""
    supported: Mapping[int, Mapping[str, tuple[int, int]]] = {}
    """Node → feature → the lowest and the highest level that it supports, as it registered, fenced or not."""
