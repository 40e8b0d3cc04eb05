"""A consumer group: who is in it, who owns what, how far it has read, and how it was rebalanced."""

from collections.abc import Mapping

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
        """The consumer behind an owner."""
        return member_of(owner) if self.kind == ZOOKEEPER else owner


def member_of(owner: str) -> str:
    """The consumer id in a consumer thread id (`g_host-1-a1b2-0` → `g_host-1-a1b2`)."""
    return owner.rpartition("-")[0]
