"""What bursts of a drill come to, as a fleet counts it: sums that hold whenever each of the bursts begins.

What lasts from one burst to another lasts as long as there is between their beginnings, and a difference that is
always the same. So sums are kept by the two bursts, and a scenario whose bursts are known costs some additions. What is
counted, is counted from the first death until nothing happens any more, and only what the scenario did: who had no
leader before, or was under min ISR, is not in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import health, surroundings
from model.cluster.ids import TopicPartition
from model.drills.drill import Burst, PlayedDrill
from model.drills.outcomes import Summary, affected, summary
from model.drills.rows import AnyRow, StateWritten
from model.drills.timeline import DrillTimeline, Outage
from model.hosts.virtual.journal import BrokerBooted, BrokerCrashed, BrokerStopped, Reasoned, RequestSent
from model.hosts.virtual.scheduled_events import microseconds


class BurstMoment(NamedTuple):
    """A time: µs after a burst began."""

    burst: int
    us: int


class Downtime(NamedTuple):
    """A broker that was down; `back` None: it stayed so."""

    broker: int
    since: BurstMoment
    back: BurstMoment | None = None


class Lasted(NamedTuple):
    """Some stretches of time: how many, how long together, and the longest."""

    stretches: int = 0
    us: int = 0
    longest_us: int = 0


Sums = Mapping[tuple[int, int], Lasted]
"""By the bursts in which they begin and end, as if both had begun at once."""


def lasted(sums: Sums, begun_us: Sequence[int]) -> Lasted:
    """All of them, with bursts that began at these times."""
    count = all_us = longest_us = 0
    for (first, last), some in sums.items():
        apart_us = begun_us[last] - begun_us[first]
        count += some.stretches
        all_us += some.us + some.stretches * apart_us
        longest_us = max(longest_us, some.longest_us + apart_us)
    return Lasted(count, all_us, longest_us)


class Stretches:
    """Partitions that something holds for: since when it does, and for how long it did."""

    def __init__(self, over: Sums | None = None, since: Mapping[TopicPartition, BurstMoment] | None = None) -> None:
        self.since = dict(since or {})
        self._over = dict(over or {})

    def copy(self) -> "Stretches":
        return Stretches(self._over, self.since)

    def end(self, name: TopicPartition, at: BurstMoment) -> bool:
        """False: it ends at the moment at which it began, and is none."""
        since = self.since.pop(name)
        if since == at:
            return False
        us = at.us - since.us
        count, all_us, longest_us = self._over.get((since.burst, at.burst), (0, 0, us))
        self._over[since.burst, at.burst] = Lasted(count + 1, all_us + us, max(longest_us, us))
        return True

    def sums(self, end: BurstMoment) -> Sums:
        """As if all ended then."""
        whole = self.copy()
        for name in self.since:
            whole.end(name, end)
        return whole._over


class Before:
    """A cluster before any scenario."""

    def __init__(self, image: ClusterImage) -> None:
        self.image = image
        self.health = found = health(image, image.topics, surroundings(image))
        columns = found.columns
        names = [TopicPartition(topic.name, number) for topic in columns.topics for number in topic.partitions.tolist()]
        self.least: dict[TopicPartition, int] = dict(zip(names, found.min_isr.tolist(), strict=True))
        """How many have to be in sync."""
        under = np.flatnonzero(found.under_min_isr | found.offline)
        self.were_under = {names[row] for row in under.tolist()}
        """Partitions in which fewer are already."""


class BurstTally:
    """What some bursts come to. It does not change once it is made."""

    def __init__(self, before: Before) -> None:
        """What none comes to."""
        self._before = before
        self._earlier: BurstTally | None = None
        self._rows: Sequence[AnyRow] = ()
        """Of the last burst, but for what nobody asks for here."""
        self._end = BurstMoment(-1, 0)
        self._leaderless, self._refused = Stretches(), Stretches()
        self._under: set[TopicPartition] = set()
        self.leaderless: set[TopicPartition] = set()
        """Partitions that had no leader for some time."""
        self.refused: set[TopicPartition] = set()
        """Partitions that refused producers with acks=all for some time: without a leader, or under min ISR."""
        self.down: list[Downtime] = []
        """In the order in which they fell."""
        self.first_leaderless: BurstMoment | None = None
        self.unclean_elections = 0

    def with_burst(self, burst: Burst) -> "BurstTally":
        """What they and another one come to."""
        after = BurstTally(self._before)
        after._earlier, after._end = self, BurstMoment(self._end.burst + 1, burst.rest_us)
        after._leaderless, after._refused = self._leaderless.copy(), self._refused.copy()
        after._under, after.leaderless, after.refused = set(self._under), set(self.leaderless), set(self.refused)
        after.down, after.first_leaderless = list(self.down), self.first_leaderless
        after._take(burst)
        after.unclean_elections = self.unclean_elections + sum(row.unclean for row in after._written)
        return after

    @cached_property
    def leaderless_sums(self) -> Sums:
        """How long they had none."""
        return self._leaderless.sums(self._end)

    @cached_property
    def refused_sums(self) -> Sums:
        """How long they refused producers."""
        return self._refused.sums(self._end)

    @cached_property
    def after(self) -> ClusterImage:
        """The cluster in the end."""
        if self._earlier is None:
            return self._before.image
        image, at_ms = self._earlier.after, self._rows[-1].at_ms if self._rows else 0.0
        return DrillTimeline(image, self._rows, (), at_ms, self._before.image.provenance.time_ms).after

    @cached_property
    def summary(self) -> Summary:
        """What differs in the end."""
        rows = [row for tally in reversed([*self._path()]) for row in tally._written]
        outages = [Outage(name, 0.0, None) for name in self.leaderless]
        timeline = DrillTimeline(self._before.image, rows, outages, 0.0, 0, after=self.after)
        return summary(timeline, affected(timeline), self._before.health)

    def _path(self) -> Iterator["BurstTally"]:
        """It, and those before it."""
        tally: BurstTally | None = self
        while tally is not None:
            yield tally
            tally = tally._earlier

    @property
    def _written(self) -> Iterator[StateWritten]:
        return (row for row in self._rows if isinstance(row, StateWritten))

    def _take(self, burst: Burst) -> None:
        self._rows = [row for row in burst.rows if not isinstance(row, RequestSent | Reasoned)]
        changes = sorted([*_led_or_not(burst), *self._in_sync_or_not()], key=itemgetter(0))
        for at_ms, change, name in changes:
            self._note(self._at(at_ms, burst), change, name)
        self.refused.update(name for name, since in self._refused.since.items() if since != self._end)
        for row in self._rows:
            if isinstance(row, BrokerCrashed | BrokerStopped):
                self.down.append(Downtime(row.broker, self._at(row.at_ms, burst)))
            elif isinstance(row, BrokerBooted):
                self._back(row.broker, self._at(row.at_ms, burst))

    def _at(self, at_ms: float, burst: Burst) -> BurstMoment:
        return BurstMoment(self._end.burst, microseconds(at_ms) - burst.from_us)

    def _in_sync_or_not(self) -> Iterator[tuple[float, "_Change", TopicPartition]]:
        least, were_under = self._before.least, self._before.were_under
        for row in self._written:
            name = row.partition
            if name not in were_under:
                yield row.at_ms, _UNDER if len(row.after.isr) < least.get(name, 1) else _ENOUGH, name

    def _note(self, at: BurstMoment, change: "_Change", name: TopicPartition) -> None:
        leaderless, under = self._leaderless.since, self._under
        if change is _LOST:
            self.first_leaderless = self.first_leaderless or at
            self.leaderless.add(name)
            leaderless[name] = at
        elif change is _LED:
            self._leaderless.end(name, at)
        elif change is _UNDER:
            under.add(name)
        else:
            under.discard(name)
        if name in leaderless or name in under:
            self._refused.since.setdefault(name, at)
        elif name in self._refused.since and self._refused.end(name, at):
            self.refused.add(name)

    def _back(self, broker: int, at: BurstMoment) -> None:
        """The first that is down and has this id."""
        for place, one in enumerate(self.down):
            if one.broker == broker and one.back is None:
                self.down[place] = one._replace(back=at)
                return


_Change = int
_LOST, _LED, _UNDER, _ENOUGH = range(4)


def _led_or_not(burst: Burst) -> Iterator[tuple[float, _Change, TopicPartition]]:
    """Who lost its leader, and who has one again: of each partition in order, also where that is at one moment."""
    still = (Outage(name, from_ms, None) for name, from_ms in burst.leaderless.items())
    for outage in (*burst.ended, *still):
        if microseconds(outage.from_ms) >= burst.from_us:
            yield outage.from_ms, _LOST, outage.partition
        if outage.to_ms is not None:
            yield outage.to_ms, _LED, outage.partition


def tally_of(before: Before, drill: PlayedDrill) -> BurstTally:
    """A whole drill as one burst."""
    timeline = drill.timeline
    ended = [outage for outage in timeline.outages if outage.to_ms is not None]
    leaderless = {outage.partition: outage.from_ms for outage in timeline.outages if outage.to_ms is None}
    return BurstTally(before).with_burst(Burst(timeline.rows, ended, leaderless, 0, microseconds(timeline.end_ms)))
