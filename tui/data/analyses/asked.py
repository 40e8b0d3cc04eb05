"""The lists and texts of all analyses, answered from one desk. They can take a while, so a thread makes them."""

import asyncio
import threading
from collections.abc import Callable

from model.cluster.cluster_image import ClusterImage
from model.planning.plan import Plan
from tui.data.analyses.desk import AnalysisDesk, spark_line
from tui.data.analyses.look import Look
from tui.data.analyses.plan_files import written
from tui.data.analyses.planned import kept_plan
from tui.data.messages import Answer, ListQuery, Query, TextAnswer, TextQuery, Wish
from tui.data.pages.lab.pages import lab_texts, lab_window
from tui.data.pages.listing import Memory
from tui.data.pages.plan.pages import plan_texts, plan_window
from tui.data.pages.sweep.pages import sweep_texts, sweep_window
from tui.data.questions import PlanQuestion


class AnalysisPages:
    """Used on one event loop."""

    def __init__(self, image: Callable[[], ClusterImage], news: Callable[[], None], spark_master: str) -> None:
        self._image = image
        self._desk = AnalysisDesk(image, news, spark_master)
        self._memory = Memory()
        self._remembering = threading.Lock()

    @property
    def spark(self) -> str:
        """How Spark stands, one line."""
        return spark_line(self._desk.engines)

    @property
    def under_way(self) -> list[str]:
        """What is being worked out, a line each."""
        return self._desk.under_way

    def warm_up(self) -> None:
        """Begins to start Spark."""
        self._desk.engines.warm_up()

    async def answer(self, query: Query, now_ms: int) -> Answer:
        """Answers one question; begins to work out what was not asked before."""
        look = self._desk.look(query.question)
        if isinstance(query, Wish):
            return TextAnswer(await asyncio.to_thread(written, look, query.about, query.verb))
        return await asyncio.to_thread(self._page, look, query, now_ms)

    def plan(self, question: PlanQuestion) -> Plan | None:
        """What is to be carried out of the plan on the screen; None where there is none yet."""
        return kept_plan(self._desk.look(question))

    async def close(self) -> None:
        """Ends all work, and Spark."""
        await self._desk.close()

    def _page(self, look: Look, query: ListQuery | TextQuery, now_ms: int) -> Answer:
        with self._remembering:
            if isinstance(query, ListQuery):
                if query.list.startswith("sweep-"):
                    return sweep_window(look, query, now_ms, self._memory)
                if query.list.startswith("plan-"):
                    return plan_window(look, query, now_ms, self._memory)
                return lab_window(look, query, now_ms, self._memory)
            if query.about.startswith("sweep"):
                return sweep_texts(look, query, self._image())
            if query.about.startswith("plan"):
                return plan_texts(look, query, self._image())
            return lab_texts(look, query, self._image(), self._memory)
