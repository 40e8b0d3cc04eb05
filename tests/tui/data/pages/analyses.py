"""Pages of analyses of an image, each asked once the answer is there."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from model.cluster.cluster_image import ClusterImage
from tests.tui.data.asked import ENTRIES, list_query, text_query
from tests.tui.data.small_cluster import NOW_MS
from tui.engine.analysis_service import AnalysisService
from tui.engine.messages import STOPPABLE, TextAnswer
from tui.engine.queries import WritePlan
from tui.engine.questions import PlanQuestion, Question
from tui.engine.rows import Window

DEADLINE_S = 60.0


class Pages:
    """What the screens would get."""

    def __init__(self, image: ClusterImage, question: Question) -> None:
        self.image = image
        self.question = question
        self.desk = AnalysisService(lambda: self.image, lambda: None)

    async def rows(self, name: str, until: str = "", **more: Any) -> Window:
        """A list; `until`: the list whose rows say that the answer is there."""
        deadline = time.monotonic() + DEADLINE_S
        while (first := await self._rows(until or name)).total == 0 and STOPPABLE in first.note:
            assert time.monotonic() < deadline, first.note
            await asyncio.sleep(0.005)
        return await self._rows(name, **more)

    async def _rows(self, name: str, **more: Any) -> Window:
        query = list_query(name, question=self.question, width=160, **more)
        answer = await self.desk.answer(ENTRIES[type(query)].page, query, NOW_MS)
        assert isinstance(answer, Window)
        return answer

    async def text(self, about: str, key: str = "", **more: Any) -> TextAnswer:
        """A text, of what has been worked out."""
        query = text_query(about, **{"key": key, "question": self.question, "width": 120, **more})
        answer = await self.desk.answer(ENTRIES[type(query)].page, query, NOW_MS)
        assert isinstance(answer, TextAnswer)
        return answer

    async def write(self, path: str, *, by_batch: bool = False) -> str:
        """What was done."""
        assert isinstance(self.question, PlanQuestion)
        return await self.desk.write(WritePlan(path, by_batch, self.question))
