"""`uv run python -m tests.kraft_rounds --rounds 100` (`--seed N`, `--minutes N`, `--clients all`)."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.kraft_rounds.clients import NAMES
from tests.kraft_rounds.rounds import play


def _names(text: str) -> tuple[str, ...]:
    names = NAMES if text == "all" else tuple(text.split(","))
    if unknown := sorted(set(names) - set(NAMES)):
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: known are {', '.join(NAMES)}")
    return names


def main() -> int:
    """Exit code 0 where nothing is lost; else the failure is told."""
    parser = argparse.ArgumentParser(prog="python -m tests.kraft_rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no round after so many")
    parser.add_argument("--clients", type=_names, default=(), help=f"beside librdkafka: {', '.join(NAMES)}, all")
    given = parser.parse_args()
    until_s = time.monotonic() + 60 * given.minutes
    with tempfile.TemporaryDirectory(prefix="kdrill-kraft-rounds-") as folder:
        print(play(Path(folder), given.rounds, given.seed, until_s, given.clients))
    return 0


if __name__ == "__main__":
    sys.exit(main())
