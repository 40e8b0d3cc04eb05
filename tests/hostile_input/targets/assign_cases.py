"""JSON lines for `kdrill assign`."""

from __future__ import annotations

import json
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

from model.consumers.assignors.strategies import strategy_named
from tests.hostile_input.broken_json import broken_json
from tests.hostile_input.shown import check_error, check_shown
from tests.hostile_input.target import Target
from tui.cli.assign import answer, written
from tui.engine.text import plain

_CASES = Path(__file__).parents[2] / "data" / "assignors"
_LONGEST = 3_000


@cache
def _examples() -> list[bytes]:
    found: list[bytes] = []
    for path in sorted(_CASES.glob("*.jsonl")):
        with path.open("rb") as file:
            found += [line for line in islice(file, 400) if len(line) < _LONGEST]
    return [line for line in found if isinstance(json.loads(line), dict)]


def make(random: Random) -> bytes:
    """One line."""
    return broken_json(random, _examples())


def judge(case: bytes, _folder: Path) -> None:
    """A result for each line, with an assignment or with an error."""
    result = answer(case, strategy_named("range"), as_kafka=False, explain=len(case) % 4 == 0)
    if result["error"] is not None:
        check_error(result["error"])
        assert result["assignment"] is None
    if result["differs_from_kafka"]:
        check_shown(plain(result["differs_from_kafka"]))
    check_shown(written(result))


TARGET = Target("assign-cases", make, judge)
