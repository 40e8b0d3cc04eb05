"""Images of a followed cluster → files of its recording. Reads no clock: it is told the time (ms) with every call.

What is written is what changed between two images, as records: replayed on the first they give the second. What a
source said says much again: a listing after a reconnect, offsets that did not move. Parts that are the same object are
not looked at.

The file under way is written anew, whole, every ten seconds in which something changed, so that a crash loses no more
than that; when it has grown large, the next one is begun.
"""

import fcntl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TypeVar

import msgspec
import numpy as np

from model.cluster import records as r
from model.cluster.cluster_image import EMPTY, ClusterImage, classic_group_records, fenced, registered, state_of
from model.cluster.ids import TopicPartition, newest
from model.cluster.image_parts import GroupImage
from model.cluster.records import ClusterRecord
from model.cluster.texts import redacted
from model.cluster.topic_image import (
    BROKERS_COLUMNS,
    STATE_COLUMNS,
    Flags,
    TopicImage,
    differing_rows,
    rows_of,
    widened,
)
from model.recordings.folder import DAY_MS, RecordingError, cluster_path, part_path
from model.recordings.format import FORMAT, PartHeader
from model.recordings.part_file import write_part
from model.recordings.playback import Encoder

K = TypeVar("K")
V = TypeVar("V")


def can_follow(before: ClusterImage, after: ClusterImage) -> bool:
    """Whether records can say how one image became the other: not where the cluster is another one."""
    return (
        before.cluster_id in (None, after.cluster_id)
        and newest(before.generation, after.generation) == after.generation
        and (after.controller.epoch is not None or before.controller.epoch is None)
        and (after.quorum is not None or before.quorum is None)
        and (after.metadata is not None or before.metadata is None)
    )


def records_between(before: ClusterImage, after: ClusterImage) -> Iterator[r.ClusterRecord]:
    """Every fact that differs, secrets hidden, in an order that can be replayed on `before`. Both are whole images."""
    if before.cluster_id != after.cluster_id and after.cluster_id is not None:
        yield r.ClusterIdentified(cluster_id=after.cluster_id)
    if before.generation != after.generation:
        yield r.GenerationRecognised(generation=after.generation)
    yield from _controller(before, after)
    yield from _brokers(before, after)
    for name, topic in changed(before.topics, after.topics):
        yield from _topic(name, before.topics.get(name), topic)
    for name, group in changed(before.groups, after.groups):
        yield from _group(before.groups.get(name) or GroupImage(name), group, name not in before.groups)
    for name, group in changed(before.classic_groups, after.classic_groups):
        yield from _classic_group(name, before.classic_groups.get(name), group)
    if before.log_ends is not after.log_ends and before.log_ends != after.log_ends:
        yield r.LogEndsRead(ends=after.log_ends)
    for entity, config in changed(before.configs, after.configs):
        if config is None:
            yield r.ConfigRemoved(entity=entity)
        else:
            yield r.ConfigChanged(entity=entity, config=redacted(entity, config))
    yield from _admin(before, after)
    yield from _told_by_brokers(before, after)
    for path, reason in changed(before.unreadable, after.unreadable):
        yield r.ZnodeReadable(path=path) if reason is None else r.ZnodeUnreadable(path=path, reason=reason)


def changed(before: Mapping[K, V], after: Mapping[K, V]) -> Iterator[tuple[K, V | None]]:
    """What a mapping holds that another did not, by key; None: it is gone."""
    if before is after:
        return
    for key in before:
        if key not in after:
            yield key, None
    for key, value in after.items():
        old = before.get(key)
        if old is None or (old is not value and old != value):
            yield key, value


def _controller(before: ClusterImage, after: ClusterImage) -> Iterator[r.ClusterRecord]:
    was, now = before.controller, after.controller
    if (was.broker, was.since_ms) != (now.broker, now.since_ms):
        if now.broker is None:
            yield r.ControllerLost(time_ms=now.since_ms)
        else:
            yield r.ControllerElected(broker=now.broker, since_ms=now.since_ms)
    if was.epoch != now.epoch and now.epoch is not None:
        yield r.ControllerEpochChanged(epoch=now.epoch)


