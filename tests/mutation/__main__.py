"""Change code at random and see whether a test fails: `python -m tests.mutation --mutants 1000 --seed N [PLACE…]`.

A place is a folder, a file, or FILE:LINE. Lines are drawn evenly, and for each one of the changes that `operators`
knows. The tests are those of the core in the fast tier. Printed: the rate of each folder, and all that survived.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.fast_tier import EXPRESSION
from tests.mutation.operators import Mutant, mutants_of
from tests.mutation.playing import SURVIVED, Play, Verdict, played
from tests.progress import telling, told_seed

PLACES = ("model/controller", "model/broker", "model/cluster", "model/consumers/assignors", "model/planning")
TESTED = ("actions", "broker", "cluster", "consumers", "controller", "drills", "interchange", "planning", "znodes")
TESTS = [f"tests/model/{folder}" for folder in TESTED]


def main() -> None:
    """Draws, plays and prints."""
    given, tell = _arguments(), telling()
    seed = told_seed(given.seed, tell)
    drawn = {place: mutants_in(place) for place in given.places}
    mutants = sample([mutant for found in drawn.values() for mutant in found], given.mutants, random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        tests, options = (given.tests, []) if given.tests else (TESTS, ["-m", EXPRESSION])
        verdicts = played(Play(mutants, tests, options, Path(folder), given.processes, tell))
    for verdict in verdicts:
        if verdict.ended == SURVIVED:
            print(_line(verdict))
    for place, known in drawn.items():
        of = set(known)
        print(_summary(place, [verdict for verdict in verdicts if verdict.mutant in of]))
    print(_summary("all", verdicts))


def mutants_in(place: str) -> list[Mutant]:
    """All mutants of a folder, a file, or a line of a file."""
    name, _, line = place.partition(":")
    path = Path.cwd() / name
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    found = [mutant for file in files for mutant in mutants_of(file, file.read_text(encoding="utf-8"))]
    return [mutant for mutant in found if not line or mutant.line == int(line)]


def sample(mutants: Iterable[Mutant], count: int, chance: random.Random) -> list[Mutant]:
    """So many of them, lines drawn evenly: a second mutant of a line comes only after all lines had one."""
    lines: dict[tuple[Path, int], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        lines[mutant.file, mutant.line].append(mutant)
    for found in lines.values():
        chance.shuffle(found)
    drawn: list[Mutant] = []
    while any(lines.values()):
        for found in chance.sample(list(lines.values()), len(lines)):
            if found and _differs(mutant := found.pop()):
                drawn.append(mutant)
            if len(drawn) == count:
                return drawn
    return drawn


def _differs(mutant: Mutant) -> bool:
    old, new = mutant.codes()
    return old != new


def _line(verdict: Verdict) -> str:
    tests = f"{verdict.tests} tests" if verdict.tests else "no test"
    return f"survived: {verdict.mutant.text()}  ({tests})"


def _summary(place: str, verdicts: list[Verdict]) -> str:
    killed = sum(verdict.ended != SURVIVED for verdict in verdicts)
    late = sum(verdict.ended < 0 for verdict in verdicts)
    unseen = sum(not verdict.tests for verdict in verdicts)
    rate = f"{killed / len(verdicts):.1%}" if verdicts else "-"
    return f"{place}: {len(verdicts)} mutants, {killed} killed ({late} by time), {unseen} that no test executes: {rate}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--tests", nargs="+", metavar="PATH")
    parser.add_argument("places", nargs="*", default=PLACES, metavar="PLACE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
