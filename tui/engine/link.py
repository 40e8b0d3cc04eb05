"""The UI's end of the pipe to the data process, which asks and hears pulses. It loads nothing of what that does.

The data process knows the keys that kdrill comes with: another link has its sentences name those of the settings.
"""

import re
import sys
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from model.hosts.child_process import AskedChild
from tui.engine.actions import ACTIONS, Action
from tui.engine.keymap import other_signs
from tui.engine.messages import (
    NOBODY,
    ActionRequest,
    HeaderFacts,
    ListQuery,
    Opening,
    Pulse,
    TextAnswer,
    TextQuery,
    TimeAnswer,
    TimeQuery,
)
from tui.engine.rows import Window

DATA_PROCESS = (sys.executable, "-P", "-m", "tui.engine")
"""-P: whatever lies in the current folder is not ours."""

OnPulse = Callable[[Pulse], None]

FAREWELL_S = 3.0
"""How long the data process may take to end what must be ended in order."""
HURRIED_S = 0.4
"""As long, where nothing is lost if it is killed: a session that only reads expires by itself."""


class DataLost(Exception):  # noqa: N818 - reads as a fact
    """There is no answer: the data process is gone, or it failed at this question. The message is one line."""


class DataLink(Protocol):
    """Where screens get what they show."""

    async def open(self, on_pulse: OnPulse) -> None:
        """Begins; `on_pulse` is called on the event loop."""
        ...

    async def rows(self, query: ListQuery) -> Window:
        """Rows of a list. Raises DataLost."""
        ...

    async def text(self, query: TextQuery) -> TextAnswer:
        """Lines about a thing. Raises DataLost."""
        ...

    async def wish(self, wish: ActionRequest) -> str:
        """Breaks or mends something in the sandbox; the sentence that says what was done. Raises DataLost."""
        ...

    async def moment(self, query: TimeQuery) -> TimeAnswer:
        """Where in time the question leads. Raises DataLost."""
        ...

    async def close(self) -> None:
        """Ends everything behind the link; returns within three seconds."""
        ...


class ProcessLink:
    """The data process: a child that ends when this end of the pipe closes, however this process ends."""

    def __init__(self, opening: Opening, command: Sequence[str] = DATA_PROCESS) -> None:
        """Starts the process: it loads while this one goes on loading what draws."""
        self._opening = opening
        self._is_heard = False
        self._child = AskedChild[Pulse]("the data process", command, Pulse, DataLost, without=opening.login.variables)
        self._child.begin(opening)

    @property
    def pid(self) -> int:
        """The data process's id."""
        return self._child.pid

    async def open(self, on_pulse: OnPulse) -> None:
        def hear(pulse: Pulse) -> None:
            self._is_heard = True
            self._child.last_word = self._child.last_word or pulse.fatal
            on_pulse(pulse)

        async def end(why: str) -> None:
            on_pulse(Pulse(-1, HeaderFacts(), fatal=why))

        await self._child.open(hear, end)

    async def rows(self, query: ListQuery) -> Window:
        return await self._child.ask(query, Window)

    async def text(self, query: TextQuery) -> TextAnswer:
        return await self._child.ask(query, TextAnswer)

    async def wish(self, wish: ActionRequest) -> str:
        return (await self._child.ask(wish, TextAnswer)).title

    async def moment(self, query: TimeQuery) -> TimeAnswer:
        return await self._child.ask(query, TimeAnswer)

    async def close(self) -> None:
        await self._child.close("the link is closed", FAREWELL_S if self._has_to_lose() else HURRIED_S)

    def _has_to_lose(self) -> bool:
        """Whether the process may have servers to end, something to write, or keys to take off the disk again."""
        opening = self._opening
        opens_with_keys = not self._is_heard and opening.login != NOBODY
        wishes = any(isinstance(each, ActionRequest) for each in self._child.unanswered)
        return not opening.source or opening.is_demo or opening.allow_writes or opens_with_keys or wishes


PHRASES = (
    "{kill} kills",
    "{kill}: fail",
    "{kill_rack}: fail",
    "{wish('terminate')}: shut",
    "{refresh} plays",
    "{refresh} works",
    "{refresh} looks",
    "{back} stops",
    "{back} goes",
    "{undo} the newest",
    "{reset} all:",
    "{play} follows",
    "{view} goes",
)
"""What the data process says of keys within a sentence, by the ids of their actions: it knows those kdrill comes with.

Short, for a sentence may be broken into lines.
"""


class RemappedLink:
    """Another link, whose answers it passes on."""

    def __init__(self, link: DataLink, actions: tuple[Action, ...]) -> None:
        self._link = link
        before, now = ({each.id: each.sign.partition(" ")[0] for each in known} for known in (ACTIONS, actions))
        self._signs = other_signs(actions)
        said = {phrase.format_map(before): phrase.format_map(now) for phrase in PHRASES}
        self._phrases = {before: now for before, now in said.items() if before != now}
        self._any = re.compile(rf"(?<!\S)({'|'.join(map(re.escape, self._phrases)) or '(?!)'})")

    async def open(self, on_pulse: OnPulse) -> None:
        await self._link.open(on_pulse)

    async def rows(self, query: ListQuery) -> Window:
        window = await self._link.rows(query)
        return msgspec.structs.replace(window, note=self._said(window.note))

    async def text(self, query: TextQuery) -> TextAnswer:
        answer = await self._link.text(query)
        lines = tuple(tuple((self._shown(*part), part[1]) for part in line) for line in answer.lines)
        return msgspec.structs.replace(answer, lines=lines, plain=self._said(answer.plain))

    async def wish(self, wish: ActionRequest) -> str:
        return self._said(await self._link.wish(wish))

    async def moment(self, query: TimeQuery) -> TimeAnswer:
        answer = await self._link.moment(query)
        return msgspec.structs.replace(answer, said=self._said(answer.said))

    async def close(self) -> None:
        await self._link.close()

    def _shown(self, text: str, style: str) -> str:
        """A key that stands alone says so by its style; no two actions have the same to begin with."""
        return self._signs.get(text, text) if style == "key" else self._said(text)

    def _said(self, text: str) -> str:
        return self._any.sub(lambda found: self._phrases[found[1]], text)
