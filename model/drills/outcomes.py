"""What a drill means for each partition and for the cluster, from the images before and after. It plays nothing."""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

import msgspec
import numpy as np

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage, state_in, state_of
from model.cluster.findings.health import Health, health, surroundings
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.topic_image import Flags
from model.drills.rows import StateWritten
from model.drills.timeline import DrillTimeline, Outage


class OutcomeKind(Enum):
    """What became of a partition, the worst first."""

    OFFLINE = "offline"
    """It was led and is not any more: it can neither be written nor read."""
    UNCLEAN = "unclean"
    """Somebody leads who was not in sync: acknowledged records may be lost."""
    CLEAN = "clean"
    """Another replica leads, or the same again; nothing acknowledged is lost."""
    FOLLOWER_LOST = "follower-lost"
    """The leader stayed, the ISR shrank."""
    FOLLOWER_BACK = "follower-back"
    """The leader stayed, the ISR grew."""
    DELETING = "deleting"
    """Its topic is being deleted, or gone: nobody is elected for it."""
    UNAFFECTED = "unaffected"


class DrilledPartition(msgspec.Struct, frozen=True, gc=False):
    """One partition before and after; leader -1: none. `outage` None: it was led all the time."""

    partition: TopicPartition
    outcome: OutcomeKind
    leader: tuple[int, int]
    isr: tuple[tuple[int, ...], tuple[int, ...]]
    leader_epoch: tuple[int, int]
    outage: Outage | None = None


class Totals(msgspec.Struct, frozen=True):
    """How many partitions are unwell; topics that are being deleted do not count."""

    offline: int
    under_min_isr: int
    under_replicated: int


class Summary(msgspec.Struct, frozen=True):
    """A drill in numbers. `leaders_by_broker` is by broker, before and after."""

    leaders_moved: int
    unclean: int
    newly_offline: int
    newly_under_min_isr: int
    before: Totals
    after: Totals
    leaders_by_broker: Mapping[int, tuple[int, int]]

    @property
    def hurts(self) -> bool:
        """Whether somebody cannot write or read, or records are lost, who was well before."""
        return bool(self.newly_offline or self.newly_under_min_isr or self.unclean)


def affected(timeline: DrillTimeline) -> tuple[DrilledPartition, ...]:
    """Every partition that something was written of, or that lost its leader: the worst first, then the longest."""
    outages = {one.partition: one for one in timeline.outages}
    writes: dict[TopicPartition, list[StateWritten]] = {name: [] for name in outages}
    for row in timeline.rows:
        if isinstance(row, StateWritten):
            writes.setdefault(row.partition, []).append(row)
    found: list[DrilledPartition] = []
    for name, written in writes.items():
        before = written[0].before if written else state_in(timeline.before, name)
        after = written[-1].after if written and name.topic in timeline.after.topics else state_in(timeline.after, name)
        unclean = any(row.unclean for row in written)
        how = _outcome(timeline, name, before, after, unclean=unclean, outage=outages.get(name))
        found.append(_pair(name, how, before, after, outages.get(name)))
    severity = {outcome: place for place, outcome in enumerate(OutcomeKind)}
    return tuple(sorted(found, key=lambda one: (severity[one.outcome], -_lasted_ms(one, timeline), one.partition)))


def unaffected(timeline: DrillTimeline) -> Iterator[DrilledPartition]:
    """Every other partition."""
    touched = {row.partition for row in timeline.rows if isinstance(row, StateWritten)}
    touched.update(one.partition for one in timeline.outages)
    for topic in timeline.before.topics.values():
        for row, number in enumerate(topic.partitions.tolist()):
            name = TopicPartition(topic.name, number)
            if name not in touched:
                state = state_of(topic, row)
                yield _pair(name, OutcomeKind.UNAFFECTED, state, state, None)


def summary(timeline: DrillTimeline, outcomes: Iterable[DrilledPartition], was: Health | None = None) -> Summary:
    """The whole drill in numbers; `outcomes` are those of the `affected`. was: how the partitions were before."""
    was, now = was or _health(timeline.before), _health(timeline.after)
    led = [_leaders(one) for one in (was, now)]
    known = list(outcomes)
    return Summary(
        leaders_moved=sum(one.leader[1] not in (NO_LEADER, one.leader[0]) for one in known),
        unclean=sum(one.outcome is OutcomeKind.UNCLEAN for one in known),
        newly_offline=sum(one.outcome is OutcomeKind.OFFLINE for one in known),
        newly_under_min_isr=len(_named(now, now.under_min_isr) - _named(was, was.under_min_isr)),
        before=_totals(was),
        after=_totals(now),
        leaders_by_broker={
            broker: (led[0].get(broker, 0), led[1].get(broker, 0))
            for broker in sorted({*led[0], *led[1], *timeline.before.brokers, *timeline.after.brokers})
        },
    )


def _outcome(
    timeline: DrillTimeline,
    name: TopicPartition,
    before: r.PartitionState | None,
    after: r.PartitionState | None,
    *,
    unclean: bool,
    outage: Outage | None,
) -> OutcomeKind:
    if after is None or name.topic in timeline.before.admin.delete_topics:
        return OutcomeKind.DELETING
    was_led = before is not None and before.leader in timeline.before.brokers
    is_led = after.leader in timeline.after.brokers
    if not is_led:
        return OutcomeKind.OFFLINE if was_led else OutcomeKind.UNAFFECTED
    if unclean:
        return OutcomeKind.UNCLEAN
    if before is None or after.leader != before.leader or outage is not None:
        return OutcomeKind.CLEAN
    if set(before.isr) - set(after.isr):
        return OutcomeKind.FOLLOWER_LOST
    return OutcomeKind.FOLLOWER_BACK if set(after.isr) - set(before.isr) else OutcomeKind.UNAFFECTED


def _pair(
    name: TopicPartition,
    how: OutcomeKind,
    before: r.PartitionState | None,
    after: r.PartitionState | None,
    outage: Outage | None,
) -> DrilledPartition:
    one, other = before or _NONE, after or _NONE
    return DrilledPartition(
        name,
        how,
        (one.leader, other.leader),
        (one.isr, other.isr),
        (one.leader_epoch, other.leader_epoch),
        outage,
    )


def _lasted_ms(one: DrilledPartition, timeline: DrillTimeline) -> float:
    return 0.0 if one.outage is None else one.outage.lasted_ms(timeline.end_ms)


def _totals(now: Health) -> Totals:
    return Totals(int(now.offline.sum()), int(now.under_min_isr.sum()), int(now.under_replicated.sum()))


def _health(image: ClusterImage) -> Health:
    return health(image, image.topics, surroundings(image))


def _named(now: Health, flags: Flags) -> set[TopicPartition]:
    return {
        TopicPartition(topic.name, number)
        for topic, rows in now.columns.by_topic(flags)
        for number in now.columns.partitions[rows].tolist()
    }


def _leaders(now: Health) -> dict[int, int]:
    brokers, counts = np.unique(now.columns.leader[now.leader_lives], return_counts=True)
    return dict(zip(brokers.tolist(), counts.tolist(), strict=True))


_NONE = r.PartitionState(-1, NO_LEADER, -1, ())
