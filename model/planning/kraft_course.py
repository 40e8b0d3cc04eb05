"""What a KRaft controller makes of a plan, by its own rules: who leads when, which epochs rise, and what has to wait.

Assumed: brokers that are to come have started, each copy gets into the ISR by itself, and preferred leaders are elected
when all is done. Everything else stays as it is. It writes nothing.
Sources: `ReplicationControlManager` (`alterPartitionReassignments`, `electLeaders`), `PartitionChangeBuilder`, 3.3 to
4.4; when a reassignment is complete is a matter of the release (KAFKA-15665).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.records import PartitionState
from model.cluster.texts import brokers, counted
from model.kraft_controller.cluster import KraftCluster
from model.kraft_controller.partition_change import Election, Registration, RequestedChange, applied, change_of
from model.kraft_controller.requests import begun, refuses_cordoned

UNKNOWN_EPOCH: Final = -1_000_000


class PartitionCourse(msgspec.Struct, frozen=True, gc=False):
    """A partition of a plan from beginning to end."""

    before: Registration
    moved: Registration
    """When all copies are in sync: complete, or as far as it gets."""
    after: Registration
    """After the preferred election."""
    records: int
    """How often the controller writes it."""
    refused: tuple[int, ...] = ()
    """Brokers for whose sake the controller refuses it: all of their log directories are cordoned."""

    @property
    def waits_for(self) -> tuple[int, ...]:
        """Whom the reassignment lacks in the ISR to be complete; nobody where it is."""
        state = self.moved
        if not state.is_reassigned:
            return ()
        return tuple(each for each in state.replicas if each not in state.removing and each not in state.isr)

    @property
    def is_stuck(self) -> bool:
        """Whether somebody is to come and to go at once, which only a cancellation ends."""
        return bool(set(self.moved.adding) & set(self.moved.removing))

    def state(self, number: int) -> PartitionState:
        """How the partition ends."""
        after = self.after
        return PartitionState(
            partition=number,
            leader=after.leader,
            leader_epoch=after.leader_epoch,
            isr=after.isr,
            controller_epoch=0,
            version=max(after.partition_epoch, 0),
            recovering=after.recovering,
            elr=after.elr,
            last_known_elr=after.last_known_elr,
        )


Courses = Mapping[TopicPartition, PartitionCourse]


def state_after(courses: Courses, name: TopicPartition, staying: Collection[int]) -> PartitionState | None:
    """As KRaft's rules have it; None where none are known, or where it is not complete as long as somebody is away."""
    course = courses.get(name)
    if course is None or course.moved.is_reassigned or not set(course.after.isr) <= set(staying):
        return None
    return course.state(name.partition)


def courses_of(
    image: ClusterImage, targets: Mapping[TopicPartition, tuple[int, ...]], coming: Collection[int]
) -> dict[TopicPartition, PartitionCourse]:
    """By partition. `coming`: brokers that are taken to be active, though they are not yet."""
    cluster, courses = KraftCluster(image), dict[TopicPartition, PartitionCourse]()
    active = cluster.active | set(coming)
    least = {topic: cluster.min_isr(topic) for topic in {name.topic for name in targets}}
    for name, target in targets.items():
        state = cluster.partition(name)
        if image.metadata is None:  # brokers do not tell partition epochs
            state = msgspec.structs.replace(state, partition_epoch=UNKNOWN_EPOCH)
        if refuses_cordoned(cluster) and (refused := tuple(each for each in target if is_cordoned(cluster, each))):
            courses[name] = PartitionCourse(state, state, state, 0, refused)
            continue
        election = Election.UNCLEAN if cluster.allows_unclean(name.topic) else Election.ONLINE
        on_its_way = _OnItsWay(cluster, active, state, least[name.topic], election)
        courses[name] = on_its_way.to(target)
    return courses


def is_cordoned(cluster: KraftCluster, broker: int) -> bool:
    """Whether it is registered, and gets no new replicas."""
    registered = cluster.brokers.get(broker)
    return registered is not None and not registered.takes_replicas


