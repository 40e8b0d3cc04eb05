"""A kind of input: how a case of it is made, and what reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random


@dataclass(frozen=True)
class Target:
    """`judge` gives a case to the program as a user would, and raises for whatever must not happen.

    It has a folder of its own for files. Errors that the program documents are no failure; everything else is.
    """

    name: str
    make: Callable[[Random], bytes]
    judge: Callable[[bytes, Path], None]

    def case(self, seed: int, number: int) -> bytes:
        """The same bytes for the same seed and number, on every machine."""
        return self.make(Random(f"{self.name}:{seed}:{number}"))
