"""State znodes as read → one record a topic, the states as columns. There may be a million of them; pure."""

from collections.abc import Iterator
from itertools import compress
from typing import cast

import numpy as np

from model.cluster import records as r
from model.cluster.state_columns import StateColumns
from model.cluster.topic_image import Ints, Longs, untold
from model.hosts.zookeeper.values import Unread
from model.hosts.zookeeper.znode_columns import ZnodeColumns
from model.sources.zookeeper.state_payloads import state_payloads
from model.znodes.partition_state import RECOVERING
from model.znodes.paths import state_runs


class StatesRead:
    """The states that can be used among some answers. `rows` says where they are, `others` where the rest is."""

    def __init__(self, answers: ZnodeColumns) -> None:
        self._topics: dict[str, int] = {}
        topics, partitions, rows, found = self._find(answers)
        payloads = state_payloads(found)
        states = StateColumns(
            partition=partitions,
            leader=payloads.leader,
            leader_epoch=payloads.leader_epoch,
            isr=payloads.isr,
            controller_epoch=payloads.controller_epoch,
            version=answers.stat("version")[rows].astype(np.int32),
            recovering=payloads.leader_recovery_state == RECOVERING,
            zxid=answers.stat("mzxid")[rows],
            time_ms=answers.stat("mtime_ms")[rows],
            elr=untold(len(rows)),
            last_known_elr=untold(len(rows)),
        )
        if not payloads.usable.all():
            topics, rows, states = topics[payloads.usable], rows[payloads.usable], states.take(payloads.usable)
        self._topic_of, self._states = topics, states
        self.rows: list[int] = rows.tolist()
        is_other = np.ones(len(answers), np.bool_)
        is_other[rows] = False
        self.others: list[int] = np.flatnonzero(is_other).tolist()

    def _find(self, answers: ZnodeColumns) -> tuple[Longs, Ints, Longs, list[bytes]]:
        """What stands where a state should: which topic's, which partition's, in which row."""
        topics, lengths, partitions, rows = list[int](), list[int](), list[int](), list[int]()
        data = list[bytes | Unread]()
        for topic, start, run in state_runs(answers.paths):
            topics.append(self._topics.setdefault(topic, len(self._topics)))
            lengths.append(len(run))
            partitions += run
            rows += range(start, start + len(run))
            data += answers.data[start : start + len(run)]
        of_topic, numbers, places = (
            np.repeat(np.array(topics, np.int64), lengths),
            np.array(partitions, np.int32),
            np.array(rows, np.int64),
        )
        if {bytes}.issuperset(map(type, data)) and b"" not in data:
            return of_topic, numbers, places, cast(list[bytes], data)
        is_found = [isinstance(datum, bytes) and datum != b"" for datum in data]
        found = cast(list[bytes], list(compress(data, is_found)))
        return of_topic[is_found], numbers[is_found], places[is_found], found

    def records(self) -> Iterator[r.Record]:
        """A record of each topic, its partitions ascending, dated by the newest of its states."""
        if not self.rows:
            return
        topics = self._topic_of
        states = self._states.take(np.lexsort((self._states.partition, topics)))
        ends = np.bincount(topics, minlength=len(self._topics)).cumsum().tolist()
        for topic, start, end in zip(self._topics, [0, *ends[:-1]], ends, strict=True):
            if start < end:
                of_topic = states[start:end]
                newest = int(of_topic.zxid.argmax())
                zxid, time_ms = int(of_topic.zxid[newest]), int(of_topic.time_ms[newest])
                yield r.PartitionStatesWritten(topic=topic, states=of_topic, zxid=zxid, time_ms=time_ms)
