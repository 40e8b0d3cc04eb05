"""Plays mutants against tests that were collected once: a fork for each mutant, and in it the tests that execute it.

A mutant of a function is put into the function. What is executed at import alone (tables, defaults) is imported once
more, in a process that had imported none of it.
"""

from __future__ import annotations

import gc
import importlib
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import Phase, settings

from tests.mutation.children import bound_memory, bound_time, hushed, in_children
from tests.mutation.coverage import Covered, covered_by, passes
from tests.mutation.installing import Functions, Swap, functions_of, install, install_before_import, swaps
from tests.mutation.operators import Mutant
from tests.mutation.probes import Lines, Probes
from tests.progress import Tell

OPTIONS = ("-n0", "-qq", "-s", "--timeout=0", "-p", "no:cacheprovider", "-o", "tmp_path_retention_policy=none")
START_S, SLOWER = 5, 10
"""Seconds of processor time that a test has: so many, and so many times what it takes without a mutant."""

IMPORTED_S = 2
"""What is executed at import concerns nobody knows whom: of each way to be near to it the quickest tests, until they
took that long."""

SURVIVED, KILLED = 0, 1


@dataclass(frozen=True)
class Play:
    """Mutants of files against tests, which pytest takes with options; by so many processes at once.

    The folder is for notes.
    """

    mutants: Sequence[Mutant]
    tests: Sequence[str]
    options: Sequence[str]
    folder: Path
    processes: int
    tell: Tell

    @property
    def files(self) -> frozenset[str]:
        """Where the mutants are."""
        return frozenset(str(mutant.file) for mutant in self.mutants)

    def ends(self, numbers: Sequence[int], run: Callable[[int], int]) -> dict[int, int]:
        """Plays some mutants, and tells of those that survive."""
        found: dict[int, int] = {}

        def quietly(at: int) -> int:
            hushed(1, 2)
            return run(numbers[at])

        for at, ended in in_children(quietly, len(numbers), self.processes):
            found[numbers[at]] = ended
            if ended == SURVIVED:
                self.tell(f"{len(found)}/{len(numbers)} survived: {self.mutants[numbers[at]].text()}")
        return found

    def note(self, number: int) -> Path:
        """Where a mutant's process writes which test failed."""
        return self.folder / f"killer{number}"


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: how its tests ended (a signal is negative), how many there were, and which failed."""

    mutant: Mutant
    ended: int
    tests: int
    killer: str


@dataclass
class Collected:
    """What the process that collected the tests knows when it is done."""

    ended: dict[int, int] = field(default_factory=dict[int, int])
    tests: dict[int, dict[str, float]] = field(default_factory=dict[int, dict[str, float]])
    """Those that execute a mutant, and how long each takes, in seconds."""

    at_import: list[int] = field(default_factory=list[int])
    imported: list[str] = field(default_factory=list[str])


def played(play: Play) -> list[Verdict]:
    """What became of each mutant, in their order."""
    note = play.folder / "collected"
    if list(in_children(lambda _: _collecting(play, note), 1, 1, wall_s=float("inf"))) != [(0, 0)]:
        raise SystemExit("the tests could not be collected")
    collected: Collected = pickle.loads(note.read_bytes())
    for name in collected.imported:
        with suppress(Exception):
            importlib.import_module(name)
    late = collected.at_import
    play.tell(f"{len(late)} mutants that show only at import…")

    def run(number: int) -> int:
        tests = collected.tests[number]
        install_before_import(play.mutants[number])
        bound_time(START_S + 3 * SLOWER * IMPORTED_S)
        chosen = _Chosen(tests, play.note(number))
        pytest.main(
            [*OPTIONS, f"--basetemp={play.folder}/{number}", *sorted({test.partition("::")[0] for test in tests})],
            plugins=[chosen],
        )
        return chosen.ended

    ended = collected.ended | play.ends(late, run)
    return [
        Verdict(mutant, ended[number], len(collected.tests[number]), _read(play.note(number)))
        for number, mutant in enumerate(play.mutants)
    ]


def _collecting(play: Play, note: Path) -> int:
    hushed(1)
    probes = Probes(play.files)
    collecting = _Collecting(play, probes)
    with probes.imported():
        ended = pytest.main(
            [*OPTIONS, *play.options, f"--basetemp={play.folder}/tmp", *play.tests], plugins=[collecting]
        )
    if not ended:
        note.write_bytes(pickle.dumps(collecting.known()))
    return int(ended)


class _Collecting:
    """A plugin of pytest: when all tests are collected, mutants of functions are played."""

    def __init__(self, play: Play, probes: Probes) -> None:
        self._play, self._probes = play, probes
        self._at_import: Lines = set()
        self._collected = Collected()
        self._covered = Covered()
        self._ids: list[str] = []
        self._files: list[Path] = []

    def pytest_collection(self) -> None:
        """Before tests are imported."""
        _no_shrinking()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own."""
        self._at_import = self._probes.taken()
        play, items = self._play, session.items
        self._ids, self._files = [item.nodeid for item in items], [item.path for item in items]
        self._collected.imported = [name for name, module in sys.modules.items() if _is_a_librarys(module)]
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] - one for all children
        play.tell(f"{len(items)} tests: which lines each executes…")
        self._covered = covered_by(items, self._probes, play.folder, play.processes, play.tell)
        gc.unfreeze()
        self._probes.removed_from(gc.get_objects())
        functions = functions_of(play.files)
        found = {number: swaps(functions, mutant) for number, mutant in enumerate(play.mutants)}
        self._play_functions(items, {number: codes for number, codes in found.items() if codes is not None}, functions)
        return True

    def _play_functions(self, items: list[pytest.Item], found: dict[int, list[Swap]], functions: Functions) -> None:
        play, covered = self._play, self._covered
        tests = {number: covered.of(play.mutants[number].file, play.mutants[number].lines) for number in found}
        now = [number for number in found if tests[number]]
        play.tell(f"{len(now)} mutants of functions…")

        def run(number: int) -> int:
            install(functions, play.mutants[number], found[number])
            return _first_failure([(items[test], covered.took_s[test]) for test in tests[number]], play.note(number))

        self._collected.ended.update(play.ends(now, run))
        self._collected.tests.update({number: self._named(tests[number]) for number in now})

    def known(self) -> Collected:
        """With those that may show only at import: nobody else executes them, or they have survived so far."""
        collected = self._collected
        for number, mutant in enumerate(self._play.mutants):
            if collected.ended.setdefault(number, SURVIVED) != SURVIVED:
                continue
            tests = collected.tests.setdefault(number, {})
            if any((str(mutant.file), line) in self._at_import for line in mutant.lines):
                collected.at_import.append(number)
                tests.update(self._named(self._near(mutant.file)))
        return collected

    def _named(self, tests: Iterable[int]) -> dict[str, float]:
        return {self._ids[test]: self._covered.took_s[test] for test in tests}

    def _near(self, file: Path) -> Iterable[int]:
        """Tests beside which the file is imported, then those that execute some of it, then those of files that import
        it: the quickest of each first.
        """
        name = ".".join(file.relative_to(Path.cwd()).with_suffix("").parts)
        importing = {path for path in (*self._play.files, *map(str, self._files)) if _imports(path, name)}
        beside = [test for test, path in enumerate(self._files) if str(path) in importing]
        near = dict[int, None]()
        for tests in (beside, self._covered.touching([str(file)]), self._covered.touching(importing)):
            spent_s = 0.0
            for test in sorted(tests, key=self._covered.took_s.__getitem__):
                if test not in near and spent_s < IMPORTED_S:
                    near[test] = None
                    spent_s += self._covered.took_s[test]
        return near