def _brokers(before: ClusterImage, after: ClusterImage) -> Iterator[r.ClusterRecord]:
    for id in sorted(before.log_dirs.keys() - after.log_dirs.keys()):
        yield r.BrokerLost(broker=id)  # nothing else forgets its folders
        if id in after.brokers:
            yield registered(after.brokers[id])
    for id, broker in changed(before.brokers, after.brokers):
        yield registered(broker) if broker else r.BrokerLost(broker=id)
    for id, broker in changed(before.fenced, after.fenced):
        if broker is not None:
            yield fenced(broker)
        elif id not in after.brokers:
            yield r.BrokerLost(broker=id)


def _told_by_brokers(before: ClusterImage, after: ClusterImage) -> Iterator[r.ClusterRecord]:
    if after.quorum is not None and before.quorum != after.quorum:
        yield r.QuorumDescribed(quorum=after.quorum)
    if after.metadata is not None and before.metadata != after.metadata:
        yield r.MetadataDescribed(metadata=after.metadata)
    forgotten = {
        broker for broker, _ in changed(before.fenced, after.fenced)
    } | before.brokers.keys() - after.brokers.keys()
    kept = {broker: folders for broker, folders in before.log_dirs.items() if broker not in forgotten}
    for broker, folders in changed(kept, after.log_dirs):  # who is fenced or lost takes its folders along
        if folders is not None:
            yield r.LogDirsDescribed(broker=broker, folders=folders)
    if before.offline_replicas != after.offline_replicas:
        yield r.ReplicasWentOffline(replicas=after.offline_replicas)
    if before.differences != after.differences:
        yield r.ViewsDiffered(differences=after.differences)


def _topic(name: str, before: TopicImage | None, after: TopicImage | None) -> Iterator[r.ClusterRecord]:
    if before is None or after is None or not _is_assigned_alike(before, after):
        was, now = (None if topic is None else _assignment(topic) for topic in (before, after))
        if now is not None:
            yield now
        elif was is not None:
            yield r.TopicRemoved(topic=name)
    none = np.empty(0, np.int32)
    had, has = (none if topic is None else topic.partitions[topic.has_state] for topic in (before, after))
    gone = np.setdiff1d(had, has, assume_unique=True)
    if len(gone):
        yield r.PartitionStatesRemoved(topic=name, partitions=tuple(gone.tolist()))
    if after is not None:
        rows = after.has_state if before is None else after.has_state & _differ(before, after)
        states = tuple(state_of(after, row) for row in rows.nonzero()[0].tolist())
        if states:
            yield r.PartitionStatesWritten(topic=name, states=states)


def _assignment(topic: TopicImage) -> r.TopicAssigned | None:
    rows = zip(topic.partitions.tolist(), rows_of(topic.replicas), strict=True)
    replicas = {partition: brokers for partition, brokers in rows if brokers}
    if not replicas:
        return None
    return r.TopicAssigned(
        topic=topic.name, replicas=replicas, topic_id=topic.topic_id, adding=topic.adding, removing=topic.removing
    )


def _is_assigned_alike(before: TopicImage, after: TopicImage) -> bool:
    def facts(topic: TopicImage) -> tuple[object, ...]:
        return topic.topic_id, topic.adding, topic.removing

    width = max(before.replicas.shape[1], after.replicas.shape[1])
    return (
        facts(before) == facts(after)
        and np.array_equal(before.partitions, after.partitions)
        and np.array_equal(widened(before.replicas, width), widened(after.replicas, width))
    )


def _differ(before: TopicImage, after: TopicImage) -> Flags:
    """bool[P]: whether the state of that row of `after` is another than the partition had before."""
    _, old, new = np.intersect1d(before.partitions, after.partitions, assume_unique=True, return_indices=True)
    other = np.zeros(len(old), np.bool_)
    for name in BROKERS_COLUMNS:
        other |= differing_rows(getattr(before, name)[old], getattr(after, name)[new])
    for name in STATE_COLUMNS:
        other |= getattr(before, name)[old] != getattr(after, name)[new]
    differ = np.ones(len(after), np.bool_)
    differ[new] = other
    return differ


