"""Electing leaders: the preferred ones, or, where nobody in sync is left, one that may lack records.

What KRaft's controller makes of it is worked out by its own rules before anything is sent: who leads, which leader
epoch that is, what is lost.

Source: `kafka.admin.PreferredReplicaLeaderElectionCommand` (0.8 to 2.3), `LeaderElectionCommand` (3.9), KIP-460 (2.4);
`ReplicationControlManager.electLeader`, 3.3 to 4.4.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from model.actions.proposal import ActionRefused, ApiCall, Basis, Proposal, Step, create
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.texts import brokers, counted
from model.cluster.topic_image import NOBODY
from model.kraft_controller.cluster import KraftCluster, PartitionChanged
from model.kraft_controller.partition_change import Election, Registration
from model.kraft_controller.requests import ElectLeaders, elect_leaders
from model.znodes.topics import PartitionEntry, PreferredReplicaElection

ELECTION_PATH = "/admin/preferred_replica_election"
PREFERRED, UNCLEAN = 0, 1
"""`org.apache.kafka.common.ElectionType`."""
MOST_BYTES = 1_000_000
"""A little less than ZooKeeper takes in one znode (jute.maxbuffer)."""
OLD = ("0.8", "0.9-1.x")


class Leaders(msgspec.Struct, frozen=True, gc=False):
    """A partition's leader now, and the one that is preferred."""

    partition: TopicPartition
    leader: int
    preferred: int


def imbalanced(image: ClusterImage) -> tuple[TopicPartition, ...]:
    """Partitions led by another replica than the preferred one, or by none, by topic and number."""
    return tuple(
        TopicPartition(name, int(topic.partitions[row]))
        for name, topic in sorted(image.topics.items())
        for row in np.flatnonzero((topic.leader != topic.preferred) & (topic.preferred != NOBODY)).tolist()
    )


def leaderless(image: ClusterImage) -> tuple[TopicPartition, ...]:
    """Partitions without a leader, by topic and number."""
    return tuple(
        TopicPartition(name, int(topic.partitions[row]))
        for name, topic in sorted(image.topics.items())
        for row in np.flatnonzero((topic.leader == NO_LEADER) & (topic.preferred != NOBODY)).tolist()
    )


def elect_preferred(basis: Basis, wanted: Sequence[TopicPartition]) -> Proposal:
    """The preferred replicas of these partitions shall lead; those that do, and those that cannot, are left out.

    By ZooKeeper, ELECTION_PATH has to have been read. Raises ActionRefused where nothing is left, or unknown.
    """
    if basis.found is not None and ELECTION_PATH in basis.found:
        raise ActionRefused("an election is under way: wait until the controller has taken it up")
    leaders = [_leaders(basis, partition) for partition in dict.fromkeys(wanted)]
    needed = [each for each in leaders if each.leader != each.preferred]
    chosen, unable = _able(basis, needed)
    if not chosen:
        first = next(iter(unable.items()), None)
        raise ActionRefused(
            "all preferred replicas lead already: nothing to elect"
            if first is None
            else f"no preferred replica can lead; {first[0]}: {first[1]}"
        )
    return Proposal(
        f"elect the preferred leaders of {counted(len(chosen), 'partition')}",
        (_election_step(basis, list(chosen), PREFERRED),),
        changes=tuple(chosen.values()),
        warnings=tuple(f"{partition} is left out: {why}" for partition, why in unable.items()),
    )


def _able(basis: Basis, needed: Sequence[Leaders]) -> tuple[dict[TopicPartition, str], dict[TopicPartition, str]]:
    """By partition what changes, of those that can be elected; and why not, of the others."""
    cluster = basis.kraft()
    if cluster is not None:
        records = _elected(cluster, Election.PREFERRED, [each.partition for each in needed])
        others = (each for each in needed if each.partition not in records)
        unable = {each.partition: _why_not(basis, each) or "its controller elects nobody" for each in others}
        return {name: _change(record) for name, record in records.items()}, unable
    unable = {each.partition: why for each in needed if (why := _why_not(basis, each))}
    chosen = (each for each in needed if each.partition not in unable)
    return {
        each.partition: f"{each.partition}: leader {_broker(each.leader)} → {each.preferred}" for each in chosen
    }, unable


def _elected(
    cluster: KraftCluster, election: Election, names: Sequence[TopicPartition]
) -> dict[TopicPartition, PartitionChanged]:
    return {record.partition: record for record in elect_leaders(cluster, ElectLeaders(election, tuple(names))).records}


def _change(record: PartitionChanged) -> str:
    before, after = record.before, record.after
    epochs = f"leader epoch {before.leader_epoch} → {after.leader_epoch}"
    return f"{record.partition}: leader {_broker(before.leader)} → {_broker(after.leader)}, {epochs}"


def _leaders(basis: Basis, partition: TopicPartition) -> Leaders:
    topic = basis.topic(partition.topic)
    row = topic.row_of.get(partition.partition)
    if row is None or topic.preferred[row] == NOBODY:
        raise ActionRefused(f"partition {partition} does not exist")
    return Leaders(partition, int(topic.leader[row]), int(topic.preferred[row]))


