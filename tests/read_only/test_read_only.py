"""Some hundred keys against real servers, so that the sessions stay whole; `python -m tests.read_only` presses more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.read_only.clusters import Counted, counted_brokers, counted_tree
from tests.read_only.session import dashboard, press_keys
from tests.read_only.walk import WRITING, commands, registry
from tests.tui.dashboard import press, text, type_in, until
from tui.app.commands import WORDS
from tui.engine.actions import ACTIONS, SCREENS

PART = 0.02
"""Of the registry and the commands, chosen by the seed."""
KEYS = 160


@pytest.fixture(scope="module")
def brokers() -> Iterator[Counted]:
    with counted_brokers() as brokers:
        yield brokers


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is exported goes there."""
    monkeypatch.chdir(tmp_path)


def test_everything_that_can_be_pressed_or_typed_is() -> None:
    steps = [*registry(), *commands()]
    for action in ACTIONS:
        assert {(place, key) for place in action.places for key in action.keys.split(",")} <= {
            (step.screen, step.key) for step in steps
        }
    assert {step.command.partition(" ")[0] for step in steps} >= set(WORDS)
    assert {step.screen for step in steps if step.command} == set(SCREENS)
    assert {*WRITING} <= {step.command for step in steps}


async def test_a_zookeeper_is_only_read() -> None:
    with counted_tree() as tree:
        before = tree.zxid()
        report = await press_keys(tree.counted, KEYS, seed=1, part=PART)
        assert report.asked["getData"] > 0
        assert report.writes == {}
        assert tree.zxid() - before <= report.asked["createSession"] + report.asked["closeSession"]


@pytest.mark.parametrize("allow_writes", [False, True])
async def test_brokers_are_only_read_while_nothing_is_confirmed(brokers: Counted, allow_writes: bool) -> None:
    report = await press_keys(brokers, KEYS // 2, seed=2 + allow_writes, part=PART / 2, allow_writes=allow_writes)
    assert report.asked["Metadata"] > 0
    assert report.writes == {}


async def test_the_same_proxies_see_what_is_confirmed(brokers: Counted) -> None:
    """Else the tests above prove nothing."""
    async with dashboard(brokers.source, allow_writes=True) as pilot:
        await type_in(pilot, ":topics create --topic new --partitions 1 --replication-factor 1")
        await press(pilot, "enter")
        await until(pilot, lambda: "to do it" in text(pilot))
        assert brokers.writes == {}
        await type_in(pilot, "yes")
        await press(pilot, "enter")
        await until(pilot, lambda: brokers.writes["CreateTopics"] == 1)
