"""Who answers what screens ask: each desk for its own subject, all else from the moment that is looked at."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from model.sources.feed import Moment
from tui.data.acting.gate import ACT, ActionGate
from tui.data.alerts import ACKNOWLEDGE, Alerts
from tui.data.analyses.gate import AnalysisGate, is_of_analysis
from tui.data.drills.desk import DrillDesk
from tui.data.jobs import STOP, Jobs
from tui.data.logs.desk import LogDesk, is_of_logs
from tui.data.messages import Answer, ListQuery, Query, TextAnswer, TextQuery, Wish
from tui.data.pages.controller.pages import TEXTS as WITH_ZNODES
from tui.data.pages.controller.pages import controller_text, znodes_behind
from tui.data.pages.drill.pages import drill_text, drill_window
from tui.data.pages.findings import findings_window
from tui.data.pages.jobs import jobs_text
from tui.data.pages.lists import OWNERSHIP, Lists
from tui.data.pages.sandbox.pages import NO_SANDBOX, sandbox_text, sandbox_window
from tui.data.pages.texts import text_answer
from tui.data.past.desk import PastDesk
from tui.data.past.marks import KIND as MARK
from tui.data.past.pages import past_text, past_window
from tui.data.past.saving import SNAPSHOT, saved
from tui.data.questions import PlanQuestion
from tui.data.sandbox.desk import SandboxDesk
from tui.data.tree_desk import TreeDesk
from tui.rows import Window


@dataclass(frozen=True, kw_only=True)
class Desks:
    """Those who answer, or know."""

    tree: TreeDesk
    past: PastDesk
    alerts: Alerts
    jobs: Jobs
    drills: DrillDesk
    logs: LogDesk
    analyses: AnalysisGate
    acting: ActionGate
    sandbox: SandboxDesk | None


class Reception:
    """Used on one event loop."""

    def __init__(
        self,
        desks: Desks,
        live: Callable[[], Moment],
        now_ms: Callable[[], int],
        steady_ms: Callable[[], int],
        news: Callable[[], None],
    ) -> None:
        """`live`: the newest moment; `now_ms`: what ages are counted from; `steady_ms`: a clock that never jumps;
        `news` is called when an answer has changed what others show."""
        self._desks, self._live, self._news = desks, live, news
        self._now_ms, self._steady_ms = now_ms, steady_ms
        self._lists = Lists()
        # By the first word of a list's or a text's name; a wish by its verb.
        self._windows: Mapping[str, Callable[[ListQuery], Awaitable[Window]]] = {
            "znodes": lambda query: desks.tree.window(query, steady_ms()),
            "drill": self._drill_window,
            "sandbox": self._sandbox_window,
            "past": self._past_window,
        }
        self._texts: Mapping[str, Callable[[TextQuery], Awaitable[TextAnswer]]] = {
            "znode": lambda query: desks.tree.text(query, steady_ms()),
            "drill": self._drill_text,
            "sandbox": self._sandbox_text,
            "past": self._past_text,
            "jobs": self._jobs_text,
            ACT: self._proposal,
        }
        self._wishes: Mapping[str, Callable[[Wish], Awaitable[str]]] = {
            SNAPSHOT: self._save,
            ACT: lambda wish: desks.acting.confirm(wish.about),
            MARK: self._mark,
            ACKNOWLEDGE: self._acknowledge,
            STOP: self._stop,
        }

    async def answer(self, query: Query) -> Answer:
        """Answers one question. Whatever has to ask ZooKeeper does so in a thread."""
        if is_of_analysis(query):
            return await self._desks.analyses.answer(query, self._now_ms())
        if is_of_logs(query):
            return await self._desks.logs.answer(query, self._now_ms())
        if isinstance(query, ListQuery):
            return await self._windows.get(_subject(query.list), self._window)(query)
        if isinstance(query, TextQuery):
            return await self._texts.get(_subject(query.about), self._text)(query)
        if (do := self._wishes.get(query.verb)) is not None:
            return TextAnswer(await do(query))
        return await self._desks.sandbox.do(query) if self._desks.sandbox else TextAnswer(NO_SANDBOX)

    # Of a moment

    async def _at(self, seq: int) -> tuple[Moment, int]:
        """The moment with this `seq` (0: the newest), and what ages are counted from."""
        return await self._desks.past.look(seq, self._live()) if seq else (self._live(), self._now_ms())

    async def _window(self, query: ListQuery) -> Window:
        moment, now_ms = await self._at(query.at)
        if query.list == "findings":
            return findings_window(moment, query, now_ms, self._lists.memory, self._desks.alerts.known)
        if query.list == OWNERSHIP:
            return await asyncio.to_thread(self._lists.ownership, moment, query, now_ms)
        return self._lists.window(moment, query, now_ms)

    async def _text(self, query: TextQuery) -> TextAnswer:
        moment, now_ms = await self._at(query.at)
        if query.about in WITH_ZNODES:
            znodes = await self._desks.tree.znodes(znodes_behind(query), self._steady_ms())
            return controller_text(moment, query, now_ms, self._lists.memory, znodes)
        return text_answer(moment, query, now_ms, self._lists.memory)

    async def _save(self, wish: Wish) -> str:
        with self._desks.jobs.job(f"saving {wish.about}") as job:
            moment, at_ms = await self._at(wish.at)
            return await asyncio.to_thread(saved, moment, at_ms, wish.about, job.is_stopped)

    # Of other things

    async def _drill_window(self, query: ListQuery) -> Window:
        return drill_window(self._desks.drills.look(query.drill), query, self._now_ms(), self._lists.memory)

    async def _drill_text(self, query: TextQuery) -> TextAnswer:
        return drill_text(self._desks.drills.look(query.drill), query, self._live().image)

    async def _sandbox_window(self, query: ListQuery) -> Window:
        state = self._desks.sandbox.state if self._desks.sandbox else None
        return sandbox_window(state, query, self._now_ms(), self._lists.memory)

    async def _sandbox_text(self, query: TextQuery) -> TextAnswer:
        return sandbox_text(self._desks.sandbox.state if self._desks.sandbox else None, query, self._now_ms())

    async def _past_window(self, query: ListQuery) -> Window:
        past, alerts = self._desks.past, self._desks.alerts
        return past_window(past, alerts.raised, self._live(), query, self._now_ms(), self._lists.memory)

    async def _past_text(self, query: TextQuery) -> TextAnswer:
        past, alerts = self._desks.past, self._desks.alerts
        return await past_text(past, alerts.raised, self._live(), query, self._lists.memory)

    async def _jobs_text(self, query: TextQuery) -> TextAnswer:
        return jobs_text(self._desks.jobs, (*self._desks.drills.under_way, *self._desks.analyses.under_way), query)

    async def _proposal(self, query: TextQuery) -> TextAnswer:
        question = query.question
        plan = await self._desks.analyses.plan(question) if isinstance(question, PlanQuestion) else None
        return await self._desks.acting.propose(query, plan)

    async def _mark(self, wish: Wish) -> str:
        said = await self._desks.past.mark(wish.about, wish.at, self._live())
        self._news()
        return said

    async def _acknowledge(self, wish: Wish) -> str:
        said = self._desks.alerts.acknowledge(wish.about, self._live().findings.found)
        self._news()
        return said

    async def _stop(self, _: Wish) -> str:
        return self._desks.jobs.stop()


def _subject(name: str) -> str:
    return name.partition("-")[0]
