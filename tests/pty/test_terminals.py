"""kdrill on terminals of every kind and size: what it shows, and what it must not send."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.demo_tree import DemoTree, demo_tree
from tests.harness.command import KDRILL
from tests.pty.conftest import Open

COLOURS = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m")


def test_the_demo_opens_and_lives(open_kdrill: Open) -> None:
    terminal = open_kdrill("--demo")
    terminal.shows("DEMO", "LIVE", "Brokers")
    terminal.press("3")
    terminal.shows("partition")
    terminal.press("Q")
    assert terminal.exit_code() == 0


def test_without_a_source_a_sandbox_opens_in_which_a_broker_can_be_killed_and_comes_back(open_kdrill: Open) -> None:
    terminal = open_kdrill(columns=130, rows=40)
    terminal.until(lambda: "LIVE" in terminal.lines[0] and "3 brokers up" in terminal.lines[0])
    terminal.press("8")
    terminal.until(lambda: "broker 1 " in terminal.text and " UP " in terminal.text)
    terminal.press("K")  # the cursor is on the controller
    terminal.until(lambda: "was killed (SIGKILL" in terminal.text)
    terminal.until(lambda: "2 up 1 DOWN" in terminal.lines[0])
    terminal.press("u")
    terminal.until(lambda: "3 brokers up" in terminal.lines[0])
    terminal.press("Q")
    assert terminal.exit_code() == 0


@pytest.mark.parametrize(("columns", "rows"), [(60, 16), (80, 24), pytest.param(300, 80, marks=pytest.mark.thorough)])
def test_a_size(open_kdrill: Open, tree: DemoTree, columns: int, rows: int) -> None:
    terminal = open_kdrill(tree.source, columns=columns, rows=rows)
    terminal.shows("LIVE")
    terminal.press("4")
    terminal.until(lambda: "LIVE" in terminal.lines[0] and "[4]" in terminal.text)
    assert len(terminal.lines) == rows
    terminal.press("Q")
    assert terminal.exit_code() == 0


@pytest.mark.parametrize(
    "environment",
    [{"TERM": "linux"}, {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": None}, {"TERM": None}, {"TERM": "vt100"}],
    ids=" ".join,
)
def test_a_poor_terminal(open_kdrill: Open, tree: DemoTree, environment: dict[str, str | None]) -> None:
    terminal = open_kdrill("--ascii", tree.source, environment=environment)
    terminal.shows("LIVE", "Brokers")
    assert terminal.text.isascii()
    terminal.press("Q")
    assert terminal.exit_code() == 0


@pytest.mark.parametrize(("options", "environment"), [(["--no-color"], {}), ([], {"NO_COLOR": "1"})])
def test_no_colour_at_all(
    open_kdrill: Open, tree: DemoTree, options: list[str], environment: dict[str, str | None]
) -> None:
    terminal = open_kdrill(*options, tree.source, environment=environment)
    terminal.shows("LIVE", "Brokers")
    for key, sign in (("2", "[2]"), ("3", "[3]"), ("4", "[4]"), ("?", "Keys on consumers")):
        terminal.press(key)
        terminal.shows(sign)
    terminal.press("Q")
    assert terminal.exit_code() == 0
    assert not COLOURS.findall(bytes(terminal.sent))


def test_colours_are_noticed(open_kdrill: Open, tree: DemoTree) -> None:
    terminal = open_kdrill(tree.source)
    terminal.shows("LIVE", "Brokers")
    assert COLOURS.findall(bytes(terminal.sent))


def test_a_storm_of_sizes(open_kdrill: Open, tree: DemoTree) -> None:
    terminal = open_kdrill(tree.source)
    terminal.shows("LIVE", "Brokers")
    sizes = random.Random(7)
    for _ in range(60):
        terminal.resize(sizes.randint(1, 250), sizes.randint(1, 80))
        terminal.press(sizes.choice("1234jkG"))
    terminal.resize(80, 24)
    terminal.press("1")
    terminal.shows("[1]", "Brokers", "LIVE")
    terminal.press("Q")
    assert terminal.exit_code() == 0


def test_a_drill(open_kdrill: Open, tree: DemoTree) -> None:
    terminal = open_kdrill(tree.source, columns=120, rows=40)
    terminal.shows("LIVE", "Brokers")
    terminal.press("6")
    terminal.shows("SIMULATED", "No failure chosen", "kafka-1")
    terminal.press("K")
    terminal.shows("+0.000 b1 down", "+18.000 b1 expired", "21 → 0")
    terminal.press("<" * 3)
    terminal.shows("at +18.000 s")
    terminal.press("u")
    terminal.shows("No failure chosen")
    terminal.press("Q")
    assert terminal.exit_code() == 0


def test_a_server_that_dies_and_comes_back(open_kdrill: Open, own_zookeeper: EmbeddedZooKeeper) -> None:
    with demo_tree(f"{own_zookeeper.address}/watched") as tree:
        terminal = open_kdrill(tree.source)
        terminal.shows("LIVE", "Brokers")
        own_zookeeper.kill()
        terminal.shows("STALE", "Brokers")
        own_zookeeper.start()
        terminal.until(lambda: "STALE" not in terminal.text and "LIVE" in terminal.text)
        terminal.press("Q")
        assert terminal.exit_code() == 0


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_every_stream_has_to_be_the_terminal(open_kdrill: Open, stream: str, tmp_path: Path) -> None:
    """It reads keys from standard input and draws on standard error."""
    output = tmp_path / "output"
    output.touch()
    elsewhere = f"{stream}=open({str(output)!r}, 'r+')"
    terminal = open_kdrill(program=f"import subprocess, sys; sys.exit(subprocess.call({[*KDRILL]!r}, {elsewhere}))")
    assert terminal.exit_code() == 1
    said = output.read_text() + terminal.text
    assert said.strip() == "kdrill: the dashboard needs a terminal; without one use: kdrill status SOURCE"


def test_a_dumb_terminal_is_refused(open_kdrill: Open) -> None:
    terminal = open_kdrill(environment={"TERM": "dumb"})
    assert terminal.exit_code() == 1
    assert terminal.text.strip() == "kdrill: TERM is dumb: the dashboard needs a terminal that can move the cursor"


def test_keys_that_come_in_one_piece_are_carried_out_in_their_order(open_kdrill: Open, tree: DemoTree) -> None:
    terminal = open_kdrill(tree.source)
    terminal.shows("LIVE")
    terminal.press("3:topic orders\rjj")
    terminal.shows("[3]", "/topic:orders", "orders-0")
    terminal.press("/\x15broker:2\r")
    terminal.shows("/broker:2 ")
    terminal.press("Q")
    assert terminal.exit_code() == 0