@cache
def _imports(path: str, name: str) -> bool:
    package, _, module = name.rpartition(".")
    ways = rf"^from ({re.escape(name)} import |{re.escape(package)} import .*\b{module}\b)"
    return re.search(ways, Path(path).read_text("utf-8"), re.MULTILINE) is not None


class _Chosen:
    """A plugin of pytest for a process that imports a mutant: some tests, in their order, until one fails."""

    def __init__(self, tests: Mapping[str, float], note: Path) -> None:
        self._tests, self._note = tests, note
        self.ended = KILLED

    def pytest_collection(self) -> None:
        """Before tests are imported."""
        _no_shrinking()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own; what could not be imported has failed."""
        if not session.testsfailed:
            items = {item.nodeid: item for item in session.items}
            known = [(items[test], took_s) for test, took_s in self._tests.items() if test in items]
            self.ended = _first_failure(known, self._note)
        return True


def _first_failure(tests: Sequence[tuple[pytest.Item, float]], note: Path) -> int:
    """Runs tests, which take so long without a mutant."""
    bound_memory()
    followers = [*(item for item, _ in tests[1:]), None]
    for (item, took_s), following in zip(tests, followers, strict=True):
        bound_time(START_S + SLOWER * took_s)
        if not passes(item, following):
            note.write_text(item.nodeid, encoding="utf-8")
            return KILLED
    return SURVIVED


def _no_shrinking() -> None:
    """A property that fails has told enough."""
    settings.register_profile("mutation", settings.default, phases=(Phase.explicit, Phase.generate))
    settings.load_profile("mutation")


def _is_a_librarys(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None) or ""
    return file.startswith(sys.prefix) or not file.startswith(str(Path.cwd()))


def _read(note: Path) -> str:
    return note.read_text(encoding="utf-8") if note.exists() else ""
