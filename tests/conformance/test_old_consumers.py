"""Consumers that keep their group in ZooKeeper: what `kdrill snapshot` says of them while they come and go.

Kafka 1.1.1 is the last release but one that still ships them.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from tests.conformance.kafka.client import Client
from tests.conformance.kafka.old_consumer import OldConsumer
from tests.conformance.our_view import snapshot_of
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually

pytestmark = [pytest.mark.conformance, pytest.mark.parametrize("cluster", ["1.1.1"], indirect=True)]

GROUP = "billing"
TOPIC = "invoices"


def owners(cluster: Cluster) -> dict[str, str]:
    """Consumer threads by partition, straight from ZooKeeper: only to know when the group has settled."""
    path = f"/consumers/{GROUP}/owners/{TOPIC}"
    return {partition: cluster.text(f"{path}/{partition}") for partition in cluster.children(path)}


def await_owners(cluster: Cluster, wanted: dict[str, str]) -> None:
    eventually(lambda: owners(cluster) == wanted, f"the owners to be {wanted}")


def committed(cluster: Cluster) -> dict[str, int]:
    path = f"/consumers/{GROUP}/offsets/{TOPIC}"
    return {partition: int(cluster.text(f"{path}/{partition}")) for partition in cluster.children(path)}


def group(cluster: Cluster) -> dict[str, Any]:
    return snapshot_of(cluster.source_url)["groups"][GROUP]


def test_members_owners_and_offsets_follow_the_consumers(cluster: Cluster) -> None:
    cluster.create(TOPIC, {0: [1], 1: [2], 2: [3]})
    eventually(lambda: all(cluster.state(TOPIC, p) for p in range(3)), "the topic's leaders")
    with ExitStack() as running:
        first = OldConsumer(cluster, GROUP, TOPIC, "a")
        running.callback(first.kill)
        await_owners(cluster, dict.fromkeys("012", f"{first.member}-0"))
        second = OldConsumer(cluster, GROUP, TOPIC, "b")
        running.callback(second.kill)
        shared = {"0": f"{first.member}-0", "1": f"{first.member}-0", "2": f"{second.member}-0"}
        await_owners(cluster, shared)
        Client(cluster.bootstrap).produce(TOPIC, [f"message {number}" for number in range(5)])
        eventually(lambda: sum(committed(cluster).values()) == 5, "the offsets of 5 messages")

        seen = group(cluster)
        assert seen["kind"] == "zookeeper"
        assert seen["owners"] == {TOPIC: shared}
        assert seen["offsets"] == {TOPIC: committed(cluster)}
        assert seen["members"].keys() == {first.member, second.member}
        for member in seen["members"].values():
            assert member["subscription"] == {TOPIC: 1}
            assert member["pattern"] == "white_list"  # ConsoleConsumer subscribes by a pattern, even to one topic

        second.kill()
        await_owners(cluster, dict.fromkeys("012", f"{first.member}-0"))
        seen = group(cluster)
        assert seen["members"].keys() == {first.member}
        assert seen["owners"] == {TOPIC: dict.fromkeys("012", f"{first.member}-0")}

    eventually(
        lambda: not cluster.children(f"/consumers/{GROUP}/ids") and not owners(cluster), "the last consumer's end"
    )
    seen = group(cluster)
    assert seen["members"] == {}
    assert not any(seen["owners"].values())
    assert seen["offsets"] == {TOPIC: committed(cluster)}
