"""What long runs say on standard error while they run: the seconds since they began, and a line."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Callable

Tell = Callable[[str], None]


def telling() -> Tell:
    """Tells the seconds since now with every line."""
    began_s = time.monotonic()

    def tell(line: str) -> None:
        print(f"{time.monotonic() - began_s:8.1f} {line}", file=sys.stderr, flush=True)

    return tell


def told_seed(given: int | None, tell: Tell) -> int:
    """The seed that was given, else a random one; told, so that the run can be played again."""
    seed = secrets.randbits(32) if given is None else given
    tell(f"seed {seed}")
    return seed
