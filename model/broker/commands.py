"""What a broker decides about a partition: its next state, the commands for a host, and why.

A host carries out all commands, in order, and decides nothing. How far a follower has fetched is a value as well, for
`StartFetching` carries it (`kafka.server.PartitionFetchState`, 3.9).
"""

import msgspec

from model.broker.partition import Partition
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import ProposedIsr


class FetchState(msgspec.Struct, frozen=True, gc=False):
    """Where to fetch a partition next, and what is in the way of it."""

    partition: TopicPartition
    leader: int
    leader_epoch: int
    offset: int
    """The next to fetch; while truncating, where to cut if the leader knows no better."""
    last_fetched_epoch: int | None = None
    """The leader epoch of the newest record here; None where fetches do not find out where logs part."""
    truncating: bool = False
    """Whether the leader must first be asked where logs part."""
    not_before_ms: int = 0
    """The end of a back-off, in ms since the epoch."""

    def wait_until(self, at_ms: int) -> "FetchState":
        """The same, not to be fetched before then."""
        return msgspec.structs.replace(self, not_before_ms=at_ms)


class Command(msgspec.Struct, frozen=True, gc=False):
    """Something to do with one partition."""

    partition: TopicPartition


class CreateLog(Command, frozen=True):
    """Make the partition's folder if it has none. `is_new` allows it although a log dir has failed.

    What cannot be made is told with `log_dirs.lose_log_dir`.
    """

    topic_id: str | None
    is_new: bool


class DeleteLog(Command, frozen=True):
    """Remove the partition's folder; there may be none."""


class AssignTopicId(Command, frozen=True):
    """Write the id of the topic beside the log (`partition.metadata`)."""

    topic_id: str


class StartLeaderEpoch(Command, frozen=True):
    """Put into the log's epoch history that this leader epoch begins here, before anything is written in it."""

    leader_epoch: int
    start_offset: int


class StartFetching(Command, frozen=True):
    """Replicate from a leader, from this state on; it replaces any other state of the partition."""

    state: FetchState


class StopFetching(Command, frozen=True):
    """Replicate no more; an answer that is still on its way is thrown away."""


class TruncateLog(Command, frozen=True):
    """Cut the log so that it ends here."""

    end_offset: int


class RestartLog(Command, frozen=True):
    """Throw all away and begin anew at this offset."""

    start_offset: int


class ProposeIsr(Command, frozen=True):
    """Ask for another ISR: the controller from 2.7 on, before that by a conditional write of the state znode."""

    proposal: ProposedIsr
    controller_epoch: int
    """Of the controller that made this broker the leader; the znode gets it."""


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
