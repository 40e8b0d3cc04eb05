"""The guided tour: a step is left when what it asks for has happened, by whatever key, and never before."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.zookeeper import SetData
from tests.tui.conftest import Cluster
from tests.tui.dashboard import Keys, kdrill, mode, opened, press, text, type_in, until
from tui.app.screens.overlays import command_lines
from tui.app.tour import BEGUN, OVER, STEPS, Tour, followed, tour_line
from tui.engine.actions import SCREENS, sign_of
from tui.engine.conditions import Here
from tui.engine.config import ConfigError, load_config
from tui.engine.messages import HeaderFacts
from tui.engine.text import cells, wrap_line

WHOLE = HeaderFacts(phase="live", kind="SANDBOX", controller=3, controller_epoch=1, brokers_up=3)
NOBODY = msgspec.structs.replace(WHOLE, controller=None, brokers_up=2, brokers_down=1, under_replicated=29)
MOVED = msgspec.structs.replace(NOBODY, controller=2, controller_epoch=2)
FETCHING = msgspec.structs.replace(MOVED, brokers_up=3, brokers_down=0, under_replicated=4)
MENDED = msgspec.structs.replace(FETCHING, under_replicated=0)


KRAFT = msgspec.structs.replace(WHOLE, generation="kraft", controller=102)
VOTING = msgspec.structs.replace(KRAFT, controller=None)
ELECTED = msgspec.structs.replace(KRAFT, controller=101, controller_epoch=3, voters_missing=1)
RETURNED = msgspec.structs.replace(ELECTED, voters_missing=0)


def steps(*seen: tuple[HeaderFacts, str]) -> list[str]:
    """The step after each of these states of the cluster, with this screen in front."""
    tour, taken = BEGUN, list[str]()
    for facts, screen in seen:
        tour = followed(tour, facts, screen)
        taken.append(tour.step)
    return taken


def said(tour: Tour, facts: HeaderFacts) -> str:
    return "".join(piece for piece, _ in tour_line(tour, facts, sign_of))


def test_the_whole_way() -> None:
    assert steps(
        (WHOLE, "overview"),
        (WHOLE, "sandbox"),
        (NOBODY, "sandbox"),
        (MOVED, "sandbox"),
        (MOVED, "partitions"),
        (FETCHING, "sandbox"),
        (MENDED, "sandbox"),
        (MENDED, "sandbox"),
        (MENDED, "drill"),
    ) == ["look", "kill", "kill", "see", "mend", "mend", "go", "go", "over"]


def test_the_whole_way_in_kraft_mode() -> None:
    assert steps(
        (KRAFT, "overview"),
        (KRAFT, "sandbox"),
        (VOTING, "sandbox"),
        (ELECTED, "sandbox"),
        (ELECTED, "partitions"),
        (ELECTED, "controller"),
        (RETURNED, "controller"),
        (RETURNED, "drill"),
    ) == ["look", "kill", "kill", "see", "see", "mend", "go", "over"]


@pytest.mark.parametrize(
    ("seen", "step"),
    [
        pytest.param([(HeaderFacts(phase="starting"), "sandbox")], "look", id="nothing is known yet"),
        pytest.param([(NOBODY, "sandbox")], "look", id="nobody controls yet"),
        pytest.param([(WHOLE, "overview"), (MOVED, "znodes")], "see", id="it died another way"),
        pytest.param([(WHOLE, "sandbox"), (WHOLE, "events")], "kill", id="the operator looks elsewhere"),
        pytest.param([(WHOLE, "overview"), (MOVED, "partitions")], "mend", id="seen already"),
        pytest.param([(WHOLE, "overview"), (MOVED, "sandbox"), (MENDED, "sandbox")], "see", id="mended early"),
        pytest.param([(WHOLE, "overview"), (MOVED, "sandbox"), (MENDED, "partitions")], "go", id="mended, then seen"),
        pytest.param([(MOVED, "sandbox")], "kill", id="it begins in a later epoch"),
    ],
)
def test_what_happens_otherwise_is_followed(seen: list[tuple[HeaderFacts, str]], step: str) -> None:
    assert steps(*seen)[-1] == step


def test_while_the_link_is_lost_nothing_is_believed() -> None:
    tour = followed(BEGUN, WHOLE, "sandbox")
    assert followed(tour, msgspec.structs.replace(MOVED, phase="stale"), "sandbox") == tour


def test_it_names_who_is_to_die_who_won_and_what_is_missing() -> None:
    tour = followed(BEGUN, WHOLE, "overview")
    assert "controller: broker 3, elected in epoch 1. Press 8" in said(tour, WHOLE)
    tour = followed(tour, WHOLE, "sandbox")
    assert "cursor on broker 3, the controller, and press K: kill -9. The picture counts down" in said(tour, WHOLE)
    assert "session of broker 3 is over" in said(tour, NOBODY)
    tour = followed(tour, MOVED, "sandbox")
    assert "Epoch 1 became 2: broker 2 is controller now" in said(tour, MOVED)
    assert "broker 3 is controller again. Press 3" in said(tour, msgspec.structs.replace(MOVED, controller=3))
    tour = followed(tour, MOVED, "partitions")
    assert "29 partitions are under-replicated. Bring broker 3 back: 8, then U" in said(tour, MOVED)
    assert "catching up: 4 partitions to go" in said(tour, FETCHING)
    assert "still epoch 2" in said(followed(tour, MENDED, "sandbox"), MENDED)
    assert said(OVER, WHOLE) == ""


def test_in_kraft_mode_it_names_controllers_and_says_what_differs() -> None:
    tour = followed(BEGUN, KRAFT, "overview")
    assert "active controller: 102, elected in epoch 1. Press 8 to break it; C: the same with ZooKeeper" in said(
        tour, KRAFT
    )
    assert "C: the same without ZooKeeper (KRaft)" in said(followed(BEGUN, WHOLE, "overview"), WHOLE)
    tour = followed(tour, KRAFT, "sandbox")
    assert "cursor on controller 102, the active one, and press K: kill -9. No partition loses" in said(tour, KRAFT)
    assert "ask each other for votes" in said(tour, VOTING)
    tour = followed(tour, ELECTED, "sandbox")
    assert "controller 101 is active now, and no partition lost its leader. Press b" in said(tour, ELECTED)
    assert "controller 102 is active again. Press b" in said(tour, msgspec.structs.replace(ELECTED, controller=102))
    tour = followed(tour, ELECTED, "controller")
    assert "1 of the voters is missing" in said(tour, ELECTED)
    assert "U on controller 102 brings it back" in said(tour, ELECTED)
    lagging = msgspec.structs.replace(RETURNED, under_replicated=4)
    assert "voters are back: 4 partitions to go" in said(tour, lagging)
    assert "still epoch 3" in said(followed(tour, RETURNED, "sandbox"), RETURNED)


facts = st.builds(
    HeaderFacts,
    phase=st.sampled_from(["starting", "live", "stale"]),
    controller=st.none() | st.integers(0, 5) | st.integers(101, 105),
    controller_epoch=st.none() | st.integers(0, 9),
    brokers_down=st.integers(0, 2),
    under_replicated=st.integers(0, 2),
    generation=st.sampled_from(["zookeeper", "kraft"]),
    voters_missing=st.integers(0, 1),
)


@given(st.lists(st.tuples(facts, st.sampled_from(SCREENS)), max_size=12))
def test_it_never_goes_back_and_fits_beside_the_panes(seen: list[tuple[HeaderFacts, str]]) -> None:
    taken = [STEPS.index(step) for step in steps(*seen)]
    assert taken == sorted(taken)
    tour = BEGUN
    for now, screen in seen:
        tour = followed(tour, now, screen)
        assert followed(tour, now, screen) == tour
        line = tour_line(tour, now, sign_of)
        assert "".join(piece for piece, _ in line).isascii()
        assert len(wrap_line(line, 80)) <= 2 and len(wrap_line(line, 60)) <= 3
        assert all(cells("".join(piece for piece, _ in one)) <= 80 for one in wrap_line(line, 80))


def strip(pilot: Keys) -> str:
    """The lines between the tabs and the panes."""
    lines = text(pilot).split("\n")[2:5]
    return " ".join(line.strip() for line in lines if line.strip() and line[0] == " ")


async def test_on_the_screens(cluster: Cluster) -> None:
    async with opened(cluster.address, tour=True) as pilot:
        before = kdrill(pilot).facts
        assert f"Tour 1 of 5  Row one names the controller: broker {before.controller}" in strip(pilot)
        await press(pilot, "3")
        assert "Tour 1 of 5" in strip(pilot)
        await press(pilot, "8")
        assert f"Tour 2 of 5  Put the cursor on broker {before.controller}" in strip(pilot)
        epoch = (before.controller_epoch or 0) + 1
        cluster.write(SetData("/controller_epoch", str(epoch).encode()))
        await until(pilot, lambda: "Tour 3 of 5" in strip(pilot))
        assert f"Epoch {before.controller_epoch} became {epoch}" in strip(pilot)
        await press(pilot, "3")
        assert "Tour 4 of 5" in strip(pilot)
        assert not kdrill(pilot).toured
        kdrill(pilot).doing = "counting what fails"  # escape ends the tour, as its line says, before it stops anything
        await press(pilot, "escape")
        assert (mode(pilot), kdrill(pilot).toured) == ("partitions", True)
        assert "Tour" not in text(pilot)
        kdrill(pilot).doing = ""
        await press(pilot, "escape")
        assert mode(pilot) == "overview"


async def test_without_it_there_is_no_line_of_it_and_only_a_sandbox_has_one(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "8")
        assert "Tour" not in text(pilot)
        await press(pilot, "colon")
        await type_in(pilot, "tour")
        await press(pilot, "enter")
        await until(pilot, lambda: "the tour needs a sandbox: run kdrill without a SOURCE" in text(pilot))
        assert not kdrill(pilot).toured


def test_help_names_the_way_back_to_it_where_there_is_one() -> None:
    def words(*unsaid: str) -> list[str]:
        return ["".join(piece for piece, _ in line).strip() for line in command_lines(Here("overview"), unsaid)]

    assert ":tour" in words()
    assert ":tour" not in words("tour")


def test_it_is_a_setting(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("")
    assert load_config(path).tour
    path.write_text("tour = false\n")
    assert not load_config(path).tour
    path.write_text('tour = "later"\n')
    with pytest.raises(ConfigError, match=r"tour.*bool"):
        load_config(path)
