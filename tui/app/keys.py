"""A link whose sentences name the keys of the settings.

The data process knows the keys that kdrill comes with; without settings nobody needs the link.
"""

import re

import msgspec

from tui.engine.actions import ACTIONS, Action
from tui.engine.keymap import other_signs
from tui.engine.link import DataLink, OnPulse
from tui.engine.messages import ListQuery, TextAnswer, TextQuery, TimeAnswer, TimeQuery, Wish
from tui.engine.rows import Window

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

    async def wish(self, wish: Wish) -> str:
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
