"""How long an analysis takes in this process and on Spark, judged by what took how long before on this machine.

Values, and the file that keeps them. A timing is the cost of some work, as the units of its analysis count it, and the
seconds it took. Between two timings lies a straight line; beyond the last one seconds
grow as the cost does. Where nothing was measured yet, there are priors.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from model.analyses.analysis import RunInProcess
from model.cluster.whole_file import read_whole, write_whole


class WorkTiming(NamedTuple):
    """Work that was finished: its cost, and the seconds it took on the clock."""

    cost: float
    seconds: float


START_S, JOB_S = 7.0, 0.3
"""Of Spark on two cores, before it was measured: a start, and a job of next to no work."""


class SparkCosts(msgspec.Struct, frozen=True):
    """What one Spark was measured to take."""

    start_s: float = START_S
    job_s: float = JOB_S
    timings: dict[str, tuple[WorkTiming, ...]] = {}
    """By the name of the work, as `work_of` has it."""


class EngineCosts(msgspec.Struct, frozen=True):
    """All that was measured, as it is kept."""

    format: Literal["kdrill.engines/1"] = "kdrill.engines/1"
    cores: int = 0
    """Of the machine; with other cores other timings hold."""
    here: dict[str, tuple[WorkTiming, ...]] = {}
    spark: dict[str, SparkCosts] = {}
    """By master."""


PRIORS: Mapping[str, float] = {
    "drills": 2e-7,
    "drills pairs": 4.5e-7,
    "drills brokers-and-racks": 4.5e-7,
    "fleet": 1e-3,
    "forecast": 5e-5,
    "history": 2e-7,
    "log-history": 1e-6,
    "plans": 1.5e-4,
    "previews": 3.3e-8,
    "scan": 6e-10,
    "scan deep": 1e-8,
    "stored-fleet": 1e-3,
}
"""Name of the work → seconds for a cost of one in one process, measured on one core of 2020."""

EFFICIENCY = 0.7
"""What a core does for Spark of what it does in one process, before it was measured."""
BYTE_S = 2e-9
"""Until a byte of arrays is in the file that workers map."""


def _prior(name: str) -> float | None:
    return PRIORS.get(name, PRIORS.get(name.partition(" ")[0]))


LEAST_S = 0.05
"""A shorter timing says what a call costs, and not how seconds grow with the cost."""


def seconds_of(timings: Sequence[WorkTiming], cost: float, prior: float | None) -> float | None:
    """What so much work takes, by timings in the order of their costs; None where nothing is known."""
    if not timings:
        return None if prior is None else prior * cost
    first, last = timings[0], timings[-1]
    if cost <= first.cost:
        return first.seconds * (cost / first.cost if first.seconds > LEAST_S and first.cost else 1.0)
    for low, high in pairwise(timings):
        if cost <= high.cost:
            share = (cost - low.cost) / (high.cost - low.cost)
            return low.seconds + share * (high.seconds - low.seconds)
    if last.seconds <= LEAST_S and prior is not None:
        return last.seconds + prior * (cost - last.cost)
    return last.seconds * cost / last.cost if last.cost else last.seconds


class Work(NamedTuple):
    """Something to be worked out, or what is left of it."""

    name: str
    cost: float
    array_bytes: int = 0


def work_of(course: RunInProcess) -> Work:
    """What is left of it. The name has what of its parameters makes a cost dearer, beside the analysis."""
    kind: str = getattr(course.parameters, "kind", "")
    deep: bool = getattr(course.parameters, "deep", False)
    name = " ".join(filter(None, (course.analysis.name, kind, "deep" * deep)))
    return Work(name, course.cost_left, sum(array.nbytes for array in course.arrays.values()))


def here_s(costs: EngineCosts, work: Work) -> float | None:
    """Seconds in one process; None where nothing like it was ever done."""
    return seconds_of(costs.here.get(work.name, ()), work.cost, _prior(work.name))


def spark_s(costs: EngineCosts, work: Work, master: str, cores: int, alone_s: float | None) -> float | None:
    """Seconds on a Spark that has started, on so many cores; `alone_s`: what it would take in one process."""
    spark = costs.spark.get(master, SparkCosts())
    if timings := spark.timings.get(work.name):
        return seconds_of(timings, work.cost, None)
    if alone_s is None:
        return None
    return spark.job_s + work.array_bytes * BYTE_S + alone_s / max(1.0, EFFICIENCY * cores)


TASKS_HERE, MOST_TASKS_HERE = 8, 64
"""In this process: fewer show no progress, more cost more than they tell."""
TASK_S = 1.0
"""After so long a task Spark may take over."""


def tasks_here(costs: EngineCosts, work: Work, fewest: int = TASKS_HERE) -> int:
    """How many tasks it is divided into in one process."""
    return max(fewest, min(int((here_s(costs, work) or 0) / TASK_S), MOST_TASKS_HERE))


LEAST_WORK_S = 0.5
"""What is done sooner stays in this process."""
GAIN = 0.8
"""Spark has to be done in so much of the time: estimates are not better than that."""


def takes_long(costs: EngineCosts, work: Work) -> bool:
    """Whether it does in one process, or nobody knows."""
    alone_s = here_s(costs, work)
    return alone_s is None or alone_s >= LEAST_WORK_S


class Outlook(NamedTuple):
    """What some work would take: in one process, on a Spark that serves, and until one that is off does."""

    alone_s: float | None
    on_spark_s: float | None
    start_s: float

    @property
    def is_for_spark(self) -> bool:
        """Whether a Spark that serves is to do it."""
        return self._gains(0.0)

    @property
    def is_worth_a_start(self) -> bool:
        """Whether Spark is to be started for it."""
        return self._gains(self.start_s)

    def _gains(self, wait_s: float) -> bool:
        if self.alone_s is None or self.on_spark_s is None or self.alone_s < LEAST_WORK_S:
            return False
        return wait_s + self.on_spark_s < GAIN * self.alone_s

    @property
    def in_words(self) -> str:
        """Why it is where it is."""
        if self.alone_s is None:
            return "nothing like it was measured yet"
        if self.alone_s < LEAST_WORK_S:
            return "too little for Spark"
        return f"{about(self.alone_s)} in process, {about(self.on_spark_s)} on Spark"


def outlook(costs: EngineCosts, work: Work, master: str, cores: int, so_far_s: float | None = None) -> Outlook:
    """`so_far_s`: what it will take here, judged by how it went so far; that is the best measure there is."""
    alone_s = here_s(costs, work) if so_far_s is None else so_far_s
    start_s = costs.spark.get(master, SparkCosts()).start_s
    return Outlook(alone_s, spark_s(costs, work, master, cores, alone_s), start_s)


SURPRISE = 0.2


def is_news(expected_s: float | None, seconds: float) -> bool:
    """Whether a timing says something that was not known."""
    if expected_s is None or max(seconds, expected_s) <= LEAST_S:
        return expected_s is None
    return abs(seconds - expected_s) > SURPRISE * expected_s


KEPT = 8
"""Timings of one kind of work."""
ALIKE = 1.25
"""Costs that differ by less than this factor are one: the newest counts for as much as all before."""


def with_timing(timings: Sequence[WorkTiming], new: WorkTiming) -> tuple[WorkTiming, ...]:
    """The timings with one more, in the order of their costs."""
    alike = [old for old in timings if max(old.cost, new.cost) <= ALIKE * min(old.cost, new.cost)]
    others = [old for old in timings if old not in alike]
    seconds = [old.seconds for old in alike]
    mean_s = (new.seconds + sum(seconds) / len(seconds)) / 2 if seconds else new.seconds
    kept = sorted([*others, WorkTiming(new.cost, mean_s)])
    while len(kept) > KEPT:  # of two neighbours one says little
        gaps = [(kept[place + 1].cost / max(kept[place].cost, 1e-9), place) for place in range(len(kept) - 1)]
        place = min(gaps)[1]
        kept.pop(place + (kept[place].cost == new.cost))
    return tuple(kept)


def after_here(costs: EngineCosts, work: Work, seconds: float) -> EngineCosts:
    """With work that was finished in this process; the same object where that is no news."""
    if not is_news(here_s(costs, work), seconds):
        return costs
    timings = with_timing(costs.here.get(work.name, ()), WorkTiming(work.cost, seconds))
    return msgspec.structs.replace(costs, here={**costs.here, work.name: timings})


def after_spark(costs: EngineCosts, work: Work, seconds: float, master: str) -> EngineCosts:
    """With work that was finished on Spark; the same object where that is no news."""
    spark = costs.spark.get(master, SparkCosts())
    if not is_news(seconds_of(spark.timings.get(work.name, ()), work.cost, None), seconds):
        return costs
    timings = with_timing(spark.timings.get(work.name, ()), WorkTiming(work.cost, seconds))
    return _with(costs, master, msgspec.structs.replace(spark, timings={**spark.timings, work.name: timings}))


def after_start(costs: EngineCosts, master: str, seconds: float, job_s: float) -> EngineCosts:
    """With a start of Spark, and a job of next to no work."""
    spark = costs.spark.get(master)
    if spark is not None:
        seconds, job_s = (spark.start_s + seconds) / 2, (spark.job_s + job_s) / 2
    return _with(costs, master, SparkCosts(seconds, job_s, {} if spark is None else spark.timings))


def _with(costs: EngineCosts, master: str, spark: SparkCosts) -> EngineCosts:
    return msgspec.structs.replace(costs, spark={**costs.spark, master: spark})


def about(seconds: float | None) -> str:
    """`about 3 s`, `about 0.2 s`: an estimate has no more digits than it is good for."""
    return "not known" if seconds is None else f"about {seconds:.2g} s" if seconds < 10 else f"about {seconds:,.0f} s"


MOST_BYTES = 1 << 20
"""No file of this is near so long."""


@dataclass
class KeptCosts:
    """What work took, in a file; None: for this run only. A file that can't be used is as none; for several threads."""

    file: Path | None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _costs: EngineCosts | None = None

    @property
    def costs(self) -> EngineCosts:
        """All that is known."""
        if self._costs is None:
            self._costs = self._read()
        return self._costs

    def change(self, change: Callable[[EngineCosts], EngineCosts]) -> None:
        """Learns something. Others may have, too: it is added to what is in the file by now."""
        with self._lock:
            before = self._read() if self.file is not None else self.costs
            self._costs = change(before)
            if self.file is not None and self._costs is not before:
                with suppress(OSError):  # it is learnt again
                    self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    write_whole(self.file, msgspec.json.encode(self._costs), mode=0o600)

    def _read(self) -> EngineCosts:
        cores = os.cpu_count() or 1
        if self.file is not None:
            with suppress(OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
                costs = msgspec.json.decode(read_whole(self.file, MOST_BYTES, only_file=True), type=EngineCosts)
                if costs.cores == cores:
                    return costs
        return EngineCosts(cores=cores)