def _group(before: GroupImage, after: GroupImage | None, is_new: bool) -> Iterator[r.ClusterRecord]:
    name = before.name
    if after is not None and is_new:
        yield r.GroupSeen(group=name)
    now = after or GroupImage(name)
    for member, facts in changed(before.members, now.members):
        if facts is None:
            yield r.MemberLeft(group=name, member=member)
        else:
            subscription, pattern, joined_ms = facts.subscription, facts.pattern, facts.joined_ms
            yield r.MemberJoined(
                group=name, member=member, subscription=subscription, pattern=pattern, joined_ms=joined_ms
            )
    for partition, owner in changed(before.owners, now.owners):
        if owner is None:
            yield r.PartitionReleased(group=name, partition=partition)
        else:
            yield r.PartitionClaimed(group=name, partition=partition, owner=owner)
    yield from _offsets(name, before.offsets, now.offsets)
    if after is None:
        yield r.GroupRemoved(group=name)
    elif before.rebalances != after.rebalances:
        yield r.GroupRebalancesSeen(group=name, kind=after.kind, rebalances=after.rebalances)


def _offsets(
    group: str, before: Mapping[TopicPartition, int], after: Mapping[TopicPartition, int]
) -> Iterator[r.ClusterRecord]:
    for partition, offset in changed(before, after):
        if offset is None:
            yield r.OffsetRemoved(group=group, partition=partition)
        else:
            yield r.OffsetCommitted(group=group, partition=partition, offset=offset)


def _classic_group(name: str, before: GroupImage | None, after: GroupImage | None) -> Iterator[r.ClusterRecord]:
    forgets = before is not None and after is not None and after.generation is None is not before.generation
    if after is None or forgets:
        yield r.GroupDied(group=name)
    if after is None:
        return
    if before is None or forgets:
        yield from classic_group_records(after)
        return
    for was, now in zip(classic_group_records(before), classic_group_records(after), strict=True):
        if was != now:
            yield now


def _admin(before: ClusterImage, after: ClusterImage) -> Iterator[r.ClusterRecord]:
    was, now = before.admin, after.admin
    if was is now:
        return
    if was.reassignments != now.reassignments:
        yield r.ReassignmentsRequested(targets=now.reassignments)
    if was.preferred_election != now.preferred_election:
        yield r.PreferredElectionRequested(partitions=now.preferred_election)
    for topic in sorted(now.delete_topics - was.delete_topics):
        yield r.TopicDeletionRequested(topic=topic)
    for topic in sorted(was.delete_topics - now.delete_topics):
        yield r.TopicDeletionCleared(topic=topic)


class Rolling(msgspec.Struct, frozen=True):
    """When files are written and begun."""

    flush_ms: int = 10_000
    """Changes wait no longer than this for a file."""
    heartbeat_ms: int = 60_000
    """As often a file says that nothing has changed."""
    part_rows: int = 50_000
    set_rows: int = 200_000
    """After so many rows, and as many as the image had, another image begins a new set."""
    absent_ms: int = 300_000
    """Who was not told the time for so long does not know what happened meanwhile: a gap."""


ROLLING = Rolling()


