"""ISRs that leaders of this broker asked for, on their way to the controller: one request at a time.

Source: `DefaultAlterPartitionManager` (2.7 to 3.9); KIP-497.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.commands import AnswerRequest, PartitionOutcome
from model.controller.events import ProposedIsr

RETRY_BACKOFF_MS = 50
"""After an answer that is an error as a whole."""


class AlterPartitionQueue(msgspec.Struct, frozen=True):
    """`waiting` are all that have no answer, those of the request on its way included; `in_flight` are only the latter.

    Ask `next_request` after each change: there is one to send if none is on its way.
    """

    waiting: Mapping[TopicPartition, ProposedIsr] = MappingProxyType({})
    in_flight: tuple[ProposedIsr, ...] = ()

    def add(self, proposal: ProposedIsr) -> "AlterPartitionQueue | None":
        """None: one of this partition waits already, so that this one was not attempted (OPERATION_NOT_ATTEMPTED)."""
        added = self.add_all((proposal,))
        return None if added.refused else added.queue

    def add_all(self, proposals: Iterable[ProposedIsr]) -> "Added":
        """Those of other partitions than wait already."""
        waiting = dict(self.waiting)
        refused = tuple(each for each in proposals if waiting.setdefault(each.partition, each) is not each)
        return Added(msgspec.structs.replace(self, waiting=waiting), refused)

    def next_request(self) -> "AlterPartitionQueue":
        """With everything that waits in flight; the same if there is nothing to send, or a request is on its way."""
        if self.in_flight or not self.waiting:
            return self
        return msgspec.structs.replace(self, in_flight=tuple(self.waiting.values()))

    def hear(self, answer: AnswerRequest | None) -> "Heard":
        """The answer to what is in flight; None: it got lost. What it does not name waits for the next request."""
        if answer is None or answer.error != "NONE":
            return Heard(msgspec.structs.replace(self, in_flight=()), (), RETRY_BACKOFF_MS)
        sent = {proposal.partition: proposal for proposal in self.in_flight}
        answered = tuple((sent[each.partition], each) for each in answer.partitions if each.partition in sent)
        gone = {proposal.partition for proposal, _ in answered}
        waiting = {name: proposal for name, proposal in self.waiting.items() if name not in gone}
        return Heard(AlterPartitionQueue(waiting), answered, 0)


class Added(NamedTuple):
    """`refused` were not attempted (OPERATION_NOT_ATTEMPTED)."""

    queue: AlterPartitionQueue
    refused: tuple[ProposedIsr, ...]


class Heard(NamedTuple):
    """What an answer means: each proposal with its outcome is for `hear_isr_answer`; send again after `wait_ms`."""

    queue: AlterPartitionQueue
    answered: tuple[tuple[ProposedIsr, PartitionOutcome], ...]
    wait_ms: int