def _why_not(basis: Basis, each: Leaders) -> str:
    """Why the preferred replica would not be elected; empty where it would."""
    if each.partition.topic in basis.image.admin.delete_topics:
        return "the topic is being deleted"
    if each.preferred in basis.image.fenced:
        return f"broker {each.preferred} is fenced"
    if each.preferred not in basis.image.brokers:
        return f"broker {each.preferred} is down"
    if each.preferred not in basis.active:
        return f"broker {each.preferred} is shutting down"
    topic = basis.topic(each.partition.topic)
    in_sync = each.preferred in topic.isr[topic.row_of[each.partition.partition]]
    return "" if in_sync else f"broker {each.preferred} is not in the ISR"


def elect_uncleanly(basis: Basis, wanted: Sequence[TopicPartition]) -> Proposal:
    """Some live replica of these partitions shall lead, in sync or not; those that have a leader are left out.

    Only the Admin API can ask for that (2.4), whatever unclean.leader.election.enable says. Raises ActionRefused.
    """
    if basis.found is not None or basis.image.generation in OLD:
        raise ActionRefused(
            "only brokers of 2.4 or later take an unclean election: name some with --bootstrap; before, set "
            "unclean.leader.election.enable on the topic, and let a broker start or the controller change"
        )
    leaders = [_leaders(basis, partition) for partition in dict.fromkeys(wanted)]
    needed = [each.partition for each in leaders if each.leader == NO_LEADER]
    if not needed:
        raise ActionRefused("each of these partitions has a leader: nothing to elect")
    outcomes = [found for name in needed if (found := _uncleanly(basis, name)) is not None]
    if not outcomes:
        raise ActionRefused(f"no replica of {needed[0]} is alive: nobody can be elected")
    chosen = [each.partition for each in outcomes]
    return Proposal(
        f"elect leaders of {counted(len(chosen), 'partition')}, in sync or not",
        (_election_step(basis, chosen, UNCLEAN),),
        changes=tuple(each.change for each in outcomes),
        warnings=tuple(_unclean_warnings(outcomes, [name for name in needed if name not in chosen])),
        type_to_confirm=str(chosen[0]) if len(chosen) == 1 else str(len(chosen)),
    )


class _Unclean(msgspec.Struct, frozen=True):
    partition: TopicPartition
    change: str
    is_lossy: bool
    better: tuple[int, ...]
    """Who has all that was acknowledged, and is away."""


def _uncleanly(basis: Basis, name: TopicPartition) -> _Unclean | None:
    cluster = basis.kraft()
    if cluster is None:
        return _by_the_live(basis, name)
    record = _elected(cluster, Election.UNCLEAN, [name]).get(name)
    if record is None or record.after.leader == NO_LEADER:
        return None
    return _Unclean(name, _change(record), record.unclean, _in_sync(record.before, record.after.leader))


def _in_sync(before: Registration, leader: int) -> tuple[int, ...]:
    return tuple(broker for broker in before.isr or before.elr if broker != leader)


def _by_the_live(basis: Basis, name: TopicPartition) -> _Unclean | None:
    """`PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection` (2.4 to 3.9)."""
    topic = basis.topic(name.topic)
    isr = [broker for broker in topic.isr[topic.row_of[name.partition]].tolist() if broker != NOBODY]
    live = [broker for broker in basis.replicas(name) if broker in basis.image.brokers]
    leader = next((broker for broker in live if broker in isr), live[0] if live else None)
    if leader is None:
        return None
    better = tuple(broker for broker in isr if broker != leader)
    return _Unclean(name, f"{name}: leader none → {leader}", leader not in isr, better)


def _unclean_warnings(outcomes: Iterable[_Unclean], left_out: Sequence[TopicPartition]) -> Iterator[str]:
    lossy = [each for each in outcomes if each.is_lossy]
    if lossy:
        many = counted(len(lossy), "partition")
        yield f"{many}: acknowledged records that the new leader lacks are lost for ever, wherever else they are"
        better = {broker for each in lossy for broker in each.better}
        if better:
            who = f"{brokers(better)} {'has' if len(better) == 1 else 'have'}"
            yield f"{who} all that was acknowledged: with {'it' if len(better) == 1 else 'them'} back nothing is lost"
    yield from (f"{name} is left out: none of its replicas is alive" for name in left_out)


def _election_step(basis: Basis, partitions: Sequence[TopicPartition], kind: int) -> Step:
    if basis.found is None:
        by_topic: dict[str, list[int]] = {}
        for name, number in partitions:
            by_topic.setdefault(name, []).append(number)
        expected: Mapping[str, object] = {str(each): list(basis.replicas(each)) for each in partitions}
        return ApiCall("ElectLeaders", {"election_type": kind, "partitions": by_topic}, expected)
    entries = tuple(PartitionEntry(topic=name, partition=number) for name, number in partitions)
    payload = PreferredReplicaElection(partitions=entries).to_bytes()
    if len(payload) > MOST_BYTES:
        first = entries[0].topic
        raise ActionRefused(f"{len(entries):,} partitions are too many for one znode: elect by topic, --topic {first}")
    return create(ELECTION_PATH, payload)


def _broker(leader: int) -> str:
    return "none" if leader == NO_LEADER else str(leader)
