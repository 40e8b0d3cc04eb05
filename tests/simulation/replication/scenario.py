"""What a seed decides of a cluster with records: a scenario of controllers, with how its brokers replicate."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from model.broker.partition import ReplicationSettings, replication_rules_of
from model.controller.generations import generation_of
from tests.simulation.scenario import RELEASES, Scenario, scenario_of

SALT = 0x5EED
"""So that dice of the same seed are others here."""


class ReplicationScenario(NamedTuple):
    """`power_failures`: whether brokers that die may lose what they had not flushed."""

    controllers: Scenario
    release: str
    settings: ReplicationSettings
    partitions: int
    power_failures: bool


def replication_scenario_of(seed: int) -> ReplicationScenario:
    """What this seed decides. ISRs are asked for by `model.broker` here, not by the virtual brokers."""
    dice = Random(seed ^ SALT)
    release = dice.choice(RELEASES)
    base = scenario_of(seed)
    unclean = dice.random() < 0.15
    power_failures = dice.random() < 0.2
    assumptions = replace(base.assumptions, catch_up_ms=None, replica_lag_ms=None)
    controllers = base._replace(
        generation=generation_of(release), unclean=unclean, assumptions=assumptions, acts=dice.randrange(4, 14)
    )
    settings = ReplicationSettings(
        rules=replication_rules_of(release),
        replica_lag_time_max_ms=dice.choice((300, 3_000, 30_000)),
        min_insync_replicas=dice.choice((1, 1, 2, 2, 3)),
    )
    return ReplicationScenario(controllers, release, settings, dice.choice((1, 1, 2)), power_failures)
