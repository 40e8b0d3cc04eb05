"""What other planners and Kafka's tools wrote, as the moves that it asks for. It measures nothing.

- A file of Kafka's reassignment tool; topicmappr, Kafka Assigner, kafka-utils and kafkabalancer write the same.
- What that tool printed: `--generate` (the proposal is taken), or `--execute` (the assignment before, for a rollback).
- Cruise Control's answer with `json=true&verbose=true` to proposals, rebalance, add_broker, remove_broker and the like:
  `com.linkedin.kafka.cruisecontrol.servlet.response.OptimizationResult`, `executor.ExecutionProposal`.
"""

import msgspec

from model.controller.reassignment_file import RequestedMoves, requested_moves
from model.interchange.texts import lines_of

_CURRENT = "Current partition replica assignment"
_PROPOSED = "Proposed partition reassignment configuration"


class _Partition(msgspec.Struct, frozen=True):
    topic: str
    partition: int


class _Proposal(msgspec.Struct, frozen=True, rename="camel"):
    topic_partition: _Partition
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
