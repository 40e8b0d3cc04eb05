"""A quorum to look at: three voters on loopback with the log that a real one of 4.4.0 left, in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.model.hosts.observing.test_observing import Voters
from tests.model.observer.simulated_quorum import Entry
from tests.model.sources.quorum.test_facts import batches

EPOCH, LEADER = 3, 1
"""As the log ends."""


@contextmanager
def listening_quorum() -> Iterator[str]:
    """Where it listens, `host:port,…`. All of its log is committed."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        voters = asyncio.run_coroutine_threadsafe(_listening(), loop).result(30)
        yield ",".join(f"{host}:{port}" for host, port in voters.addresses)
        asyncio.run_coroutine_threadsafe(voters.close(), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _listening() -> Voters:
    voters = Voters()
    voters.cluster_id = "kraft-prod"
    log = [Entry(each.base_offset, each.next_offset, each.epoch, each.data) for each in batches()]
    for number, voter in voters.quorum.voters.items():
        await voters.listen(number)
        voter.log, voter.epoch, voter.leader = list(log), EPOCH, LEADER
        voter.high_watermark = log[-1].end
    return voters
