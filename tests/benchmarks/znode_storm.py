"""Writes into a benchmark's ZooKeeper, so many znodes a second, until its standard input ends; says how many it wrote.

`python -m tests.benchmarks.znode_storm HOST:PORT RATE entries|states FIRST LAST`: one in ten of the writes is to a
znode with a number from FIRST on and below LAST, the others are anywhere.
"""

from __future__ import annotations

import random
import select
import sys
import time
from collections.abc import Callable

from model.sandbox.embedded_zookeeper import ZnodeSession
from model.zookeeper import SetData
from tests.benchmarks.zookeeper_image import entry_path, state, state_path

BEAT_S = 0.05
FEW = 10


def storm(address: str, rate: int, write: Callable[[int, int], SetData], total: int, near: range) -> float:
    """Writes until standard input ends; writes a second."""
    session, chosen = ZnodeSession(address), random.Random(1)
    print("begun", flush=True)
    begun = beat = time.monotonic()
    done = 0
    while not select.select([sys.stdin], [], [], max(beat - time.monotonic(), 0))[0]:
        numbers = {
            chosen.choice(near) if each % FEW == 0 else chosen.randrange(total) for each in range(round(rate * BEAT_S))
        }
        session.apply([write(number, done + 1) for number in numbers])
        done += len(numbers)
        beat += BEAT_S
    session.close()
    return done / (time.monotonic() - begun)


def main(address: str, rate: str, kind: str, total: str, first: str, last: str) -> None:
    """Kinds: `entries` of the folder, or `states`, where TOTAL is TOPICSxPARTITIONS and partitions are counted on."""
    if kind == "entries":
        count, write = int(total), lambda number, turn: SetData(entry_path(number), str(turn).encode())
    else:
        topics, partitions = map(int, total.split("x"))
        count = topics * partitions

        def write(number: int, turn: int) -> SetData:
            topic, partition = divmod(number, partitions)
            return SetData(state_path(topic, partition), state(partition, turn))

    print(storm(address, int(rate), write, count, range(int(first), int(last))))


if __name__ == "__main__":
    main(*sys.argv[1:])
