"""`uv run python -m tests.kraft_rounds --rounds 100` (`--seed N`, `--minutes N`)."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.kraft_rounds.rounds import play


def main() -> int:
    """Exit code 0 where nothing is lost; else the failure is told."""
    parser = argparse.ArgumentParser(prog="python -m tests.kraft_rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no round after so many")
    given = parser.parse_args()
    until_s = time.monotonic() + 60 * given.minutes
    with tempfile.TemporaryDirectory(prefix="kdrill-kraft-rounds-") as folder:
        print(play(Path(folder), given.rounds, given.seed, until_s))
    return 0


if __name__ == "__main__":
    sys.exit(main())