class _OnItsWay:
    """One partition, and the changes that it goes through."""

    def __init__(
        self, cluster: KraftCluster, active: Collection[int], state: Registration, least: int, election: Election
    ) -> None:
        self._levels, self._active, self._least, self._election = cluster.levels, active, least, election
        self._state = self._before = state
        self._records = 0

    def to(self, target: tuple[int, ...]) -> PartitionCourse:
        self._change(msgspec.structs.replace(begun(self._state, target), election=self._election))
        for broker in (each for each in target if each in self._state.adding and each in self._active):
            if self._state.leader != NO_LEADER and broker not in self._state.isr:
                self._change(RequestedChange(isr=(*self._state.isr, broker), recovering=False, election=self._election))
        moved = self._state
        if moved.leader != moved.replicas[0] and not moved.is_reassigned:
            self._change(RequestedChange(election=Election.PREFERRED))
        return PartitionCourse(self._before, moved, self._state, self._records)

    def _change(self, asked: RequestedChange) -> None:
        found = change_of(self._state, asked, self._levels, self._active.__contains__, self._least)
        if found is not None:
            self._state = applied(self._state, found.record)
            self._records += 1


class CourseFigures(msgspec.Struct, frozen=True):
    """What the courses of a plan come to."""

    records: int
    moved_by_reassignment: int
    """Partitions that another broker leads when the reassignment is complete."""
    moved_by_election: int
    """Those to which the preferred election after it gives another leader."""
    epochs: tuple[tuple[int, int], ...]
    """(by how much leader epochs rise, in how many partitions), ascending."""
    waiting: int
    """Partitions whose reassignment is not complete when all copies are in sync."""


def figures_of(courses: Iterable[PartitionCourse]) -> CourseFigures:
    """The sums."""
    some = list(courses)
    rises = Counter(each.after.leader_epoch - each.before.leader_epoch for each in some)
    return CourseFigures(
        records=sum(each.records for each in some),
        moved_by_reassignment=sum(each.moved.leader != each.before.leader for each in some),
        moved_by_election=sum(each.after.leader != each.moved.leader for each in some),
        epochs=tuple(sorted((rise, count) for rise, count in rises.items() if rise)),
        waiting=sum(each.moved.is_reassigned for each in some),
    )


def notes_on_courses(courses: Courses, fenced: Collection[int]) -> Iterator[str]:
    """What the reader of a plan has to know of them, the gravest first. `fenced`: brokers that may come back."""
    if refused := {name: each.refused for name, each in courses.items() if each.refused}:
        who = {broker for some in refused.values() for broker in some}
        yield (
            f"{_named(refused)}: Kafka refuses a reassignment that names {brokers(who)}, whose log directories are all "
            "cordoned (INVALID_REPLICA_ASSIGNMENT)."
        )
    if stuck := [name for name, each in courses.items() if each.is_stuck]:
        yield (
            f"{_named(stuck)}: this goes back on the reassignment under way, which this release then never completes "
            "by itself: cancel that first."
        )
    yield from _notes_on_waiting(courses, fenced)
    figures = figures_of(courses.values())
    if figures.moved_by_reassignment or figures.moved_by_election:
        yield (
            f"Leaders move: {figures.moved_by_reassignment:,} with the reassignment itself, where the old one goes; "
            f"{figures.moved_by_election:,} with the preferred leader election after it, which KRaft's controller "
            "holds every five minutes unless auto.leader.rebalance.enable is false."
        )


def _notes_on_waiting(courses: Courses, registered: Collection[int]) -> Iterator[str]:
    waiting = {name: each for name, each in courses.items() if each.waits_for and not each.is_stuck}
    if fenced := {broker for each in waiting.values() for broker in each.waits_for}.intersection(registered):
        whose = [name for name, each in waiting.items() if fenced.intersection(each.waits_for)]
        be, back = ("is", "it is") if len(fenced) == 1 else ("are", "they are")
        wait = "waits" if len(whose) == 1 else "wait"
        yield (
            f"{brokers(fenced).capitalize()} {be} fenced: Kafka takes the plan, and {_named(whose)} {wait} until "
            f"{back} back."
        )
    if rest := [name for name, each in waiting.items() if not fenced.intersection(each.waits_for)]:
        who = {broker for name in rest for broker in waiting[name].waits_for}
        yield (
            f"{_named(rest)} {'waits' if len(rest) == 1 else 'wait'} until {brokers(who)} "
            f"{'is' if len(who) == 1 else 'are'} in sync, too: this release completes a reassignment only then."
        )


def _named(names: Collection[TopicPartition]) -> str:
    first = next(iter(names))
    return f"{counted(len(names), 'partition')} ({first}{' and more' if len(names) > 1 else ''})"
