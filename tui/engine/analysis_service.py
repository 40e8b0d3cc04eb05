"""Works out what the screens ask, several questions at a time, and keeps the answers as lists and texts show them.

Nobody waits: `look` says at once how a question stands. It can reach no cluster.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from model.analyses import AnalysisError, JobCancelled
from model.cluster.cluster_image import ClusterImage
from model.hosts.process import crash_line
from model.planning.plan import Plan
from model.planning.request import PlanError
from spark_tasks.engines import NICE, Engines, costs_file
from spark_tasks.messages import JobFailed, SparkLost, SparkOptions
from spark_tasks.spark_client import EngineResult
from tui.engine.analysis_work import worked_out
from tui.engine.jobs import STOPPED, AnalysisAnswer
from tui.engine.listing import AnswerMemo, Page, loaded, shown
from tui.engine.messages import STOPPABLE, Answer, TextQuery
from tui.engine.planned import kept_plan, written
from tui.engine.queries import WritePlan
from tui.engine.questions import (
    DeathsQuestion,
    ForecastQuestion,
    HistoryQuestion,
    PlanQuestion,
    PreviewQuestion,
    Question,
    SweepQuestion,
)

__all__ = ["AnalysisService", "costs_file"]

_KINDS = {
    SweepQuestion: "sweep",
    DeathsQuestion: "drill",
    PreviewQuestion: "lab",
    PlanQuestion: "plan",
    HistoryQuestion: "history",
    ForecastQuestion: "forecast",
}
"""Kind of question → the screen that asks it."""

NO_RECORDING = (
    "this source is no recording: `kdrill record SOURCE -o DIR` makes one, and `:history DIR` tells here what is in it"
)
KEPT = 16
"""Answers kept, the latest asked for."""

LEAST_REST_S, REST = 2.0, 20
"""What is worked out again by itself rests this long, or so many times as long as it took."""


class AnalysisService:
    """Used on one event loop. `news` is called, there too, when a look has changed."""

    def __init__(
        self,
        image: Callable[[], ClusterImage],
        news: Callable[[], None],
        master: str = "",
        kept: Path | None = None,
        recording: str = "",
    ) -> None:
        """image: the cluster as it is now; master: of Spark, empty for none; kept: the file of what work took;
        recording: the folder of the one that is open, empty for none."""
        self._recording = recording
        self._image = image
        self._news = news
        self._engines = Engines(master, news, kept, options=SparkOptions(nice=NICE))
        self._memory = AnswerMemo()
        self._drawing = asyncio.Lock()
        self._looks: dict[Question, AnalysisAnswer] = {}
        self._tasks: dict[Question, asyncio.Task[None]] = {}

    async def answer(self, page: Page | str, query: Any, now_ms: int) -> Answer:
        """What the page shows of the answer to the query's question; in a thread, for it can take a while."""
        look = self.look(query.question)
        if isinstance(query, TextQuery):
            look = msgspec.structs.replace(look, stale=look.is_stale(self._image()))
        async with self._drawing:
            return await asyncio.to_thread(lambda: shown(loaded(page), look, query, now_ms, self._memory))

    async def write(self, wish: WritePlan) -> str:
        """Writes the plan to files; what was done, in a sentence."""
        return await asyncio.to_thread(written, self.look(wish.question), wish)

    def look(self, question: Question) -> AnalysisAnswer:
        """How the question stands; begins to work out one that was not asked before."""
        if isinstance(question, PlanQuestion) and question.left_out:
            whole = self.look(msgspec.structs.replace(question, left_out=()))
            return msgspec.structs.replace(whole, question=question)
        if isinstance(question, PlanQuestion) and not question.asked:
            return AnalysisAnswer(question, self._image())
        if isinstance(question, HistoryQuestion) and not question.folder:
            if not self._recording:
                return AnalysisAnswer(question, self._image(), note=NO_RECORDING)
            question = msgspec.structs.replace(question, folder=self._recording)
        last = self._looks.pop(question, None)
        if last is None or self._is_over(last):
            last = self._begun(question, last)
        self._looks[question] = last  # the latest asked for is the last to go
        for old in list(self._looks)[:-KEPT]:
            if old not in self._tasks:
                del self._looks[old]
        waits = question in self._tasks and not last.is_partial
        progress = self._engines.progress(_tag(question)) if waits else ""
        return msgspec.structs.replace(
            last, note=f"{progress}; {STOPPABLE}" if progress else last.note, spark=self.spark
        )

    def plan(self, question: PlanQuestion) -> Plan | None:
        """What is to be carried out of the plan on the screen; None where there is none yet."""
        return kept_plan(self.look(question))

    def warm_up(self) -> None:
        """Begins to start Spark."""
        self._engines.warm_up()

    @property
    def spark(self) -> str:
        """How Spark stands, one line; empty where nobody wants it."""
        return self._engines.status_line

    @property
    def under_way(self) -> list[str]:
        """What is being worked out, a line each."""
        return [f"{_KINDS[type(question)]}: {self.look(question).note}" for question in list(self._tasks)]

    async def close(self) -> None:
        """Ends all work, and Spark."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._engines.close()

    def _is_over(self, last: AnalysisAnswer) -> bool:
        """Whether it is worked out anew because the cluster is another one."""
        question = last.question
        if not isinstance(question, DeathsQuestion) or question.stopped or question in self._tasks:
            return False
        return time.monotonic() >= last.due_s and last.is_stale(self._image())

    def _begun(self, question: Question, last: AnalysisAnswer | None) -> AnalysisAnswer:
        if question.stopped:
            return self._stopped(question)
        image = self._image()
        if not isinstance(question, DeathsQuestion):
            last = self._looks.get(msgspec.structs.replace(question, take=question.take - 1))
        if _is_fleet(question):
            self._drop_other_fleets()
        task = asyncio.create_task(self._work(question, image))
        self._tasks[question] = task
        task.add_done_callback(lambda _: self._tasks.pop(question, None))
        note = f"working it out; {STOPPABLE}"
        # What is shown stays until there is something newer.
        return AnalysisAnswer(question, image, note=note) if last is None else msgspec.structs.replace(last, note=note)

    def _drop_other_fleets(self) -> None:
        """Each has a process of its own: whoever goes on to another one does not wait for what came before."""
        for other in filter(_is_fleet, list(self._tasks)):
            self._looks.pop(other, None)
            self._tasks[other].cancel()

    def _stopped(self, question: Question) -> AnalysisAnswer:
        going_on = msgspec.structs.replace(question, stopped=False)
        look = AnalysisAnswer(question, self._image(), note=STOPPED)
        if going_on in self._tasks:
            look = msgspec.structs.replace(self._broken_off(going_on, look.image, STOPPED), question=question)
            self._looks.pop(going_on, None)
            self._tasks[going_on].cancel()
        return look

    async def _work(self, question: Question, image: ClusterImage) -> None:
        began = time.monotonic()
        loop = asyncio.get_running_loop()

        def told(so_far: str) -> None:
            loop.call_soon_threadsafe(self._note, question, f"{so_far}; {STOPPABLE}")

        def part(known: EngineResult, note: str) -> None:
            last = self._looks.get(question)
            note = f"{note}; {STOPPABLE}" if note else last.note if last else ""
            so_far = {"seconds": time.monotonic() - began, "cost": known.cost if known.tasks else ""}
            look = AnalysisAnswer(
                question, image, known.result, note, known.engine, where=known.where, is_partial=True, **so_far
            )
            self._tell(question, look)

        try:
            found = await worked_out(question, image, self._engines, _tag(question), told, part)
            ended = time.monotonic()
            due_s = ended + max(LEAST_REST_S, REST * (ended - began))
            cost = {"engine": found.engine, "where": found.where, "cost": found.cost, "seconds": ended - began}
            look = AnalysisAnswer(question, image, found.result, due_s=due_s, **cost)
        except (JobCancelled, asyncio.CancelledError):
            look = self._broken_off(question, image, STOPPED)
        except (AnalysisError, JobFailed, SparkLost, PlanError) as error:
            look = self._broken_off(question, image, str(error))
        except Exception as error:  # the dashboard lives on, and says what failed
            look = self._broken_off(question, image, crash_line(error))
        self._tell(question, look)

    def _broken_off(self, question: Question, image: ClusterImage, note: str) -> AnalysisAnswer:
        """What has been worked out by then stays."""
        so_far = self._looks.get(question)
        if so_far is None or not so_far.is_partial:
            return AnalysisAnswer(question, image, note=note)
        return msgspec.structs.replace(so_far, note=note)

    def _note(self, question: Question, note: str) -> None:
        if question in self._tasks and question in self._looks:
            self._tell(question, msgspec.structs.replace(self._looks[question], note=note))

    def _tell(self, question: Question, look: AnalysisAnswer) -> None:
        if question in self._looks:
            self._looks[question] = look
            self._news()


def _is_fleet(question: Question) -> bool:
    return isinstance(question, SweepQuestion) and bool(question.fleet)


def _tag(question: Question) -> str:
    """A name for the job: the question itself."""
    return msgspec.json.encode(question).decode()
