"""The load's process: `python -m model.sandbox.load`. Asked over its pipes (`messages`), it ends with its input.

It runs one producer, the consumers of coordinator groups, and the audit at the end.
"""

import asyncio
import signal
import uuid
from collections.abc import Mapping
from typing import BinaryIO

from model.cluster.ids import TopicPartition
from model.hosts.child_process import ParentProcess, output_for_messages
from model.hosts.process import crash_line, without_hypothesis
from model.sandbox.processes import SandboxError

with without_hypothesis():
    from model.sandbox.load.clients import GroupConsumer, LoadProducer, audit, topics_of
    from model.sandbox.load.ledger import AcknowledgedRecords
    from model.sandbox.messages import AuditReport, ConsumerFacts, LoadFacts, LoadOrder, LoadSetup

TELL_EVERY_S = 0.5
DRAIN_S = 20.0
"""How long the records that are under way may take before an audit."""


class LoadService:
    """From `start` to `close`. For one event loop."""

    def __init__(self, setup: LoadSetup) -> None:
        self._bootstrap = ",".join(setup.bootstrap)
        self._partitions = [TopicPartition(*each) for each in setup.partitions]
        self._run = uuid.uuid4().hex[:8]
        self._ledger = AcknowledgedRecords()
        self._producer = LoadProducer(
            self._bootstrap, self._partitions, self._run, self._ledger, is_idempotent=setup.is_idempotent
        )
        self._rate = setup.rate
        topics = topics_of(self._partitions)
        self._consumers: Mapping[tuple[str, str], GroupConsumer] = {
            (group, member): GroupConsumer(self._bootstrap, group, member, topics) for group, member in setup.consumers
        }

    def start(self) -> None:
        for consumer in self._consumers.values():
            consumer.start()
        self._producer.start()
        self._producer.rate = self._rate

    def facts(self) -> LoadFacts:
        return LoadFacts(
            rate=self._rate,
            acknowledged=self._ledger.total,
            overwritten=self._ledger.overwritten,
            waiting=self._producer.unacknowledged,
            error=self._producer.error,
            consumers=tuple(
                ConsumerFacts(group, member, each.status, tuple(map(str, sorted(each.partitions or ()))), each.consumed)
                for (group, member), each in self._consumers.items()
            ),
        )

    async def obey(self, order: LoadOrder) -> str | AuditReport:
        """Do it, and say what was done. Raises SandboxError: refused."""
        if order.audit:
            return await self._audit()
        if order.rate is not None:
            self._rate = self._producer.rate = order.rate
            return f"the load produces {order.rate:g} records a second"
        if order.stop is not None:
            consumer = self._consumers.get(order.stop)
            if consumer is None or consumer.status == "stopped":
                raise _refused(order.stop, "does not run")
            consumer.cut_off()
            return f"consumer {'/'.join(order.stop)} is gone, without a goodbye"
        if order.start is not None:
            consumer = self._consumers.get(order.start)
            if consumer is None or consumer.status != "stopped":
                raise _refused(order.start, "is not stopped")
            consumer.start()
            return f"consumer {'/'.join(order.start)} is back"
        raise SandboxError("an order with nothing to do")

    async def close(self) -> None:
        await self._producer.close()
        for consumer in self._consumers.values():
            consumer.cut_off()

    async def _audit(self) -> AuditReport:
        self._rate = 0.0
        await self._producer.drain(DRAIN_S)
        return await asyncio.to_thread(audit, self._bootstrap, self._partitions, self._run, self._ledger)


def _refused(consumer: tuple[str, str], why: str) -> SandboxError:
    return SandboxError(f"consumer {'/'.join(consumer)} {why}, or there is none of that name")


async def serve(output: BinaryIO) -> None:
    """Load the cluster that the first message names, until standard input ends."""
    owner = await ParentProcess.of(output)
    setup = await owner.first(LoadSetup)
    if setup is None:
        return
    service = LoadService(setup)

    async def tell_facts() -> None:
        while True:
            owner.tell(service.facts())
            await asyncio.sleep(TELL_EVERY_S)

    async def obey(order: LoadOrder) -> str | AuditReport:
        done = await service.obey(order)
        owner.tell(service.facts())  # first, so that what was done is seen by then
        return done

    service.start()
    owner.spawn(tell_facts())
    try:
        await owner.answer_all(LoadOrder, obey, _why_not)
    finally:
        await owner.cancel()
        await service.close()


def _why_not(error: Exception) -> str:
    return str(error) if isinstance(error, SandboxError) else crash_line(error)


def main() -> None:
    """Runs the process."""
    output = output_for_messages()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its sandbox decides when it ends
    asyncio.run(serve(output))


if __name__ == "__main__":
    main()
