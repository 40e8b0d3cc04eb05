"""What may become of a partition: which replicas it keeps, who leads, and to which racks the added ones may go."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from model.planning.optimum.classes import PartitionClass
from model.planning.optimum.problem import NONE, Scope


class Option(NamedTuple):
    """One way for members of a class."""

    of: int
    """The number of the class."""
    kept: tuple[int, ...]
    leader: int
    """One of those kept, or NONE: one of those added."""
    added: int


class Openings(NamedTuple):
    """Where added replicas may go. Options with equal openings share them.

    Either each goes to another one of `racks`; or, where `beside` is a tuple, any broker but those in it, and at least
    one to each of `racks`.
    """

    racks: tuple[int, ...]
    added: int
    beside: tuple[int, ...] | None

    @property
    def fills(self) -> bool:
        """Whether every one of the racks gets a replica of each partition."""
        return self.beside is None and self.added == len(self.racks)


def openings_of(option: Option, racks: tuple[int, ...], rack: list[int]) -> Openings:
    """Partitions spread over as many racks as they can."""
    open_racks = tuple(sorted(set(racks) - {rack[broker] for broker in option.kept}))
    return Openings(open_racks, option.added, None if option.added <= len(open_racks) else option.kept)


def options_of(
    number: int, each: PartitionClass, scope: Scope, racks: tuple[int, ...], rack: list[int]
) -> Iterator[Option]:
    """Every way that the scope allows, in a fixed order.

    Where only what must move does, who leads keeps its replica and leads: some way to keep as many, on as many racks,
    has it (such sets are the bases of a matroid).
    """
    for kept in _kept(each, scope, racks, rack):
        added = each.factor - len(kept)
        for leader in _leaders(each, kept, added, scope):
            yield Option(number, kept, leader, added)


def _kept(each: PartitionClass, scope: Scope, racks: tuple[int, ...], rack: list[int]) -> list[tuple[int, ...]]:
    most = min(len(each.present), each.factor)
    best = min(each.factor, len(racks))

    def reached(kept: tuple[int, ...]) -> int:
        covered = len({rack[broker] for broker in kept})
        return min(covered + each.factor - len(kept), len(racks))

    if scope in (Scope.DRAIN, Scope.LEADERS):
        found = list(combinations(each.present, most))
        best = max(map(reached, found))
        return _led(each, scope, [kept for kept in found if reached(kept) == best])
    found: list[tuple[int, ...]] = []
    for size in range(most, -1, -1):
        found += [kept for kept in combinations(each.present, size) if reached(kept) == best]
        if found and scope is Scope.RACKS:
            break
    return _led(each, scope, found)


def _led(each: PartitionClass, scope: Scope, kept: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Those that the leader of now is among, where it may stay and nothing moves without need."""
    if scope in (Scope.DRAIN, Scope.RACKS) and each.leader != NONE:
        return [some for some in kept if each.leader in some]
    return kept


def _leaders(each: PartitionClass, kept: tuple[int, ...], added: int, scope: Scope) -> tuple[int, ...]:
    if scope in (Scope.DRAIN, Scope.RACKS) and each.leader in kept:
        return (each.leader,)
    return (*kept, NONE) if added else kept
