"""The assignors by name, and what a case comes to with one of them.

Names are Kafka's own `partition.assignment.strategy` and `group.consumer.assignors`, with a prefix where two are alike.
"""

from collections.abc import Mapping

from model.consumers.assignors.assignment import AssignedCase, Assignment, Decide, Strategy, from_scratch
from model.consumers.assignors.case import Case
from model.consumers.assignors.group import AssignorError, Ints, Ownership, ownership
from model.consumers.assignors.named_group import NamedGroup, named_group, named_threads
from model.consumers.assignors.ranges import assign_rack_ranges, assign_ranges, rounded_up_cut
from model.consumers.assignors.reasons import (
    why_by_hash,
    why_by_number,
    why_range,
    why_range_of_threads,
    why_rounded_up,
    why_sticky,
    why_uniform,
)
from model.consumers.assignors.round_robin import (
    ZOOKEEPER_RELEASES,
    Release,
    assign_round_robin,
    assign_zookeeper_round_robin,
)
from model.consumers.assignors.sticky import assign_cooperatively, assign_sticky
from model.consumers.assignors.uniform import assign_mixed_uniformly, assign_uniformly


def _zookeeper_round_robin(release: Release) -> Decide:
    return from_scratch(lambda named: assign_zookeeper_round_robin(named.group, named.topics, release))


def _sticky(named: NamedGroup, before: Ownership, as_kafka: bool) -> tuple[Ints, Ints]:
    owner = assign_sticky(named.group, before, as_kafka=as_kafka)
    return owner, owner


def _cooperative(named: NamedGroup, before: Ownership, as_kafka: bool) -> tuple[Ints, Ints]:
    return assign_cooperatively(named.group, before, as_kafka=as_kafka)


def _uniform(named: NamedGroup, before: Ownership, as_kafka: bool) -> tuple[Ints, Ints]:
    group = named.group
    if not before.agreed:
        raise AssignorError("a partition is owned by two members, which a group coordinator never has in its target")
    if not group.members or not group.partitions:
        owner = before.owner
    elif group.alike:
        owner = assign_uniformly(group, before)
    else:
        owner = assign_mixed_uniformly(group, before, as_kafka=as_kafka)
    return owner, owner


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy(
            "range",
            "runs of each topic's partitions; racks count",
            from_scratch(lambda n: assign_rack_ranges(n.group)),
            why_range,
        ),
        Strategy(
            "roundrobin",
            "one by one around the members",
            from_scratch(lambda n: assign_round_robin(n.group)),
            why_by_number,
        ),
        Strategy("sticky", "even, and keeps what it can; all revoke first", _sticky, why_sticky, kind="sticky"),
        Strategy(
            "cooperative-sticky",
            "even, and keeps what it can; what changes hands waits for the next rebalance",
            _cooperative,
            why_sticky,
            kind="cooperative",
        ),
        Strategy("uniform", "KIP-848: even, and keeps what it can", _uniform, why_uniform, kind="coordinator"),
        Strategy(
            "server-range",
            "KIP-848: range",
            from_scratch(lambda n: assign_ranges(n.group)),
            why_range,
            kind="coordinator",
        ),
        Strategy(
            "zk-range",
            "0.8's range, by thread",
            from_scratch(lambda n: assign_ranges(n.group)),
            why_range_of_threads,
            threads=True,
        ),
        Strategy(
            "zk-roundrobin",
            "0.8.2's round-robin, which wants the same threads for every topic",
            _zookeeper_round_robin(ZOOKEEPER_RELEASES["zk-roundrobin"]),
            why_by_hash,
            threads=True,
        ),
        Strategy(
            "zk-roundrobin-0.10.2",
            "round-robin of ZooKeeper consumers in 0.10.2 and 0.11",
            _zookeeper_round_robin(ZOOKEEPER_RELEASES["zk-roundrobin-0.10.2"]),
            why_by_hash,
            threads=True,
            compared=False,
        ),
        Strategy(
            "zk-roundrobin-1.0",
            "round-robin of ZooKeeper consumers in 1.0 and 1.1",
            _zookeeper_round_robin(ZOOKEEPER_RELEASES["zk-roundrobin-1.0"]),
            why_by_hash,
            threads=True,
        ),
        Strategy(
            "ceil",
            "runs of partitions / threads rounded up: often told of 0.8, used by no release",
            from_scratch(lambda n: assign_ranges(n.group, rounded_up_cut)),
            why_rounded_up,
            threads=True,
            compared=False,
        ),
    )
}
"""Every strategy by its name, as all lists show them."""


def strategy_named(name: str) -> Strategy:
    """The strategy. Raises AssignorError with the names there are."""
    strategy = STRATEGIES.get(name)
    if strategy is None:
        raise AssignorError(f"no strategy {name!r}; there are: {', '.join(STRATEGIES)}")
    return strategy


def assign(case: Case, strategy: Strategy, *, as_kafka: bool = False) -> AssignedCase:
    """Assigns a case. `as_kafka` repeats the bugs of 3.9.1, exceptions included. Raises AssignorError."""
    named = named_threads(case) if strategy.threads else named_group(case, strategy.kind, as_kafka=as_kafka)
    before = ownership(named.group, as_kafka=as_kafka)
    owner, target = strategy.decide(named, before, as_kafka)
    return AssignedCase(strategy, named, Assignment(owner, target, before, named.group.members))
