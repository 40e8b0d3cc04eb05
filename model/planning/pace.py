"""How fast a plan may copy, and how long it takes then. It sets no throttle.

Kafka's throttle (KIP-73) is a rate for what a broker sends (`leader.replication.throttled.rate`) and one for what it
receives (`follower.replication.throttled.rate`), of the listed replicas only.
"""

import math
from collections.abc import Sequence

from model.planning.plan import Batch, Pace
from model.planning.request import Throttling

ASSUMED_RATE = 50_000_000
"""Bytes/s, where neither rate nor time is given: less than half of what a 1 Gbit/s link carries."""


def pace_of(batches: Sequence[Batch], throttling: Throttling) -> Pace | None:
    """The rate and the time; None where nothing is copied or sizes are unknown.

    A batch takes as long as its busiest broker, which sends or receives all it has to at the given rate.
    """
    busiest = sum(batch.busiest_bytes or 0 for batch in batches)
    if not busiest:
        return None
    if throttling.seconds is not None:
        rate = math.ceil(busiest / throttling.seconds)
        return Pace(rate, busiest / rate, "time")
    rate = throttling.rate or ASSUMED_RATE
    return Pace(rate, busiest / rate, "rate" if throttling.rate else "nothing")
