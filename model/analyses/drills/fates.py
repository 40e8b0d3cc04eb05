"""What becomes of partitions when brokers die, by the controller's own rules: each kind of partition is decided once.

Partitions that are alike but for the names of their brokers are of one kind. Brokers are places among the members: the
replicas in the order of the assignment, then strangers that are in the ISR or lead. Rows that are alike get the same
number: what is slow is then done once a number and not once a row.

With ZooKeeper an active controller elects first and takes the dead out of ISRs then; a new one, from 2.3 on, does it
the other way round, and for all that are dead (`model.controller.steps.brokers`, `failover`). KRaft's looks at those
partitions alone that had a dead broker in the ISR (`model.kraft_controller`). Reassignments stay as they are.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.analyses.analysis import Arrays
from model.analyses.drills.results import NAMES
from model.cluster.ids import NO_LEADER
from model.controller.elections import Ballot, ElectionStrategy, Liveness, remove_from_isr
from model.controller.generations import Generation, elect
from model.controller.leader_and_isr import UNLED, LeaderAndIsr, ReplicaAssignment
from model.kraft_controller.partition_change import Election, Levels, Registration, RequestedChange, applied, change_of

Column = NDArray[Any]
Numbers = NDArray[np.int64]

DENSE = 1 << 20
"""Tables of so many entries are quicker than sorting."""


def integers(arrays: Arrays, name: str) -> Numbers:
    """An array of integers as int64."""
    return arrays[name].astype(np.int64, copy=False)


def flags(arrays: Arrays, name: str) -> NDArray[np.bool_]:
    """An array of flags."""
    return arrays[name].astype(np.bool_, copy=False)


def numbered(columns: Sequence[Column]) -> tuple[Numbers, Numbers]:
    """The number of each row, and for each number one row that has it. Columns are of integers or flags."""
    numbers, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns if len(columns[0]) else ():
        low, span = int(column.min()), int(column.max()) - int(column.min()) + 1
        if span == 1:
            continue
        values: Column = column.astype(np.int64) - low
        if span > DENSE:
            values, span = _sorted(values)
        if size * span > DENSE:
            numbers, size = _dense(numbers, size)
        if size * span > DENSE * DENSE:
            numbers, size = _sorted(numbers)
        numbers *= span
        numbers += values
        size *= span
    numbers, size = _dense(numbers, size)
    row = np.empty(size, np.int64)
    row[numbers] = np.arange(len(numbers))
    return numbers, row


def _dense(numbers: Numbers, size: int) -> tuple[Numbers, int]:
    """The same without gaps."""
    if size == 1:
        return numbers, 1 if len(numbers) else 0
    if size > 4 * DENSE:
        return _sorted(numbers)
    seen = np.bincount(numbers, minlength=size) > 0
    found = int(seen.sum())
    return (numbers, size) if found == size else ((np.cumsum(seen) - 1)[numbers], found)


def _sorted(numbers: Numbers) -> tuple[Numbers, int]:
    distinct, places = np.unique(numbers, return_inverse=True)
    return places, len(distinct)


def summed(keys: Numbers, counts: Numbers | None = None, span: int = 0) -> tuple[Numbers, Numbers]:
    """Distinct keys in ascending order, and how many of each, or the sum of their counts. `span`: all are below."""
    if 0 < span <= max(4 * DENSE, 4 * len(keys)):
        sums = np.bincount(keys, counts, span).astype(np.int64)
        found = np.flatnonzero(sums)
        return found, sums[found]
    if not len(keys):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if counts is None:
        # Half as wide is sorted in 0.6 of the time.
        ordered: Column = np.sort(keys.astype(np.int32) if 0 < span < 1 << 31 else keys)
        starts = _starts(ordered)
        return ordered[starts].astype(np.int64, copy=False), np.diff(starts, append=len(keys))
    shift = int(counts.max()).bit_length()
    if not 0 < span <= 1 << (63 - shift):
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    else:  # in one sort, which is quick where they are a few runs in order, as those of batches are
        packed = keys << shift
        packed |= counts
        packed.sort(kind="stable")
        keys, counts = packed >> shift, packed & (1 << shift) - 1
    starts = _starts(keys)
    return (keys, counts) if len(starts) == len(keys) else (keys[starts], np.add.reduceat(counts, starts))


def _starts(ordered: Column) -> Numbers:
    """Where other keys begin."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))


class PartitionKind(NamedTuple):
    """All that decides what becomes of a partition. Sets of members are bits; `leader` -1: none."""

    replicas: int
    live: int
    isr: int
    leader: int
    stated: int
    unclean: int
    min_isr: int
    expected: int
    elr: int = 0


