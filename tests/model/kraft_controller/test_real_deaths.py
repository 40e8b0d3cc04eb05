"""Deaths, stops and starts of real clusters of 3.9.1, 4.1.0 and 4.4.0, foretold from the metadata log as it was before.

Of every partition the leader, the ISR, both epochs, the ELR and the last known ELR are those of the log afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import KraftCluster
from model.kraft_controller.decide import (
    BrokerCaughtUp,
    BrokerRegisters,
    BrokerSilent,
    ElectionsWanted,
    IsrsProposed,
    KraftEvent,
    ShutdownWanted,
    decide,
)
from model.kraft_controller.partition_change import Election, Registration
from model.sources.addresses import METADATA_LOG
from tests.model.metadata_log.kept import DATA
from tests.model.sources.test_metadata_log_source import image_of

DEATHS = DATA / "deaths"
RELEASES = ("3.9.1", "4.1.0", "4.4.0")


def happenings() -> Iterator[Any]:
    for release in RELEASES:
        stopped: set[int] = set()
        for number, event in enumerate(json.loads((DEATHS / release / "events.json").read_text())["events"]):
            what = event["event"].partition(" ")[0]
            if what != "config":
                name = f"{release} {number} {event['event']} {event['brokers']}"
                yield pytest.param(release, event, frozenset(stopped), id=name)
            if what == "stop":
                stopped |= set(event["brokers"])
            elif what in ("kill", "start"):
                stopped -= set(event["brokers"])


def cluster_at(release: str, end: int) -> tuple[ClusterImage, KraftCluster]:
    image = image_of(f"{Path(DEATHS, release, METADATA_LOG)}@{end - 1}")
    return image, KraftCluster(image)


def played(cluster: KraftCluster, *events: KraftEvent) -> KraftCluster:
    for event in events:
        cluster = cluster.after(decide(cluster, event).records)
    return cluster


def names_of(image: ClusterImage) -> list[TopicPartition]:
    return [TopicPartition(topic.name, int(number)) for topic in image.topics.values() for number in topic.partitions]


def grown(cluster: KraftCluster, names: list[TopicPartition]) -> KraftCluster:
    """Leaders take in who lives, one after the other."""
    for name in names:
        for broker in cluster.partition(name).replicas:
            state = cluster.partition(name)
            if broker not in state.isr and cluster.is_active(broker) and cluster.is_active(state.leader):
                cluster = played(cluster, IsrsProposed(state.leader, {name: (*state.isr, broker)}))
    return cluster


def foretold(
    cluster: KraftCluster, image: ClusterImage, event: Any, brokers: Sequence[int], stopped: frozenset[int]
) -> KraftCluster:
    names = names_of(image)
    match event["event"].split()[0]:
        case "kill":
            return grown(played(cluster, *map(BrokerSilent, brokers)), names)
        case "stop":
            return grown(played(cluster, *map(ShutdownWanted, brokers), *map(BrokerSilent, brokers)), names)
        case "start":
            for broker in brokers:
                cluster = played(cluster, BrokerRegisters(broker, 0, clean=broker in stopped))
            for broker in brokers:
                cluster = grown(played(cluster, BrokerCaughtUp(broker)), names)
            return cluster
        case _:
            election = Election(event["event"].split()[1])
            chosen = [
                name
                for name in names
                if election is Election.PREFERRED or cluster.partition(name).leader < 0
            ]  # fmt: skip
            return grown(played(cluster, ElectionsWanted(tuple(chosen), election)), names)


def seen(state: Registration) -> tuple[Any, ...]:
    return (
        state.leader, state.leader_epoch, state.partition_epoch, set(state.isr), set(state.elr), state.last_known_elr,
        state.recovering,
    )  # fmt: skip


@pytest.mark.parametrize(("release", "event", "stopped"), list(happenings()))
def test_every_partition_becomes_what_was_foretold(release: str, event: Any, stopped: frozenset[int]) -> None:
    image, before = cluster_at(release, event["before"])
    _, after = cluster_at(release, event["after"])
    names = names_of(image)
    # Of several that die at once whoever was heard last is fenced last, and of 4.0 and later nobody knows.
    orders = permutations(event["brokers"]) if event["event"] == "kill" else [event["brokers"]]
    told = [foretold(before, image, event, order, stopped) for order in orders]
    expected = {name: seen(after.partition(name)) for name in names}
    wrong = [{name: now for name in names if (now := seen(one.partition(name))) != expected[name]} for one in told]
    least = min(wrong, key=len)
    assert not least, [(str(name), before.partition(name), now, expected[name]) for name, now in least.items()][:4]
