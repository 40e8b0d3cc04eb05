"""What a browser is refused: all that writes a file, breaks something or reads this machine's; in a plain word."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.tui.dashboard import Keys, foot, opened, press, text, type_in, until
from tests.tui.data.asked import ENTRIES, router, text_query
from tui.engine.actions import SANDBOX, holding
from tui.engine.cluster.queries import Acknowledge
from tui.engine.history.queries import MarkMoment, SaveSnapshot
from tui.engine.messages import ONLY_SHOWS, ActionRequest, Answer, Query, StopJobs, TextAnswer
from tui.engine.queries import (
    ConfirmProposal,
    LogLookupList,
    LogPartitionList,
    PartitionList,
    PartitionTextQuery,
    ProcessList,
    SandboxRequest,
    WritePlan,
)
from tui.engine.registry import NO_LOGS, NO_PROCESSES, NO_WISH
from tui.engine.rows import Window
from tui.engine.sandbox.service import WISHES

OF_SANDBOX = {"kill", "restart", "failover", "undo", "reset"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where relative names lead."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def says(pilot: Keys, reason: str) -> None:
    await until(pilot, lambda: reason in foot(pilot))


async def test_keys_that_would_touch_the_machine(still: str, folder: Path) -> None:
    async with opened(still, size=(140, 30), is_served=True) as pilot:
        for key, reason in (
            ("e", "no file is written"),
            ("ctrl+z", "no shell to go back to"),
            ("C", "one cluster is shown"),
        ):
            await press(pilot, key)
            await says(pilot, reason)
        await press(pilot, "8")
        await until(pilot, lambda: NO_PROCESSES in text(pilot))
        breaking = [each for each in holding("sandbox") if each.places == SANDBOX and not each.id.startswith("screen")]
        assert {each.id.partition("(")[0] for each in breaking} >= OF_SANDBOX
        for action in breaking:
            await press(pilot, "1", "8", action.keys.partition(",")[0])
            await says(pilot, NO_WISH)
        await press(pilot, "L")
        await until(pilot, lambda: NO_LOGS in text(pilot))
    assert list(folder.iterdir()) == []


async def test_commands_that_would_touch_the_machine(still: str, folder: Path) -> None:
    async with opened(still, size=(140, 30), is_served=True) as pilot:
        for command in (
            "export now.txt",
            "ctx other",
            "snapshot now.json",
            "plan plan.json",
            "save lab.toml",
            "rate 10",
            "failover",
        ):
            await press(pilot, "1", "colon")
            await type_in(pilot, command)
            await press(pilot, "enter")
            await says(pilot, ONLY_SHOWS)
        await press(pilot, "colon")
        await type_in(pilot, f"logs {folder}")
        await press(pilot, "enter")
        await until(pilot, lambda: NO_LOGS in text(pilot))
        await press(pilot, "colon")
        await type_in(pilot, "offset 5")
        await press(pilot, "enter")
        await until(pilot, lambda: NO_LOGS in text(pilot))
    assert list(folder.iterdir()) == []


def refused(query: Query) -> Answer | None:
    """The answer to what is not done for a browser, which takes no service; None where it is done."""
    if not ENTRIES[type(query)].refused:
        return None
    return asyncio.run(router(is_served=True).answer(query))


@pytest.mark.parametrize("verb", [*WISHES, "audit", "save", "a new one"])
def test_nothing_is_wished_of_a_sandbox(verb: str) -> None:
    assert refused(SandboxRequest(verb)) == TextAnswer(NO_WISH)


def test_every_wish_is_refused_that_is_not_known_to_be_harmless() -> None:
    wishes = {kind: entry.refused for kind, entry in ENTRIES.items() if issubclass(kind, ActionRequest)}
    harmless = {kind for kind, reason in wishes.items() if not reason}
    assert harmless == {Acknowledge, MarkMoment, StopJobs}
    assert {reason for kind, reason in wishes.items() if kind not in harmless} == {NO_WISH}
    assert {SaveSnapshot, WritePlan, ConfirmProposal, SandboxRequest} <= {*wishes}
    assert refused(WritePlan("p.json")) == refused(SaveSnapshot("s.json")) == TextAnswer(NO_WISH)


def test_what_is_not_refused() -> None:
    assert refused(PartitionList()) is None
    assert refused(PartitionTextQuery()) is None


def test_files_and_processes_are_not_read() -> None:
    assert refused(LogPartitionList(scope="/")) == Window(0, 0, (), note=NO_LOGS)
    assert refused(LogLookupList(scope="/")) == Window(0, 0, (), note=NO_LOGS)
    assert refused(ProcessList()) == Window(0, 0, (), note=NO_PROCESSES)
    for about in ("log-record", "log-lookup", "sandbox", "sandbox-process"):
        answer = refused(text_query(about, key="/"))
        assert isinstance(answer, TextAnswer) and ONLY_SHOWS in answer.plain
