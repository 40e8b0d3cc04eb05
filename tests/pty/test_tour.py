"""The guided tour of a real sandbox by a person's keys: killed, watched, brought back, remembered."""

from __future__ import annotations

import re

from tests.pty.conftest import Open
from tui.engine.remembered import recall, state_folder


def test_the_controller_is_killed_the_epoch_moves_and_the_tour_ends(open_kdrill: Open) -> None:
    terminal = open_kdrill("sandbox", columns=130, rows=40)
    terminal.shows("Tour 1 of 5  Row one names the controller: broker ", "elected in epoch 1")
    terminal.press("8")
    terminal.shows("Tour 2 of 5  Put the cursor on broker ", "zookeeper 1", "broker 3")
    controller = terminal.text.partition("Put the cursor on ")[2].partition(",")[0]
    terminal.shows(f"═ {controller} ★")  # where the cursor is to begin with
    terminal.press("K")
    terminal.shows("Tour 3 of 5  Epoch 1 became 2: broker ", f"where {controller} led")
    terminal.press("3")
    terminal.shows("[3]Partitions", "Tour 4 of 5 ", f"Bring {controller} back")
    terminal.press("80")
    terminal.shows("Tour 5 of 5  In sync again, and still epoch 2")
    terminal.press("6")
    terminal.until(lambda: "[6]Drill" in terminal.text and "Tour" not in terminal.text)
    terminal.press(":tour\r")
    terminal.shows("Tour 1 of 5  Row one names", "elected in epoch 2")
    assert not recall(state_folder(), "sandbox").toured
    terminal.until(lambda: re.search(r"\d on b\d", terminal.text), "esc would stop what is still being worked out")
    terminal.press("\x1b")
    terminal.until(lambda: "Tour" not in terminal.text)
    terminal.press("Q")
    assert terminal.exit_code() == 0
    assert recall(state_folder(), "sandbox").toured
