"""A TCP proxy before a node that counts what clients ask for, by API key. An unknown one counts as a write."""

from __future__ import annotations

import socket
import struct
import threading
from collections import Counter

from tests.zookeeper.counting_proxy import CountingProxy

READS = {
    1: "Fetch",
    2: "ListOffsets",
    3: "Metadata",
    9: "OffsetFetch",
    10: "FindCoordinator",
    15: "DescribeGroups",
    16: "ListGroups",
    18: "ApiVersions",
    32: "DescribeConfigs",
    35: "DescribeLogDirs",
    46: "ListPartitionReassignments",
    55: "DescribeQuorum",
    59: "FetchSnapshot",
    60: "DescribeCluster",
    69: "ConsumerGroupDescribe",
    75: "DescribeTopicPartitions",
}
WRITES = {
    8: "OffsetCommit",
    19: "CreateTopics",
    20: "DeleteTopics",
    37: "CreatePartitions",
    42: "DeleteGroups",
    43: "ElectLeaders",
    44: "IncrementalAlterConfigs",
    45: "AlterPartitionReassignments",
}


class ApiCounter(CountingProxy):
    """See `CountingProxy`; `asked` has Kafka's names of the APIs."""

    def __init__(self, upstream: str, client_id: str = "") -> None:
        """Counts what everybody asks for, or only who calls himself so: nodes come by this way, too."""
        super().__init__(upstream)
        self._client_id = client_id.encode()
        self._joined = threading.Event()
        self._joined.set()

    def part(self) -> None:
        """Only who is counted still gets through; what all others ask waits."""
        self._joined.clear()

    def rejoin(self) -> None:
        """Undo `part`."""
        self._joined.set()

    def writes(self) -> Counter[str]:
        """Everything asked for that does not only read."""
        return Counter({name: count for name, count in self.asked.items() if name not in READS.values()})

    def __exit__(self, *error: object) -> None:
        self._joined.set()
        super().__exit__(*error)

    def _request(self, sink: socket.socket, frame: bytes, number: int) -> None:
        key, version, _, length = struct.unpack_from("!hhih", frame)
        name = READS.get(key) or WRITES.get(key) or f"API key {key}"
        is_counted = self._client_id in (b"", frame[10 : 10 + max(length, 0)])
        if not is_counted:
            self._joined.wait()
        if is_counted:
            self.asked["Metadata that creates topics" if name == "Metadata" and _creates(version, frame) else name] += 1
        sink.sendall(struct.pack("!i", len(frame)) + frame)


def _creates(version: int, frame: bytes) -> bool:
    """Whether a MetadataRequest names topics and lets the broker create them: allow_auto_topic_creation, at its end."""
    (client_id,) = struct.unpack_from("!h", frame, 8)
    start = 10 + max(client_id, 0)
    names_topics = frame[start + 1] > 1 if version >= 9 else struct.unpack_from("!i", frame, start)[0] > 0
    from_end = 1 if version < 8 else 3 if version == 8 or version > 10 else 4
    return names_topics and (version < 4 or frame[-from_end] == 1)
