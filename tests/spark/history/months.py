"""Two clusters and some days, small enough to know by heart."""

from __future__ import annotations

from pathlib import Path

from model.cluster.image_parts import Rebalance
from model.cluster.records import (
    BrokerLost,
    BrokerRegistered,
    ControllerElected,
    GroupRebalancesSeen,
    GroupSeen,
    TopicDeletionRequested,
)
from model.recordings.folder import DAY_MS
from tests.model.cluster.build import brokers, state, topic, written
from tests.model.recordings.lives import Life, life, record

MIDNIGHT_MS = 20_000 * DAY_MS
EVENING_MS = MIDNIGHT_MS - 3_600_000
MINUTE_MS = 60_000
HOUR_MS = 3_600_000

BUSY: Life = life(
    [
        (0, [*brokers(1, 2, 3), *topic("orders", (1, 2, 3), 3), *topic("old", (1, 2)), *topic("frail", (3,))]),
        (10 * MINUTE_MS, [BrokerLost(broker=1), ControllerElected(broker=2)]),  # 23:10
        (1_000, [written("orders", *(state(number, 2, (2, 3), epoch=1) for number in range(2)))]),
        (1_000, [written("orders", state(2, -1, (1,), epoch=1))]),
        (10 * MINUTE_MS, [TopicDeletionRequested(topic="old")]),  # 23:20
        (HOUR_MS, [BrokerRegistered(broker=1), written("orders", state(2, 1, (1, 2, 3), epoch=2))]),  # 00:20
        (1_000, [written("orders", *(state(number, 2, (2, 3, 1), epoch=1) for number in range(2)))]),
        (HOUR_MS, [written("orders", state(0, 1, (2, 3, 1), epoch=2))]),  # 01:20
        (1_000, [written("orders", state(0, 2, (2, 3, 1), epoch=3))]),
    ],
    EVENING_MS,
)
"""A broker dies at 23:10 and comes back at 00:20; orders-2 has nobody to lead it meanwhile.

frail has one replica, on broker 3.
"""

STORMY: Life = life(
    [(0, [*brokers(7), GroupSeen(group="g")])]
    + [
        (
            MINUTE_MS,
            [
                GroupRebalancesSeen(
                    group="g",
                    kind="zookeeper",
                    rebalances=tuple(Rebalance(MIDNIGHT_MS - n * MINUTE_MS, (), 500) for n in range(at, -4, -1)[:20]),
                )
            ],
        )
        for at in (3, 2)
    ],
    EVENING_MS,
)
"""A group rebalances eight times, a minute apart, over midnight."""


def recorded(folder: Path) -> Path:
    """Both, in a folder."""
    record(folder, BUSY, cluster="busy")
    record(folder, STORMY, cluster="stormy")
    return folder
