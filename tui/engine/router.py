"""Who answers what screens ask: every list and text by its name, and each service for its own subject.

All else is answered from the moment that is looked at. Lists share a memory. Where the dashboard is shown in a
browser, some of it is refused: whoever reaches the port is not known.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from model.sources.feed import Moment
from tui.engine.cluster.brokers import broker_text, brokers_window, rack_text
from tui.engine.cluster.controller import TEXTS as WITH_ZNODES
from tui.engine.cluster.controller import admin_work_window, controller_text, states_text, znodes_behind
from tui.engine.cluster.events import effects_window, event_text, events_window
from tui.engine.cluster.findings import ACKNOWLEDGE, Alerts, finding_text, findings_window
from tui.engine.cluster.overview import overview_text
from tui.engine.cluster.znode_tree import ZnodeService
from tui.engine.consumers.groups import group_text, groups_window
from tui.engine.consumers.ownership import ownership_window
from tui.engine.drill.pages import drill_text, drill_window
from tui.engine.drill.playback import DrillService
from tui.engine.jobs import STOP, Jobs, jobs_text
from tui.engine.lazy import ACT, LazyActions, LazyAnalyses, LazyLogs, is_of_analysis, is_of_logs
from tui.engine.listing import Memory
from tui.engine.messages import Answer, ListQuery, PlanQuestion, Query, TextAnswer, TextQuery, Wish
from tui.engine.opening import ONLY_SHOWS
from tui.engine.partitions.map import map_window
from tui.engine.partitions.reasons import partition_text
from tui.engine.partitions.topics import topic_text, topics_window
from tui.engine.past.moments import MARK
from tui.engine.past.pages import past_text, past_window
from tui.engine.past.service import SNAPSHOT, PastService, saved
from tui.engine.plots import plot_text
from tui.engine.rows import Window
from tui.engine.sandbox.pages import NO_SANDBOX, sandbox_text, sandbox_window
from tui.engine.sandbox.service import SandboxService
from tui.engine.sheets import Sheet

LISTS: Mapping[str, Callable[[Moment, ListQuery, int, Memory], Window]] = {
    "brokers": brokers_window,
    "partitions": map_window,
    "topics": topics_window,
    "groups": groups_window,
    "events": events_window,
    "effects": effects_window,
    "findings": findings_window,
    "admin-work": admin_work_window,
}


OWNERSHIP = "group"
"""Who owns what in one group; where it is large, its first picture takes a while."""


class Lists:
    """Answers for one source; not for several threads at once, but for `ownership`."""

    def __init__(self) -> None:
        self.memory = Memory()
        self._graphs = Memory()
        self._drawing = threading.Lock()

    def window(self, moment: Moment, query: ListQuery, now_ms: int) -> Window:
        """The rows asked for; a list that does not exist has none, and says so."""
        if query.list == OWNERSHIP:
            return self.ownership(moment, query, now_ms)
        page = LISTS.get(query.list)
        if page is None:
            return Window(0, 0, (), note=f"there is no list {query.list}")
        return page(moment, query, now_ms, self.memory)

    def ownership(self, moment: Moment, query: ListQuery, now_ms: int) -> Window:
        """The table or graph of one group, in whichever thread."""
        with self._drawing:
            return ownership_window(moment, query, now_ms, self._graphs)


MOMENT_TEXTS: Mapping[str, Callable[[Moment, TextQuery, int, Memory], TextAnswer]] = {
    "overview": lambda moment, query, _, __: overview_text(moment, query),
    "partition": lambda moment, query, now_ms, _: partition_text(moment, query, now_ms),
    "broker": broker_text,
    "topic": topic_text,
    "rack": rack_text,
    "group": lambda moment, query, _, memory: group_text(moment, query, memory),
    "states": lambda moment, query, _, memory: states_text(moment, query, memory),
    "finding": lambda moment, query, now_ms, _: finding_text(moment, query, now_ms),
    "event": lambda moment, query, _, __: event_text(moment, query),
    "plot": lambda moment, query, _, memory: plot_text(moment, query, memory),
}


def text_answer(moment: Moment, query: TextQuery, now_ms: int, memory: Memory | None = None) -> TextAnswer:
    """The text asked for; with the lists' memory, what they counted already is not counted again."""
    page = MOMENT_TEXTS.get(query.about)
    if page is None:
        return TextAnswer(query.about)
    return page(moment, query, now_ms, Memory() if memory is None else memory)


NO_WISH = f"{ONLY_SHOWS}: nothing is written, broken or mended"
NO_LOGS = f"{ONLY_SHOWS}: no log folder is read"
NO_PROCESSES = f"{ONLY_SHOWS}: a sandbox is broken in a terminal"

HARMLESS = frozenset({ACKNOWLEDGE, MARK, STOP})
"""Wishes that only the session itself knows of."""


def refused(query: Query) -> Answer | None:
    """The answer to what is not done for a browser; None where it is."""
    if isinstance(query, Wish):
        return None if query.verb in HARMLESS else TextAnswer(NO_WISH)
    of_list = isinstance(query, ListQuery)
    reason = NO_LOGS if is_of_logs(query) else ""
    if (query.list if of_list else query.about).startswith("sandbox"):
        reason = NO_PROCESSES
    if not reason:
        return None
    return Window(0, 0, (), note=reason) if of_list else Sheet("", query.width).say(reason).answer()


@dataclass(frozen=True, kw_only=True)
class Services:
    """Those who answer, or know."""

    tree: ZnodeService
    past: PastService
    alerts: Alerts
    jobs: Jobs
    drills: DrillService
    logs: LazyLogs
    analyses: LazyAnalyses
    acting: LazyActions
    sandbox: SandboxService | None


