"""Changes of topics and their partitions: created, removed, reassigned; leaders, ISRs, replicas.

One line for each partition while they are few, then one line for each broker. An election is clean when the new leader
was in the ISR before (`kafka.controller.Election`), or among the eligible leader replicas (KIP-966). One that is not
is always named by itself. So is that of the last known leader, where both were empty (`PartitionChangeBuilder`, 4.0):
it had all records, and may have lost its newest if it was killed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.cluster.change import Change, ImageStep, differing
from model.cluster.partition_columns import PartitionColumns, Rows, contained, stacked
from model.cluster.texts import MOST, counted, ranges, replicas
from model.cluster.topic_image import NOBODY, Column, Flags, Ints, TopicImage, told_in, unpadded, widened


def topic_changes(step: ImageStep) -> Iterator[Change]:
    """In the order of the topics' names."""
    for name, old, new in sorted(differing(step.before.topics, step.after.topics), key=lambda one: one[0]):
        path = f"/brokers/topics/{name}"
        if old is not None and new is not None and _same_assignment(old, new):
            continue
        had, has = _assigned(old), _assigned(new)
        if not had and has and new is not None:
            text = f"created with {counted(len(has), 'partition')}, {counted(int(new.replica_count.max()), 'replica')}"
            yield step.change("topic-created", name, text, path)
        elif had and not has:
            yield step.change("topic-removed", name, f"removed with {counted(len(had), 'partition')}", path)
        elif old is not None and new is not None:
            yield from _kept(step, old, new, path)


def _same_assignment(old: TopicImage, new: TopicImage) -> bool:
    return (
        (old.topic_id, old.adding, old.removing) == (new.topic_id, new.adding, new.removing)
        and (old.partitions is new.partitions or np.array_equal(old.partitions, new.partitions))
        and (old.replicas is new.replicas or np.array_equal(old.orphaned, new.orphaned))
    )


def _assigned(topic: TopicImage | None) -> set[int]:
    return set() if topic is None else set(topic.partitions[~topic.orphaned].tolist())


def _kept(step: ImageStep, old: TopicImage, new: TopicImage, path: str) -> Iterator[Change]:
    if old.topic_id and new.topic_id and old.topic_id != new.topic_id:
        text = f"deleted and created again: topic id {old.topic_id} -> {new.topic_id}"
        yield step.change("topic-replaced", new.name, text, path)
    had, has = _assigned(old), _assigned(new)
    if has - had:
        text = f"{counted(len(has - had), 'partition')} added: {ranges(sorted(has - had))}"
        yield step.change("partitions-added", new.name, text, path)
    if had - has:
        text = f"{counted(len(had - has), 'partition')} no longer assigned: {ranges(sorted(had - has))}"
        yield step.change("partitions-unassigned", new.name, text, path)
    was_moving, moving = {*old.adding, *old.removing}, {*new.adding, *new.removing}
    if moving - was_moving:
        text = f"reassignment of {_partitions(moving - was_moving)} began"
        yield step.change("reassignment-begun", new.name, text, path)
    if was_moving - moving:
        text = f"reassignment of {_partitions(was_moving - moving)} ended"
        yield step.change("reassignment-finished", new.name, text, path)


def _partitions(partitions: set[int]) -> str:
    return f"partition{'s' if len(partitions) > 1 else ''} {ranges(sorted(partitions))}"


@dataclass(frozen=True, eq=False)
class Pairs:
    """Partitions that both images have, of topics that changed: the same row in `old` and `new`."""

    step: ImageStep
    old: PartitionColumns
    new: PartitionColumns

    @cached_property
    def elected(self) -> Flags:
        """bool[N]: another leader than before."""
        return self.old.has_state & self.new.has_state & (self.old.leader != self.new.leader) & (self.new.leader >= 0)

    @cached_property
    def clean(self) -> Flags:
        """bool[N]: whether today's leader was in yesterday's ISR or ELR and has not marked itself as recovering."""
        recovering = self.new.recovering & ~self.old.recovering
        return (self._led_by_one_of(self.old.isr) | self._led_by_one_of(self.old.elr)) & ~recovering

    @cached_property
    def by_last_known(self) -> Flags:
        """bool[N]: whether the last known leader leads again, for nobody was in the ISR or the ELR."""
        nobody = (self.old.isr == NOBODY).all(axis=1) & (self.old.elr < 0).all(axis=1)
        return self.elected & ~self.clean & nobody & self._led_by_one_of(self.old.last_known_elr)

    def _led_by_one_of(self, brokers: Ints) -> Flags:
        """bool[N]: whether today's leader is in these rows."""
        return (brokers == self.new.leader[:, None]).any(axis=1)

    @cached_property
    def left(self) -> Flags:
        """bool[N, W]: members of the old ISR that the new one lacks."""
        known = (self.old.has_state & self.new.has_state)[:, None]
        return known & (self.old.isr != NOBODY) & ~contained(self.old.isr, self.new.isr)

    @cached_property
    def joined(self) -> Flags:
        """bool[N, W]: members of the new ISR that the old one lacked."""
        known = (self.old.has_state & self.new.has_state)[:, None]
        return known & (self.new.isr != NOBODY) & ~contained(self.new.isr, self.old.isr)

    def topic(self, row: int) -> str:
        return self.new.topics[int(self.new.topic[row])].name

    def name(self, row: int) -> str:
        """`orders-3`."""
        return f"{self.topic(row)}-{self.new.partitions[row]}"

    def one(self, kind: str, row: int, text: str) -> Change:
        """A change of one partition's state znode."""
        path = f"/brokers/topics/{self.topic(row)}/partitions/{self.new.partitions[row]}/state"
        time_ms, zxid = int(self.new.time_ms[row]), int(self.new.zxid[row])
        return self.step.change(kind, self.name(row), text, path, time_ms=time_ms, zxid=zxid)

    def epochs(self, row: int) -> str:
        """`, epoch 40 -> 41`."""
        return f", epoch {self.old.leader_epoch[row]} -> {self.new.leader_epoch[row]}"


