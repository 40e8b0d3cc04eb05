"""One question to the analyses and what there is of its answer, a value that pages draw; and where it is worked out.

That is in a thread here while it is small or there is no Spark, else on Spark. Keeps no results.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from model.analyses.analysis import Analysis, Arrays, run_here
from model.analyses.errors import JobCancelled
from model.cluster.cluster_image import ClusterImage
from spark_tasks.messages import SparkLost, SparkOptions, SparkStatus
from spark_tasks.spark_client import IN_PROCESS, SparkClient
from tui.engine.questions import PreviewQuestion, Question

STOPPED = "stopped: r works it out"


class AnalysisAnswer(msgspec.Struct, frozen=True):
    """`result` is None until it is there; `note` says how far it is, or why there is none."""

    question: Question
    image: ClusterImage
    result: Any = None
    note: str = ""
    engine: str = ""
    """Who worked it out: `in process`, `spark local[2]`."""
    seconds: float = 0.0
    due_s: float = 0.0
    """When it may be worked out again without being asked, on the monotonic clock."""
    spark: str = ""
    """How Spark stands, one line; empty where there is none."""
    stale: bool = False
    """Whether a text about it has to say that the cluster is another one by now."""

    def is_stale(self, now: ClusterImage) -> bool:
        """Whether the cluster is another one by now, as far as answers depend on it."""
        then = self.image
        if isinstance(self.question, PreviewQuestion):
            parts = ((then.groups, now.groups), (then.classic_groups, now.classic_groups))
        else:
            parts = ((then.topics, now.topics), (then.brokers, now.brokers))
        return any(one is not other for one, other in parts)


OnProgress = Callable[[str], None]
"""Is told in a few words how far the work is."""


class Engines:
    """Used on one event loop. Without a master everything runs here."""

    def __init__(self, master: str, news: Callable[[], object]) -> None:
        """Starts nothing yet. `news` is called when Spark stands otherwise."""
        self._news = news
        self._spark = SparkClient(SparkOptions(master=master), lambda _: news()) if master else None
        self._start: asyncio.Task[None] | None = None

    @property
    def status(self) -> SparkStatus:
        """How Spark stands; `off` where there is none."""
        return self._spark.status if self._spark else SparkStatus()

    @property
    def status_line(self) -> str:
        """How Spark stands, one line; empty where nobody wants it."""
        status = self.status
        match status.state:
            case "off":
                return ""
            case "starting":
                return f"Spark {status.master} starting, {status.seconds:.0f} s"
            case "failed":
                return f"no Spark: {status.reason}"
            case state:
                return f"Spark {status.master} {state}, started in {status.seconds:.1f} s"

    def warm_up(self) -> None:
        """Begins to start Spark; how that goes is in `status`."""
        if self._spark is not None and self._start is None:
            self._start = asyncio.create_task(self._started(self._spark))

    async def run(
        self,
        analysis: Analysis[Any, Any],
        arrays: Arrays,
        parameters: Any,
        *,
        is_large: bool,
        tag: str,
        told: OnProgress,
    ) -> tuple[Any, str]:
        """The result, and who worked it out. Raises JobCancelled, JobFailed, AnalysisError.

        Ending the task that waits ends the work. If Spark is lost, the work is done here.
        """
        if is_large and self._spark is not None and self.status.state in ("ready", "busy"):
            try:
                told("on Spark")
                return await self._spark.run(analysis, arrays, parameters, tag), f"spark {self.status.master}"
            except SparkLost as lost:
                told(f"Spark is lost ({lost}); working it out here")
        return await self._here(analysis, arrays, parameters, told), IN_PROCESS

    def progress(self, tag: str) -> str:
        """How far Spark is with a job, a few words; empty where it has none of that tag."""
        job = next((job for job in self.status.jobs if job.tag == tag), None)
        return "" if job is None else f"on Spark: {job.tasks[0]} of {job.tasks[1]} tasks, {job.seconds:.0f} s"

    async def close(self) -> None:
        """Ends Spark."""
        if self._start is not None:
            self._start.cancel()
        if self._spark is not None:
            await self._spark.close()

    async def _started(self, spark: SparkClient) -> None:
        try:
            await spark.start()
        except SparkLost:
            self._news()  # the status says why

    @staticmethod
    async def _here(analysis: Analysis[Any, Any], arrays: Arrays, parameters: Any, told: OnProgress) -> Any:
        ended = threading.Event()

        def tell(done: int, tasks: int) -> None:
            told(f"{done} of {tasks} parts")

        try:
            return await asyncio.to_thread(run_here, analysis, arrays, parameters, told=tell, ended=ended.is_set)
        except asyncio.CancelledError:
            ended.set()
            raise JobCancelled(analysis.name) from None
