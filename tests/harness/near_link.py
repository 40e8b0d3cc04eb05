"""The data process within the test's own: a DataLink that asks the service directly."""

from __future__ import annotations

import asyncio

from model.hosts.process import crash_line
from tui.engine.link import DataLost, OnPulse
from tui.engine.messages import ActionRequest, Answer, ListQuery, Query, TextAnswer, TextQuery, TimeAnswer, TimeQuery
from tui.engine.rows import Window
from tui.engine.service import DataService


class NearLink:
    """Asks the service directly, and passes on its pulses."""

    def __init__(self, service: DataService) -> None:
        self._service = service
        self._pulses: asyncio.Task[None] | None = None

    async def open(self, on_pulse: OnPulse) -> None:
        self._service.open()
        self._pulses = asyncio.create_task(self._pass_on(on_pulse))

    async def rows(self, query: ListQuery) -> Window:
        answer = await self._answer(query)
        assert isinstance(answer, Window)
        return answer

    async def text(self, query: TextQuery) -> TextAnswer:
        answer = await self._answer(query)
        assert isinstance(answer, TextAnswer)
        return answer

    async def wish(self, wish: ActionRequest) -> str:
        answer = await self._answer(wish)
        assert isinstance(answer, TextAnswer)
        return answer.title

    async def moment(self, query: TimeQuery) -> TimeAnswer:
        answer = await self._answer(query)
        assert isinstance(answer, TimeAnswer)
        return answer

    async def close(self) -> None:
        if self._pulses is not None:
            self._pulses.cancel()
        await self._service.close()

    async def _pass_on(self, on_pulse: OnPulse) -> None:
        async for pulse in self._service.pulses():
            on_pulse(pulse)

    async def _answer(self, query: Query) -> Answer:
        try:
            return await self._service.answer(query)
        except Exception as error:  # as over the pipe: one answer failed, the others live on
            raise DataLost(crash_line(error)) from error
