"""Look for what the suite's own examples do not show: `python -m tests.search --minutes 60`.

Every property that the suite plays with the same examples each time plays new ones here, in rounds with a seed each,
until the time is up. Exit code 0: nothing was found; 1: at least one find, printed with the line that keeps it.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.progress import Tell, telling
from tests.search.finds import END_MARK, FOUND_MARK

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
PROPERTY_S = 3600
"""One that takes longer hangs."""
COUNTED = re.compile(r"^(?=.*\b(?:passed|failed|error)).* in [\d.]+s", re.MULTILINE)
PLAYED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
"""Interrupted: the time was up."""


def main() -> int:
    """0: nothing was found."""
    given, tell = _arguments(), telling()
    until_s = time.time() + given.minutes * 60
    files = given.files or _files_with_properties()
    found, number = 0, 0
    while time.time() < until_s:
        seed = given.seed if given.seed is not None else random.SystemRandom().getrandbits(32)
        random.Random(seed).shuffle(files)
        found += _round(files, seed, until_s, tell)
        number += 1
        if given.seed is not None:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{number} rounds, {(used.ru_utime + used.ru_stime) / 60:.0f} min of processor time: {found} finds")
    return 1 if found else 0


def _round(files: list[str], seed: int, until_s: float, tell: Tell) -> int:
    """How many finds; each was printed."""
    options = ["-n0", "-q", "-s", "-m", "hypothesis and not benchmark", f"--timeout={PROPERTY_S}", "--tb=no", "-rN"]
    options += ["-p", "tests.search.finds", "--hypothesis-profile=search", f"--hypothesis-seed={seed}"]
    command = [sys.executable, "-m", "pytest", *options, f"--until={until_s}", *files]
    played = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    finds = [part.partition(END_MARK)[0] for part in played.stdout.split(FOUND_MARK)[1:]]
    for find in finds:
        print(f"{find.strip()}\n", flush=True)
    if played.returncode not in PLAYED or (played.returncode == pytest.ExitCode.TESTS_FAILED and not finds):
        sys.exit(f"a round with seed {seed} did not get through:\n{played.stdout[-3000:]}{played.stderr[-3000:]}")
    summary = COUNTED.search(played.stdout)
    tell(f"seed {seed}: {summary[0].strip() if summary else 'nothing'}, {len(finds)} finds")
    return len(finds)


def _files_with_properties() -> list[str]:
    return [
        str(file.relative_to(ROOT))
        for file in sorted(TESTS.rglob("test_*.py"))
        if "from hypothesis" in file.read_text(encoding="utf-8")
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.search", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, help="play one round again, with this seed")
    parser.add_argument("files", nargs="*", help="the tests to look in; without, all that have properties")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
