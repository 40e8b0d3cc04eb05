"""The load's process: `python -m model.sandbox.load`. Speaks `messages` on its pipes, and ends with its input."""

import asyncio
import os
import signal
import sys

import msgspec

from model.hosts.process import without_hypothesis

with without_hypothesis():
    from model.sandbox.load.messages import LoadOrder, LoadSetup, LoadTold
    from model.sandbox.load.service import LoadService

LONGEST_LINE_BYTES = 16 << 20
TELL_EVERY_S = 0.5


async def serve(descriptor: int) -> None:
    """Load the cluster that the first line names, until standard input ends. Answers go to the descriptor."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(LONGEST_LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    service = LoadService(msgspec.json.decode(await reader.readline(), type=LoadSetup))

    def tell(told: LoadTold) -> None:
        os.write(descriptor, msgspec.json.encode(told) + b"\n")

    async def tell_facts() -> None:
        while True:
            tell(LoadTold(facts=service.facts()))
            await asyncio.sleep(TELL_EVERY_S)

    async def obey(line: bytes) -> None:
        done = await service.obey(msgspec.json.decode(line, type=LoadOrder))
        tell(LoadTold(facts=service.facts()))  # first, so that what was done is seen by then
        tell(done)

    service.start()
    tasks = {asyncio.create_task(tell_facts())}
    try:
        while line := await reader.readline():
            task = asyncio.create_task(obey(line))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
    finally:
        for task in tasks:
            task.cancel()
        await service.close()


def main() -> None:
    """Runs the process. Standard output is kept for messages: whatever prints goes to standard error."""
    descriptor = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its sandbox decides when it ends
    asyncio.run(serve(descriptor))


if __name__ == "__main__":
    main()
