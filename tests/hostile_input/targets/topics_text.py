# ruff: noqa: E501 - a table of words
"""What kafka-topics printed, as a source."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.interchange.tool_files import TextError
from model.interchange.topics_text import is_topics_text, read_topics_text, records_of_text
from tests.hostile_input.broken_text import broken_text
from tests.hostile_input.looked_at import NOW_MS, look_at
from tests.hostile_input.shown import check_error
from tests.hostile_input.target import Target

_WORDS = (
    "Topic: orders", "Topic:orders", "Partition: 0", "Leader: none", "Replicas: 1,2", "Isr: ", "Isr: 1", "PartitionCount: 3",
    "ReplicationFactor: 2", "Configs: a=b,c=d", "MarkedForDeletion: true", "Adding Replicas: 3", "Removing Replicas: 1", "Elr: 1", "\t",
    "host:9092 (id: 1 rack: r1 isFenced: false) -> (", "Error while executing topic command : x", " " * 5_000, ",1" * 2_000, "a=b," * 2_000, "A: " * 2_000,
)  # fmt: skip


@cache
def _examples() -> list[bytes]:
    folder = Path(__file__).parents[2] / "data" / "kafka-tools"
    texts = [path.read_bytes() for path in sorted(folder.glob("describe-*.txt"))]
    return [*texts, texts[-1] + (folder / "api-versions-3.9.1.txt").read_bytes(), texts[0].decode().encode("utf-16")]


def make(random: Random) -> bytes:
    """Words and lines of the tool, out of order."""
    return broken_text(random, _examples(), _WORDS)


def judge(case: bytes, _folder: Path) -> None:
    """A cluster, or a line that names the line."""
    is_topics_text(case)
    try:
        records = tuple(records_of_text(read_topics_text(case)))
    except TextError as error:
        check_error(error)
        return
    image = ClusterDelta(EMPTY).replay_all(records).apply(Provenance("text", -1, NOW_MS, complete=True))
    look_at(image, whole=len(case) % 8 == 0)


TARGET = Target("topics-text", make, judge)
