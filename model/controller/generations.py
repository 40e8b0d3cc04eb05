"""How a controller decides: what differs between releases, as one table, and what its operator configured.

A row says from which release on, and what changed then; a Generation is all that holds from its row on. Sources are
the modules that the rows name, and `kafka.server.KafkaConfig` for defaults, which are those of 3.9. It decides nothing
itself and reads no file.
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

import msgspec

from model.cluster.ids import release_numbers
from model.controller import elections, scala_order
from model.controller.elections import Ballot, ElectionResult, ElectionStrategy, IsrRemovalRules, Rule, refused
from model.controller.requests import DEFAULT_PERCENTAGE, RebalanceRules
from model.controller.state_machines import (
    PARTITIONS,
    PARTITIONS_0_8_0,
    REPLICAS,
    REPLICAS_0_8_0,
    REPLICAS_0_8_1,
    PartitionTransitions,
    ReplicaTransitions,
)
from model.controller.znode_formats import FIRST_FORMATS, FORMAT_CHANGES, ZnodeFormats


class Generation(msgspec.Struct, frozen=True, kw_only=True):
    """How the controllers of one span of releases decide."""

    since: str
    """The first release of which all this is true."""
    rules: Mapping[ElectionStrategy, Rule]
    isr_removal: IsrRemovalRules
    partition_transitions: PartitionTransitions
    replica_transitions: ReplicaTransitions
    lost: scala_order.Ordering
    """In which order copies come that were lost together."""
    turns: scala_order.Turns
    """Which copies move together to another state, one turn after the other."""
    rebalance: RebalanceRules | None
    """None where leaders never go back by themselves."""
    unclean_by_default: bool
    """Default of unclean.leader.election.enable; before 0.8.2 there was no way to say no."""
    deletes_by_default: bool | None
    """Default of delete.topic.enable; None where topics cannot be deleted."""
    longest_topic_name: int
    """In characters."""
    forbids_collisions: bool
    """Whether `a.b` and `a_b` exclude each other."""
    knows_racks: bool
    elects_needlessly: bool
    """Whether a preferred election by znode is held where the preferred replica leads already: one epoch for nothing
    (1.1 to 2.1)."""
    forms: ZnodeFormats
    """How ZooKeeper is used."""
    adds_partitions_by_broker_id: bool
    """Whether the id of partition 0's first broker was taken for its position when partitions were added."""


_FIRST = Generation(
    since="0.8.0",
    rules={
        ElectionStrategy.OFFLINE: elections.offline_in_isr_order,
        ElectionStrategy.REASSIGN: elections.reassigned_if_online,
        ElectionStrategy.PREFERRED: elections.preferred_replica,
        ElectionStrategy.CONTROLLED_SHUTDOWN: elections.controlled_shutdown_besides_leader,
        ElectionStrategy.NO_OP: elections.no_op,
        ElectionStrategy.INITIAL: elections.initial,
    },
    isr_removal=IsrRemovalRules("leaves", "leader if changed"),
    partition_transitions=PARTITIONS_0_8_0,
    replica_transitions=REPLICAS_0_8_0,
    lost=scala_order.in_set_of_triples,
    turns=scala_order.one_by_one,
    rebalance=None,
    unclean_by_default=True,
    deletes_by_default=None,
    longest_topic_name=255,
    forbids_collisions=False,
    knows_racks=False,
    elects_needlessly=False,
    forms=FIRST_FORMATS,
    adds_partitions_by_broker_id=True,
)

_ELECTIONS: Mapping[ElectionStrategy, Rule] = {
    ElectionStrategy.OFFLINE: elections.offline,
    ElectionStrategy.REASSIGN: elections.reassign,
    ElectionStrategy.PREFERRED: elections.preferred,
    ElectionStrategy.CONTROLLED_SHUTDOWN: elections.controlled_shutdown_untold,
    ElectionStrategy.INITIAL: elections.initial,
}

