"""Which lines of some files each test executes, and which are executed while the tests are imported."""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from tests.mutation.children import hushed, in_children
from tests.progress import Tell

Line = tuple[str, int]
Lines = set[Line]


@dataclass
class Covered:
    """Tests by number: how long each took, in seconds of this slow run, and who executed which line."""

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


Wanted = Mapping[str, frozenset[int]]
"""Lines of files that somebody wants to know of."""


@contextmanager
def traced(wanted: Wanted) -> Iterator[Lines]:
    """Wanted lines that are executed until the end of the block; and the first line of each function that is called."""
    seen: dict[CodeType, set[int]] = {}
    missing: dict[CodeType, set[int]] = {}
    lines: Lines = set()

    def call(frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if code not in missing:
            missing[code] = {line for _, _, line in code.co_lines() if line} & wanted.get(code.co_filename, frozenset())
            if code.co_filename in wanted:
                seen[code] = {code.co_firstlineno}
        if not (waiting := missing[code]):
            return None
        known = seen[code]

        def line(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "line" and frame.f_lineno in waiting:
                waiting.discard(frame.f_lineno)
                known.add(frame.f_lineno)
            return line

        return line

    sys.settrace(call)
    try:
        yield lines
    finally:
        sys.settrace(None)
        lines.update((code.co_filename, number) for code, numbers in seen.items() for number in numbers)


def covered_by(items: list[pytest.Item], wanted: Wanted, folder: Path, processes: int, tell: Tell) -> Covered:
    """Runs all tests, spread over some processes. One that fails is left out: it could not tell a mutant."""
    shares = [
        range(len(items) * share // processes, len(items) * (share + 1) // processes) for share in range(processes)
    ]

    def run(share: int) -> int:
        hushed(1, 2)
        told = [(number, *_traced_test(items, number, wanted)) for number in shares[share]]
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


def _traced_test(items: list[pytest.Item], number: int, wanted: Wanted) -> tuple[float, bool, Lines]:
    began_s = time.process_time()
    with traced(wanted) as lines:
        passed = passes(items[number], items[number + 1] if number + 1 < len(items) else None)
    return time.process_time() - began_s, passed, lines


def passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Runs one test; fixtures that the following one shares stay."""
    from _pytest.runner import runtestprotocol  # noqa: PLC0415 - pytest has no public name for it

    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))