class ElectedState(NamedTuple):
    """A partition at one moment."""

    state: LeaderAndIsr
    unclean: bool = False


class PartitionAfterDeaths(NamedTuple):
    """What became of it: the leader (a member, -1 none that lives), and each of `results.Counts` as 0 or 1."""

    leader: int
    counts: tuple[int, ...]


Rules = Generation | Levels
"""With ZooKeeper, or on KRaft."""


def fate(kind: PartitionKind, dead: int, rules: Rules, *, ruled: bool, ruler_dies: bool) -> PartitionAfterDeaths:
    """Of a partition when these members die. `ruled`: there is a controller; `ruler_dies`: it is among the dead."""
    up = kind.live & ~dead
    if isinstance(rules, Levels):
        after = _fenced(kind, dead, rules)
        return PartitionAfterDeaths(_led(after.state, up), _counts(kind, after, up))
    elected = ElectedState(_state(kind))
    if not ruled:  # one is elected before ZooKeeper knows of the deaths
        elected = _taken_over(kind, elected, kind.live, rules)
    after = _taken_over(kind, elected, up, rules) if ruled and ruler_dies else _lost(kind, elected, up, dead, rules)
    return PartitionAfterDeaths(_led(after.state, up), _counts(kind, after, up))


def before(kind: PartitionKind) -> PartitionAfterDeaths:
    """The partition as it is."""
    elected = ElectedState(_state(kind))
    return PartitionAfterDeaths(_led(elected.state, kind.live), _counts(kind, elected, kind.live))


def members(bits: int) -> tuple[int, ...]:
    """The places of the bits."""
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)


def _state(kind: PartitionKind) -> LeaderAndIsr:
    return LeaderAndIsr(kind.leader, 0, members(kind.isr)) if kind.stated else UNLED


def _taken_over(kind: PartitionKind, elected: ElectedState, up: int, rules: Generation) -> ElectedState:
    if rules.forms.takes_dead_out_of_isrs:
        elected = _removed(kind, elected, kind.replicas & ~up, rules)
    return _elected(kind, elected, up, rules)


def _lost(kind: PartitionKind, elected: ElectedState, up: int, dead: int, rules: Generation) -> ElectedState:
    return _removed(kind, _elected(kind, elected, up, rules), kind.replicas & dead, rules)


def _elected(kind: PartitionKind, elected: ElectedState, up: int, rules: Generation) -> ElectedState:
    state = elected.state
    if _led(state, up) != NO_LEADER or not kind.replicas:
        return elected
    strategy = ElectionStrategy.OFFLINE if state.exists else ElectionStrategy.INITIAL
    liveness = Liveness(frozenset(members(up)))
    ballot = Ballot(state, ReplicaAssignment(members(kind.replicas)), liveness, bool(kind.unclean))
    result = elect(strategy, ballot, rules)
    if result.leader_and_isr is None:
        return elected
    return ElectedState(result.leader_and_isr, elected.unclean or result.unclean)


def _removed(kind: PartitionKind, elected: ElectedState, dead: int, rules: Generation) -> ElectedState:
    state = elected.state
    if state.exists:
        for replica in members(dead):
            state = remove_from_isr(
                state, replica, (), rules.isr_removal, unclean_allowed=bool(kind.unclean)
            ).leader_and_isr
    return ElectedState(state, elected.unclean)


def _fenced(kind: PartitionKind, dead: int, levels: Levels) -> ElectedState:
    """KRaft: one broker after the other, and only what it had in the ISR (`handleBrokerFenced`).

    Who led last decides nothing here: a last one that dies leaves an ELR, and only who comes back finds none.
    """
    election = Election.UNCLEAN if kind.unclean else Election.ONLINE
    min_isr, up, unclean = min(kind.min_isr, kind.replicas.bit_count()), kind.live, False
    replicas, isr, elr = (members(bits) for bits in (kind.replicas, kind.isr, kind.elr))
    partition = Registration(replicas, isr, kind.leader, elr=elr)
    for broker in members(dead & kind.live) if kind.stated else ():
        up &= ~(1 << broker)
        if broker not in partition.isr:
            continue
        asked = RequestedChange(isr=tuple(each for each in partition.isr if each != broker), election=election)
        change = change_of(partition, asked, levels, lambda member, up=up: bool(up >> member & 1), min_isr)
        if change is not None:
            partition = applied(partition, change.record)
            unclean |= change.unclean
    state = LeaderAndIsr(partition.leader, 0, partition.isr) if kind.stated else UNLED
    return ElectedState(state, unclean)


def _led(state: LeaderAndIsr, up: int) -> int:
    return state.leader if state.leader >= 0 and up >> state.leader & 1 else NO_LEADER


