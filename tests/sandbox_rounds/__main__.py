"""`python -m tests.sandbox_rounds --rounds 100`: random faults under load lose no acknowledged record.

With `--unclean` the other way round: an unclean election loses some, and the auditor names them. With `--mode kraft`
controllers are broken, too.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import get_args

import msgspec

from model.sandbox.options import Mode
from tests.progress import telling, told_seed
from tests.sandbox_rounds.rounds import lose_records, play_rounds


def main() -> int:
    """Exit code 0 if the promise held, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m tests.sandbox_rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None, help="of the faults; their timing is the machine's")
    parser.add_argument("--mode", choices=get_args(Mode), default="zookeeper")
    parser.add_argument("--unclean", action="store_true")
    given = parser.parse_args()
    tell = telling()
    if given.unclean:
        report = asyncio.run(lose_records(tell))
        print(msgspec.json.encode(report).decode())
        return 0 if report.lost and not report.unread else 1
    seed = told_seed(given.seed, tell)
    result = asyncio.run(play_rounds(given.rounds, seed, tell, given.mode))
    print(msgspec.json.encode(result).decode())
    return 0 if result.outcome.passed and result.report.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
