"""What was chosen comes back at the next start, however the last one ended; options and settings win over it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from model.cluster.cluster_image import Provenance
from model.cluster.snapshot_file import write_snapshot
from tests.pseudo_terminal import Terminal
from tests.pty.conftest import Open
from tests.tui.data.small_cluster import small_image
from tui.engine.remembered import recall, remember, state_folder
from tui.engine.view_state import Filter, ViewState, reduce

LIGHT = b"48;5;231"
"""The background of the light theme."""


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    image = msgspec.structs.replace(small_image(), provenance=Provenance("zk://there", 5, 1, complete=True))
    write_snapshot(tmp_path / "small.json", image, ())
    return str(tmp_path / "small.json")


@pytest.fixture
def left_before(snapshot: str) -> str:
    """The snapshot, left on its partitions, filtered, in the light theme."""
    chosen = reduce(ViewState(), Filter("partitions", "pay"))
    remember(state_folder(), snapshot, theme="light", screen="partitions", view_state=chosen)
    return snapshot


def quits(terminal: Terminal) -> None:
    terminal.press("Q")


def is_killed(terminal: Terminal) -> None:
    terminal.send(signal.SIGTERM)


def hangs_up(terminal: Terminal) -> None:
    terminal.hang_up()


@pytest.mark.parametrize("ends", [quits, is_killed, hangs_up])
def test_screen_filter_and_theme_come_back(open_kdrill: Open, snapshot: str, ends: Callable[[Terminal], None]) -> None:
    first = open_kdrill(snapshot)
    first.shows("[1]Overview", "SNAPSHOT", "payments")
    assert LIGHT not in first.sent
    first.press("3/pay\rT")
    first.shows("[3]Partitions", "/pay  ")
    first.until(lambda: LIGHT in first.sent)
    ends(first)
    first.exit_code()
    assert recall(state_folder(), snapshot).screen == "partitions"
    second = open_kdrill(snapshot)
    second.shows("[3]Partitions", "/pay  ")
    assert LIGHT in second.sent


def test_a_fresh_start_is_without_and_is_remembered_itself(open_kdrill: Open, left_before: str) -> None:
    terminal = open_kdrill("--fresh", left_before)
    terminal.shows("[1]Overview", "Brokers")
    assert LIGHT not in terminal.sent
    terminal.press("2")
    terminal.shows("[2]Znodes")
    terminal.press("Q")
    assert terminal.exit_code() == 0
    kept = recall(state_folder(), left_before)
    assert (kept.screen, kept.lists, kept.theme) == ("znodes", {}, "light")


def test_an_option_wins_over_what_was_remembered(open_kdrill: Open, left_before: str) -> None:
    terminal = open_kdrill("--theme", "dark", left_before)
    terminal.shows("[3]Partitions", "/pay  ")
    assert LIGHT not in terminal.sent
    terminal.press("Q")
    assert terminal.exit_code() == 0
    assert recall(state_folder(), left_before).theme == "light"


def test_settings_win_too_and_damage_is_a_note(open_kdrill: Open, left_before: str, tmp_path: Path) -> None:
    next(state_folder().glob("views*.json")).write_text("{")
    config = tmp_path / "config.toml"
    config.write_text('theme = "dark"\n[keys]\nquit = "f10"\nscreen-events = "F9"\n')
    terminal = open_kdrill(left_before, environment={"KDRILL_CONFIG": str(config)}, columns=200)
    terminal.shows("[1]Overview")
    terminal.until(lambda: b"is damaged or not kdrill's: passed over" in terminal.sent)
    assert LIGHT not in terminal.sent
    terminal.press("\x1b[20~")
    terminal.shows("[F9]Events")
    terminal.press("\x1b[21~")
    assert terminal.exit_code() == 0
    assert recall(state_folder(), left_before).screen == "events"


def test_keys_that_cannot_be_are_refused_before_the_screen_is_taken(
    open_kdrill: Open, snapshot: str, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[keys]\nsort = "j"\n')
    terminal = open_kdrill(snapshot, environment={"KDRILL_CONFIG": str(config)}, columns=200)
    assert terminal.exit_code() == 1
    assert terminal.sent.decode() == f"kdrill: {config}:2: keys.sort: 'j' moves the cursor on every screen\r\n"