def _counts(kind: PartitionKind, after: ElectedState, up: int) -> tuple[int, ...]:
    """In the order of `results.Counts`; a partition that no assignment names is only ever led or not."""
    stated, led = after.state.exists and kind.replicas > 0, _led(after.state, up) >= 0
    was_led = kind.leader >= 0 and kind.live >> kind.leader & 1
    was_short = kind.stated and was_led and kind.isr.bit_count() < kind.min_isr
    short = stated and led and len(after.state.isr) < kind.min_isr
    behind = stated and sum(kind.replicas >> member & 1 for member in after.state.isr) < kind.expected
    unclean, gone, shortened = after.unclean and led, was_led and not led, short and not was_short
    moved = after.state.leader not in (NO_LEADER, kind.leader)
    flags = (stated and not led, short, behind, unclean, gone, shortened, moved, gone or shortened or unclean)
    return tuple(map(int, map(bool, flags)))


METRICS = len(NAMES)
Chosen = NDArray[Any] | slice
Vector = tuple[int, ...]
"""METRICS counts where the controller lives, then METRICS that come on top where it is among the dead."""


class OutcomeChange(NamedTuple):
    """What comes on top, and the member that leads then and did not with fewer deaths; -1: nobody new."""

    vector: Vector
    gained: int


class PartitionOutcomes:
    """Of partitions under one set of rules. `ruled`: there is a controller."""

    def __init__(self, rules: Rules, *, ruled: bool) -> None:
        @cache
        def play(kind: PartitionKind, dead: int) -> OutcomeChange:
            lived = fate(kind, dead, rules, ruled=ruled, ruler_dies=False)
            died = fate(kind, dead, rules, ruled=ruled, ruler_dies=True)
            extra = tuple(there - here for here, there in zip(lived.counts, died.counts, strict=True))
            return OutcomeChange((*lived.counts, *extra), lived.leader)

        self._play = play

    def at_rest(self, kind: PartitionKind) -> OutcomeChange:
        """Nobody of it dies. Somebody else does, and so the controller elects where it can."""
        return self._play(kind, 0)

    def one(self, kind: PartitionKind, dead: int) -> OutcomeChange:
        """These die, on top of nobody."""
        after, rest = self._play(kind, dead), self._play(kind, 0)
        vector = tuple(one - other for one, other in zip(after.vector, rest.vector, strict=True))
        return OutcomeChange(vector, -1 if after.gained == rest.gained else after.gained)

    def two(self, kind: PartitionKind, dead: int, others: int) -> OutcomeChange:
        """Both die, on top of what comes of the one and of the other alone: the Möbius transform's next term."""
        both, rest = self._play(kind, dead | others), self._play(kind, 0)
        alone = (self._play(kind, dead), self._play(kind, others))
        parts = zip(both.vector, alone[0].vector, alone[1].vector, rest.vector, strict=True)
        known = {rest.gained, alone[0].gained, alone[1].gained}
        return OutcomeChange(tuple(b - x - y + r for b, x, y, r in parts), -1 if both.gained in known else both.gained)


def as_it_is(kind: PartitionKind) -> OutcomeChange:
    """The partition before anything happens, as if it were a change."""
    now = before(kind)
    return OutcomeChange((*now.counts, *(0,) * METRICS), now.leader)


class OutcomeChanges(NamedTuple):
    """What changes in some rows: the number of each row's case, and the change by case."""

    case: Numbers  # [n]
    changes: Sequence[OutcomeChange]

    def rows(self, wanted: Callable[[OutcomeChange], bool]) -> Chosen | None:
        """The rows of such changes; None: there are none."""
        flags = [wanted(change) for change in self.changes]
        if not any(flags):
            return None
        return slice(None) if all(flags) else np.array(flags)[self.case]

    def total(self, weight: Numbers | None) -> Numbers:
        cases = np.bincount(self.case, weight, len(self.changes)).astype(np.int64)
        return cases @ self.vectors()

    def vectors(self) -> Numbers:
        """int64[cases, 2 * METRICS]"""
        return np.array([change.vector for change in self.changes], np.int64).reshape(-1, 2 * METRICS)


def changes_of(
    kinds: Sequence[PartitionKind], kind: Numbers, deaths: Sequence[Numbers | int], play: Callable[..., OutcomeChange]
) -> OutcomeChanges:
    """Of rows of these kinds. `deaths`: the dead members as bits, by row or of all, as often as `play` takes them."""
    case, row = numbered([kind, *(dead for dead in deaths if not isinstance(dead, int))])
    alike = [[dead] * len(row) if isinstance(dead, int) else dead[row].tolist() for dead in deaths]
    found = zip(kind[row].tolist(), *alike, strict=True)
    return OutcomeChanges(case, [play(kinds[number], *dead) for number, *dead in found])
