"""Every screen of the registry in the forms worth looking at, and the keys between them: one walk through one app."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from tests.tui.dashboard import Keys, kdrill, mode, press, rows, settled, text, until
from tui.app.panes.live_panes import LiveText
from tui.engine.messages import STOPPABLE
from tui.engine.questions import ForecastQuestion

Ready = Callable[[Keys], bool]


def has(name: str) -> Ready:
    return lambda pilot: rows(pilot, name).total > 0


def _is_worked_out(name: str) -> Ready:
    def is_ready(pilot: Keys) -> bool:
        texts = kdrill(pilot).screen.query(LiveText)
        return rows(pilot, name).total > 0 and all(STOPPABLE not in text.copy_text for text in texts)

    return is_ready


def few_years(pilot: Keys, histories: int = 200) -> bool:
    """A forecast is played from so many years on, which takes a tenth of the time; its texts are of the same form."""
    app = kdrill(pilot)
    app.view_state = replace(app.view_state, forecast=ForecastQuestion(histories=histories))
    return True


class Page(NamedTuple):
    """`steps` lead there from the page before: keys, and what must have come true before the next one."""

    steps: tuple[str | Ready, ...]
    back: tuple[str, ...] = ()
    """Keys that undo what would change the pages after it."""


PAGES: Mapping[str, Page] = {
    "overview": Page(("1",)),
    "overview_bars": Page(("v",), back=("v",)),
    "describe": Page(("a", "d"), back=("escape",)),
    "znodes": Page(("2", "j", "j", "l")),
    "znode_raw": Page(("v",), back=("v", "v")),
    "znode_history": Page(("H",), back=("escape",)),
    "partitions": Page(("3", "j")),
    "partition_list": Page(("v",), back=("v",)),
    "map_of_topics": Page(("z",)),
    "map_of_brokers": Page(("z",)),
    "map_of_racks": Page(("z",), back=("z",)),
    "help": Page(("question_mark",), back=("escape",)),
    "consumers": Page(("4", "j")),
    "ownership_table": Page(("v",), back=("v",)),
    "lab": Page(("5", has("lab-groups"), "j", has("lab-consumers"))),
    "lab_estate": Page(("5", has("lab-groups"), "v", "v", "v", has("lab-cases"))),
    "drill": Page(("6", has("drill-brokers"), "K", has("drill-map"), "comma", "comma")),
    "sweep": Page(("7", _is_worked_out("sweep-scenarios"))),
    "sweep_in_time": Page(("p", "v", "v", "v", _is_worked_out("sweep-scenarios"), "g"), back=("p",)),
    "sandbox": Page(("8",)),
    "plans": Page(("9", has("plan-brokers"), "enter", _is_worked_out("plan-changes"))),
    "brokers": Page(("b", "j")),
    "events": Page(("i",)),
    "history": Page(("I",)),
    "forecast": Page((few_years, "w", _is_worked_out("forecast-topics"))),
    "logs": Page(("L", "j")),
    "log_segments": Page(("enter",)),
    "log_segment_bars": Page(("v",), back=("v",)),
    "log_batches": Page(("enter",)),
    "log_records": Page(("enter",), back=("escape", "escape", "escape")),
}
"""Page → how to come there from the one before."""


KRAFT_PAGES: Mapping[str, Page] = {
    "metadata": Page(("2", "j", "l", "j")),
    "metadata_records": Page(("semicolon",)),
    "metadata_record": Page(("j", "j", "d"), back=("escape",)),
    "metadata_history": Page(("H",), back=("escape", "semicolon")),
    "quorum": Page(("b",)),
}
"""The same of a KRaft cluster whose metadata log is read: what only such a cluster has."""


async def walk(pilot: Keys, pages: Mapping[str, Page] = PAGES) -> AsyncIterator[str]:
    """Stands on one page after the other, by name."""
    for name, page in pages.items():
        await arrive(pilot, page)
        if (front := kdrill(pilot).page) is not None:
            front.say("")  # or it would vanish by itself after some seconds
        await until(pilot, lambda: STOPPABLE not in text(pilot))  # such as the past of a log that is played
        await settled(pilot)
        yield name
        await press(pilot, *page.back)


async def arrive(pilot: Keys, page: Page) -> None:
    """Goes the page's steps."""
    for step in page.steps:
        if isinstance(step, str):
            await press(pilot, step)
        else:
            await until(pilot, lambda is_ready=step: is_ready(pilot))
            await settled(pilot)


async def look_into_logs(pilot: Keys, folder: str) -> None:
    """The logs screen shows this folder, and the overview is in front again."""
    kdrill(pilot).run_command(f"logs {folder}")
    await until(pilot, lambda: mode(pilot) == "logs" and rows(pilot, "log-partitions").total > 0)
    await press(pilot, "1")