class Recorder:
    """Records one cluster into `folder`. Used by one thread; raises RecordingError where a file cannot be written."""

    def __init__(self, folder: Path, cluster: str, session: str, rolling: Rolling = ROLLING) -> None:
        self._folder, self._cluster, self._session, self._rolling = folder, cluster, session, rolling
        self.path = cluster_path(folder, cluster)
        """Where the recording is."""
        self._lock = _locked(self.path)
        self._encoder = Encoder()
        self._image = EMPTY
        self._at_ms = 0
        """Nothing that comes is earlier: moments and claims only go on."""
        self._moment_ms = 0
        self._known_ms = 0
        """When somebody said last what time it is."""
        self._from_ms = 0
        self._set = self._part = -1
        self._image_rows = self._set_rows = 0
        self._is_dirty = False
        self._written_ms = 0
        self.moments = 0
        """Recorded so far, images not counted."""

    def take(self, image: ClusterImage, now_ms: int) -> None:
        """The cluster is like this. Moments are at least 1 ms apart, so that none hides another."""
        seen_ms = image.provenance.time_ms or now_ms
        if self._set < 0:
            self._begin_set(image, seen_ms)
            self._claim(seen_ms)
            return
        self._go_on(max(seen_ms, self._at_ms))
        if not can_follow(self._image, image):
            at_ms = max(seen_ms, self._at_ms + 1)
            self._flush(at_ms)
            self._begin_set(image, at_ms)
            return
        if self._set_rows > max(self._rolling.set_rows, self._image_rows):
            self._flush(self._at_ms)
            self._begin_set(self._image, self._at_ms)
        records = tuple(records_between(self._image, image))
        self._image = image
        if records:
            self._at_ms = max(seen_ms, self._at_ms + 1)
            self._encode(image, records)
            self.moments += 1

    def tick(self, now_ms: int) -> None:
        """Time goes on, and the source still follows; to be called about each second."""
        if self._set < 0:
            return
        self._go_on(now_ms)
        waits_ms = self._rolling.flush_ms if self._is_dirty else self._rolling.heartbeat_ms
        if now_ms - self._written_ms >= waits_ms:
            self._claim(now_ms)

    def save(self) -> None:
        """Writes what is known, when nobody knows whether it is still so."""
        if self._is_dirty:
            self._claim(self._at_ms)

    def close(self, now_ms: int) -> None:
        """Writes what is left; `now_ms` is when it was last known to be so."""
        try:
            if self._set >= 0:
                self._claim(now_ms)
        finally:
            self._lock.close()

    def _go_on(self, now_ms: int) -> None:
        """A day's files begin with what was so at midnight, whoever looked then."""
        if now_ms - self._known_ms > self._rolling.absent_ms:
            self._flush(max(self._known_ms, self._at_ms))
            self._begin_set(self._image, now_ms)
        while (midnight_ms := (self._from_ms // DAY_MS + 1) * DAY_MS) <= now_ms:
            self._flush(max(midnight_ms, self._at_ms))
            self._begin_set(self._image, self._at_ms)
        self._known_ms = max(now_ms, self._known_ms)

    def _begin_set(self, image: ClusterImage, at_ms: int) -> None:
        self._encoder, self._image = Encoder(), image
        self._set, self._part, self._from_ms = self._set + 1, 0, at_ms
        self._at_ms = self._known_ms = at_ms
        self._set_rows = 0
        self._encode(image, tuple(records_between(EMPTY, image)))
        self._image_rows = self._set_rows

    def _encode(self, image: ClusterImage, records: tuple[ClusterRecord, ...]) -> None:
        before = len(self._encoder)
        self._moment_ms = self._at_ms
        self._encoder.moment(self._at_ms, image.provenance, records)
        self._set_rows += len(self._encoder) - before
        self._is_dirty = True

    def _claim(self, now_ms: int) -> None:
        """Writes what was so until now; the last moment was so for 1 ms at least."""
        self._flush(max(now_ms, self._at_ms, self._moment_ms + 1))

    def _flush(self, until_ms: int) -> None:
        header = PartHeader(
            format=FORMAT,
            cluster=self._cluster,
            source=self._image.provenance.source,
            session=self._session,
            image_set=self._set,
            part=self._part,
            from_ms=self._from_ms,
            until_ms=until_ms,
        )
        names = (self._folder, self._cluster, self._session, self._set, self._part, self._from_ms)
        write_part(part_path(*names), self._encoder.table(), header)
        self._at_ms = self._written_ms = until_ms
        self._is_dirty = False
        if len(self._encoder) > self._rolling.part_rows:
            self._encoder.forget_rows()
            self._part, self._from_ms = self._part + 1, until_ms


def _locked(path: Path) -> IO[str]:
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / ".lock").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RecordingError(f"{path}: another kdrill is recording here; record into another folder") from None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {error.strerror or error}") from None
    return lock
