"""The tool itself: it tells a change that tests notice from one that they do not, in functions and in tables."""

from __future__ import annotations

import gc
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.operators import mutants_of, mutated
from tests.mutation.probes import Probes

ROOT = Path(__file__).parents[2]
CODE = """\
TABLE = {"one": 1, "two": 2}


def is_small(number: int) -> bool:
    return number < 10


def named(name: str) -> int:
    return TABLE[name]


def unknown() -> int:
    return 7


def made(number: int) -> object:
    return lambda: number + 1


MADE = made(2)
"""
TESTS = """\
from planted import MADE, TABLE, is_small, named


def test_the_middle_but_not_the_boundary() -> None:
    assert is_small(3) and not is_small(30)


def test_one_row_of_two() -> None:
    assert named("one") == 1


def test_what_was_made_at_import() -> None:
    assert MADE() == 3


def test_two_rows() -> None:
    assert len(TABLE) == 2
"""


def changes(source: str) -> list[str]:
    return [mutated(source, mutant.number)[1] for mutant in mutants_of(Path("any.py"), source)]


def test_what_survives_is_what_no_test_asserts(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(CODE)
    (tmp_path / "test_planted.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    command = [sys.executable, "-m", "tests.mutation", "--seed", "1", "--tests", "test_planted.py", "--", "planted.py"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    lines = [line for line in run.stdout.splitlines() if line.startswith("survived")]
    assert {line.partition("  (")[0].partition("planted.py:")[2] for line in lines} == {
        "1  2 → 3",
        "1  2 → 1",
        "1  'two' → 'two?'",
        "5  number < 10 → number <= 10",
        "5  10 → 11",
        "5  10 → 9",
        "13  7 → 8",
        "13  7 → 6",
        "13  return 7 → return None",
    }, run.stdout


def test_wording_and_types_are_left_alone() -> None:
    assert not changes('''\
"""Text."""
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence
Answer = Literal["yes", "no"] | None

class Known(tuple, frozen=True):
    """Text."""
    kind: Literal["x"] = "x"
    def __repr__(self) -> str:
        return f"{1 + 1}"
''')


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a < b", ["a <= b", "a >= b"]),
        ("a and b", ["a or b", "b", "a"]),
        ("not a", ["a"]),
        ("a + 'x'", []),
        ("a[1:]", ["1 + 1:", ":", "2", "0"]),
        ("min(a, key=b)", ["max(a, key=b)", "nothing"]),
        ("[a for a in b if c]", ["for a in b"]),
        ("zip(a, b, strict=True)", []),
        ("b if a else c", ["b if not a else c"]),
        ("a['x']", ["'x?'"]),
    ],
)
def test_each_operator_changes_one_thing(code: str, expected: list[str]) -> None:
    found = [change.partition(" → ")[2] for change in changes(f"x: object = {code}")]
    assert [change.strip() for change in found] == expected


PROBED = """\
'''Text.'''
from __future__ import annotations
import functools

@functools.cache
def told(number: int) -> str:
    \"\"\"Text.\"\"\"
    match number:
        case 1:
            return "one"
        case _ if number > 1:
            word = "many"
        case _:
            word = "none"
    for _ in range(number):
        pass
    return word

MADE = [lambda: 7]
"""


def test_probes_tell_what_is_executed_until_they_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "probed.py"
    path.write_text(PROBED)
    spec = importlib.util.spec_from_file_location("probed", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    probes = Probes({str(path)})
    with probes.imported():
        spec.loader.exec_module(module)

    def lines() -> list[int]:
        return sorted(line for _, line in probes.taken())

    assert (module.__doc__, lines()) == ("Text.", [3, 6, 19])
    assert (module.told(1), module.told.__doc__, lines()) == ("one", "Text.", [6, 8, 9, 10, 11, 13])
    assert (module.told(2), lines()) == ("many", [6, 8, 9, 11, 12, 13, 15, 16, 17])
    assert (module.MADE[0](), lines()) == (7, [19])
    gc.unfreeze()
    probes.removed_from(gc.get_objects())
    assert (module.told(0), module.MADE[0](), lines()) == ("none", 7, [])
