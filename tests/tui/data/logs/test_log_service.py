"""The log service answers in a thread, does not hurry, and its keys lead back to what they stand for."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.data.asked import ENTRIES
from tests.tui.data.logs.log_folders import write_log
from tui.engine.lazy import LazyLogs
from tui.engine.logs.reader import KeptAnswers
from tui.engine.logs.segments import key_of, parts_of
from tui.engine.messages import TextAnswer
from tui.engine.queries import LogPartitionList, LogPartitionText
from tui.engine.router import Router
from tui.engine.rows import Window


async def test_lists_and_texts_of_a_folder(tmp_path: Path) -> None:
    write_log(tmp_path / "t-0", batches=3)
    desk = LazyLogs(str(tmp_path))
    asked = LogPartitionList(), LogPartitionText(key=str(tmp_path / "t-0"))
    window, text = await asyncio.gather(*(desk.answer(ENTRIES[type(query)].page, query, 0) for query in asked))
    assert isinstance(window, Window) and window.total == 1
    assert isinstance(text, TextAnswer) and "1 segment, 300 B" in text.plain


def test_only_what_is_about_logs_is_asked_of_it() -> None:
    asked = {kind.__name__ for kind, entry in ENTRIES.items() if entry.by is Router.of_logs}
    assert asked == {kind.__name__ for kind in ENTRIES if kind.__name__.startswith("Log")}
    assert {"LogBatchList", "LogLookupText"} < asked


def test_an_answer_is_kept_the_longer_the_dearer_it_was() -> None:
    now = 0.0
    kept = KeptAnswers(lambda: now)

    def work_out() -> float:
        nonlocal now
        now += 1.0
        return now

    assert kept.answer("q", work_out) == 1.0
    now += 9.0
    assert kept.answer("q", work_out) == 1.0
    assert kept.answer("another", work_out) == 11.0
    assert kept.answer("q", work_out) == 12.0


@given(st.text(min_size=1), st.lists(st.integers(-(2**63), 2**63), max_size=3))
def test_a_key_comes_apart_again(path: str, numbers: list[int]) -> None:
    assert parts_of(key_of(path, *numbers), len(numbers)) == (path, tuple(numbers))


@given(st.text(), st.integers(0, 3))
def test_any_text_is_a_key_or_none(text: str, count: int) -> None:
    parts = parts_of(text, count)
    assert parts is None or len(parts[1]) == count
