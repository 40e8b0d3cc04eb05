"""The ways to services that are loaded when they are first wanted, so that the first screens do not wait for them:
actions, analyses, logs. What is refused before that is said here.
"""

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from model.cluster.cluster_image import ClusterImage
from tui.engine.jobs import Jobs
from tui.engine.listing import Page, loaded
from tui.engine.messages import THIS_MACHINE, Answer, ListQuery, Opening, TextAnswer, TextQuery
from tui.engine.queries import ProposalText, WritePlan
from tui.engine.questions import PlanQuestion

if TYPE_CHECKING:
    from model.planning.plan import Plan
    from tui.engine.action_service import ActionService
    from tui.engine.analysis_service import AnalysisService
    from tui.engine.logs.pages import LogPages


NOT_ALLOWED = "nothing is done to a cluster without --allow-writes: start kdrill with it"
NOTHING_PROPOSED = "nothing was done"
PAST = "this is a moment of the past: nothing can be done to it"


class LazyActions:
    """Used on one event loop. `opening`: what is acted on; None: nothing can be."""

    def __init__(
        self, opening: Opening | None, image: Callable[[], ClusterImage], jobs: Jobs, told: Callable[[str], object]
    ) -> None:
        """As `ActionService`."""
        self._told = told
        self._opening = opening
        self._image = image
        self._jobs = jobs
        self._service: ActionService | None = None

    @property
    def allows_writes(self) -> bool:
        """Whether anything may be done."""
        return self._opening is not None and self._opening.allow_writes and not self._opening.is_served

    async def propose(self, query: ProposalText, plan: "Plan | None") -> TextAnswer:
        """The proposal as a text; without lines the title is why there is none."""
        if self._opening is None or not self.allows_writes:
            return TextAnswer(NOT_ALLOWED)
        if query.at:
            return TextAnswer(PAST)
        if (service := self._service) is None:
            module = await asyncio.to_thread(import_module, "tui.engine.action_service")
            service = self._service = module.ActionService(self._opening, self._image, self._jobs, self._told)
        return await service.propose(query, plan)

    async def confirm(self, typed: str) -> str:
        """Carries out what was proposed last; the sentence that says what came of it."""
        return NOTHING_PROPOSED if self._service is None else await self._service.confirm(typed)

    async def close(self) -> None:
        """Nothing more is begun."""
        if self._service is not None:
            await self._service.close()


WARM_UP_AFTER_S = 2.0
"""Spark's start takes both cores of a small machine for seconds: the first screens come first."""


class LazyAnalyses:
    """Used on one event loop."""

    def __init__(
        self,
        image: Callable[[], ClusterImage],
        news: Callable[[], None],
        spark_master: str,
        *,
        keeps: bool,
        recording: str = "",
    ) -> None:
        """As `AnalysisService`; `keeps`: whether what work took is written down for the next time."""
        self._recording = recording
        self._image = image
        self._news = news
        self._spark_master = spark_master
        self._keeps = keeps
        self._service: AnalysisService | None = None
        self._loading = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None

    @property
    def spark(self) -> str:
        """How Spark stands, one line."""
        return "" if self._service is None else self._service.spark

    @property
    def under_way(self) -> list[str]:
        """What is being worked out, a line each."""
        return [] if self._service is None else self._service.under_way

    def warm_up(self) -> None:
        """The first image is there: a Spark whose master was named may start, once; what it costs is wanted then."""
        if self._spark_master not in ("", THIS_MACHINE) and self._warming is None:
            self._warming = asyncio.create_task(self._warm_up())

    async def answer(self, page: Page | str, query: Any, now_ms: int) -> Answer:
        """What the page has to show."""
        return await (await self._opened()).answer(page, query, now_ms)

    async def write(self, wish: WritePlan) -> str:
        """Writes the plan to files; what was done, in a sentence."""
        return await (await self._opened()).write(wish)

    async def plan(self, question: PlanQuestion) -> "Plan | None":
        """What is to be carried out of the plan on the screen; None where there is none yet."""
        return (await self._opened()).plan(question)

    async def close(self) -> None:
        """Ends all work, and Spark."""
        if self._warming is not None:
            self._warming.cancel()
        if self._service is not None:
            await self._service.close()

    async def _warm_up(self) -> None:
        await asyncio.sleep(WARM_UP_AFTER_S)
        (await self._opened()).warm_up()

    async def _opened(self) -> "AnalysisService":
        async with self._loading:
            if (service := self._service) is None:
                module = await asyncio.to_thread(import_module, "tui.engine.analysis_service")
                kept = module.costs_file() if self._keeps else None
                service = self._service = module.AnalysisService(
                    self._image, self._news, self._spark_master, kept, self._recording
                )
            return service


class LazyLogs:
    """Used on one event loop."""

    def __init__(self, folder: str = "") -> None:
        """`folder`: where the source's brokers have their log folders; empty where that is not this machine."""
        self._folder = folder
        self._pages: LogPages | None = None
        self._busy = asyncio.Lock()

    async def answer(self, page: Page | str, query: ListQuery | TextQuery, now_ms: int) -> Answer:
        """What the page has to show."""
        async with self._busy:
            return await asyncio.to_thread(self._answer, page, query, now_ms)

    def _answer(self, page: Page | str, query: ListQuery | TextQuery, now_ms: int) -> Answer:
        if (pages := self._pages) is None:  # loaded when the first screen asks: the start does not wait for it
            pages = self._pages = import_module("tui.engine.logs.pages").LogPages(self._folder)
        return pages.answer(loaded(page), query, now_ms)
