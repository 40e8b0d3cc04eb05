"""`python -m tests.killed_anywhere --rounds 100`: SIGKILL at random moments leaves nothing behind, and is told."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.killed_anywhere.programs import PROGRAMS
from tests.killed_anywhere.rounds import by_kind, play_rounds, starts_again
from tests.progress import telling, told_seed


def main() -> int:
    """Exit code 0 if nothing was left in any round."""
    parser = argparse.ArgumentParser(prog="python -m tests.killed_anywhere", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None, help="of who is killed; the moments are the machine's")
    given = parser.parse_args()
    tell = telling()
    seed = told_seed(given.seed, tell)
    with tempfile.TemporaryDirectory(prefix="kdrill-killed-") as folder:
        played = play_rounds(given.rounds, seed, Path(folder), tell)
        wrong = {program.name: starts_again(program, Path(folder)) for program in PROGRAMS}
    for victim, count in sorted(by_kind(played).items()):
        print(f"{victim:<30} {count:5}")
    failed = [each for each in played if each.wrong]
    print(f"{len(played)} rounds, {len(failed)} with something left or not told")
    print(f"longest until all was gone: {max(each.gone_s for each in played):.1f} s")
    for name, left in wrong.items():
        if left:
            print(f"{name} afterwards: {'; '.join(left)}")
    return 1 if failed or any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
