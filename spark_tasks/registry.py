"""Every analysis by its name, and what a worker does with one: map the arrays, call the kernel. Imports no Spark.

A module is imported when its analysis is wanted, and not before. A failure of the kernel comes back as a value: Spark
would try the same again three times, and tell it in a page.
"""

import fcntl
import os
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from model.analyses import AnalysisError
from model.analyses.analysis import Analysis
from spark_tasks import arrow_arrays

ANALYSES: Mapping[str, str] = {
    "drills": "model.analyses.drills.sweep:DRILLS",
    "fleet": "model.analyses.fleets.fleet:FLEET",
    "forecast": "model.analyses.forecast.forecast:FORECAST",
    "history": "model.analyses.history.history:HISTORY",
    "log-history": "model.analyses.history.log_history:LOG_HISTORY",
    "plans": "model.analyses.plans:PLANS",
    "previews": "model.analyses.previews.kernel:PREVIEWS",
    "scan": "model.analyses.scans.combining:SCAN",
    "stored-fleet": "model.analyses.fleets.store:STORED_FLEET",
}
"""Name → `module:attribute`, where the attribute is the analysis itself: one row each."""


def find(name: str) -> Analysis[Any, Any]:
    """The analysis called so; a name with a colon in it is a `module:attribute` itself.

    Raises KeyError when there is none of that name.
    """
    place = name if ":" in name else ANALYSES[name]
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


Batch = tuple[bool, bytes, float]
"""Whether it went well; the arrays as `arrow_arrays` hands them over, or the reason; seconds of processor time."""


@dataclass(frozen=True)
class KernelTask:
    """Called by Spark with the tasks of one partition, each a list of units."""

    analysis: str
    parameters: bytes
    arrays: Any
    """The path of a file, or what `open`s to the arrays in a worker elsewhere."""
    players: str = ""
    """A folder in which a file has the id of each process that is at it; empty where nobody wants to know."""
    folder: str = ""
    """For what comes of it; none where workers are elsewhere."""

    def __call__(self, tasks: Iterable[Sequence[int]]) -> Iterator[Batch]:
        with self._told():
            yield from self._played(tasks)

    @contextmanager
    def _told(self) -> Generator[None]:
        if not self.players:
            yield
            return
        file = Path(self.players, str(os.getpid()))
        with file.open("wb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)  # whoever finds it free knows that this process is gone
            try:
                yield
            finally:
                file.unlink(missing_ok=True)

    def _played(self, tasks: Iterable[Sequence[int]]) -> Iterator[Batch]:
        try:
            analysis = find(self.analysis)
            parameters = msgspec.json.decode(self.parameters, type=analysis.parameters_type)
            arrays = arrow_arrays.open(self.arrays) if isinstance(self.arrays, str) else self.arrays.open()
            for units in tasks:
                began_s = time.process_time()
                batch = arrow_arrays.handed_over(analysis.kernel(units, arrays, parameters), self.folder)
                yield True, batch, time.process_time() - began_s
        except Exception as error:
            yield False, failure(error).encode(), 0.0


def failure(error: Exception) -> str:
    """One line: what an analysis says is meant for the user, all else is ours to mend."""
    if isinstance(error, AnalysisError):
        return str(error)
    return f"a defect in kdrill: {type(error).__name__}: {error}".replace("\n", " ")


def warm(_: Iterable[object]) -> Iterator[str]:
    """Nothing but what importing costs; the worker keeps it for the jobs that follow."""
    yield arrow_arrays.__name__