class Router:
    """Used on one event loop."""

    def __init__(
        self,
        services: Services,
        live: Callable[[], Moment],
        now_ms: Callable[[], int],
        steady_ms: Callable[[], int],
        news: Callable[[], None],
    ) -> None:
        """`live`: the newest moment; `now_ms`: what ages are counted from; `steady_ms`: a clock that never jumps;
        `news` is called when an answer has changed what others show."""
        self._services, self._live, self._news = services, live, news
        self._now_ms, self._steady_ms = now_ms, steady_ms
        self._lists = Lists()
        # By the first word of a list's or a text's name; a wish by its verb.
        self._windows: Mapping[str, Callable[[ListQuery], Awaitable[Window]]] = {
            "znodes": lambda query: services.tree.window(query, steady_ms()),
            "drill": self._drill_window,
            "sandbox": self._sandbox_window,
            "past": self._past_window,
        }
        self._texts: Mapping[str, Callable[[TextQuery], Awaitable[TextAnswer]]] = {
            "znode": lambda query: services.tree.text(query, steady_ms()),
            "drill": self._drill_text,
            "sandbox": self._sandbox_text,
            "past": self._past_text,
            "jobs": self._jobs_text,
            ACT: self._proposal,
        }
        self._wishes: Mapping[str, Callable[[Wish], Awaitable[str]]] = {
            SNAPSHOT: self._save,
            ACT: lambda wish: services.acting.confirm(wish.about),
            MARK: self._mark,
            ACKNOWLEDGE: self._acknowledge,
            STOP: self._stop,
        }

    async def answer(self, query: Query) -> Answer:
        """Answers one question. Whatever has to ask ZooKeeper does so in a thread."""
        if is_of_analysis(query):
            return await self._services.analyses.answer(query, self._now_ms())
        if is_of_logs(query):
            return await self._services.logs.answer(query, self._now_ms())
        if isinstance(query, ListQuery):
            return await self._windows.get(_subject(query.list), self._window)(query)
        if isinstance(query, TextQuery):
            return await self._texts.get(_subject(query.about), self._text)(query)
        if (do := self._wishes.get(query.verb)) is not None:
            return TextAnswer(await do(query))
        return await self._services.sandbox.do(query) if self._services.sandbox else TextAnswer(NO_SANDBOX)

    # Of a moment

    async def _at(self, seq: int) -> tuple[Moment, int]:
        """The moment with this `seq` (0: the newest), and what ages are counted from."""
        return await self._services.past.look(seq, self._live()) if seq else (self._live(), self._now_ms())

    async def _window(self, query: ListQuery) -> Window:
        moment, now_ms = await self._at(query.at)
        if query.list == "findings":
            return findings_window(moment, query, now_ms, self._lists.memory, self._services.alerts.known)
        if query.list == OWNERSHIP:
            return await asyncio.to_thread(self._lists.ownership, moment, query, now_ms)
        return self._lists.window(moment, query, now_ms)

    async def _text(self, query: TextQuery) -> TextAnswer:
        moment, now_ms = await self._at(query.at)
        if query.about in WITH_ZNODES:
            znodes = await self._services.tree.znodes(znodes_behind(query), self._steady_ms())
            return controller_text(moment, query, now_ms, self._lists.memory, znodes)
        return text_answer(moment, query, now_ms, self._lists.memory)

    async def _save(self, wish: Wish) -> str:
        with self._services.jobs.job(f"saving {wish.about}") as job:
            moment, at_ms = await self._at(wish.at)
            return await asyncio.to_thread(saved, moment, at_ms, wish.about, job.is_stopped)

    # Of other things

    async def _drill_window(self, query: ListQuery) -> Window:
        return drill_window(self._services.drills.look(query.drill), query, self._now_ms(), self._lists.memory)

    async def _drill_text(self, query: TextQuery) -> TextAnswer:
        return drill_text(self._services.drills.look(query.drill), query, self._live().image)

    async def _sandbox_window(self, query: ListQuery) -> Window:
        state = self._services.sandbox.state if self._services.sandbox else None
        return sandbox_window(state, query, self._now_ms(), self._lists.memory)

    async def _sandbox_text(self, query: TextQuery) -> TextAnswer:
        return sandbox_text(self._services.sandbox.state if self._services.sandbox else None, query, self._now_ms())

    async def _past_window(self, query: ListQuery) -> Window:
        past, alerts = self._services.past, self._services.alerts
        return past_window(past, alerts.raised, self._live(), query, self._now_ms(), self._lists.memory)

    async def _past_text(self, query: TextQuery) -> TextAnswer:
        past, alerts = self._services.past, self._services.alerts
        return await past_text(past, alerts.raised, self._live(), query, self._lists.memory)

    async def _jobs_text(self, query: TextQuery) -> TextAnswer:
        return jobs_text(
            self._services.jobs, (*self._services.drills.under_way, *self._services.analyses.under_way), query
        )

    async def _proposal(self, query: TextQuery) -> TextAnswer:
        question = query.question
        plan = await self._services.analyses.plan(question) if isinstance(question, PlanQuestion) else None
        return await self._services.acting.propose(query, plan)

    async def _mark(self, wish: Wish) -> str:
        said = await self._services.past.mark(wish.about, wish.at, self._live())
        self._news()
        return said

    async def _acknowledge(self, wish: Wish) -> str:
        said = self._services.alerts.acknowledge(wish.about, self._live().findings.found)
        self._news()
        return said

    async def _stop(self, _: Wish) -> str:
        return self._services.jobs.stop()


def _subject(name: str) -> str:
    return name.partition("-")[0]
