"""What whoever asks gives a forecast: rates of a recording, and what is to be changed about the cluster.

Changes make another image, to be played beside the cluster as it is: a plan, brokers that come, settings of topics.

A broker is out from when it is lost or fenced until it is registered again. A recording does not say why: restarts
count as failures, so whoever learns from one may want no `maintenance` beside it.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path

import msgspec

from model.analyses import AnalysisError
from model.analyses.analysis import run_here
from model.analyses.fleets.fleet import FLEET, fleet_arrays
from model.analyses.fleets.scenarios import FleetParameters
from model.analyses.forecast.assumptions import Assumptions, learnt
from model.analyses.image_arrays import topics_of
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.cluster.records import ConfigChanged
from model.cluster.texts import counted
from model.drills.drill import usual
from model.drills.scenario import of_brokers
from model.planning.layout import Sizes
from model.planning.plan import applied
from model.planning.planner import plan
from model.planning.request import NewBroker, PlanError, PlanRequest
from model.recordings.folder import RecordingError, the_cluster_in
from model.recordings.part_file import SetColumns, read_set

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
GAP_MS = 60_000
"""Longer, and who came back meanwhile is not known."""


class RecordedOutages(msgspec.Struct, frozen=True):
    """Sums over brokers: times lost, ms registered, times back and the ms until then."""

    lost: int = 0
    up_ms: int = 0
    back: int = 0
    down_ms: int = 0

    def __add__(self, other: "RecordedOutages") -> "RecordedOutages":
        return RecordedOutages(
            self.lost + other.lost, self.up_ms + other.up_ms, self.back + other.back, self.down_ms + other.down_ms
        )


def outages_in(of: SetColumns, down: dict[int, int]) -> RecordedOutages:
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
    return RecordedOutages(lost, up_ms + sum(of.until_ms - since_ms for since_ms in up.values()), back, down_ms)


def learnt_from(folder: Path, assumed: Assumptions) -> Assumptions:
    """With a time between failures and one to repair by the recording. Raises AnalysisError."""
    found, down, until_ms = RecordedOutages(), dict[int, int](), 0
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


def elections_of(image: ClusterImage) -> dict[int, float]:
    """ms from a broker's death being noticed until somebody leads again, on average over the partitions that it led.

    Each broker fails once in a drill by the controller's own rules, with the controller elsewhere and on it; a
    controller may be anywhere. Partitions that stay without a leader are left out. Raises AnalysisError.
    """
    rows = run_here(FLEET, fleet_arrays(image), FleetParameters(generators=("single",))).rows
    found: dict[int, dict[bool, float]] = {}
    for row in rows:
        led = row.leaderless - row.offline_after
        if len(row.down) != 1 or row.down[0].back_ms is not None or led <= 0:
            continue
        broker, began_s = row.down[0].broker, row.first_leaderless_s or 0.0
        waited_s = row.leaderless_s - row.offline_after * (row.ended_s - began_s)
        detect_ms = usual(image, of_brokers([broker])).session_timeout_ms
        found.setdefault(broker, {})[row.controller == broker] = max(0.0, 1000 * waited_s / led - detect_ms)
    part = 1 / max(1, len(image.brokers))
    return {
        broker: each.get(False, each.get(True, 0.0)) * (1 - part) + each.get(True, each.get(False, 0.0)) * part
        for broker, each in found.items()
    }


Setting = tuple[str, str, str]
"""(topic or pattern, key, value)"""


def changed(
    image: ClusterImage,
    sizes: Sizes | None,
    settings: Sequence[Setting],
    add: Sequence[NewBroker] = (),
    planned: tuple[str, ClusterImage] | None = None,
) -> tuple[ClusterImage | None, str]:
    """The cluster with all of that, and what it is in words; None where nothing is to change.

    planned: a plan's name, and the cluster that it leads to, brokers that come included; without one they get the
    replicas that balance the cluster. Raises AnalysisError.
    """
    after, said = image, list[str]()
    try:
        if planned is not None:
            said.append(planned[0])
            after = planned[1]
        elif add:
            after = applied(after, plan(after, PlanRequest(add=tuple(add)), sizes))
            said.append(", ".join(f"broker {new.id} added" for new in add))
        for pattern, key, value in settings:
            names = [name for name in topics_of(image) if fnmatchcase(name, pattern)]
            if not names:
                raise AnalysisError(f"{pattern}:{key}={value}: no topic is called {pattern}")
            after = _set(after, names, key, value, sizes)
            said.append(f"{pattern}:{key}={value}")
    except PlanError as error:
        raise AnalysisError(str(error)) from None
    return (after if said else None), " and ".join(said)


def _set(image: ClusterImage, names: Sequence[str], key: str, value: str, sizes: Sizes | None) -> ClusterImage:
    if key == "rf":
        request = PlanRequest(replication_factor=int(value), topics=tuple(map(escape, names)), reach="forced")
        return applied(image, plan(image, request, sizes))
    records = [
        ConfigChanged(entity=f"topics/{name}", config={**image.topic_config(name), key: value}) for name in names
    ]
    return ClusterDelta(image).replay_all(records).apply(image.provenance)
