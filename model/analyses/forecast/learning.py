"""How often brokers were out in a recording, and for how long: rates of one's own in place of the literature's.

A broker is out from when it is lost or fenced until it is registered again. A recording does not say why: restarts
count as failures, so whoever learns from one may want no `maintenance` beside it.
"""

from pathlib import Path

import msgspec

from model.analyses.errors import AnalysisError
from model.analyses.forecast.assumptions import Assumptions, learnt
from model.cluster.texts import counted
from model.recordings.folder import RecordingError, the_cluster_in
from model.recordings.part_file import SetColumns, read_set

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
GAP_MS = 60_000
"""Longer, and who came back meanwhile is not known."""


class Outages(msgspec.Struct, frozen=True):
    """Sums over brokers: times lost, ms registered, times back and the ms until then."""

    lost: int = 0
    up_ms: int = 0
    back: int = 0
    down_ms: int = 0

    def __add__(self, other: "Outages") -> "Outages":
        return Outages(
            self.lost + other.lost, self.up_ms + other.up_ms, self.back + other.back, self.down_ms + other.down_ms
        )


def outages_in(of: SetColumns, down: dict[int, int]) -> Outages:
    """Of one set, which begins with a whole image. `down`: who was lost when, before it and, in the end, by its end."""
    up: dict[int, int] = {}
    lost = up_ms = back = down_ms = 0
    rows = of.of_kind("BrokerRegistered", "BrokerFenced", "BrokerLost")
    ends = set(of.of_kind("BrokerFenced", "BrokerLost").tolist())
    for row in rows.tolist():
        broker, at_ms = int(of.broker[row]), int(of.at_ms[row])
        if row not in ends and broker not in up:
            up[broker] = at_ms
            if broker in down:
                back += 1
                down_ms += at_ms - down.pop(broker)
        elif row in ends and broker in up:
            lost += 1
            up_ms += at_ms - up.pop(broker)
            down[broker] = at_ms
    return Outages(lost, up_ms + sum(of.until_ms - since_ms for since_ms in up.values()), back, down_ms)


def learnt_from(folder: Path, assumed: Assumptions) -> Assumptions:
    """With a time between failures and one to repair by the recording. Raises AnalysisError."""
    found, down, until_ms = Outages(), dict[int, int](), 0
    try:
        for whole in the_cluster_in(folder).sets():
            of = read_set(whole)
            if whole.from_ms - until_ms > GAP_MS:
                down.clear()
            found, until_ms = found + outages_in(of, down), of.until_ms
    except RecordingError as error:
        raise AnalysisError(str(error)) from None
    days = found.up_ms / HOUR_MS / 24
    source = f"{folder}: {counted(found.lost, 'outage')} in {days:,.3g} broker-days"
    often = learnt(assumed.rates["broker.mtbf_h"], found.lost, found.up_ms / HOUR_MS, source)
    usual = assumed.rates["broker.mttr_min"]
    minutes = (found.down_ms / MINUTE_MS + usual.value) / (found.back + 1)
    long = msgspec.structs.replace(
        usual, value=minutes, low=min(usual.low, minutes), high=max(usual.high, minutes), source=source, given=True
    )
    often = msgspec.structs.replace(often, low=min(often.low, often.value))
    return msgspec.structs.replace(assumed, rates={**assumed.rates, often.key: often, long.key: long})
