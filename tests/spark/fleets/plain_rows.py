"""Rows of a fleet out of whole drills, each played for itself and counted partition by partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from model.analyses.fleets.scenarios import Down, FleetRow, FleetScenario
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import health, surroundings
from model.cluster.ids import TopicPartition
from model.drills.drill import PlayedDrill, run
from model.drills.rows import StateWritten
from model.drills.scenario import ruled_by, written
from model.hosts.virtual.journal import BrokerBooted, BrokerCrashed, BrokerStopped

Stretch = tuple[float, float]


def plain_row(image: ClusterImage, number: int, one: FleetScenario) -> FleetRow:
    drill = run(ruled_by(image, one.controller), one.scenario)
    summary, timeline = drill.summary, drill.timeline
    waits = [outage.lasted_ms(timeline.end_ms) for outage in timeline.outages]
    refused = _refused(image, drill)
    first_ms = min((outage.from_ms for outage in timeline.outages), default=None)
    after = [now for _, now in summary.leaders_by_broker.values()]
    return FleetRow(
        number=number,
        generator=one.generator,
        text=one.text,
        scenario=written(one.scenario.acts, one.controller),
        controller=one.controller,
        down=_down(drill),
        unclean_elections=sum(isinstance(row, StateWritten) and row.unclean for row in timeline.rows),
        lost=summary.unclean,
        offline_after=summary.newly_offline,
        under_min_after=summary.newly_under_min_isr,
        leaderless=len({outage.partition for outage in timeline.outages}),
        first_leaderless_s=None if first_ms is None else _seconds(first_ms),
        leaderless_s=_seconds(sum(waits)),
        longest_s=_seconds(max(waits, default=0.0)),
        under_min=len(refused),
        under_min_s=_seconds(sum(to_ms - from_ms for stretches in refused.values() for from_ms, to_ms in stretches)),
        moved=summary.leaders_moved,
        most_leaders=max(after, default=0),
        leaders_after=tuple(after),
        ended_s=_seconds(timeline.end_ms),
        at_rest=drill.at_rest,
    )


def _seconds(ms: float) -> float:
    return round(ms / 1000, 6)


def _down(drill: PlayedDrill) -> tuple[Down, ...]:
    found: list[Down] = []
    for row in drill.timeline.rows:
        if isinstance(row, BrokerCrashed | BrokerStopped):
            found.append(Down(row.broker, row.at_ms))
        elif isinstance(row, BrokerBooted):
            still = [place for place, one in enumerate(found) if (one.broker, one.back_ms) == (row.broker, None)]
            for place in still[:1]:
                found[place] = msgspec.structs.replace(found[place], back_ms=row.at_ms)
    return tuple(found)


def _refused(image: ClusterImage, drill: PlayedDrill) -> dict[TopicPartition, list[Stretch]]:
    """By partition, when producers with acks=all were refused that were not before: stretches that do not overlap."""
    end_ms = drill.timeline.end_ms
    found: dict[TopicPartition, list[Stretch]] = {}
    for outage in drill.timeline.outages:
        to_ms = end_ms if outage.to_ms is None else outage.to_ms
        found.setdefault(outage.partition, []).append((outage.from_ms, to_ms))
    for name, stretch in _under_min(image, drill):
        found.setdefault(name, []).append(stretch)
    return {name: kept for name, some in found.items() if (kept := list(_merged(some)))}


def _under_min(image: ClusterImage, drill: PlayedDrill) -> Iterator[tuple[TopicPartition, Stretch]]:
    before = health(image, image.topics, surroundings(image))
    columns = before.columns
    names = [TopicPartition(topic.name, number) for topic in columns.topics for number in topic.partitions.tolist()]
    least = dict(zip(names, before.min_isr.tolist(), strict=True))
    were_under = dict(zip(names, (before.under_min_isr | before.offline).tolist(), strict=True))
    since: dict[TopicPartition, float] = {}
    for row in drill.timeline.rows:
        if not isinstance(row, StateWritten) or were_under.get(row.partition):
            continue
        if len(row.after.isr) < least.get(row.partition, 1):
            since.setdefault(row.partition, row.at_ms)
        elif row.partition in since:
            yield row.partition, (since.pop(row.partition), row.at_ms)
    for name, from_ms in since.items():
        yield name, (from_ms, drill.timeline.end_ms)


def _merged(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    last: Stretch | None = None
    for from_ms, to_ms in sorted(stretches):
        if last is not None and from_ms <= last[1]:
            last = (last[0], max(last[1], to_ms))
            continue
        if last is not None and last[1] > last[0]:
            yield last
        last = (from_ms, to_ms)
    if last is not None and last[1] > last[0]:
        yield last
