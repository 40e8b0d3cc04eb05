"""The UI's end of the link, with processes behind it that do not do what they should."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from model.hosts.child_process import NewsMessage, QuestionAnswered, frame, raw
from tests.tui.data.pulses import Pulses
from tui.engine.cluster.queries import BrokerList
from tui.engine.history.queries import SaveSnapshot
from tui.engine.link import DataLost, ProcessLink
from tui.engine.messages import HeaderFacts, Login, Opening, Pulse

BROKERS = BrokerList()
DEMO, CLUSTER = Opening(is_demo=True), Opening(source="zk://b1:2181")


@asynccontextmanager
async def link_to(program: str, opening: Opening = DEMO) -> AsyncIterator[tuple[ProcessLink, Pulses]]:
    """A link to a Python program, which has `sent(bytes)` to write to the link."""
    sent = "import os, sys, time\ndef sent(data): sys.stdout.buffer.write(data); sys.stdout.flush()\n"
    link, pulses = ProcessLink(opening, [sys.executable, "-c", sent + program]), Pulses()
    await link.open(pulses.hear)
    try:
        yield link, pulses
    finally:
        await link.close()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("sys.exit('first line\\nno room left')", "the data process ended (no room left)"),
        ("raise MemoryError", "the data process ended (MemoryError)"),
        ("sys.exit(3)", "the data process ended (exit code 3)"),
        ("os.kill(os.getpid(), 9)", "the data process ended (killed by SIGKILL)"),
        ("sent(b'\\xff' * 100)", "the data process sent a message of 4,294,967,295 bytes"),
        ("sent(bytes([0, 0, 0, 3, 1, 2, 3]))", "the data process sent no message: "),
        ("sent(b'Hello, world!')", "the data process sent a message of 1,214,606,444 bytes"),
    ],
)
async def test_a_process_that_fails_is_told_once_and_in_one_line(program: str, reason: str) -> None:
    async with link_to(program + "\ntime.sleep(60)") as (link, pulses):
        pulse = await pulses.until(lambda pulse: pulse.fatal)
        assert pulse.fatal.startswith(reason)
        assert "\n" not in pulse.fatal
        with pytest.raises(DataLost) as lost:
            await link.rows(BROKERS)
        assert str(lost.value) == pulse.fatal
        assert len(pulses.heard) == 1


async def test_what_was_asked_before_the_end_is_answered_by_the_end() -> None:
    async with link_to("sys.stdin.buffer.read(60); sys.exit('gone')") as (link, _):
        with pytest.raises(DataLost, match="gone"):
            await asyncio.gather(link.rows(BROKERS), link.rows(BROKERS))


async def test_a_reason_given_by_the_process_itself_is_the_last_word() -> None:
    refused = frame(NewsMessage(raw(Pulse(0, HeaderFacts(), fatal="no such host"))))
    async with link_to(f"sent({refused!r}); sys.exit('something else')") as (link, pulses):
        await pulses.until(lambda pulse: pulse.seq == -1)
        assert {pulse.fatal for pulse in pulses.heard} == {"no such host"}
        with pytest.raises(DataLost, match="no such host"):
            await link.rows(BROKERS)


async def test_one_failed_answer_is_not_the_end() -> None:
    answers = [frame(QuestionAnswered(1, failure="a defect")), frame(QuestionAnswered(2, failure="another"))]
    async with link_to(f"sent({answers[1] + answers[0]!r}); time.sleep(60)") as (link, pulses):
        said = await asyncio.gather(link.rows(BROKERS), link.rows(BROKERS), return_exceptions=True)
        assert [str(error) for error in said] == ["a defect", "another"]
        assert not pulses.heard


async def test_a_process_that_does_not_end_is_ended(is_gone: Callable[[int], bool]) -> None:
    async with link_to("sent(b''); time.sleep(600)") as (link, pulses):
        pid = link.pid
        assert not is_gone(pid)
    assert is_gone(pid)
    assert not pulses.heard


async def test_a_process_that_only_reads_is_not_waited_for(
    is_gone: Callable[[int], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.engine.link.FAREWELL_S", 3600.0)
    async with asyncio.timeout(60), link_to("sent(b''); time.sleep(600)", CLUSTER) as (link, _):
        pid = link.pid
    assert is_gone(pid)


@pytest.mark.parametrize(
    "opening",
    [
        DEMO,
        Opening(),
        msgspec.structs.replace(CLUSTER, allow_writes=True),
        msgspec.structs.replace(CLUSTER, login=Login(variables=("KEY",))),
        CLUSTER,
    ],
    ids=["demo", "sandbox", "with leave to write", "with keys on the disk", "while it saves"],
)
async def test_a_process_that_has_something_to_lose_ends_in_order(
    opening: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.engine.link.FAREWELL_S", 3600.0)
    monkeypatch.setattr("tui.engine.link.HURRIED_S", 0.0)
    ended = tmp_path / "ended"
    async with link_to(f"sys.stdin.buffer.read(); open({str(ended)!r}, 'w')", opening) as (link, _):
        if opening is CLUSTER:
            saving = asyncio.create_task(link.wish(SaveSnapshot("a.json")))
            await asyncio.sleep(0)  # it is asked now
            saving.cancel()  # as the screens do when they go
    assert ended.exists()


async def test_a_flood_of_last_words_leaves_the_last() -> None:
    async with link_to("sys.exit('x' * 1_000_000 + '\\nand so it ended')") as (_, pulses):
        assert "(and so it ended)" in (await pulses.until(lambda pulse: pulse.fatal)).fatal
