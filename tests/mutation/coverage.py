"""Which statements of some files each test executes."""

from __future__ import annotations

import pickle
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.mutation.children import hushed, in_children
from tests.mutation.probes import Line, Lines, Probes
from tests.progress import Tell


@dataclass
class Covered:
    """Tests by number: how long each took, in seconds, and who executed which line."""

    took_s: dict[int, float] = field(default_factory=dict[int, float])
    tests: dict[Line, list[int]] = field(default_factory=dict[Line, list[int]])

    def of(self, file: Path, lines: range) -> list[int]:
        """Tests that executed one of the lines, the quickest first."""
        found = {test for line in lines for test in self.tests.get((str(file), line), ())}
        return sorted(found, key=self.took_s.__getitem__)

    def touching(self, files: Collection[str]) -> list[int]:
        """Tests that executed any line of the files, the quickest first."""
        found = {test for (file, _), tests in self.tests.items() if file in files for test in tests}
        return sorted(found, key=self.took_s.__getitem__)


def covered_by(items: list[pytest.Item], probes: Probes, folder: Path, processes: int, tell: Tell) -> Covered:
    """Runs all tests, spread over some processes. One that fails is left out: it could not tell a mutant."""
    shares = [
        range(len(items) * share // processes, len(items) * (share + 1) // processes) for share in range(processes)
    ]

    def run(share: int) -> int:
        hushed(1, 2)
        told = [(number, *_probed_test(items, number, probes)) for number in shares[share]]
        (folder / f"covered{share}").write_bytes(pickle.dumps(told))
        return 0

    if any(ended for _, ended in in_children(run, processes, processes, wall_s=float("inf"))):
        raise SystemExit("the tests did not get through without mutants")
    covered = Covered()
    for share in range(processes):
        for number, took_s, passed, lines in pickle.loads((folder / f"covered{share}").read_bytes()):
            covered.took_s[number] = took_s
            if not passed:
                tell(f"fails without mutants, and is left out: {items[number].nodeid}")
            for line in lines if passed else ():
                covered.tests.setdefault(line, []).append(number)
    return covered


def _probed_test(items: list[pytest.Item], number: int, probes: Probes) -> tuple[float, bool, Lines]:
    probes.taken()
    began_s = time.process_time()
    passed = passes(items[number], items[number + 1] if number + 1 < len(items) else None)
    return time.process_time() - began_s, passed, probes.taken()


def passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Runs one test; fixtures that the following one shares stay."""
    from _pytest.runner import runtestprotocol  # noqa: PLC0415 - pytest has no public name for it

    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))
