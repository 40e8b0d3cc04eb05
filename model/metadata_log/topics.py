"""Topics and partitions as records of the metadata log leave them, and facts of those that were touched.

Partitions are kept as the states that facts are told in: the partition epoch stands where a znode's data version does.
Source: `org.apache.kafka.image.TopicDelta`, `TopicsDelta`, `org.apache.kafka.metadata.PartitionRegistration` (4.3).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from model.cluster import records as r
from model.cluster.image_parts import directory_number
from model.cluster.partition_columns import AssignmentColumns, columns_of, latest_states
from model.metadata_log.partition_records import PlacedRun

MANY: Final = 4
"""Topics whose states are told as columns."""
RECOVERING: Final = 1
"""`LeaderRecoveryState`: the leader was elected unclean, and has not caught up with itself yet."""
Brokers = tuple[int, ...]


class UnusableError(ValueError):
    """A record that fits nothing of what was said before; the message says why, without its offset."""


class RecordPlace(msgspec.Struct, frozen=True):
    """Where a record stands: its offset, the epoch of the leader that wrote it, when (ms).

    As by default of a snapshot's records: nobody kept it.
    """

    offset: int = -1
    epoch: int = 0
    time_ms: int = 0


class _Topic:
    """One topic; what was touched since facts were told last."""

    __slots__ = (
        "adding", "is_assigned", "loaded", "name", "removing", "replicas", "states", "topic_id", "untold", "written",
    )  # fmt: skip

    def __init__(self, name: str, topic_id: str) -> None:
        self.name = name
        self.topic_id = topic_id
        self.replicas: dict[int, Brokers] = {}
        self.adding: dict[int, Brokers] = {}
        self.removing: dict[int, Brokers] = {}
        self.states: dict[int, r.PartitionState] = {}
        self.is_assigned = False
        self.written: set[int] = set()
        self.loaded: list[PlacedRun] = []
        """What a snapshot says of it, as columns; of partitions that `states` and `replicas` do not have, it holds."""
        self.untold: list[PlacedRun] = []

    def load(self, run: PlacedRun) -> None:
        """Many partitions; as columns where all of the topic is, and was not told yet."""
        if self.states or len(self.untold) < len(self.loaded):
            for partition, replicas in run.assignment().items():
                self.assign(partition, replicas, (), ())
            for state in run.states():
                self.write(state)
        else:
            self.loaded.append(run)
            self.untold.append(run)
            self.is_assigned = True

    def state(self, partition: int) -> r.PartitionState | None:
        """None where there is no such partition."""
        known = self.states.get(partition)
        return known or next((found for run in self.loaded[::-1] if (found := run.state(partition))), None)

    def brokers(self, partition: int) -> Brokers:
        """Its replicas."""
        known = self.replicas.get(partition)
        if known is None:
            return next((found for run in self.loaded[::-1] if (found := run.brokers(partition))), ())
        return known

    def news(self) -> tuple[Mapping[int, Brokers] | None, Sequence[r.PartitionState]]:
        """Replicas of all partitions where they were not told yet, and states that were not, partitions ascending."""
        states = tuple(self.states[partition] for partition in sorted(self.written))
        if not self.untold:
            return self.assignment() if self.is_assigned else None, states
        if len(self.untold) == 1 and not states:
            columns = self.untold[0].states()
            return AssignmentColumns(columns.partition, self.untold[0].replicas()), columns
        if not states:
            return self.assignment(), latest_states([run.states() for run in self.untold])
        latest = {state.partition: state for some in (*(run.states() for run in self.untold), states) for state in some}
        return self.assignment(), tuple(latest[partition] for partition in sorted(latest))

    def is_told(self) -> None:
        """All its news."""
        self.is_assigned, self.written, self.untold = False, set(), []

    def assignment(self) -> dict[int, Brokers]:
        """The replicas of all partitions."""
        found: dict[int, Brokers] = {}
        for run in self.loaded:
            found |= run.assignment()
        return found | self.replicas

    def assign(self, partition: int, replicas: Brokers, adding: Brokers, removing: Brokers) -> None:
        self.replicas[partition] = replicas
        for kept, brokers in ((self.adding, adding), (self.removing, removing)):
            if brokers:
                kept[partition] = brokers
            else:
                kept.pop(partition, None)
        self.is_assigned = True

    def write(self, state: r.PartitionState) -> None:
        self.states[state.partition] = state
        self.written.add(state.partition)


class TopicsById:
    """All topics, by id. Raises UnusableError for what does not fit; then nothing was changed."""

    def __init__(self) -> None:
        self.tells_elr = False
        """Whether eligible leader replicas are written (metadata.version 4.0-IV1): if not, nobody knows of any."""
        self._topics: dict[str, _Topic] = {}
        self._ids: dict[str, str] = {}
        self._touched: dict[str, _Topic] = {}
        self._gone: dict[str, set[int]] = {}

    def name_of(self, topic_id: str | None) -> str:
        """Empty where no such topic is there."""
        topic = self._topics.get(topic_id or "")
        return "" if topic is None else topic.name

    def create(self, name: str, topic_id: str) -> None:
        """TopicRecord: a name that is used again has a new id, and nothing of what it had."""
        if name in self._ids:
            self._remove(self._ids[name])
        self._ids[name] = topic_id
        self._topics[topic_id] = _Topic(name, topic_id)

    def remove(self, fields: dict[str, Any]) -> str:
        """RemoveTopicRecord; returns the name."""
        if fields["topicId"] not in self._topics:
            raise UnusableError(f"topic {fields['topicId']} is not there, and is removed")
        return self._remove(fields["topicId"])

    def _remove(self, topic_id: str) -> str:
        topic = self._topics.pop(topic_id)
        self._touched.pop(topic_id, None)
        del self._ids[topic.name]
        self._gone.setdefault(topic.name, set()).update(topic.assignment())
        return topic.name

    def place(self, fields: dict[str, Any], at: RecordPlace) -> None:
        """PartitionRecord: all of a partition."""
        topic, directories = self._topic(fields), fields.get("directories")
        if directories and len(directories) != len(fields["replicas"]):
            raise UnusableError(
                f"{topic.name}-{fields['partitionId']} has {len(directories)} directories "
                f"for {len(fields['replicas'])} replicas"
            )
        partition: int = fields["partitionId"]
        replicas, adding, removing = (fields[name] for name in ("replicas", "addingReplicas", "removingReplicas"))
        topic.assign(partition, tuple(replicas), tuple(adding), tuple(removing))
        topic.write(
            r.PartitionState(
                partition,
                fields["leader"],
                fields["leaderEpoch"],
                tuple(fields["isr"]),
                at.epoch,
                fields["partitionEpoch"],
                fields.get("leaderRecoveryState") == RECOVERING,
                at.offset,
                at.time_ms,
                self._told(fields.get("eligibleLeaderReplicas")),
                self._told(fields.get("lastKnownElr")),
                tuple(map(directory_number, directories)) if directories else None,
            )
        )

    def load(self, topic_id: str, run: PlacedRun) -> bool:
        """PartitionRecords of one topic; whether it is there."""
        topic = self._topics.get(topic_id)
        if topic is None:
            return False
        self._touched[topic_id] = topic
        topic.load(run)
        return True

    def change(self, fields: dict[str, Any], at: RecordPlace) -> None:
        """PartitionChangeRecord: what it does not name stays.

        The partition epoch rises with each, the leader epoch with each that names a leader, even the same.
        """
        topic, partition = self._topic(fields), cast(int, fields["partitionId"])
        before = topic.state(partition)
        if before is None:
            raise UnusableError(f"{topic.name}-{partition} is not there, and is changed")
        if any(fields.get(name) is not None for name in ("replicas", "addingReplicas", "removingReplicas")):
            topic.assign(
                partition,
                _either(fields.get("replicas"), topic.brokers(partition)),
                _either(fields.get("addingReplicas"), topic.adding.get(partition, ())),
                _either(fields.get("removingReplicas"), topic.removing.get(partition, ())),
            )
        recovery, directories = fields.get("leaderRecoveryState", -1), fields.get("directories")
        topic.write(
            r.PartitionState(
                partition,
                fields.get("leader", before.leader),
                before.leader_epoch + ("leader" in fields),
                _either(fields.get("isr"), before.isr),
                at.epoch,
                before.version + 1,
                before.recovering if recovery < 0 else recovery == RECOVERING,
                at.offset,
                at.time_ms,
                self._told(fields.get("eligibleLeaderReplicas"), before.elr),
                self._told(fields.get("lastKnownElr"), before.last_known_elr),
                tuple(map(directory_number, directories)) if directories else before.directories,
            )
        )

    def clear_elr(self, name: str, at: RecordPlace) -> None:
        """ClearElrRecord: of one topic, or of all ("") the eligible leader replicas are forgotten.

        Counts as a change of those partitions alone that had any.
        """
        if name and name not in self._ids:
            raise UnusableError(f"topic {name} is not there, and its eligible leader replicas are cleared")
        for topic in [self._topics[self._ids[name]]] if name else self._topics.values():
            for state in list(topic.states.values()):
                if state.elr or state.last_known_elr:
                    self._touched[topic.topic_id] = topic
                    topic.write(
                        msgspec.structs.replace(
                            state,
                            elr=(),
                            last_known_elr=(),
                            version=state.version + 1,
                            controller_epoch=at.epoch,
                            zxid=at.offset,
                            time_ms=at.time_ms,
                        )
                    )

    def facts(self, at: RecordPlace) -> Iterator[r.ClusterRecord]:
        """Of everything that was touched since this was asked last: what is gone first."""
        when = {"zxid": at.offset, "time_ms": at.time_ms}
        for name, partitions in self._gone.items():
            yield r.PartitionStatesRemoved(topic=name, partitions=tuple(sorted(partitions)), **when)
            yield r.TopicRemoved(topic=name, **when)
        news = [(topic, *topic.news()) for topic in self._touched.values()]
        for topic, replicas, states in _as_columns(news):
            if replicas is not None:
                yield r.TopicAssigned(
                    topic=topic.name,
                    replicas=replicas,
                    topic_id=topic.topic_id,
                    adding=dict(topic.adding),
                    removing=dict(topic.removing),
                    **when,
                )
            if len(states):
                yield r.PartitionStatesWritten(topic=topic.name, states=states, **when)
            topic.is_told()
        self._gone, self._touched = {}, {}

    def _topic(self, fields: dict[str, Any]) -> _Topic:
        """Of a record of a partition: it is touched by it."""
        topic_id = fields["topicId"]
        topic = self._topics.get(topic_id)
        if topic is None:
            raise UnusableError(f"partition {fields['partitionId']} of topic {topic_id}, which is not there")
        self._touched[topic_id] = topic
        return topic

    def _told(self, brokers: list[int] | None, before: Brokers | None = None) -> Brokers | None:
        if brokers is not None:
            return tuple(brokers)
        return before if before is not None or not self.tells_elr else ()


_News = tuple[_Topic, Mapping[int, Brokers] | None, Sequence[r.PartitionState]]


def _as_columns(news: list[_News]) -> Iterator[_News]:
    """The same, with the states of many topics made columns together: one by one these take most of the time."""
    plain = [states for _, _, states in news if isinstance(states, tuple)]
    if len(plain) < MANY:
        yield from news
        return
    columns, end = columns_of([state for states in plain for state in states]), 0
    for topic, replicas, states in news:
        if isinstance(states, tuple):
            start, end = end, end + len(states)
            states = columns[start:end]  # noqa: PLW2901
        yield topic, replicas, states


def _either(brokers: list[int] | None, before: Brokers) -> Brokers:
    return before if brokers is None else tuple(brokers)
