"""Which runs begin with the guided tour: a person's first on a sandbox, and no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from model.sandbox.options import SandboxOptions
from tui.app.app import Ended
from tui.cli.open import RunStart, remembering
from tui.engine.messages import Opening
from tui.engine.view_state import ViewState

SANDBOX = Opening()
BLANK = RunStart(theme="", folder=None, is_fresh=False)


def begins_with_tour(opening: Opening, start: RunStart, *, tour: bool = True, toured: bool = False) -> bool:
    """Whether a run is begun with it; `toured`: it is then taken or ended."""
    begun: list[bool] = []

    def run(*, tour: bool, **_: object) -> Ended:
        begun.append(tour)
        return Ended(0, "", None, "dark", False, "overview", ViewState(), toured)

    remembering(run, opening, start, note="", tour=tour)
    return begun[0]


@pytest.fixture
def first(tmp_path: Path) -> RunStart:
    return replace(BLANK, folder=tmp_path / "state")


def test_the_first_runs_on_a_sandbox_until_it_was_taken_or_ended(first: RunStart) -> None:
    assert begins_with_tour(SANDBOX, first)
    assert begins_with_tour(SANDBOX, first, toured=True)
    assert not begins_with_tour(SANDBOX, first)
    assert not begins_with_tour(Opening(sandbox=SandboxOptions(brokers=5)), first)


@pytest.mark.parametrize(
    "opening",
    [
        Opening(source="zk://zk1:2181/kafka"),
        Opening(is_demo=True),
        Opening(sandbox=SandboxOptions(scenario="drill.toml")),
    ],
)
def test_nothing_but_a_sandbox_that_the_operator_breaks_has_one(opening: Opening, first: RunStart) -> None:
    assert not begins_with_tour(opening, first)


def test_none_where_it_could_not_be_remembered_or_nobody_wants_it(first: RunStart) -> None:
    assert not begins_with_tour(SANDBOX, BLANK)
    assert not begins_with_tour(SANDBOX, replace(first, is_fresh=True))
    assert not begins_with_tour(SANDBOX, first, tour=False)
