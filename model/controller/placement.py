"""Placing replicas, by strategy: Kafka's checks in Kafka's order, and racks as they are asked for. Throws no dice.

Source: `org.apache.kafka.admin.AdminUtils` (3.9), `AdminZkClient.getBrokerMetadatas`. The arithmetic is in
`placement_strategies`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from operator import attrgetter

from model.controller.placement_strategies import (
    BrokerMetadata,
    Placement,
    PlacementRequest,
    rack_aware,
    rack_unaware,
    simple,
)
from model.controller.refusal import Refusal

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
