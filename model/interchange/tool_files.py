"""Files and printed texts of Kafka's tools and other planners: the moves and elections that they ask for.

It measures nothing, elects nobody and touches no file.

- A file of Kafka's reassignment tool; topicmappr, Kafka Assigner, kafka-utils and kafkabalancer write the same.
- What that tool printed: `--generate` (the proposal is taken), or `--execute` (the assignment before, for a rollback).
- Cruise Control's answer with `json=true&verbose=true` to proposals, rebalance, add_broker, remove_broker and the like:
  `com.linkedin.kafka.cruisecontrol.servlet.response.OptimizationResult`, `executor.ExecutionProposal`.
- The file that names partitions for an election: `LeaderElectionCommand.parseReplicaElectionData` (3.9), and before 2.4
  `PreferredReplicaLeaderElectionCommand`, which puts the same into `/admin/preferred_replica_election`.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.texts import listed
from model.controller.requests import RequestedMoves, requested_moves

MOST_ID = 2**31 - 1


class TextError(ValueError):
    """A text that cannot be used; the message names the line, counted from 1, and the way out."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")


def lines_of(data: bytes) -> Iterator[tuple[int, str]]:
    """Each line with its number. In UTF-8, or in the UTF-16 that PowerShell writes; what is neither is replaced."""
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = data.decode("utf-16" if is_wide else "utf-8-sig", errors="replace")
    for number, line in enumerate(text.split("\n"), 1):
        yield number, line.removesuffix("\r")


def number_in(line: int, text: str) -> int:
    """An id, an int32 in Kafka. Raises TextError."""
    if len(text) > 10 or int(text) > MOST_ID:
        raise TextError(line, f"{text[:20]} is too large to be an id")
    return int(text)


def ids_in(line: int, text: str) -> tuple[int, ...]:
    """Broker ids between commas, none of them twice. Raises TextError."""
    ids = tuple(number_in(line, word) for word in text.split(",")) if text else ()
    if len(set(ids)) < len(ids):
        raise TextError(line, f"{text[:60]} names a broker twice")
    return ids


_CURRENT = "Current partition replica assignment"
_PROPOSED = "Proposed partition reassignment configuration"


class _ProposalPartition(msgspec.Struct, frozen=True):
    topic: str
    partition: int


class _Proposal(msgspec.Struct, frozen=True, rename="camel"):
    topic_partition: _ProposalPartition
    new_replicas: tuple[int, ...]


class _Answer(msgspec.Struct, frozen=True, rename="camel"):
    """Cruise Control's. Without `verbose` it has a summary and no proposals."""

    summary: object = None
    proposals: tuple[_Proposal, ...] | None = None


def read_plan(text: bytes) -> RequestedMoves:
    """What is asked for, of whichever of these kinds it is. Raises ValueError with a line for the user."""
    if not text.lstrip().startswith(b"{"):
        return requested_moves(_printed(text))
    try:
        answer = msgspec.json.decode(text, type=_Answer)
    except msgspec.ValidationError as error:
        raise ValueError(f"not an answer of Cruise Control: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return requested_moves(text)  # which says what is wrong
    if answer.proposals is not None:
        return requested_moves(_as_file(answer.proposals))
    if answer.summary is not None:
        raise ValueError("an answer of Cruise Control without its proposals: ask for them with verbose=true")
    return requested_moves(text)


def _as_file(proposals: tuple[_Proposal, ...]) -> bytes:
    """As Kafka's reassignment tool would have it, so that one place checks both."""
    rows = [
        {"topic": one.topic_partition.topic, "partition": one.topic_partition.partition, "replicas": one.new_replicas}
        for one in proposals
    ]
    return msgspec.json.encode({"version": 1, "partitions": rows})


def _printed(text: bytes) -> bytes:
    """The JSON in a tool's output: after the last heading that is known."""
    lines = [line.strip() for _, line in lines_of(text)]
    for heading in (_PROPOSED, _CURRENT):
        if heading in lines:
            rest = lines[lines.index(heading) + 1 :]
            return next((line for line in rest if line.startswith("{")), "").encode()
    return text


class _ElectionPartition(msgspec.Struct, frozen=True):
    topic: str
    partition: int


class _Election(msgspec.Struct, frozen=True):
    partitions: tuple[_ElectionPartition, ...]
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
