"""State znodes as read → one record a topic, the states as columns: a million of them without an object for each. Pure.

Kafka has written the same five keys in the same order since 0.8, so with every digit a 0 most of the texts are alike:
only different ones are looked at, and all numbers are read in one go. What has another form is decoded one by one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import NamedTuple, cast

import numpy as np

from model.cluster import records as r
from model.cluster.partition_columns import StateColumns
from model.cluster.topic_image import NOBODY, Flags, Ints, Longs, padded, untold, widened
from model.znodes.paths import state_runs
from model.znodes.payload import INT32_MAX
from model.znodes.topics import RECOVERING, LeaderIsrAndControllerEpoch, decode_partition_state
from model.zookeeper import Unread, ZnodeColumns

_USUAL = re.compile(
    rb'\{"controller_epoch":0{1,10},"leader":-?0{1,10},"version":0{1,10},"leader_epoch":0{1,10},'
    rb'"isr":\[0{1,10}(?:,0{1,10})*\]\}'
)
_BEFORE_ISR = 4
"""Numbers of a usual state that stand before those of its ISR."""

_AS_ZERO = bytes.maketrans(b"123456789", b"0" * 9)
_BY_COMMA = bytes.maketrans(b"\n", b",")
_NOT_NUMBERS = bytes(set(range(256)) - set(b"0123456789-,\n"))
_FIRST_DIGITS = bytes.maketrans(b"123456789-", b"1" * 9 + b",")


class StatePayloads(NamedTuple):
    """A row for each payload. Where `usable` is false the other columns say nothing."""

    usable: Flags  # [N]
    controller_epoch: Ints  # [N]
    leader: Ints  # [N]
    leader_epoch: Ints  # [N]
    leader_recovery_state: Ints  # [N]
    isr: Ints  # [N, W], padded with -1


def state_payloads(every: Sequence[bytes]) -> StatePayloads:
    """The payloads, as `decode_partition_state` reads each."""
    members = _members(every)
    flat = _numbers(compress(every, members.tolist())) if members.any() else None
    if flat is None:
        members[:] = 0
    numbers = np.zeros((_BEFORE_ISR, len(every)), np.int32)
    isr = np.full((len(every), int(members.max(initial=1))), NOBODY, np.int32)
    usable = members > 0
    if flat is not None:
        sizes = members[usable] + _BEFORE_ISR
        heads = (sizes.cumsum() - sizes) + np.arange(_BEFORE_ISR)[:, None]
        numbers[:, usable] = flat[heads]
        isr[np.arange(isr.shape[1]) < members[:, None]] = np.delete(flat, heads.ravel())
    controller_epoch, leader, version, leader_epoch = numbers
    usable &= (leader >= -2) & (version >= 1)
    usual = StatePayloads(usable, controller_epoch, leader, leader_epoch, np.zeros_like(leader), isr)
    return usual if usable.all() else _with_others(usual, every)


def _members(every: Sequence[bytes]) -> Longs:
    """Members of the ISR of each state of the usual form; 0 for others."""
    shapes = b"\n".join(every).translate(_AS_ZERO).split(b"\n")
    if len(shapes) != len(every):  # one of them has several lines
        return np.zeros(len(every), np.int64)
    members = {shape: shape.count(b",") + 1 - _BEFORE_ISR if _USUAL.fullmatch(shape) else 0 for shape in set(shapes)}
    return np.fromiter(map(members.__getitem__, shapes), np.int64, len(shapes))


def _numbers(usual: Iterable[bytes]) -> Longs | None:
    """All numbers in usual states, one after the other; None where JSON or Kafka has no such number."""
    text = b"\n".join(usual).translate(_BY_COMMA, _NOT_NUMBERS)
    digits = b"," + text.translate(_FIRST_DIGITS)
    if b",00" in digits or b",01" in digits:
        return None
    flat = np.fromstring(text, np.int64, sep=",")
    return flat if flat.max() <= INT32_MAX else None


def _with_others(usual: StatePayloads, every: Sequence[bytes]) -> StatePayloads:
    """Those decoded as well that are not of the usual form."""
    rows = np.flatnonzero(~usual.usable)
    payloads = decode_partition_state.many([every[row] for row in rows.tolist()])
    rows = rows[[payload is not None for payload in payloads]]
    decoded: list[LeaderIsrAndControllerEpoch] = [payload for payload in payloads if payload is not None]
    others = padded([payload.isr for payload in decoded])
    width = max(usual.isr.shape[1], others.shape[1])
    whole = usual._replace(isr=widened(usual.isr, width))
    whole.usable[rows], whole.isr[rows] = True, widened(others, width)
    for name in ("controller_epoch", "leader", "leader_epoch", "leader_recovery_state"):
        getattr(whole, name)[rows] = [getattr(payload, name) for payload in decoded]
    return whole


class UsableStates:
    """The states that can be used among some answers. `rows` says where they are, `others` where the rest is."""

    def __init__(self, answers: ZnodeColumns) -> None:
        self._topics: dict[str, int] = {}
        runs = [*state_runs(answers.paths)]
        if not runs:
            self.rows, self.others = list[int](), [*range(len(answers))]
            return
        topics, partitions, rows, found = self._find(answers, runs)
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
            directories=untold(len(rows)),
        )
        if not payloads.usable.all():
            topics, rows, states = topics[payloads.usable], rows[payloads.usable], states.take(payloads.usable)
        self._topic_of, self._states = topics, states
        self.rows = list[int](rows.tolist())
        is_other = np.ones(len(answers), np.bool_)
        is_other[rows] = False
        self.others: list[int] = np.flatnonzero(is_other).tolist()

    def _find(
        self, answers: ZnodeColumns, runs: Iterable[tuple[str, int, Sequence[int]]]
    ) -> tuple[Longs, Ints, Longs, list[bytes]]:
        """What stands where a state should: which topic's, which partition's, in which row."""
        topics, lengths, partitions, rows = list[int](), list[int](), list[int](), list[int]()
        data = list[bytes | Unread]()
        for topic, start, run in runs:
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

    def records(self) -> Iterator[r.ClusterRecord]:
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