def partition_changes(step: ImageStep) -> Iterator[Change]:
    """Offline and back, elections, ISRs, replicas, first states."""
    changed = differing(step.before.topics, step.after.topics)
    both = [(old, new) for _, old, new in changed if old is not None and new is not None]
    if not both:
        return
    pairs = _pairs(step, both)
    for tell in (_offline, _unclean, _last_known, _online, _moved, _shrunk, _expanded, _recovered, _replicas, _states):
        yield from tell(pairs)


def _pairs(step: ImageStep, topics: list[tuple[TopicImage, TopicImage]]) -> Pairs:
    common = [_common(old, new) for old, new in topics]
    old = stacked([topic for topic, _ in topics], [rows for rows, _ in common])
    new = stacked([topic for _, topic in topics], [rows for _, rows in common])
    return Pairs(step, old, new)


def _common(old: TopicImage, new: TopicImage) -> tuple[Rows, Rows]:
    """The rows of the partitions that both have; where these and their replicas are the same, only rows that differ."""
    if (rows := new.rows_since(old)) is not None:
        return rows, rows
    if np.array_equal(old.partitions, new.partitions):
        return slice(None), slice(None)
    _, was, now = np.intersect1d(old.partitions, new.partitions, assume_unique=True, return_indices=True)
    return was, now


def _told(
    flags: Flags, brokers: Column, single: Callable[[int], Change], many: Callable[[int, Column], Change]
) -> Iterator[Change]:
    """One change for each flagged row while they are few, else one for each broker with its rows."""
    rows = np.flatnonzero(flags)
    if len(rows) <= MOST:
        yield from (single(int(row)) for row in rows)
        return
    of_rows = brokers[rows]
    for broker in np.unique(of_rows).tolist():
        yield many(broker, rows[of_rows == broker])


def _offline(pairs: Pairs) -> Iterator[Change]:
    old, new, step = pairs.old, pairs.new, pairs.step

    def single(row: int) -> Change:
        isr = f"isr {replicas(unpadded(new.isr[row]))}"
        was = int(old.leader[row])
        text = f"leader {was} -> none, {isr}{pairs.epochs(row)}{step.because(was)}"
        return pairs.one("partition-offline", row, text)

    def many(broker: int, rows: Column) -> Change:
        text = f"{counted(len(rows), 'partition')} led by b{broker} went offline{step.because(broker)}"
        return step.change("partition-offline", f"broker {broker}", text, count=len(rows))

    flags = old.has_state & new.has_state & (old.leader >= 0) & (new.leader < 0)
    return _told(flags, old.leader, single, many)


def _unclean(pairs: Pairs) -> Iterator[Change]:
    for row in np.flatnonzero(pairs.elected & ~pairs.clean & ~pairs.by_last_known).tolist():
        known = ("ISR", unpadded(pairs.old.isr[row])), ("ELR", told_in(pairs.old.elr[row]))
        places = [f"in the {name} {replicas(members)}" for name, members in known if members]
        why = f"it was not {' nor '.join(places)}" if places else "nobody was in the ISR"
        if any(pairs.new.leader[row] in (members or ()) for _, members in known):
            why = "its state is marked as recovering"
        yield pairs.one("unclean-election", row, f"{_leaders(pairs, row)}, UNCLEAN: {why}{pairs.epochs(row)}")


def _last_known(pairs: Pairs) -> Iterator[Change]:
    for row in np.flatnonzero(pairs.by_last_known).tolist():
        text = f"{_leaders(pairs, row)}, the last known leader: if it was killed, it may lack its newest records"
        yield pairs.one("last-known-leader", row, f"{text}{pairs.epochs(row)}")


