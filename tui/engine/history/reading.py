"""A recording read part by part, the newest first: figures are there at once, and grow.

The first part is one alone, and then come more and more at a time, so that an engine has something to divide. What was
read stays when the rest is given up.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from model.analyses.errors import AnalysisError
from model.analyses.history.history import HISTORY, history_of
from model.analyses.history.results import ClusterDay, HistoryParameters, parameters_of
from model.analyses.history.tables import HistoryTables, merged
from model.recordings.folder import RecordingError
from spark_tasks.engines import Engines, OnProgress
from spark_tasks.spark_client import EngineResult
from tui.engine.history.pages import HistorySoFar
from tui.engine.questions import HistoryQuestion

WAVE_BYTES = 32 << 20
"""Of files, at most at a time: some ten seconds of one process."""


async def history_read(
    question: HistoryQuestion, engines: Engines, tag: str, told: OnProgress, part: Callable[[Any, str], None]
) -> EngineResult:
    """The result, and what it took in all. Raises AnalysisError, JobCancelled, JobFailed."""
    parameters = await asyncio.to_thread(_parameters, question.folder)
    left = sorted(parameters.days, key=lambda day: (day.day, day.first_set, day.cluster), reverse=True)
    tables, every, began_s, most_bytes = HistoryTables(), len(left), time.monotonic(), 0
    size, read, found = sum(day.size_bytes for day in left), 0, list[EngineResult]()
    while left:
        wave, left = _wave(left, most_bytes)
        told(_progress(every - len(wave) - len(left), every, read / size if size else 0.0, time.monotonic() - began_s))
        some = msgspec.structs.replace(parameters, days=tuple(wave))
        one = await engines.run(HISTORY, {}, some, tag=tag, told=lambda _: None, kind=question.engine)
        found.append(one)
        tables = await asyncio.to_thread(merged, [tables, one.result])
        wave_bytes = sum(day.size_bytes for day in wave)
        read, most_bytes = read + wave_bytes, min(2 * wave_bytes, WAVE_BYTES)
        if left:
            so_far = await asyncio.to_thread(history_of, tables, msgspec.structs.replace(parameters, drills=False))
            part(HistorySoFar(so_far, every - len(left), every), one.engine)
    whole = await asyncio.to_thread(history_of, tables, parameters)
    seconds, cpu_s, tasks = (sum(getattr(one, name) for one in found) for name in ("seconds", "cpu_s", "tasks"))
    so_far = HistorySoFar(whole, every, every)
    return msgspec.structs.replace(found[-1], result=so_far, seconds=seconds, cpu_s=cpu_s, tasks=tasks)


def _parameters(folder: str) -> HistoryParameters:
    try:
        return parameters_of([Path(folder).expanduser().absolute()])
    except RecordingError as error:
        raise AnalysisError(str(error)) from None


def _wave(left: list[ClusterDay], most_bytes: int) -> tuple[list[ClusterDay], list[ClusterDay]]:
    """The next parts, one at least, and those after them."""
    count, taken = 1, left[0].size_bytes
    while count < len(left) and taken + left[count].size_bytes <= most_bytes:
        taken, count = taken + left[count].size_bytes, count + 1
    return left[:count], left[count:]


def _progress(done: int, every: int, share: float, spent_s: float) -> str:
    left = f", about {spent_s / share * (1 - share):,.0f} s left" if share else ""
    return f"reading, {done:,} of {every:,} parts{left}"
