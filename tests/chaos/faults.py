"""What goes wrong in a chaos test, as values from dice: the same seed, the same faults in the same rounds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "kill", "kill the leader", "kill two", "pause", "cut", "cut in mid frame", "black hole", "black hole everywhere",
    "slow", "trickle", "garbage", "expire our session",
]  # fmt: skip

LONGEST_S: dict[Kind, float] = {
    "kill": 2.5,
    "kill the leader": 2.5,
    "kill two": 1.5,
    "pause": 4.0,
    "cut": 0.0,
    "cut in mid frame": 0.0,
    "black hole": 7.0,
    "black hole everywhere": 7.0,
    "slow": 3.0,
    "trickle": 3.0,
    "garbage": 0.0,
    "expire our session": 0.0,
}
"""Every kind, and for how long it lasts at most; 0: it is over at once. Black holes outlast a session at times."""

KINDS: tuple[Kind, ...] = tuple(LONGEST_S)
SHORTEST_S = 0.2
AT_ONCE = (1, 1, 2, 3)
STAGGER_S = 0.5


@dataclass(frozen=True)
class Fault:
    """One fault: it begins `after_s` into its round. `number` chooses among servers, or bytes, as the kind has it."""

    kind: Kind
    after_s: float
    lasts_s: float
    number: int

    def __str__(self) -> str:
        return f"{self.kind} +{self.after_s:.2f} s for {self.lasts_s:.2f} s #{self.number}"


Round = tuple[Fault, ...]


def rounds(seed: int, count: int, longest_s: float = 60.0) -> Iterator[Round]:
    """`count` faults, one to three of them at a time, none longer than `longest_s`."""
    dice = random.Random(seed)
    while count > 0:
        size = min(dice.choice(AT_ONCE), count)
        count -= size
        yield tuple(_fault(dice, longest_s) for _ in range(size))


def _fault(dice: random.Random, longest_s: float) -> Fault:
    kind = dice.choice(KINDS)
    lasts_s = dice.uniform(SHORTEST_S, max(LONGEST_S[kind], SHORTEST_S))
    return Fault(kind, dice.uniform(0, STAGGER_S), min(lasts_s, longest_s), dice.randrange(1000))
