"""State znodes as read → one record a topic, the states as columns. There may be a million of them; pure."""

from collections.abc import Iterator
from itertools import compress
from operator import attrgetter

import numpy as np

from model.cluster import records as r
from model.cluster.state_columns import StateColumns
from model.cluster.topic_image import Ints, padded
from model.hosts.zookeeper.znode_columns import ZnodeColumns
from model.znodes.partition_state import RECOVERING, LeaderIsrAndControllerEpoch, decode_partition_state
from model.znodes.paths import state_places


class StatesRead:
    """The states that can be used among some answers. `rows` says where they are, `others` where the rest is."""

    def __init__(self, answers: ZnodeColumns) -> None:
        self._answers = answers
        self.rows: list[int] = []
        self.others: list[int] = []
        self._topics: dict[str, int] = {}
        self._topic_of: list[int] = []
        self._partitions: list[int] = []
        self._payloads = self._decoded(self._find())

    def _find(self) -> list[bytes]:
        """What stands where a state should."""
        topics, found = self._topics, list[bytes]()
        places = state_places(self._answers.paths)
        for row, (place, data) in enumerate(zip(places, self._answers.data, strict=True)):
            if place is None or not data or not isinstance(data, bytes):
                self.others.append(row)
                continue
            self.rows.append(row)
            self._topic_of.append(topics.setdefault(place[0], len(topics)))
            self._partitions.append(place[1])
            found.append(data)
        return found

    def _decoded(self, found: list[bytes]) -> list[LeaderIsrAndControllerEpoch]:
        payloads = decode_partition_state.many(found)
        usable = [payload for payload in payloads if payload is not None]
        if len(usable) < len(payloads):
            are_usable = [payload is not None for payload in payloads]
            self.others = sorted({*self.others, *self.rows} - {*compress(self.rows, are_usable)})
            for column in (self.rows, self._topic_of, self._partitions):
                column[:] = compress(column, are_usable)
        return usable

    def records(self) -> Iterator[r.Record]:
        """A record of each topic, its partitions ascending, dated by the newest of its states."""
        if not self.rows:
            return
        topics, partitions = np.array(self._topic_of), np.array(self._partitions, np.int32)
        states = self._columns(partitions).take(np.lexsort((partitions, topics)))
        ends = np.bincount(topics, minlength=len(self._topics)).cumsum().tolist()
        for topic, start, end in zip(self._topics, [0, *ends[:-1]], ends, strict=True):
            if start < end:
                of_topic = states[start:end]
                newest = int(of_topic.zxid.argmax())
                zxid, time_ms = int(of_topic.zxid[newest]), int(of_topic.time_ms[newest])
                yield r.PartitionStatesWritten(topic=topic, states=of_topic, zxid=zxid, time_ms=time_ms)

    def _columns(self, partitions: Ints) -> StateColumns:
        answers, rows = self._answers, np.array(self.rows)
        return StateColumns(
            partition=partitions,
            leader=self._numbers("leader"),
            leader_epoch=self._numbers("leader_epoch"),
            isr=padded([payload.isr for payload in self._payloads]),
            controller_epoch=self._numbers("controller_epoch"),
            version=answers.stat("version")[rows].astype(np.int32),
            recovering=self._numbers("leader_recovery_state") == RECOVERING,
            zxid=answers.stat("mzxid")[rows],
            time_ms=answers.stat("mtime_ms")[rows],
        )

    def _numbers(self, name: str) -> Ints:
        return np.fromiter(map(attrgetter(name), self._payloads), np.int32, len(self._payloads))
