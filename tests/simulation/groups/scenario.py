"""What a seed decides before anything happens: brokers, groups, settings, and how bad the network is."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from tests.simulation.groups.protocol import COOPERATIVE


class GroupPlan(NamedTuple):
    """A group, its topic, and how its members are set up."""

    group_id: str
    topic: str
    partitions: int
    strategy: str
    members: int
    statics: int
    """So many of them have a `group.instance.id`."""
    session_ms: int
    rebalance_ms: int
    patience_s: float
    """How long they wait for an answer to JoinGroup or SyncGroup, before they ask again on another connection."""
    can_skip_assignment: bool


class Scenario(NamedTuple):
    """One history's beginning."""

    seed: int
    brokers: tuple[int, ...]
    offsets_partitions: int
    initial_delay_ms: int
    retention_minutes: int
    slowness: float
    loss: float
    lateness_s: float
    acts: int
    groups: tuple[GroupPlan, ...]


def scenario_of(seed: int) -> Scenario:
    """The same for the same seed."""
    dice = Random(seed)
    return Scenario(
        seed=seed,
        brokers=tuple(range(1, dice.choice((2, 3, 3)) + 1)),
        offsets_partitions=dice.choice((1, 1, 2)),
        initial_delay_ms=dice.choice((0, 500, 3_000)),
        retention_minutes=dice.choice((1, 10_080)),
        slowness=dice.choice((0.0, 0.0, 0.2)),
        loss=dice.choice((0.0, 0.0, 0.02, 0.1)),
        lateness_s=dice.choice((0.01, 0.3, 4.0)),
        acts=dice.randrange(2, 9),
        groups=tuple(_group(dice, number) for number in range(dice.choice((1, 1, 2)))),
    )


def _group(dice: Random, number: int) -> GroupPlan:
    members = dice.choice((1, 2, 2, 3, 3, 4, 5, 8))
    rebalance_ms = dice.choice((8_000, 20_000))
    return GroupPlan(
        group_id=f"g{number}",
        topic=f"t{number}",
        partitions=dice.randrange(1, 7),
        strategy=dice.choice(("range", "roundrobin", COOPERATIVE, COOPERATIVE)),
        members=members,
        statics=dice.choice((0, 0, members, dice.randrange(members + 1))),
        session_ms=dice.choice((6_000, 10_000)),
        rebalance_ms=rebalance_ms,
        patience_s=dice.choice((rebalance_ms / 1000 + 5, rebalance_ms / 1000 + 5, 2.0)),
        can_skip_assignment=dice.random() < 0.7,
    )
