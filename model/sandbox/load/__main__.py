"""The load's process: `python -m model.sandbox.load`. Asked over its pipes (`messages`), it ends with its input."""

import asyncio
import signal
from typing import BinaryIO

from model.hosts.child_process import Owner, output_for_messages
from model.hosts.process import crash_line, without_hypothesis
from model.sandbox.processes import SandboxError

with without_hypothesis():
    from model.sandbox.load.messages import AuditReport, LoadOrder, LoadSetup
    from model.sandbox.load.service import LoadService

TELL_EVERY_S = 0.5


async def serve(output: BinaryIO) -> None:
    """Load the cluster that the first message names, until standard input ends."""
    owner = await Owner.of(output)
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
