"""However kdrill ends, the terminal is as it was, the exit code is honest, and no process stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.demo_tree import DemoTree
from tests.harness.waiting import eventually
from tests.pseudo_terminal import Terminal
from tests.pty.conftest import Open

ON_AND_OFF = {
    "alternate screen": (b"\x1b[?1049h", b"\x1b[?1049l"),
    "mouse": (b"\x1b[?1000h", b"\x1b[?1000l"),
    "every movement of the mouse": (b"\x1b[?1003h", b"\x1b[?1003l"),
    "mouse in SGR form": (b"\x1b[?1006h", b"\x1b[?1006l"),
    "bracketed paste": (b"\x1b[?2004h", b"\x1b[?2004l"),
    "focus events": (b"\x1b[?1004h", b"\x1b[?1004l"),
    "no line wrap": (b"\x1b[?7l", b"\x1b[?7h"),
    "hidden cursor": (b"\x1b[?25l", b"\x1b[?25h"),
}
CRASHING = """
from tui.app.app import Kdrill
def fail(self): raise RuntimeError("a defect")
Kdrill.action_help = fail
from tui.cli import main
main()
"""


def left_switched(terminal: Terminal) -> list[str]:
    """What the program switched and did not switch back."""
    sent = bytes(terminal.sent)
    left = [name for name, (on, off) in ON_AND_OFF.items() if sent.rfind(on) > sent.rfind(off)]
    return left if terminal.modes == terminal.modes_before else [*left, "line discipline"]


def last_line(terminal: Terminal) -> str:
    """What stands on the terminal after the dashboard's screen is gone."""
    return terminal.sent.rpartition(b"\x1b[?1006l")[2].decode().strip()


@pytest.mark.parametrize("keys", ["q", "Q", "\x11"], ids=["q", "Q", "ctrl+q"])
def test_a_key_quits(open_kdrill: Open, tree: DemoTree, is_gone: Callable[[int], bool], keys: str) -> None:
    terminal = open_kdrill(tree.source)
    terminal.shows("LIVE", "Brokers")
    assert len(left_switched(terminal)) > len(ON_AND_OFF) - 1, "the test would not notice"
    data_process = child_of(terminal.pid)
    terminal.press(keys)
    assert terminal.exit_code() == 0
    assert not left_switched(terminal)
    assert last_line(terminal) == ""
    assert is_gone(data_process)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_a_signal_quits(
    open_kdrill: Open, tree: DemoTree, is_gone: Callable[[int], bool], number: signal.Signals
) -> None:
    terminal = open_kdrill(tree.source)
    terminal.shows("LIVE", "Brokers")
    data_process = child_of(terminal.pid)
    terminal.send(number)
    assert terminal.exit_code() == 128 + number
    assert not left_switched(terminal)
    assert last_line(terminal) == ""
    assert is_gone(data_process)


def test_a_signal_while_it_starts_leaves_the_terminal_alone(open_kdrill: Open, tree: DemoTree) -> None:
    terminal = open_kdrill(tree.source)
    terminal.until(lambda: b"\x1b[?1049h" in terminal.sent)
    terminal.send(signal.SIGTERM)
    assert terminal.exit_code() == 128 + signal.SIGTERM
    assert not left_switched(terminal)


def test_a_terminal_that_is_gone_ends_it(open_kdrill: Open, tree: DemoTree, is_gone: Callable[[int], bool]) -> None:
    terminal = open_kdrill(tree.source)
    terminal.shows("LIVE")
    data_process = child_of(terminal.pid)
    terminal.hang_up()
    assert terminal.exit_code() != 0
    eventually(lambda: is_gone(data_process))


def test_what_was_never_stopped_is_not_continued(open_kdrill: Open, tree: DemoTree) -> None:
    """A terminal that hangs up sends this signal too; threads that were started by it kept the program from ending."""
    terminal = open_kdrill(tree.source)
    terminal.shows("LIVE")
    for name in ("Znodes", "Overview") * 3:
        terminal.send(signal.SIGCONT)
        terminal.press("2" if name == "Znodes" else "1")
        terminal.shows(f"]{name}")
    terminal.press("Q")
    assert terminal.exit_code() == 0
    assert not left_switched(terminal)


def test_a_crash_is_no_success(open_kdrill: Open, tree: DemoTree, is_gone: Callable[[int], bool]) -> None:
    terminal = open_kdrill(tree.source, program=CRASHING)
    terminal.shows("LIVE")
    data_process = child_of(terminal.pid)
    terminal.press("?")
    assert terminal.exit_code() == 1
    assert not left_switched(terminal)
    assert "a defect" in last_line(terminal)
    assert is_gone(data_process)


def test_a_data_process_that_is_killed_ends_it_with_a_reason(open_kdrill: Open, tree: DemoTree) -> None:
    terminal = open_kdrill(tree.source)
    terminal.shows("LIVE")
    os.kill(child_of(terminal.pid), signal.SIGKILL)
    assert terminal.exit_code() == 1
    assert not left_switched(terminal)
    assert last_line(terminal) == "kdrill: the data process ended (killed by SIGKILL)"


def test_nothing_outlives_a_kdrill_that_is_killed(open_kdrill: Open, is_gone: Callable[[int], bool]) -> None:
    terminal = open_kdrill("--demo")
    terminal.shows("LIVE")
    data_process = child_of(terminal.pid)
    guard = child_of(data_process)
    terminal.send(signal.SIGKILL)
    assert terminal.exit_code() == -signal.SIGKILL
    eventually(lambda: is_gone(data_process) and is_gone(guard))


def test_a_source_that_cannot_be_had_is_told_after_the_terminal_is_restored(
    open_kdrill: Open, own_zookeeper: EmbeddedZooKeeper, tmp_path: Path
) -> None:
    (tmp_path / "no.json").write_text("{}")
    for source, reason in (
        (f"zk://{own_zookeeper.address}/none", "/none"),
        (str(tmp_path / "no.json"), "not a kdrill snapshot"),
    ):
        terminal = open_kdrill("--connect-timeout", "2", source)
        assert terminal.exit_code() == 1
        assert not left_switched(terminal)
        said = last_line(terminal)
        assert said.startswith("kdrill: ")
        assert reason in said
        assert "\n" not in said


def test_it_stops_and_goes_on(open_kdrill: Open, tree: DemoTree) -> None:
    terminal = open_kdrill(tree.source)
    terminal.shows("LIVE", "Brokers")
    terminal.press("\x1a")
    terminal.until(terminal.is_stopped, "it did not stop")
    terminal.until(terminal.is_read)
    assert not left_switched(terminal)
    before = len(terminal.sent)
    terminal.send(signal.SIGCONT)
    terminal.until(lambda: b"\x1b[?1049h" in terminal.sent[before:], "it did not take the screen again")
    terminal.shows("LIVE", "Brokers")
    terminal.press("Q")
    assert terminal.exit_code() == 0
    assert not left_switched(terminal)


def child_of(pid: int) -> int:
    """The first child of a process."""
    found = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    return next(int(child) for child, parent in map(str.split, found.splitlines()) if int(parent) == pid)
