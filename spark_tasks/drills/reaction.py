"""What becomes of one partition when brokers die, by the controller's own rules. Knows no other partition.

Partitions that are alike but for the names of their brokers are of one kind, and are decided once. Brokers are places
among the members: the replicas in the order of the assignment, then strangers that are in the ISR or lead.

A controller in office elects first and takes the dead out of ISRs then; a new one, from 2.3 on, does it the other way
round, and for all that are dead (`model.controller.steps.offline_replicas`, `failover`). Reassignments stay as
they are.
"""

from typing import NamedTuple

import msgspec

from model.cluster.ids import NO_LEADER
from model.controller.ballot import Ballot, Liveness, Strategy
from model.controller.generations import Generation, elect
from model.controller.isr_removal import remove_from_isr
from model.controller.leader_and_isr import UNLED, LeaderAndIsr
from model.controller.replica_assignment import ReplicaAssignment


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


class Standing(NamedTuple):
    """A partition at one moment."""

    state: LeaderAndIsr
    unclean: bool = False


class Fate(NamedTuple):
    """What became of it: the leader (a member, -1 none that lives), and each of `results.Counts` as 0 or 1."""

    leader: int
    counts: tuple[int, ...]


def fate(kind: PartitionKind, dead: int, rules: Generation, *, ruled: bool, ruler_dies: bool) -> Fate:
    """Of a partition when these members die. `ruled`: a controller is in office; `ruler_dies`: it is among the dead."""
    up = kind.live & ~dead
    standing = Standing(_state(kind))
    if not ruled:  # one comes into office before ZooKeeper knows of the deaths
        standing = _taken_over(kind, standing, kind.live, rules)
    after = _taken_over(kind, standing, up, rules) if ruled and ruler_dies else _lost(kind, standing, up, dead, rules)
    return Fate(_led(after.state, up), _counts(kind, after, up))


def before(kind: PartitionKind) -> Fate:
    """The partition as it is."""
    standing = Standing(_state(kind))
    return Fate(_led(standing.state, kind.live), _counts(kind, standing, kind.live))


def members(bits: int) -> tuple[int, ...]:
    """The places of the bits."""
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)


def _state(kind: PartitionKind) -> LeaderAndIsr:
    return LeaderAndIsr(kind.leader, 0, members(kind.isr)) if kind.stated else UNLED


def _with_elr(kind: PartitionKind, state: LeaderAndIsr) -> LeaderAndIsr:
    """KRaft: where nobody is in sync, whoever is in the ELR may lead (`PartitionChangeBuilder`, 4.0)."""
    if not state.exists or state.isr:
        return state
    return msgspec.structs.replace(state, isr=members(kind.elr))


def _taken_over(kind: PartitionKind, standing: Standing, up: int, rules: Generation) -> Standing:
    if rules.forms.takes_dead_out_of_isrs:
        standing = _removed(kind, standing, kind.replicas & ~up, rules)
    return _elected(kind, standing, up, rules)


def _lost(kind: PartitionKind, standing: Standing, up: int, dead: int, rules: Generation) -> Standing:
    return _removed(kind, _elected(kind, standing, up, rules), kind.replicas & dead, rules)


def _elected(kind: PartitionKind, standing: Standing, up: int, rules: Generation) -> Standing:
    state = standing.state
    if _led(state, up) != NO_LEADER or not kind.replicas:
        return standing
    state = _with_elr(kind, state)
    strategy = Strategy.OFFLINE if state.exists else Strategy.INITIAL
    liveness = Liveness(frozenset(members(up)))
    ballot = Ballot(state, ReplicaAssignment(members(kind.replicas)), liveness, bool(kind.unclean))
    result = elect(strategy, ballot, rules)
    if result.leader_and_isr is None:
        return standing
    return Standing(result.leader_and_isr, standing.unclean or result.unclean)


def _removed(kind: PartitionKind, standing: Standing, dead: int, rules: Generation) -> Standing:
    state = standing.state
    if state.exists:
        for replica in members(dead):
            eligible = _with_elr(kind, state)
            state = eligible if replica in eligible.isr else state
            state = remove_from_isr(
                state, replica, (), rules.isr_removal, unclean_allowed=bool(kind.unclean)
            ).leader_and_isr
    return Standing(state, standing.unclean)


def _led(state: LeaderAndIsr, up: int) -> int:
    return state.leader if state.leader >= 0 and up >> state.leader & 1 else NO_LEADER


def _counts(kind: PartitionKind, after: Standing, up: int) -> tuple[int, ...]:
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
