"""A block of producer ids for a broker: read the newest, write the next under its version, go round again if overtaken.

Source: `KafkaController.processAllocateProducerIds` (3.9), `KafkaZkClient.conditionalUpdatePath`; KIP-730. Brokers
before 3.0 write the znode themselves, so the version alone guards it, not the controller epoch.
"""

from model.controller.commands import AnswerRequest, ProducerIds
from model.controller.context import ControllerContext
from model.controller.producer_ids import next_block
from model.controller.refusal import Refusal
from model.controller.step import Outcome, Step
from model.controller.zookeeper import PRODUCER_IDS, Answer, Code, Read, SetData
from model.znodes.cluster import ProducerIdBlock


class AllocateProducerIds(Step, frozen=True):
    """Read what was given out last. Only a registered broker in its present life gets anything."""

    request: int
    broker: int
    broker_epoch: int

    def begin(self, context: ControllerContext) -> Outcome:
        if not context.settings.forms.hands_out_producer_ids:
            return Outcome(context, (AnswerRequest(self.request, "UNSUPPORTED_VERSION"),))
        live = context.live.get(self.broker)
        if live is None:
            return Outcome(context, (AnswerRequest(self.request, "BROKER_ID_NOT_REGISTERED"),))
        if live.epoch != self.broker_epoch:
            return Outcome(context, (AnswerRequest(self.request, "STALE_BROKER_EPOCH"),))
        return Outcome(context, ask=(Read(PRODUCER_IDS),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        newest = answers[0]
        if not newest.ok:
            # Every broker makes this znode when it starts: somebody removed it, and the ids given out are forgotten.
            return self.refuse(context, f"{PRODUCER_IDS} cannot be read")
        block = next_block(newest.data, self.broker)
        if isinstance(block, Refusal):
            return self.refuse(context, block.message)
        return Outcome(context, then=(WriteProducerIds(self, block, newest.version),))

    def refuse(self, context: ControllerContext, what: str) -> Outcome:
        """The broker gets nothing, and asks again."""
        why = f"Broker {self.broker} gets no producer ids: {what}."
        return Outcome(context, (AnswerRequest(self.request, "UNKNOWN_SERVER_ERROR"),), why=why)


class WriteProducerIds(Step, frozen=True):
    """Write the block; begin anew if another was written in between.

    `version` is that of the block before. After a lost connection our own write may have been first: then it counts.
    """

    by: AllocateProducerIds
    block: ProducerIdBlock
    version: int

    def begin(self, context: ControllerContext) -> Outcome:
        data = self.block.to_bytes()
        return Outcome(context, ask=(SetData(PRODUCER_IDS, data, self.version), Read(PRODUCER_IDS)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        written, now = answers
        ours = now.version == self.version + 1 and now.data == self.block.to_bytes()
        if not written.ok and not ours:
            overtaken = written.code is Code.BAD_VERSION
            unwritten = f"{PRODUCER_IDS} cannot be written"
            return Outcome(context, then=(self.by,)) if overtaken else self.by.refuse(context, unwritten)
        first, last = self.block.first_id, self.block.last_id
        answer = AnswerRequest(self.by.request, producer_ids=ProducerIds(first, last - first + 1))
        return Outcome(context, (answer,), why=f"Broker {self.by.broker} gets producer ids {first} to {last}.")
