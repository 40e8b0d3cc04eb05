"""Texts and files that pass between kdrill and Kafka's own tools, both ways, on each release."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.interchange.tool_files import election_text
from model.interchange.topics_text import read_topics_text
from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.describe import PartitionView
from tests.conformance.our_view import partitions_of, snapshot_of
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance


def test_what_kafka_topics_prints_says_what_zookeeper_says(cluster: Cluster, commands: Commands) -> None:
    cluster.create("printed", {0: [1, 2], 1: [3, 1]}, cleanup_policy="compact", retention_ms="3600000")
    eventually(
        lambda: all(cluster.state("printed", p).get("leader") == leader for p, leader in ((0, 1), (1, 3))), "leaders"
    )

    def told() -> dict[str, dict[int, PartitionView]]:
        return {
            topic.name: {one.number: PartitionView(one.leader, one.replicas, frozenset(one.isr)) for one in partitions}
            for topic in read_topics_text(commands.describe_text().encode()).topics
            for partitions in [topic.partitions]
        }

    eventually(lambda: told() == partitions_of(cluster.source_url), "both to say the same")
    text = next(t for t in read_topics_text(commands.describe_text().encode()).topics if t.name == "printed")
    known = snapshot_of(cluster.source_url)["topics"]["printed"]
    assert text.config.items() >= known["config"].items()
    assert text.topic_id == known["topic_id"]


def test_our_election_file_is_taken(cluster: Cluster, commands: Commands) -> None:
    cluster.create("elected", {0: [2, 1]})
    eventually(lambda: cluster.state("elected", 0).get("leader") == 2, "the leader")
    with cluster.stopped(2):
        eventually(lambda: cluster.state("elected", 0)["leader"] == 1, "another leader")
    eventually(lambda: 2 in cluster.state("elected", 0)["isr"], "its return to the ISR")
    file = cluster.folder / "our-election.json"
    file.write_text(election_text([TopicPartition("elected", 0)]))
    commands.elect_from(str(file))
    eventually(lambda: cluster.state("elected", 0)["leader"] == 2, "the preferred leader")
