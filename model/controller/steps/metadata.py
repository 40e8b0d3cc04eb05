"""Steps that only tell brokers something. They change nothing that the controller knows."""

from model.cluster.ids import TopicPartition
from model.controller.context import ControllerContext
from model.controller.step import Outcome, Step
from model.controller.telling import send, tell


class SendBatch(Step, frozen=True):
    """Send what was gathered: one request of each kind per broker."""

    def begin(self, context: ControllerContext) -> Outcome:
        context, commands = send(context)
        return Outcome(context, commands)


class SendMetadata(Step, frozen=True):
    """UpdateMetadata of these partitions to these brokers (None: all); without partitions it tells who is live."""

    partitions: tuple[TopicPartition, ...] = ()
    receivers: tuple[int, ...] | None = None

    def begin(self, context: ControllerContext) -> Outcome:
        context, commands = send(tell(context, self.partitions, self.receivers))
        return Outcome(context, commands)


class SendAllMetadata(Step, frozen=True):
    """UpdateMetadata of every partition that has a state, to these brokers."""

    receivers: tuple[int, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        everything = tuple(name for name, _ in context.topics.items())
        return Outcome(context, then=(SendMetadata(everything, self.receivers),))
