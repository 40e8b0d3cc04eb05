"""Where the replicas of new partitions go, to Kafka's very index arithmetic. Checks nothing and throws no dice.

Source: `org.apache.kafka.admin.AdminUtils` (3.9), `kafka.admin.AdminUtils` (0.8.0 to 3.x); KIP-36 (racks, 0.10.0).
"""

from collections.abc import Iterator, Sequence
from itertools import count, zip_longest
from operator import attrgetter
from typing import NamedTuple

import msgspec

Placement = dict[int, tuple[int, ...]]
"""Replicas by partition, the preferred one first."""


class BrokerMetadata(NamedTuple):
    """A broker as far as placement goes (Kafka's `BrokerMetadata`)."""

    id: int
    rack: str | None = None


class PlacementRequest(msgspec.Struct, frozen=True, gc=False):
    """How many partitions of how many replicas, and the dice that Kafka throws.

    `start` and `shift` are indexes into the list of brokers, drawn independently for a new topic. Kafka's
    `fixedStartIndex`, as for partitions that are added, is both of them. Ids start at `first_partition`.
    """

    partitions: int
    replication_factor: int
    start: int = 0
    shift: int = 0
    first_partition: int = 0


def rack_unaware(brokers: Sequence[BrokerMetadata], request: PlacementRequest) -> Placement:
    """Leaders round robin; followers behind them, at a distance that grows with every round."""
    placement: Placement = {}
    for partition, first, shift in _rows(len(brokers), request):
        distances = range(shift, shift + request.replication_factor - 1)
        followers = (brokers[_follower(first, distance, len(brokers))].id for distance in distances)
        placement[partition] = (brokers[first].id, *followers)
    return placement


def rack_aware(brokers: Sequence[BrokerMetadata], request: PlacementRequest) -> Placement:
    """Leaders round robin over brokers of alternating racks; followers in racks that hold no replica yet, if any."""
    alternated = rack_alternated(brokers)
    racks = len({broker.rack for broker in brokers})
    placement: Placement = {}
    for partition, first, shift in _rows(len(alternated), request):
        chosen = [alternated[first]]
        # One count for all followers of a partition: the next one is looked for behind the last.
        probes = count(shift * racks)
        while len(chosen) < request.replication_factor:
            candidate = alternated[_follower(first, next(probes), len(alternated))]
            used = {broker.rack for broker in chosen}
            if candidate not in chosen and (candidate.rack not in used or len(used) == racks):
                chosen.append(candidate)
        placement[partition] = tuple(broker.id for broker in chosen)
    return placement


def simple(brokers: Sequence[BrokerMetadata], request: PlacementRequest) -> Placement:
    """Replica j of partition i on broker (i + j) mod n by id: what early texts say of Kafka. It never did so."""
    ids = sorted(broker.id for broker in brokers)
    first = request.first_partition
    return {
        partition: tuple(ids[(partition + replica) % len(ids)] for replica in range(request.replication_factor))
        for partition in range(first, first + request.partitions)
    }


def rack_alternated(brokers: Sequence[BrokerMetadata]) -> tuple[BrokerMetadata, ...]:
    """One broker of each rack in turn, racks by name and brokers by id; a rack that has no more is passed over."""
    racks: dict[str, list[BrokerMetadata]] = {}
    for broker in sorted(brokers, key=attrgetter("id")):
        racks.setdefault(broker.rack or "", []).append(broker)
    turns = zip_longest(*(racks[rack] for rack in sorted(racks)))
    return tuple(broker for turn in turns for broker in turn if broker is not None)


def _rows(brokers: int, request: PlacementRequest) -> Iterator[tuple[int, int, int]]:
    """Each partition with the index of its leader and its shift, which grows where the ids begin a new round."""
    shift = request.shift
    for partition in range(request.first_partition, request.first_partition + request.partitions):
        shift += partition > 0 and partition % brokers == 0
        yield partition, (partition + request.start) % brokers, shift


def _follower(first: int, distance: int, brokers: int) -> int:
    """Never the leader's own index: distances repeat after all others."""
    return (first + 1 + distance % (brokers - 1)) % brokers