def _online(pairs: Pairs) -> Iterator[Change]:
    def single(row: int) -> Change:
        return pairs.one("partition-online", row, f"back online: {_leaders(pairs, row)}{pairs.epochs(row)}, clean")

    def many(broker: int, rows: Column) -> Change:
        text = f"{counted(len(rows), 'partition')} back online, led by b{broker}, all clean"
        return pairs.step.change("partition-online", f"broker {broker}", text, count=len(rows))

    flags = pairs.elected & pairs.clean & (pairs.old.leader < 0)
    return _told(flags, pairs.new.leader, single, many)


def _moved(pairs: Pairs) -> Iterator[Change]:
    moved = pairs.elected & (pairs.old.leader >= 0)

    def single(row: int) -> Change:
        because = pairs.step.because(int(pairs.old.leader[row]))
        return pairs.one("leader-moved", row, f"{_leaders(pairs, row)}{pairs.epochs(row)}, clean{because}")

    def many(broker: int, rows: Column) -> Change:
        unclean = int((moved & ~pairs.clean & (pairs.old.leader == broker)).sum())
        rest = "all clean" if not unclean else f"clean, {unclean:,} more were not"
        text = f"{counted(len(rows), 'leader')} moved off b{broker}, {rest}{pairs.step.because(broker)}"
        return pairs.step.change("leader-moved", f"broker {broker}", text, count=len(rows))

    return _told(moved & pairs.clean, pairs.old.leader, single, many)


def _leaders(pairs: Pairs, row: int) -> str:
    was, now = int(pairs.old.leader[row]), int(pairs.new.leader[row])
    return f"leader {'none' if was < 0 else was} -> {now}"


def _shrunk(pairs: Pairs) -> Iterator[Change]:
    return _isr_changes(pairs, "isr-shrunk", pairs.left, pairs.old.isr)


def _expanded(pairs: Pairs) -> Iterator[Change]:
    return _isr_changes(pairs, "isr-expanded", pairs.joined, pairs.new.isr)


def _isr_changes(pairs: Pairs, kind: str, who: Flags, isr: Column) -> Iterator[Change]:
    shrunk = kind == "isr-shrunk"
    verb = "left" if shrunk else "joined"
    rows = np.flatnonzero(who.any(axis=1)).tolist()
    if len(rows) <= MOST:
        for row in rows:
            brokers = [int(broker) for broker in isr[row][who[row]]]
            isrs = f"isr {replicas(unpadded(pairs.old.isr[row]))} -> {replicas(unpadded(pairs.new.isr[row]))}"
            because = pairs.step.because(brokers[0]) if shrunk else ""
            yield pairs.one(kind, row, f"{isrs}: {replicas(brokers)} {verb}{because}")
        return
    ids, counts = np.unique(isr[who], return_counts=True)
    for broker, count in zip(ids.tolist(), counts.tolist(), strict=True):
        because = pairs.step.because(broker) if shrunk else ""
        text = f"b{broker} {verb} the ISR of {counted(count, 'partition')}{because}"
        yield pairs.step.change(kind, f"broker {broker}", text, count=count)


def _recovered(pairs: Pairs) -> Iterator[Change]:
    def single(row: int) -> Change:
        return pairs.one("partition-recovered", row, f"leader {pairs.new.leader[row]} recovered from unclean election")

    def many(broker: int, rows: Column) -> Change:
        text = f"{counted(len(rows), 'partition')} led by b{broker} recovered from unclean elections"
        return pairs.step.change("partition-recovered", f"broker {broker}", text, count=len(rows))

    return _told(pairs.old.recovering & ~pairs.new.recovering & pairs.new.has_state, pairs.new.leader, single, many)


def _replicas(pairs: Pairs) -> Iterator[Change]:
    width = max(pairs.old.replicas.shape[1], pairs.new.replicas.shape[1])
    old, new = widened(pairs.old.replicas, width), widened(pairs.new.replicas, width)
    kept = (pairs.old.replica_count > 0) & (pairs.new.replica_count > 0)
    for row in np.flatnonzero(kept & (old != new).any(axis=1)).tolist():
        path = f"/brokers/topics/{pairs.topic(row)}"
        text = f"replicas {replicas(unpadded(old[row]))} -> {replicas(unpadded(new[row]))}"
        yield pairs.step.change("replicas-changed", pairs.name(row), text, path)


def _states(pairs: Pairs) -> Iterator[Change]:
    had, has = pairs.old.has_state, pairs.new.has_state
    for topic, rows in pairs.new.by_topic(~had & has):
        which = ranges(pairs.new.partitions[rows].tolist())
        text = f"first leaders elected for {counted(len(rows), 'partition')}: {which}"
        yield pairs.step.change("partition-started", topic.name, text, count=len(rows))
    for topic, rows in pairs.new.by_topic(had & ~has):
        what = "partition" if pairs.step.after.generation == "kraft" else "state znode"
        text = f"{counted(len(rows), what)} removed: {ranges(pairs.new.partitions[rows].tolist())}"
        yield pairs.step.change("partition-state-gone", topic.name, text, count=len(rows))
