"""Placing the replicas of new partitions: Kafka's checks in its order, and its index arithmetic. It draws no numbers.

Source: `org.apache.kafka.admin.AdminUtils` (3.9), `kafka.admin.AdminUtils` (0.8.0 to 3.x),
`AdminZkClient.getBrokerMetadatas`; KIP-36 (racks, 0.10.0).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import count, zip_longest
from operator import attrgetter
from typing import NamedTuple

import msgspec

from model.controller import Refusal

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


PlacementStrategy = Callable[[Sequence[BrokerMetadata], PlacementRequest], Placement]


class RackMode(Enum):
    """What becomes of racks where the tools place replicas (Kafka's `RackAwareMode`)."""

    ENFORCED = "racks count; if some brokers have none, refuse"
    SAFE = "racks count, unless some brokers have none"
    DISABLED = "racks do not count"


def place(brokers: Sequence[BrokerMetadata], request: PlacementRequest, strategy: str = "kafka") -> Placement | Refusal:
    """Place replicas on brokers, in the order given, by a strategy of STRATEGIES.

    Tools sort brokers by id; a broker that is asked to create a topic takes them as they come. Raises KeyError
    for an unknown strategy.
    """
    chosen = STRATEGIES[strategy]
    return _problem(brokers, request, looks_at_racks=strategy not in RACK_BLIND) or chosen(brokers, request)


def brokers_by_mode(brokers: Iterable[BrokerMetadata], mode: RackMode) -> tuple[BrokerMetadata, ...] | Refusal:
    """Brokers by id as the tools hand them to placement: with racks, or without where racks shall not count."""
    known = sorted(brokers, key=attrgetter("id"))
    partly = 0 < sum(broker.rack is not None for broker in known) < len(known)
    if partly and mode is RackMode.ENFORCED:
        return Refusal(
            "AdminOperationException",
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information.",
        )
    if partly or mode is RackMode.DISABLED:
        return tuple(BrokerMetadata(broker.id) for broker in known)
    return tuple(known)


def start_for_added_partitions(
    brokers: Sequence[BrokerMetadata], first_replica: int, *, by_broker_id: bool = False
) -> int:
    """Kafka's `fixedStartIndex` for partitions added to a topic whose partition 0 prefers `first_replica`.

    The position of the first broker that is not below it, else 0. With racks it is applied to the alternated list all
    the same. Up to 0.9 (`by_broker_id`) the id itself was taken for the position.
    """
    if by_broker_id:
        return first_replica
    return next((index for index, broker in enumerate(brokers) if broker.id >= first_replica), 0)


def _as_kafka_does(brokers: Sequence[BrokerMetadata], request: PlacementRequest) -> Placement:
    return (rack_aware if brokers[0].rack is not None else rack_unaware)(brokers, request)


STRATEGIES: Mapping[str, PlacementStrategy] = {
    "kafka": _as_kafka_does,
    "rack-unaware": rack_unaware,
    "rack-aware": rack_aware,
    "simple": simple,
}
"""By name. `kafka` looks at racks where brokers have them; `simple` is for comparison only."""


RACK_BLIND = frozenset({"rack-unaware", "simple"})
"""Strategies that do not care whether only some brokers have a rack."""


def _problem(brokers: Sequence[BrokerMetadata], request: PlacementRequest, *, looks_at_racks: bool) -> Refusal | None:
    if request.partitions <= 0:
        return Refusal("INVALID_PARTITIONS", "Number of partitions must be larger than 0.")
    if request.replication_factor <= 0:
        return Refusal("INVALID_REPLICATION_FACTOR", "Replication factor must be larger than 0.")
    if request.replication_factor > len(brokers):
        return Refusal(
            "INVALID_REPLICATION_FACTOR",
            f"Replication factor: {request.replication_factor} larger than available brokers: {len(brokers)}.",
        )
    if looks_at_racks and len({broker.rack is None for broker in brokers}) > 1:
        message = "Not all brokers have rack information for replica rack aware assignment."
        return Refusal("AdminOperationException", message)
    return None
