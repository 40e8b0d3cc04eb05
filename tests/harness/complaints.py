"""What real nodes complain of in their logs, but for what they complain of without us, too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tests.harness.kraft import KraftCluster

ALONE: Mapping[str, str] = {
    r"main ERROR Reconfiguration failed: No configuration found": "Log4j's own words, at each start",
    r"Expected partition \S+ with topic id \S+ to exist, but it was missing\. Creating": (
        "3.9: a broker gets a partition of a topic that is not new, as partitions are added or replicas move"
    ),
    r"ControllerApis \S+ Unexpected error handling request RequestHeader\(apiKey=CONTROLLER_REGISTRATION": (
        "3.9: a controller registers at one that is not the active one any more, or not yet"
    ),
}
"""What clusters of nothing but Kafka's nodes say in the same situation, each with the reason. All was seen there."""


def complaints(cluster: KraftCluster, nodes: Iterable[int]) -> list[str]:
    """Lines of level ERROR or FATAL of these nodes."""
    return [line for node in nodes for line in errors_in(cluster.log(node)) if not _is_usual(line)]


def errors_in(log: str) -> list[str]:
    """All lines of level ERROR or FATAL."""
    return [line for line in log.splitlines() if re.search(r"\b(ERROR|FATAL)\b", line)]


def alike(line: str) -> str:
    """A complaint without what differs each time: to be counted."""
    without_time = re.sub(r"^\[?[-\d]+[ T][\d:,.]+\]?", "", line)
    return re.sub(r"\d+", "N", without_time).strip()[:200]


def _is_usual(line: str) -> bool:
    return any(re.search(words, line) for words in ALONE)
