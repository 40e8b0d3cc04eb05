"""What replication promises, over histories of produces, losses, crashes, elections and lagging followers.

Acknowledged and consumed records are on every in-sync replica, logs agree below their high watermarks, a leader's high
watermark does not go back, the ISR is made of replicas (`histories.check`).
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.broker.partition import ReplicationSettings, replication_rules_of
from tests.model.broker.histories import STEPS, WEIGHTS, Step, play, random_history, recover
from tests.model.broker.network import BROKERS

KINDS = [kind for kind, weight in zip(STEPS, WEIGHTS, strict=True) for _ in range(weight)]
HISTORIES = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(BROKERS)), min_size=150, max_size=400)
SAFE_RELEASES = ("2.1", "2.8", "3.9")


def settings_of(release: str, min_isr: int = 1) -> ReplicationSettings:
    return ReplicationSettings(rules=replication_rules_of(release), min_insync_replicas=min_isr)


@settings(max_examples=40, deadline=None)
@given(HISTORIES, st.sampled_from(SAFE_RELEASES), st.integers(1, 3))
def test_nothing_acknowledged_or_read_is_lost(history: list[Step], release: str, min_isr: int) -> None:
    play(history, settings_of(release, min_isr))


@pytest.mark.parametrize("release", SAFE_RELEASES)
def test_nothing_is_lost_in_many_histories(release: str) -> None:
    """And they are no idle ones: leaders change, and records are acknowledged."""
    worlds = [play(random_history(seed), settings_of(release, 1 + seed % 2)) for seed in range(150)]
    assert sum(len(world.acknowledged) for world in worlds) > 300
    assert sum(world.state.leader_epoch for world in worlds) > 500


@pytest.mark.parametrize("release", SAFE_RELEASES)
def test_once_all_are_back_everybody_is_in_sync_and_has_the_same(release: str) -> None:
    for seed in range(40):
        world = play(random_history(seed), settings_of(release))
        recover(world)
        first, *others = (node for node in world.nodes.values())
        assert sorted(world.state.isr) == list(BROKERS), seed
        assert all(node.log == first.log for node in others), seed
        leader = world.nodes[world.state.leader].partition
        assert leader is not None
        assert leader.high_watermark == len(first.log), seed
