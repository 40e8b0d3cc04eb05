"""What was decided about one partition. A value; carrying it out is the host's part."""

import msgspec

from model.broker.commands import Command
from model.broker.partition.partition import Partition


class PartitionDecision(msgspec.Struct, frozen=True, gc=False):
    """The partition from now on, what to do, and a sentence for each thing that was decided.

    A high watermark that has moved may end the waiting of produces and fetches: a host compares it with the one before.
    """

    partition: Partition
    commands: tuple[Command, ...] = ()
    reasons: tuple[str, ...] = ()

    def then(self, later: "PartitionDecision") -> "PartitionDecision":
        """Both, in order."""
        return PartitionDecision(later.partition, self.commands + later.commands, self.reasons + later.reasons)
