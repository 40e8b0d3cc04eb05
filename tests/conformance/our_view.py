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
