"""What kdrill says about a cluster: `kdrill snapshot` run as an operator would, and its file read.

Knows the format kdrill.snapshot/1 and nothing of kdrill's inside.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.conformance.kafka.describe import Partitions, PartitionView

_TIMEOUT_S = 60


def snapshot_of(source_url: str) -> dict[str, Any]:
    """The snapshot's JSON. Raises RuntimeError with what kdrill printed when it fails."""
    kdrill = Path(sys.executable).with_name("kdrill")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cluster.json"
        done = subprocess.run(
            [kdrill, "snapshot", source_url, "-o", file],
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT_S,
        )
        if done.returncode != 0:
            raise RuntimeError(f"kdrill snapshot {source_url} failed:\n{done.stdout}{done.stderr}")
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
