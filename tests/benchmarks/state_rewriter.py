"""Rewrites partition states in a benchmark's ZooKeeper, so many a second; each has its time of writing as leader epoch.

`python -m tests.benchmarks.state_rewriter HOST:PORT COUNT RATE`; prints (number, epoch) of each as JSON. The time is in
milliseconds, without its highest bits: an epoch has 31.
"""

from __future__ import annotations

import json
import sys
import time

from model.sandbox.embedded_zookeeper import ZnodeSession
from model.zookeeper import SetData
from tests.benchmarks.zookeeper_image import state, state_path

PARTITIONS = 100
AT_ONCE = 60


def main(address: str, count: str, rate: str) -> None:
    """Each state once, in the order of their numbers."""
    session, written = ZnodeSession(address), list[tuple[int, int]]()
    began_s = time.monotonic()
    for first in range(0, int(count), AT_ONCE):
        time.sleep(max(began_s + first / int(rate) - time.monotonic(), 0))
        epoch = int(time.time() * 1000) % (1 << 31)
        numbers = range(first, min(first + AT_ONCE, int(count)))
        places = [divmod(number, PARTITIONS) for number in numbers]
        session.apply([SetData(state_path(*place), state(place[1], epoch)) for place in places])
        written += ((number, epoch) for number in numbers)
    session.close()
    print(json.dumps(written))


if __name__ == "__main__":
    main(*sys.argv[1:])
