"""Which moment is looked at: the newest, or one that the operator paused at or went to. Shows nothing itself."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

from tui.data.link import DataLost
from tui.data.messages import Direction, TimeAnswer, TimeQuery
from tui.panes.live_app import LiveApp


class TimeTravel(LiveApp):
    """An app that can look back. The cluster is followed on meanwhile; only what is shown stands still."""

    def __init__(self, **look: Any) -> None:
        super().__init__(**look)
        self._one_at_a_time = asyncio.Lock()

    def go_in_time(self, to: Direction, text: str = "") -> None:
        self.run_worker(partial(self._travel, to, text), name="travel", group="time")

    def pause(self) -> None:
        self.run_worker(self._pause_or_follow, name="pause", group="time")

    def compare(self, text: str = "") -> None:
        self.run_worker(partial(self._compare, text), name="compare", group="time")

    def go_live(self) -> None:
        self.run_worker(self._follow, name="live", group="time")

    async def _travel(self, to: Direction, text: str = "") -> None:
        async with self._one_at_a_time:
            await self._arrive(to, text)

    async def _pause_or_follow(self) -> None:
        async with self._one_at_a_time:
            if self.past is None:
                await self._arrive("now")
            else:
                self._look_at(None)

    async def _follow(self) -> None:
        async with self._one_at_a_time:
            self._look_at(None)

    async def _arrive(self, to: Direction, text: str = "") -> None:
        try:
            answer = await self.link.moment(TimeQuery(to, text, self.view_state.at))
        except DataLost as lost:
            answer = TimeAnswer(said=str(lost))
        if answer.seq:
            self._look_at(answer)
        self._tell("" if to == "now" and answer.seq else answer.said)

    async def _compare(self, text: str) -> None:
        async with self._one_at_a_time:
            try:
                answer = await self.link.moment(TimeQuery("other", text, self.view_state.at))
            except DataLost as lost:
                answer = TimeAnswer(said=str(lost))
        if answer.seq:
            self.describe("past-comparison", str(answer.seq), "")
        else:
            self._tell(answer.said)

    def _look_at(self, past: TimeAnswer | None) -> None:
        self.past = past
        self.view_state = replace(self.view_state, at=past.seq if past else 0)

    def _tell(self, said: str) -> None:
        """Says it on the last line of what is in front."""
        raise NotImplementedError
