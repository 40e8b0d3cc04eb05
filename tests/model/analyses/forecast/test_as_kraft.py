"""The reduced machine goes the way of KRaft's own rules, event by event: with and without eligible leader replicas."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.analyses.forecast.assumptions import USUAL
from model.analyses.forecast.clusters import cluster_of
from model.analyses.forecast.machine import (
    NOBODY,
    HistoryState,
    HistoryStep,
    PartitionRules,
    caught_up,
    fenced,
    healthy,
    lagged,
    registered,
)
from model.analyses.image_arrays import topics_of
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import KraftMetadata
from model.kraft_controller.cluster import KraftCluster, PartitionChanged
from model.kraft_controller.decide import (
    BrokerCaughtUp,
    BrokerRegisters,
    BrokerSilent,
    IsrsProposed,
    KraftEvent,
    decide,
)
from model.kraft_controller.partition_change import ELR_FEATURE, Levels
from tests.model.drills.clusters import cluster, topic
from tests.model.kraft_controller.clusters import active, made, part

P0 = TopicPartition("foo", 0)
LEVELS = (Levels((3, 9), 21), Levels((4, 4), 33), Levels((4, 1), 27, elr=True), Levels((4, 4), 33, elr=True))
WAYS = ("fence", "return", "return clean", "catch up", "lag")
Happening = tuple[str, int]


def real(rules: PartitionRules, levels: Levels) -> KraftCluster:
    brokers = range(1, rules.replicas + 1)
    configs = {"min.insync.replicas": str(rules.min_isr), "unclean.leader.election.enable": str(rules.unclean).lower()}
    return made(levels, {"foo": [part(*brokers)]}, active(*brokers), {"topics/foo": configs})


def asked(cluster: KraftCluster, way: str, broker: int) -> list[KraftEvent]:
    """None: that cannot happen now."""
    state, lives = cluster.partition(P0), cluster.is_active(broker)
    is_led = state.leader != NOBODY
    match way:
        case "fence" if lives:
            return [BrokerSilent(broker)]
        case "return" | "return clean" if not lives:
            return [BrokerRegisters(broker, 0, clean=way.endswith("clean")), BrokerCaughtUp(broker)]
        case "catch up" if lives and is_led and broker not in state.isr:
            return [IsrsProposed(state.leader, {P0: (*state.isr, broker)})]
        case "lag" if lives and is_led and broker in state.isr and broker != state.leader:
            return [IsrsProposed(state.leader, {P0: tuple(each for each in state.isr if each != broker)})]
        case _:
            return []


def stepped(rules: PartitionRules, state: HistoryState, way: str, who: int) -> HistoryStep:
    match way:
        case "fence":
            return fenced(rules, state, who)
        case "catch up":
            return caught_up(rules, state, who)
        case "lag":
            return lagged(rules, state, who)
        case _:
            return registered(rules, state, who, forgets=way == "return")


def ids(mask: int) -> set[int]:
    return {who + 1 for who in range(mask.bit_length()) if mask >> who & 1}


HAPPENINGS = st.lists(st.tuples(st.sampled_from(WAYS), st.integers(1, 4)), max_size=14)


@pytest.mark.parametrize("levels", LEVELS, ids=str)
@settings(deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.booleans(), HAPPENINGS)
@example(2, 1, True, [("fence", 1), ("fence", 2), ("return", 1)])
@example(2, 2, True, [("fence", 1), ("fence", 2), ("return", 2)])
@example(2, 2, False, [("fence", 2), ("fence", 1), ("return", 1), ("return", 2)])
@example(3, 2, True, [("fence", 2), ("fence", 1), ("return", 1), ("fence", 3)])
def test_the_machine_goes_the_way_of_the_rules(
    levels: Levels, replicas: int, min_isr: int, unclean: bool, happenings: list[Happening]
) -> None:
    rules = PartitionRules(replicas, min(min_isr, replicas), unclean=unclean, elr=levels.elr)
    played, state = real(rules, levels), healthy(rules)
    for way, broker in happenings:
        events = asked(played, way, broker) if broker <= replicas else []
        lossy = False
        for event in events:
            records = decide(played, event).records
            changes = [each for each in records if isinstance(each, PartitionChanged)]
            lossy |= any(each.unclean and not each.last_known for each in changes)
            played = played.after(records)
        if not events:
            continue
        step = stepped(rules, state, way, broker - 1)
        state, now = step.state, played.partition(P0)
        assert (state.leader + 1 or NOBODY) == now.leader
        assert (ids(state.isr), ids(state.elr)) == (set(now.isr), set(now.elr))
        assert step.cut == lossy


@pytest.mark.parametrize(("features", "kept"), [({ELR_FEATURE: 1}, True), ({}, False)])
def test_a_forecast_keeps_elrs_where_the_cluster_does(features: dict[str, int], kept: bool) -> None:
    """By the feature's level, not by whether any partition has one now: a healthy cluster has none."""
    image = cluster((1, 2), *topic((1, 2), (1, 2), 1), generation="kraft")
    metadata = KraftMetadata({"metadata.version": 27} | features)
    image = msgspec.structs.replace(image, metadata=metadata)
    found = cluster_of(image, USUAL, (1, 2), topics_of(image))
    assert found.arrays["elr"].tolist() == [kept]
