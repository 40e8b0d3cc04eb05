"""A list with a provider that answers from a sequence, at once or when told to; what tests of lists share."""

from collections.abc import Callable, Sequence
from typing import overload

from textual.app import ComposeResult
from textual.message import Message

from tui.app.theme import ThemedApp
from tui.app.widgets.line_view import LineView
from tui.app.widgets.lists import RowHighlighted, RowSelected, WindowWanted
from tui.engine.rows import Column, Row, Window

COLUMNS = (Column("name", -12, "<", "name"), Column("value", 8, ">", "value"), Column("state", 8))


def row(index: int) -> Row:
    """The row that stands at this index as long as nothing was sorted."""
    return Row(f"k{index}", (((f"row {index}", ""),), ((str(index * 10), "number"),), (("ok", "ok"),)))


class Numbered(Sequence[Row]):
    """As many rows as wanted without making them."""

    def __init__(self, total: int) -> None:
        self._total = total

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        numbers = range(self._total)[index]
        return [row(number) for number in numbers] if isinstance(numbers, range) else row(numbers)

    def __len__(self) -> int:
        return self._total


class ListApp(ThemedApp[None]):
    """One list, its rows, and all that it said."""

    def __init__(
        self,
        rows: Sequence[Row],
        *,
        columns: tuple[Column, ...] = COLUMNS,
        make: Callable[[], LineView] = LineView,
        answers: bool = True,
        theme: str = "dark",
        ascii_only: bool = False,
    ) -> None:
        super().__init__(theme=theme, ascii_only=ascii_only)
        self.rows = rows
        self.columns = columns
        self.note = ""
        self.answers = answers
        self.asked: list[WindowWanted] = []
        self.heard: list[Message] = []
        self._make = make

    def compose(self) -> ComposeResult:
        yield self._make()

    def on_mount(self) -> None:
        self.view.focus()

    @property
    def view(self) -> LineView:
        return self.query_one(LineView)

    def answer(self, wanted: WindowWanted) -> None:
        """What a provider would send: the rows asked for, and where the key is now."""
        keys = [row.key for row in self.rows] if wanted.key and len(self.rows) < 10_000 else []
        cursor = keys.index(wanted.key) if wanted.key in keys else -1
        rows = tuple(self.rows[wanted.first : wanted.first + wanted.count])
        window = Window(wanted.first, len(self.rows), rows, self.columns, cursor, note=self.note)
        self.view.show(window, wanted.key)

    def on_window_wanted(self, wanted: WindowWanted) -> None:
        self.asked.append(wanted)
        if self.answers:
            self.answer(wanted)

    def on_row_highlighted(self, message: RowHighlighted) -> None:
        self.heard.append(message)

    def on_row_selected(self, message: RowSelected) -> None:
        self.heard.append(message)

    def highlighted(self) -> list[str]:
        return [message.key for message in self.heard if isinstance(message, RowHighlighted)]

    def selected(self) -> list[str]:
        return [message.key for message in self.heard if isinstance(message, RowSelected)]
