"""The assignors by name, and what a case comes to with one of them.

Names are Kafka's own `partition.assignment.strategy` and `group.consumer.assignors`, with a prefix where two are alike.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from model.consumers.assignors.assignment import Assignment
from model.consumers.assignors.case import Case
from model.consumers.assignors.group import AssignorError, Ints
from model.consumers.assignors.member_claims import Kind
from model.consumers.assignors.named_group import NamedGroup, named_group
from model.consumers.assignors.named_threads import named_threads
from model.consumers.assignors.ownership import Ownership, ownership
from model.consumers.assignors.rack_ranges import assign_rack_ranges
from model.consumers.assignors.ranges import assign_ranges, rounded_up_cut
from model.consumers.assignors.round_robin import assign_round_robin
from model.consumers.assignors.sticky import assign_cooperatively, assign_sticky
from model.consumers.assignors.uniform import assign_uniformly
from model.consumers.assignors.uniform_mixed import assign_mixed_uniformly
from model.consumers.assignors.zookeeper_round_robin import Release, assign_zookeeper_round_robin

Decide = Callable[[NamedGroup, Ownership, bool], tuple[Ints, Ints]]
"""Of a group, who owned what, and whether to repeat Kafka's bugs: owners now, and owners once all is revoked."""


@dataclass(frozen=True)
class Strategy:
    """An assignor. `threads`: it deals to ZooKeeper consumers' threads; `kind`: how it learns what was owned."""

    name: str
    what: str
    decide: Decide
    kind: Kind = "client"
    threads: bool = False


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a strategy makes of a case."""

    strategy: Strategy
    named: NamedGroup
    assignment: Assignment

    def lists(self) -> dict[str, list[tuple[str, int]]]:
        """Member, or thread → its topics and partition numbers, in order.

        Kafka's uniform assignor does not even name the members of a group that subscribes to nothing.
        """
        if self.strategy.name == "uniform" and not self.named.topics:
            return {}
        return self.named.lists(self.assignment.owner)


def _only(decide: Callable[[NamedGroup], Ints]) -> Decide:
    """For strategies that neither look at what was owned nor hold anything back."""

    def both(named: NamedGroup, _before: Ownership, _as_kafka: bool) -> tuple[Ints, Ints]:
        owner = decide(named)
        return owner, owner

    return both


def _zookeeper_round_robin(release: Release) -> Decide:
    return _only(lambda named: assign_zookeeper_round_robin(named.group, named.topics, release))


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


ZOOKEEPER_RELEASES: Mapping[str, Release] = {
    "zk-roundrobin": Release(same_threads=True),
    "zk-roundrobin-0.10.2": Release(same_threads=False),
    "zk-roundrobin-1.0": Release(same_threads=False, text=("", "-", "")),
}
"""How round-robin of ZooKeeper consumers changed."""

STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("range", "runs of each topic's partitions; racks count", _only(lambda n: assign_rack_ranges(n.group))),
        Strategy("roundrobin", "one by one around the members", _only(lambda n: assign_round_robin(n.group))),
        Strategy("sticky", "even, and keeps what it can; all revoke first", _sticky, kind="sticky"),
        Strategy(
            "cooperative-sticky",
            "even, and keeps what it can; what changes hands waits for the next rebalance",
            _cooperative,
            kind="cooperative",
        ),
        Strategy("uniform", "KIP-848: even, and keeps what it can", _uniform, kind="coordinator"),
        Strategy("server-range", "KIP-848: range", _only(lambda n: assign_ranges(n.group)), kind="coordinator"),
        Strategy("zk-range", "0.8's range, by thread", _only(lambda n: assign_ranges(n.group)), threads=True),
        Strategy(
            "zk-roundrobin",
            "0.8.2's round-robin, which wants the same threads for every topic",
            _zookeeper_round_robin(ZOOKEEPER_RELEASES["zk-roundrobin"]),
            threads=True,
        ),
        Strategy(
            "zk-roundrobin-0.10.2",
            "round-robin of ZooKeeper consumers in 0.10.2 and 0.11",
            _zookeeper_round_robin(ZOOKEEPER_RELEASES["zk-roundrobin-0.10.2"]),
            threads=True,
        ),
        Strategy(
            "zk-roundrobin-1.0",
            "round-robin of ZooKeeper consumers in 1.0 and 1.1",
            _zookeeper_round_robin(ZOOKEEPER_RELEASES["zk-roundrobin-1.0"]),
            threads=True,
        ),
        Strategy(
            "ceil",
            "runs of partitions / threads rounded up: often told of 0.8, used by no release",
            _only(lambda n: assign_ranges(n.group, rounded_up_cut)),
            threads=True,
        ),
    )
}
"""Every strategy by its name."""


def strategy_named(name: str) -> Strategy:
    """The strategy. Raises AssignorError with the names there are."""
    strategy = STRATEGIES.get(name)
    if strategy is None:
        raise AssignorError(f"no strategy {name!r}; there are: {', '.join(STRATEGIES)}")
    return strategy


def assign(case: Case, strategy: Strategy, *, as_kafka: bool = False) -> Outcome:
    """Assigns a case. `as_kafka` repeats the bugs of 3.9.1, exceptions included. Raises AssignorError."""
    named = named_threads(case) if strategy.threads else named_group(case, strategy.kind, as_kafka=as_kafka)
    if as_kafka and named.beyond and strategy.kind in ("sticky", "cooperative"):
        member, topic, number = named.beyond[0]
        raise AssignorError(
            f"{member} claims {topic}-{number}, which {topic} does not have: Kafka 3.9.1 may throw an exception, or "
            "hand out partitions that are not there; that is not repeated"
        )
    before = ownership(named.group, as_kafka=as_kafka)
    owner, target = strategy.decide(named, before, as_kafka)
    return Outcome(strategy, named, Assignment(owner, target, before, named.group.members))
