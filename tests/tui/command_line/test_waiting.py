"""How long a command waits for a picture: as long as something new arrives, and never for ever."""

from __future__ import annotations

import sys

import pytest

from model.hosts.zookeeper.settings import ReadLimits
from model.sources.source import Progress, Sink, SourceError, SourceStatus
from tui.cli.output import IN_ALL, SAID_AFTER_S, WaitIndicator
from tui.engine.messages import Opening, Patience

BEGUN_S = 1_000.0


class Slow:
    """A source that tells how far it is, and no more."""

    name = "zk://slow"

    def __init__(self) -> None:
        self.told = Progress(connections=1)

    def progress(self) -> Progress:
        return self.told

    def open(self, sink: Sink) -> None: ...
    def close(self) -> None: ...


class Clocked:
    """Waiting in a time of its own."""

    def __init__(self, timeout_s: float = 60.0, limits: ReadLimits | None = None) -> None:
        self.source, self.now_s = Slow(), BEGUN_S
        opening = Opening(patience=Patience(timeout_s, BEGUN_S), limits=limits or ReadLimits())
        self.waiting = WaitIndicator(self.source, opening, lambda: self.now_s)
        self.waiting.look()

    def after(self, seconds: float, **told: object) -> None:
        self.now_s += seconds
        self.source.told = Progress(**{"connections": 1, **told})  # pyright: ignore[reportArgumentType]
        self.waiting.look()


def test_it_waits_while_answers_are_new() -> None:
    clocked = Clocked()
    for answers in range(1, 10):
        clocked.after(59.0, answers=answers)
    with pytest.raises(SourceError, match=r"^zk://slow: nothing new for 60 s: connected once, 9 answers$"):
        clocked.after(60.0, answers=9)


def test_it_waits_while_a_long_answer_is_on_its_way() -> None:
    clocked = Clocked()
    for pieces in range(1, 10):
        clocked.after(59.0, answers=5, pieces=pieces)
    with pytest.raises(SourceError, match=r"nothing new for 60 s: connected once, 5 answers$"):
        clocked.after(60.0, answers=5, pieces=9)


def test_connecting_again_is_no_progress() -> None:
    clocked = Clocked()
    clocked.waiting.hear(SourceStatus("connecting", reason="b1:2181: the server closed the connection"))
    clocked.waiting.hear(SourceStatus("loading"))
    clocked.after(59.0, connections=40)
    with pytest.raises(SourceError) as said:
        clocked.after(1.0, connections=41, unread="/brokers/topics")
    assert str(said.value) == (
        "zk://slow: nothing new for 60 s: connected 41 times, /brokers/topics never read whole: "
        "b1:2181: the server closed the connection"
    )


def test_who_always_tells_something_new_is_not_listened_to_for_ever() -> None:
    clocked = Clocked(timeout_s=6.0)
    clocked.waiting.hear(SourceStatus("loading", done=3_000, total=2_000_000))
    for answers in range(1, 12):
        clocked.after(5.0, answers=answers)
    with pytest.raises(SourceError, match=r"not done within 60 s .*: connected once, 12 answers, 3,000 of 2,000,000 z"):
        clocked.after(5.0, answers=12)
    assert clocked.now_s - BEGUN_S == IN_ALL * 6.0


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_alone_is_told_how_far_it_is(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    clocked = Clocked()
    clocked.after(SAID_AFTER_S / 2, answers=1)
    assert capsys.readouterr().err == ""
    clocked.after(SAID_AFTER_S, answers=3)
    assert ("kdrill: zk://slow: connected once, 3 answers, 3 s" in capsys.readouterr().err) == is_terminal


def test_what_is_asked_for_slowly_may_come_slowly() -> None:
    clocked = Clocked(limits=ReadLimits(reads_per_s=4.0))
    clocked.after(159.0)
    with pytest.raises(SourceError, match="nothing new for 160 s"):
        clocked.after(1.0)


def test_the_time_before_the_source_was_opened_counts() -> None:
    opening = Opening(patience=Patience(60.0, BEGUN_S))
    waiting = WaitIndicator(Slow(), opening, lambda: BEGUN_S + 60.0)
    with pytest.raises(SourceError, match="nothing new for 60 s"):
        waiting.look()


def test_before_anything_answered() -> None:
    clocked = Clocked()
    with pytest.raises(SourceError, match=r"nothing new for 60 s: never connected$"):
        clocked.after(60.0, connections=0)
