"""What is under way in the data process and takes a while: how far it is, how it is stopped, the text about it.

And what there is of an analysis's answer, a value that pages draw. Nothing is worked out here.
"""

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from model.cluster.cluster_image import ClusterImage
from tui.engine.messages import STOPPABLE, JobsText, TextAnswer
from tui.engine.questions import PreviewQuestion, Question
from tui.engine.sheets import Sheet


class Job:
    """One of them. Told by the thread that works, stopped by another."""

    def __init__(self, name: str, news: Callable[[], object]) -> None:
        self.name = name
        self.progress = ""
        self._news = news
        self._stopped = threading.Event()

    def tell(self, done: int, of: int) -> None:
        """How far it is. News is only what can be read on the screen."""
        self.say(f"{100 * done // max(of, 1)} %")

    def say(self, progress: str) -> None:
        """Sets the progress as text."""
        if progress != self.progress:
            self.progress = progress
            self._news()

    def stop(self) -> None:
        self._stopped.set()

    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def __str__(self) -> str:
        return f"{self.name} {self.progress}".rstrip()


class Jobs:
    """Those under way, the oldest first. `news` is called when there is something to show; from any thread."""

    def __init__(self, news: Callable[[], object]) -> None:
        self._news = news
        self.under_way: tuple[Job, ...] = ()

    @contextmanager
    def job(self, name: str) -> Generator[Job]:
        """One more, for as long as the block lasts."""
        job = Job(name, self._news)
        self.under_way = (*self.under_way, job)
        self._news()
        try:
            yield job
        finally:
            self.under_way = tuple(each for each in self.under_way if each is not job)
            self._news()

    @property
    def doing(self) -> str:
        """One line about them; empty where nothing is under way."""
        return ", ".join(map(str, self.under_way))

    def stop(self) -> str:
        """All of them are to end; the sentence that says so."""
        if not (jobs := self.under_way):
            return "nothing is under way"
        for job in jobs:
            job.stop()
        return f"stopped: {', '.join(job.name for job in jobs)}"


WHERE_TO_STOP = (
    "What a screen asked for (a drill, a sweep, previews, a plan) is stopped there: esc. All else by esc or :stop."
)


def jobs_text(jobs: Jobs, asked: Sequence[str], query: JobsText) -> TextAnswer:
    """`asked`: what the screens asked for, a line each."""
    sheet = Sheet("jobs", query.width)
    for each in (*map(str, jobs.under_way), *asked):
        sheet.say(each.removesuffix(f"; {STOPPABLE}"))
    if not (jobs.under_way or asked):
        sheet.say("nothing is under way", "dim")
    return sheet.gap().say(WHERE_TO_STOP, "dim").answer()


STOPPED = "stopped: r works it out"


class AnalysisAnswer(msgspec.Struct, frozen=True):
    """`result` is None until it is there; `note` says how far it is, or why there is none."""

    question: Question
    image: ClusterImage
    result: Any = None
    note: str = ""
    engine: str = ""
    """Who worked it out: `in process`, `spark local[2]`."""
    where: str = ""
    """The same with why."""
    cost: str = ""
    """How long it took, and in how many tasks."""
    seconds: float = 0.0
    due_s: float = 0.0
    """When it may be worked out again without being asked, on the monotonic clock."""
    spark: str = ""
    """How Spark stands, one line; empty where there is none."""
    stale: bool = False
    """Whether a text about it has to say that the cluster is another one by now."""

    is_partial: bool = False
    """Whether `result` is what has been worked out of it so far."""

    @property
    def engine_facts(self) -> tuple[tuple[str, str], ...]:
        """Where it was worked out and why, what that took, and how Spark stands: what is known of it, with its name."""
        facts = (("engine", self.where), ("cost", self.cost), ("Spark", self.spark.removeprefix("Spark ")))
        return tuple(fact for fact in facts if fact[1])

    def is_stale(self, now: ClusterImage) -> bool:
        """Whether the cluster is another one by now, as far as answers depend on it."""
        then = self.image
        if isinstance(self.question, PreviewQuestion):
            parts = ((then.groups, now.groups), (then.classic_groups, now.classic_groups))
        else:
            parts = ((then.topics, now.topics), (then.brokers, now.brokers))
        return any(one is not other for one, other in parts)
