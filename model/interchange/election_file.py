"""The file that names partitions for an election: what it asks for, and how it is written. It elects nobody.

Source: `org.apache.kafka.tools.LeaderElectionCommand.parseReplicaElectionData` (3.9), and before 2.4
`PreferredReplicaLeaderElectionCommand`, which puts the same into `/admin/preferred_replica_election`.
"""

import json
from collections import Counter
from collections.abc import Iterable

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.words import listed


class _Partition(msgspec.Struct, frozen=True):
    topic: str
    partition: int


class _Election(msgspec.Struct, frozen=True):
    partitions: tuple[_Partition, ...]
    version: int = 1


def read_election(text: bytes) -> tuple[TopicPartition, ...]:
    """The partitions that `--path-to-json-file` names. Raises ValueError with a line for the user."""
    try:
        found = msgspec.json.decode(text, type=_Election)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"not a file of Kafka's election tool: {error}") from None
    if found.version != 1:
        raise ValueError(f"Not supported version field value {found.version}")
    names = tuple(TopicPartition(entry.topic, entry.partition) for entry in found.partitions)
    if not names:
        raise ValueError("the file names no partition")
    if bad := [name for name in names if name.partition < 0]:
        raise ValueError(f"{listed(bad)}: no partition has such a number")
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise ValueError(f"Replica partition list for leader election contains duplicates: {listed(twice)}")
    return names


def election_text(partitions: Iterable[TopicPartition]) -> str:
    """The file, for every release of the tool. In ASCII: names come from znodes, and it may be read on a terminal."""
    rows = ",\n".join(json.dumps({"topic": name.topic, "partition": name.partition}) for name in partitions)
    return f'{{"version":1,"partitions":[\n{rows}\n]}}\n'
