"""What each partition was from when to when, within one set: leader, ISR, replicas. Pure arithmetic over columns."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_tasks.history.set_columns import NONE, Numbers, SetColumns, Table2d

Flags = NDArray[np.bool_]
_UNSAID = -2


@dataclass(frozen=True, eq=False)
class PartitionSpans:
    """N spans, by partition and time; `is_next`: the span before belongs to the same partition."""

    topic: Numbers  # [N] number of a name
    partition: Numbers  # [N]
    from_ms: Numbers  # [N]
    to_ms: Numbers  # [N]
    is_next: Flags  # [N]
    stated: Flags  # [N] it has a state
    watched: Flags  # [N] it has a state and replicas, and its topic is not being deleted
    leader: Numbers  # [N]
    isr: Table2d  # [N, W]
    missing: Flags  # [N] under-replicated: a reassignment's new replicas are not missed yet (KIP-455)


def partition_spans(of: SetColumns) -> PartitionSpans:
    """Of a set."""
    key, row, says = _events(of)
    order = np.lexsort((row, key))
    key, row, says = key[order], row[order], says[order]
    is_first = np.diff(key, prepend=-1) != 0
    state, assigned, deleting = (_carried(column, is_first) for column in says.T)
    at_ms = of.at_ms[row]
    is_last = np.append((key[1:] != key[:-1]) | (at_ms[1:] != at_ms[:-1]), True)[: len(key)]
    key, at_ms, state, assigned, deleting = (each[is_last] for each in (key, at_ms, state, assigned, deleting))
    is_next = np.diff(key, prepend=-1) == 0
    to_ms = np.where(np.append(is_next[1:], False)[: len(key)], np.append(at_ms[1:], 0)[: len(key)], of.until_ms)
    stated, has_replicas = state >= 0, assigned >= 0
    isr = np.where(stated[:, None], of.isr[state], NONE)
    replicas = np.where(has_replicas[:, None], of.replicas[assigned], NONE)
    adding = np.where(has_replicas[:, None], of.adding[assigned], NONE)
    expected = ((replicas != NONE) & ~_within(replicas, adding)).sum(axis=1)
    watched = stated & (replicas != NONE).any(axis=1) & (deleting <= 0)
    return PartitionSpans(
        topic=key >> 32,
        partition=key & 0xFFFFFFFF,
        from_ms=at_ms,
        to_ms=to_ms,
        is_next=is_next,
        stated=stated,
        watched=watched,
        leader=np.where(stated, of.leader[state], NONE),
        isr=isr,
        missing=watched & (_within(replicas, isr).sum(axis=1) < expected),
    )


def gone_and_come(before: Table2d, after: Table2d) -> tuple[tuple[Numbers, Numbers], tuple[Numbers, Numbers]]:
    """(row, broker) of each who is in the first and not in the second, and the other way round."""
    gone = (before != NONE) & ~_within(before, after)
    come = (after != NONE) & ~_within(after, before)
    return (gone.nonzero()[0], before[gone].astype(np.int64)), (come.nonzero()[0], after[come].astype(np.int64))


def _within(some: Table2d, others: Table2d) -> Flags:
    """Whether the broker there is in the same row of `others`."""
    found = np.zeros(some.shape, np.bool_)
    for column in others.T:
        found |= some == column[:, None]
    return found & (some != NONE)


def _carried(says: Numbers, is_first: Flags) -> Numbers:
    """What was said last of the same partition; -1 where nothing was."""
    says = np.where(is_first & (says == _UNSAID), NONE, says)
    return says[np.maximum.accumulate(np.where(says == _UNSAID, 0, np.arange(len(says))))] if len(says) else says


def _events(of: SetColumns) -> tuple[Numbers, Numbers, Numbers]:
    """Partition, row, and what the row says of it: [state's row, assignment's row, whether the topic is deleted]."""
    parts = [part for part in _told(of) if len(part[0])]
    keys = [of.topic[row] << 32 | number for row, number, _ in parts]
    says = [np.broadcast_to(said if said.ndim == 2 else said[None, :], (len(row), 3)) for row, _, said in parts]
    none = np.empty(0, np.int64)
    return (
        np.concatenate([none, *keys]),
        np.concatenate([none, *(row for row, _, _ in parts)]),
        np.concatenate([none.reshape(0, 3), *says]),
    )


def _told(of: SetColumns) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """(rows, partitions, what they say): of single partitions, then of whole topics."""

    def rows_of(*kinds: str) -> Numbers:
        rows = of.of_kind(*kinds)
        return rows[of.partition[rows] >= 0]

    def said(rows: Numbers, place: int) -> Numbers:
        says = np.full((len(rows), 3), _UNSAID)
        says[:, place] = rows
        return says

    states = rows_of("PartitionStatesWritten")
    assigned = rows_of("TopicAssigned")
    assigned = assigned[of.has_replicas[assigned]]
    removed = rows_of("PartitionStatesRemoved")
    # What is said of a topic stands before what the same record says of its partitions.
    yield from _of_topics(of, np.unique(np.concatenate([states, assigned, removed])))
    yield states, of.partition[states], said(states, 0)
    yield assigned, of.partition[assigned], said(assigned, 1)
    yield removed, of.partition[removed], np.array([NONE, _UNSAID, _UNSAID])


def _of_topics(of: SetColumns, named: Numbers) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """An assignment takes replicas from all partitions that it does not name; so does a topic's end."""
    saying = {
        "TopicRemoved": (_UNSAID, NONE, _UNSAID),
        "TopicDeletionRequested": (_UNSAID, _UNSAID, 1),
        "TopicDeletionCleared": (_UNSAID, _UNSAID, 0),
    }
    known = {topic: np.unique(of.partition[named[of.topic[named] == topic]]) for topic in _changed_topics(of)}
    for kind, says in saying.items():
        for row in of.of_kind(kind).tolist():
            numbers = known[int(of.topic[row])]
            yield np.full(len(numbers), row), numbers, np.array(says)
    for row in _reassignments(of).tolist():
        numbers = known[int(of.topic[row])]
        yield np.full(len(numbers), row - 1), numbers, np.array([_UNSAID, NONE, _UNSAID])


def _changed_topics(of: SetColumns) -> list[int]:
    rows = of.of_kind("TopicRemoved", "TopicDeletionRequested", "TopicDeletionCleared")
    return np.unique(of.topic[np.concatenate([rows, _reassignments(of)])]).tolist()


def _reassignments(of: SetColumns) -> Numbers:
    """First rows of assignments that follow another of the same topic."""
    rows = of.of_kind("TopicAssigned")
    rows = rows[np.diff(of.record[rows], prepend=-1) != 0]
    _, first = np.unique(of.topic[rows], return_index=True)
    return np.delete(rows, first)
