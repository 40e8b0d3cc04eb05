"""A DataLink in front of another, which keeps what comes through it as the bytes that a pipe would carry."""

from __future__ import annotations

from model.hosts.child_process import frame
from tui.engine.link import DataLink, OnPulse
from tui.engine.messages import ActionRequest, ListQuery, Pulse, TextAnswer, TextQuery, TimeAnswer, TimeQuery
from tui.engine.rows import Window


class OverheardLink:
    """`frames` is all that the data process would have sent."""

    def __init__(self, link: DataLink) -> None:
        self._link = link
        self.frames: list[bytes] = []

    async def open(self, on_pulse: OnPulse) -> None:
        def heard(pulse: Pulse) -> None:
            self.frames.append(frame(pulse))
            on_pulse(pulse)

        await self._link.open(heard)

    async def rows(self, query: ListQuery) -> Window:
        window = await self._link.rows(query)
        self.frames.append(frame(window))
        return window

    async def text(self, query: TextQuery) -> TextAnswer:
        answer = await self._link.text(query)
        self.frames.append(frame(answer))
        return answer

    async def wish(self, wish: ActionRequest) -> str:
        said = await self._link.wish(wish)
        self.frames.append(frame(said))
        return said

    async def moment(self, query: TimeQuery) -> TimeAnswer:
        answer = await self._link.moment(query)
        self.frames.append(frame(answer))
        return answer

    async def close(self) -> None:
        await self._link.close()
