"""From what screens ask to who answers it: each query by its row of a registry.

A `by` of a row, one of the methods here, finds what a page is about (the moment that is looked at, a drill, an
analysis, log folders) and has the page show it. Where the dashboard is shown in a browser, some of it is refused:
whoever reaches the port is not known.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Union, cast

import msgspec

from model.sandbox.messages import GroupView
from model.sources.feed import Moment
from tui.engine.cluster.controller import znodes_behind
from tui.engine.cluster.findings import Alerts
from tui.engine.cluster.queries import Acknowledge, ControllerText, FindingList, RegistrationText
from tui.engine.cluster.znode_tree import ZnodeService
from tui.engine.drill.playback import DrillService
from tui.engine.history.past_pages import More
from tui.engine.history.past_service import PastService, saved
from tui.engine.history.queries import MarkMoment, SaveSnapshot
from tui.engine.jobs import Jobs, jobs_text
from tui.engine.lazy import LazyActions, LazyAnalyses, LazyLogs
from tui.engine.listing import AnswerMemo, Page, shown
from tui.engine.messages import (
    ONLY_SHOWS,
    ActionRequest,
    Answer,
    JobsText,
    ListQuery,
    Query,
    StopJobs,
    TextAnswer,
    TextQuery,
    TimeQuery,
)
from tui.engine.queries import (
    NO_SANDBOX,
    ConfirmProposal,
    GroupList,
    GroupText,
    OwnershipList,
    ProposalText,
    SandboxRequest,
    WritePlan,
)
from tui.engine.sandbox.facts import Drawn
from tui.engine.sandbox.service import SandboxService
from tui.engine.sheets import refusal

NO_FOLDER = f"{ONLY_SHOWS}: no other folder of recordings is read"


@dataclass(frozen=True)
class Entry:
    """A row of the registry: a type of query, and who answers it."""

    query: type[ListQuery] | type[TextQuery] | type[ActionRequest] | type[TimeQuery]
    by: "Callable[[Router, Any, Any], Awaitable[Answer]]"
    """A method of Router. By `of_moment` and what is like it a query follows the moment that is looked at; by
    `of_analysis` and `of_logs` a service answers that is loaded when it is first wanted."""
    page: Any = None
    """What `by` has to show: a Page, or its name where it is loaded late; of a wish, what does it."""
    refused: str = ""
    """Why it is not done for a browser; empty where it is."""
    wants: tuple[str, ...] = ()
    """Some of `model.sources.source.COSTLY`, which the source then learns."""


def queries_of(entries: Iterable[Entry]) -> type[Query]:
    """Any of them, as a type for a decoder."""
    return cast("type[Query]", Union[tuple(entry.query for entry in entries)])  # noqa: UP007 - known when it runs


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
    """Used on one event loop. Whatever has to ask ZooKeeper does so in a thread."""

    def __init__(
        self,
        entries: Iterable[Entry],
        services: Services,
        live: Callable[[], Moment],
        clocks: tuple[Callable[[], int], Callable[[], int]],
        news: Callable[[], None],
        *,
        want: Callable[..., object] = lambda *_: None,
        is_served: bool = False,
    ) -> None:
        """`live`: the newest moment; `clocks`: what ages are counted from, and one that never jumps (ms); `news` is
        called when an answer has changed what others show, `want` with what the source has to learn for an answer."""
        self._entries = {entry.query: entry for entry in entries}
        self._services, self._live, self._news = services, live, news
        self._now_ms, self._steady_ms = clocks
        self._want, self._is_served = want, is_served
        self._memory, self._graphs = AnswerMemo(), AnswerMemo()
        self._drawing = threading.Lock()

    async def answer(self, query: Query) -> Answer:
        """Answers one question, and has the source learn what that takes."""
        entry = self._entries[type(query)]
        if entry.refused and self._is_served and not isinstance(query, TimeQuery):
            return refusal(query, entry.refused)
        self._want(*entry.wants)
        return await entry.by(self, entry.page, query)

    # Of the moment that is looked at

    async def _at(self, seq: int) -> tuple[Moment, int]:
        """The moment with this `seq` (0: the newest), and what ages are counted from."""
        return await self._services.past.look(seq, self._live()) if seq else (self._live(), self._now_ms())

    async def of_moment(self, page: Page, query: Any) -> Answer:
        moment, now_ms = await self._at(query.at)
        return shown(page, moment, query, now_ms, self._memory)

    async def of_settings(self, page: Page, query: Any) -> Answer:
        """As of_moment; the page takes which settings a sandbox's brokers do not obey."""
        if self._services.sandbox is None:
            return await self.of_moment(page, query)
        from model.broker.settings.catalogue import kept_alone  # noqa: PLC0415 - all keys of Kafka take some ms

        moment, now_ms = await self._at(query.at)
        return shown(partial(page, kept=kept_alone), moment, query, now_ms, self._memory)

    async def of_recent(self, page: Page, query: Any) -> Answer:
        """As of_moment; the page takes what was counted in the last ten minutes, too."""
        moment, now_ms = await self._at(query.at)
        recent = await self._services.past.recent(moment, now_ms)
        return shown(partial(page, recent=recent), moment, query, now_ms, self._memory)

    def _said(self, at: int) -> tuple[GroupView, ...]:
        """What the members of a sandbox's ZooKeeper groups say of themselves now."""
        sandbox = None if at else self._services.sandbox
        load = None if sandbox is None else sandbox.state.load
        return () if load is None else load.groups

    async def of_groups(self, page: Page, query: GroupList) -> Answer:
        """As of_recent; the page takes what members of a sandbox say, too."""
        return await self.of_recent(partial(page, said=self._said(query.at)), query)

    async def of_group(self, page: Page, query: GroupText) -> Answer:
        """As of_moment; the page takes what members of a sandbox say, too."""
        return await self.of_moment(partial(page, said=self._said(query.at)), query)

    async def of_ownership(self, page: Page, query: OwnershipList) -> Answer:
        """In a thread: where a group is large, its first picture takes a while.

        The page takes what members of a sandbox say, too.
        """
        moment, now_ms = await self._at(query.at)
        told = partial(page, said=self._said(query.at))

        def drawn() -> Answer:
            with self._drawing:
                return shown(told, moment, query, now_ms, self._graphs)

        return await asyncio.to_thread(drawn)

    async def of_findings(self, page: Callable[..., Answer], query: FindingList) -> Answer:
        moment, now_ms = await self._at(query.at)
        return page(moment, query, now_ms, self._memory, self._services.alerts.known)

    async def of_controller(self, page: Callable[..., Answer], query: ControllerText | RegistrationText) -> Answer:
        moment, now_ms = await self._at(query.at)
        znodes = await self._services.tree.znodes(znodes_behind(query), self._steady_ms())
        more = {"terms": self._services.tree.terms} if isinstance(query, ControllerText) else {}
        return page(moment, query, now_ms, self._memory, znodes, **more)

    async def of_states(self, page: Page, query: Any) -> Answer:
        """As of_moment; the page takes who led a quorum when, too."""
        return await self.of_moment(partial(page, terms=self._services.tree.terms), query)

    async def of_past(self, page: Callable[..., Awaitable[Answer]], query: Any) -> Answer:
        more = More(self._live(), self._services.alerts.raised)
        return await page(self._services.past, more, query, self._now_ms(), self._memory)

    async def of_time(self, _: None, query: TimeQuery) -> Answer:
        return await self._services.past.answer(query, self._live())

    # Of other things

    async def of_tree(self, page: Callable[..., Awaitable[Answer]], query: Any) -> Answer:
        return await page(self._services.tree, query, self._steady_ms())

    async def of_drill(self, page: Page, query: Any) -> Answer:
        look = self._services.drills.look(query.drill)
        if isinstance(query, TextQuery):
            look = msgspec.structs.replace(look, stale=look.is_stale(self._live().image))
        return shown(page, look, query, self._now_ms(), self._memory)

    async def of_analysis(self, page: str, query: Any) -> Answer:
        if self._is_served and getattr(query.question, "folder", ""):
            return refusal(query, NO_FOLDER)
        return await self._services.analyses.answer(page, query, self._now_ms())

    async def of_logs(self, page: str, query: ListQuery | TextQuery) -> Answer:
        return await self._services.logs.answer(page, query, self._now_ms())

    async def of_sandbox(self, page: Page, query: ListQuery | TextQuery) -> Answer:
        if self._services.sandbox is None:
            return refusal(query, NO_SANDBOX)
        return shown(page, self._services.sandbox.state, query, self._now_ms(), self._memory)

    async def of_cluster_drawn(self, page: Page, query: TextQuery) -> Answer:
        """The live cluster and, where it is one, the sandbox that it runs in."""
        sandbox = self._services.sandbox
        drawn = Drawn(self._live(), sandbox.state if sandbox else None, sandbox.session_ms if sandbox else 0)
        return shown(page, drawn, query, self._now_ms(), self._memory)

    async def of_jobs(self, _: None, query: JobsText) -> Answer:
        services = self._services
        return jobs_text(services.jobs, (*services.drills.under_way, *services.analyses.under_way), query)

    async def of_proposal(self, _: None, query: ProposalText) -> Answer:
        plan = await self._services.analyses.plan(query.question)
        return await self._services.acting.propose(query, plan)

    # Wishes

    async def wish(self, do: "Callable[[Router, Any], Awaitable[str]]", wish: ActionRequest) -> Answer:
        return TextAnswer(await do(self, wish))

    async def save_snapshot(self, wish: SaveSnapshot) -> str:
        with self._services.jobs.job(f"saving {wish.path}") as job:
            moment, at_ms = await self._at(wish.at)
            return await asyncio.to_thread(saved, moment, at_ms, wish.path, job.is_stopped)

    async def write_plan(self, wish: WritePlan) -> str:
        return await self._services.analyses.write(wish)

    async def confirm(self, wish: ConfirmProposal) -> str:
        return await self._services.acting.confirm(wish.typed)

    async def mark(self, wish: MarkMoment) -> str:
        said = await self._services.past.mark(wish.note, wish.at, self._live())
        self._news()
        return said

    async def acknowledge(self, wish: Acknowledge) -> str:
        said = self._services.alerts.acknowledge(wish.key, self._live().findings.found)
        self._news()
        return said

    async def stop(self, _: StopJobs) -> str:
        return self._services.jobs.stop()

    async def in_sandbox(self, wish: SandboxRequest) -> str:
        return await self._services.sandbox.do(wish) if self._services.sandbox else NO_SANDBOX
