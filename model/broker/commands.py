"""What a broker wants done. A host does it, all of it, in order, and decides nothing."""

import msgspec

from model.broker.replication.fetch_state import FetchState
from model.cluster.ids import TopicPartition
from model.controller.events import ProposedIsr


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