_Change = tuple[str, Mapping[ElectionStrategy, Rule], Mapping[str, Any]]
_CHANGES: tuple[_Change, ...] = (
    (
        "0.8.1",
        {
            ElectionStrategy.REASSIGN: elections.reassigned,
            ElectionStrategy.CONTROLLED_SHUTDOWN: elections.controlled_shutdown_in_isr_order,
        },
        {
            "isr_removal": IsrRemovalRules("leaves", "leader"),
            "partition_transitions": PARTITIONS,
            "replica_transitions": REPLICAS_0_8_1,
            "rebalance": RebalanceRules(on_by_default=False, asks_isr=False, waits_for_reassignments=True),
            "deletes_by_default": False,
        },
    ),
    (
        "0.8.2",
        {ElectionStrategy.OFFLINE: elections.offline_in_assignment_order},
        {
            "isr_removal": IsrRemovalRules("stays unless unclean is allowed", "other replicas"),
            "rebalance": RebalanceRules(on_by_default=True, asks_isr=False, waits_for_reassignments=True),
        },
    ),
    ("0.9", {}, {"forbids_collisions": True}),
    (
        "0.10",
        {ElectionStrategy.CONTROLLED_SHUTDOWN: elections.controlled_shutdown},
        {"longest_topic_name": 249, "knows_racks": True, "adds_partitions_by_broker_id": False},
    ),
    ("0.11", {}, {"unclean_by_default": False}),
    ("1.0", {}, {"deletes_by_default": True}),
    (
        "1.1",
        _ELECTIONS,
        {
            "isr_removal": IsrRemovalRules("stays", "other replicas"),
            "elects_needlessly": True,
            "lost": scala_order.in_set,
            "turns": scala_order.grouped_before_2_13,
        },
    ),
    ("2.1", {ElectionStrategy.CONTROLLED_SHUTDOWN: elections.controlled_shutdown}, {}),
    ("2.2", {}, {"elects_needlessly": False}),
    ("2.3", {}, {"replica_transitions": REPLICAS}),
    (
        "2.6",
        {},
        {
            "rebalance": RebalanceRules(on_by_default=True, asks_isr=True, waits_for_reassignments=True),
            "lost": scala_order.as_given,
            "turns": scala_order.grouped,
        },
    ),
    ("3.2", {ElectionStrategy.OFFLINE: elections.offline_recovering}, {}),
    ("3.4", {}, {"rebalance": RebalanceRules(on_by_default=True, asks_isr=True, waits_for_reassignments=False)}),
)


def _history() -> Iterator[_Change]:
    """The changes of rules and those of forms, release by release."""
    rules = {change[0]: change for change in _CHANGES}
    for since in sorted({*rules, *FORMAT_CHANGES}, key=release_numbers):
        yield rules.get(since, (since, {}, {}))


def _next(before: Generation, change: _Change) -> Generation:
    since, rules, others = change
    kept: Mapping[ElectionStrategy, Rule] = {} if rules is _ELECTIONS else before.rules
    forms = msgspec.structs.replace(before.forms, **FORMAT_CHANGES.get(since, {}))
    return msgspec.structs.replace(before, since=since, rules={**kept, **rules}, forms=forms, **others)


GENERATIONS: tuple[Generation, ...] = tuple(accumulate(_history(), _next, initial=_FIRST))
"""Every span of releases that decides in a way of its own, oldest first."""

LATEST = GENERATIONS[-1]
"""Kafka 3.4 to 3.9, the last that knows ZooKeeper."""


def generation_of(release: str) -> Generation:
    """How the controller of a release decides, such as `0.8.2.2` or `3.9`.

    Raises ValueError, with a line for the user, for what is no release or one before 0.8.0.
    """
    wanted = release_numbers(release)
    known = [generation for generation in GENERATIONS if release_numbers(generation.since) <= wanted]
    if not known:
        raise ValueError(f"{release!r} is not a release of Kafka that kdrill knows: name one from 0.8.0 on, as 3.9")
    return known[-1]


def elect(strategy: ElectionStrategy, ballot: Ballot, generation: Generation = LATEST) -> ElectionResult:
    """Elect a leader as this generation would.

    A partition without a state takes INITIAL, any other another strategy. Raises KeyError for NO_OP from 1.1 on.
    """
    rule = generation.rules[strategy]
    if ballot.current.exists and strategy is ElectionStrategy.INITIAL:
        return refused(strategy.value, "the partition has a state already")
    if not ballot.current.exists and strategy is not ElectionStrategy.INITIAL:
        return refused(strategy.value, "the partition has no state yet")
    return rule(ballot)


class ControllerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`generation` decides the rules; the rest are broker settings by the names of their keys in server.properties."""

    broker_id: int
    generation: Generation = LATEST
    unclean_leader_election_enable: bool = False
    delete_topic_enable: bool = True
    auto_leader_rebalance_enable: bool = True
    leader_imbalance_check_interval_ms: int = 300_000
    leader_imbalance_per_broker_percentage: int = DEFAULT_PERCENTAGE
    token_auth_enabled: bool = False
    """Whether there are delegation tokens: a delegation.token.secret.key (1.1)."""
    delegation_token_expiry_check_interval_ms: int = 3_600_000
    finalizes_features: bool = True
    """False while inter.broker.protocol.version is below 2.7."""
    seed: bytes = b""
    """Dice for ids of topics: 16 random bytes of the host's. The same seed gives the same ids at the same time."""

    @property
    def forms(self) -> ZnodeFormats:
        """How ZooKeeper is used."""
        return self.generation.forms


def default_settings(broker_id: int, generation: Generation = LATEST, **others: Any) -> ControllerSettings:
    """A broker whose configuration says nothing but `others`: the defaults are those of its generation."""
    rebalance = generation.rebalance
    defaults = ControllerSettings(
        broker_id=broker_id,
        generation=generation,
        unclean_leader_election_enable=generation.unclean_by_default,
        delete_topic_enable=bool(generation.deletes_by_default),
        auto_leader_rebalance_enable=rebalance is not None and rebalance.on_by_default,
    )
    return msgspec.structs.replace(defaults, **others)
