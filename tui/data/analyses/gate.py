"""The way to the analyses. What they need is loaded when the first one is asked for, or Spark is to start: the first
screens do not wait for it.
"""

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from model.cluster.cluster_image import ClusterImage
from tui.data.messages import Answer, ListQuery, Query, Wish

if TYPE_CHECKING:
    from model.planning.plan import Plan
    from tui.data.analyses.desk import AnalysisDesk
    from tui.data.questions import PlanQuestion

WARM_UP_AFTER_S = 2.0
"""Spark's start takes both cores of a small machine for seconds: the first screens come first."""


def is_of_analysis(query: Query) -> bool:
    """Whether this is asked of an analysis."""
    name = query.verb if isinstance(query, Wish) else query.list if isinstance(query, ListQuery) else query.about
    return name.partition("-")[0] in ("sweep", "lab", "plan")


class AnalysisGate:
    """Used on one event loop."""

    def __init__(self, image: Callable[[], ClusterImage], news: Callable[[], None], spark_master: str) -> None:
        """As `AnalysisDesk`."""
        self._image = image
        self._news = news
        self._spark_master = spark_master
        self._desk: AnalysisDesk | None = None
        self._loading = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None

    @property
    def spark(self) -> str:
        """How Spark stands, one line."""
        return "" if self._desk is None else self._desk.spark

    @property
    def under_way(self) -> list[str]:
        """What is being worked out, a line each."""
        return [] if self._desk is None else self._desk.under_way

    def warm_up(self) -> None:
        """The first image is there: Spark may start, once."""
        if self._spark_master and self._warming is None:
            self._warming = asyncio.create_task(self._warm_up())

    async def answer(self, query: Query, now_ms: int) -> Answer:
        """Answers one question."""
        return await (await self._opened()).answer(query, now_ms)

    async def plan(self, question: "PlanQuestion") -> "Plan | None":
        """What is to be carried out of the plan on the screen; None where there is none yet."""
        return (await self._opened()).plan(question)

    async def close(self) -> None:
        """Ends all work, and Spark."""
        if self._warming is not None:
            self._warming.cancel()
        if self._desk is not None:
            await self._desk.close()

    async def _warm_up(self) -> None:
        await asyncio.sleep(WARM_UP_AFTER_S)
        (await self._opened()).warm_up()

    async def _opened(self) -> "AnalysisDesk":
        async with self._loading:
            if (desk := self._desk) is None:
                module = await asyncio.to_thread(import_module, "tui.data.analyses.desk")
                desk = self._desk = module.AnalysisDesk(self._image, self._news, self._spark_master)
            return desk
