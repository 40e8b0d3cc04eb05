"""Log folders as a broker leaves them, small ones, for tests to look into and to damage."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from model.log.partition_log import PartitionLog
from model.log.recovery import open_log
from model.log.settings import LogSettings
from tests.model.log.batches import START_MS, keyed
from tests.tui.data.asked import ENTRIES, list_query, text_query
from tui.engine.listing import loaded
from tui.engine.logs.pages import LogPages
from tui.engine.messages import TextAnswer
from tui.engine.rows import Line, Window

SETTINGS = LogSettings(segment_bytes=1_000, index_interval_bytes=200, segment_index_bytes=1_200)


def write_log(folder: Path, batches: int = 45) -> PartitionLog:
    """Batches of two records and 100 bytes, ten a segment, one every 10 ms; an index entry after each third one."""
    log, _ = open_log(folder, SETTINGS, now_ms=START_MS)
    for number in range(batches):
        data = keyed([("k", f"{number:02d}" * 7 + "x" * 7), ("l", f"{number:02d}")], time_ms=START_MS + 10 * number)
        assert len(data) == 100
        log.append_as_leader(data, leader_epoch=0, now_ms=START_MS)
    return log


@dataclass
class Asked:
    """The pages of one folder, asked as a screen does; time passes between two questions."""

    folder: Path
    seconds: float = 0.0
    pages: LogPages = field(init=False)

    def __post_init__(self) -> None:
        self.pages = LogPages(str(self.folder), self._clock)

    def rows(self, name: str, scope: str = "", **query: object) -> Window:
        """A list's window."""
        self.seconds += 60
        asked = list_query(name, scope=scope, width=100, **query)
        answer = self.pages.answer(loaded(ENTRIES[type(asked)].page), asked, START_MS)
        assert isinstance(answer, Window)
        return answer

    def told(self, about: str, key: str, width: int = 200) -> str:
        """A text."""
        self.seconds += 60
        path, _, wanted = key.rpartition("\t") if about == "log-lookup" else (key, "", "")
        asked = text_query(about, key=path, wanted=wanted, width=width)
        answer = self.pages.answer(loaded(ENTRIES[type(asked)].page), asked, START_MS)
        assert isinstance(answer, TextAnswer)
        return answer.plain

    def _clock(self) -> float:
        return self.seconds


def words(line: Line) -> str:
    """A cell's text."""
    return "".join(text for text, _ in line)


def cells(window: Window) -> list[tuple[str, ...]]:
    """All texts of all rows, the mark first."""
    return [(row.mark, *map(words, row.cells)) for row in window.rows]


def flip(path: Path, at: int) -> None:
    """Flips the bits of one byte, as a failing disk would."""
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)
