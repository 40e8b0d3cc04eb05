"""What kdrill says about a cluster: the words of `kdrill snapshot` as an operator says them, and its file.

Knows the format kdrill.snapshot/1, and images as far as they are compared.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from model.cluster.cluster_image import ClusterImage
from tests.conformance.kafka.describe import Partitions, PartitionView
from tui.cli.main import kdrill


def snapshot_of(source_url: str) -> dict[str, Any]:
    """The snapshot's JSON. Raises SourceError or ClickException with what kdrill says when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cluster.json"
        assert not kdrill.main(["snapshot", source_url, "-o", str(file)], standalone_mode=False)
        return json.loads(file.read_text())


def partitions_of(source_url: str) -> Partitions:
    """What kdrill says of each partition now, in the form that TopicCommand's output is read into."""
    return {
        name: {
            int(number): PartitionView(partition["leader"], tuple(partition["replicas"]), frozenset(partition["isr"]))
            for number, partition in topic["partitions"].items()
        }
        for name, topic in snapshot_of(source_url)["topics"].items()
    }


def partitions_in(image: ClusterImage) -> Partitions:
    """The same of an image that is at hand."""
    return {
        name: {
            number: PartitionView(leader, replicas, frozenset(isr)) for number, replicas, leader, isr in topic.rows()
        }
        for name, topic in image.topics.items()
    }


def both_know(seen: dict[str, Any]) -> dict[str, Any]:
    """Of a snapshot, what brokers and ZooKeeper tell."""
    return {
        "cluster_id": seen["cluster_id"],
        "controller": seen["controller"]["broker"],
        "brokers": [(each["id"], each["rack"], each["endpoints"]) for each in seen["brokers"]],
        "topics": {
            name: (
                topic["config"],
                topic["topic_id"],
                {
                    number: [each[name] for name in ("replicas", "adding", "removing", "leader", "leader_epoch", "isr")]
                    for number, each in topic["partitions"].items()
                },
            )
            for name, topic in seen["topics"].items()
        },
        "brokers' settings": {key: value for key, value in seen["configs"].items() if key.startswith("brokers/")},
    }
