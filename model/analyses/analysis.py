"""What an analysis is, whoever runs it, and `run_here`, which runs one in this process, in this thread.

An analysis has units of work with costs, a kernel, and a sum of its batches. It imports no Spark and touches nothing
outside, but for files that its parameters name. `run_here` is for small work, and the measure of what Spark does;
`spark_tasks.service` gives the same result. Units become tasks of about the same cost, here and there: the longest
first, each to the task that has least (LPT).
"""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses.errors import JobCancelled

Arrays = Mapping[str, NDArray[np.generic]]
"""Name → array of numbers: what kernels read and return. Between processes it is an Arrow file (`arrow_arrays`)."""


class Unit(msgspec.Struct, frozen=True):
    """A piece of work that is never split. `cost` in any unit, the same for all units of an analysis."""

    id: int
    cost: float


ParametersT_contra = TypeVar("ParametersT_contra", bound=msgspec.Struct, contravariant=True)
ResultT_co = TypeVar("ResultT_co", bound=msgspec.Struct, covariant=True)


class Analysis(Protocol[ParametersT_contra, ResultT_co]):
    """One kind of question. Stateless: everything it knows is in `arrays` and `parameters`."""

    @property
    def name(self) -> str:
        """As the registry, the protocol and the screen call it."""
        ...

    @property
    def parameters_type(self) -> type[Any]:
        """The class of its parameters, which travel as JSON."""
        ...

    @property
    def result_type(self) -> type[Any]:
        """The class of its result, which travels as JSON."""
        ...

    def units(self, arrays: Arrays, parameters: ParametersT_contra) -> Sequence[Unit]:
        """The whole work. Quick, for it is done before anything is spread."""
        ...

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: ParametersT_contra) -> Arrays:
        """What comes of these units. Runs in a worker; how units are grouped must not matter to the result."""
        ...

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: ParametersT_contra) -> ResultT_co:
        """The result of all batches, in whatever order they come."""
        ...


@runtime_checkable
class Scanning(Protocol):
    """An analysis whose files Spark reads itself, scan by scan, and hands to a kernel as rows."""

    def scans(self, parameters: Any, units: Sequence[int] | None) -> Sequence[Any]:
        """The work of some units; None: of all. Raises AnalysisError."""
        ...

    def kernel_of_rows(self, scan: Any, batches: Iterable[Any], parameters: Any) -> Arrays:
        """What comes of a scan's rows, which are Arrow's record batches. Runs in a worker."""
        ...


TASKS_A_CORE = 4
FEWEST_TASKS, MOST_LOCAL_TASKS = 8, 16
"""Fewer show no progress and end unevenly; more cost more than they even out."""


def tasks_for(cores: int) -> int:
    """How many tasks a job of Spark gets on so many cores."""
    return max(FEWEST_TASKS, min(cores * TASKS_A_CORE, MOST_LOCAL_TASKS), 2 * cores)


def pack(units: Sequence[Unit], tasks: int) -> list[list[int]]:
    """Ids of units by task, the costliest task first; at most `tasks` of them, none empty.

    No task costs more than 4/3 of what the best packing's costliest does (Graham, 1969).
    """
    loads = [(0.0, 0, number) for number in range(min(tasks, len(units)))]
    """Cost, units, and which task: without cost, it is the number of units that is evened out."""
    packed: list[list[int]] = [[] for _ in loads]
    for unit in sorted(units, key=lambda unit: (-unit.cost, unit.id)):
        load, length, number = loads[0]
        packed[number].append(unit.id)
        heapq.heapreplace(loads, (load + unit.cost, length + 1, number))
    return [packed[number] for _, _, number in sorted(loads, key=lambda load: (-load[0], load[2]))]


OnTask = Callable[[int, int], object]
"""Called with the number of tasks done and of all, the first time with 0 done."""


Kernel = Callable[[Sequence[int], Arrays, Any], Arrays]
"""Units, arrays, parameters → what comes of them."""


class Wave(NamedTuple):
    """A part of an analysis that is run by itself: what comes of it is shown, or kept, before the next begins."""

    parameters: Any
    cost: float
    """As its units have it."""
    left: float
    """And of all that comes after it."""


class Course:
    """Work on its way in this process: the batches of what is done, and the tasks that are left."""

    def __init__(self, analysis: Analysis[Any, Any], arrays: Arrays, parameters: Any) -> None:
        """Not divided yet: one task. Raises AnalysisError."""
        self.analysis, self.arrays, self.parameters = analysis, arrays, parameters
        self._units = analysis.units(arrays, parameters)
        self._cost_of = {unit.id: unit.cost for unit in self._units}
        self.left = pack(self._units, 1)
        self.batches: list[Arrays] = []

    def divide(self, tasks: int) -> None:
        """Into so many tasks at most; before it is worked on."""
        self.left = pack(self._units, tasks)

    @property
    def cost_left(self) -> float:
        """Of all tasks that are left."""
        return sum(self._cost_of[unit] for task in self.left for unit in task)

    def work_on(
        self, *, told: OnTask | None = None, ended: Callable[[], bool] | None = None, kernel: Kernel | None = None
    ) -> Any:
        """One task after the other, in this thread. The result, or None where `ended()` was true between two of them;
        then it can be worked on further. `kernel`: what has it done elsewhere. Raises AnalysisError."""
        every = len(self.batches) + len(self.left)
        while self.left:
            if told is not None:
                told(len(self.batches), every)
            if ended is not None and ended():
                return None
            play = kernel or self.analysis.kernel
            self.batches.append(play(self.left[0], self.arrays, self.parameters))
            del self.left[0]
        if told is not None:
            told(every, every)
        return self.analysis.combine(self.batches, self.arrays, self.parameters)


def run_here(
    analysis: Analysis[ParametersT_contra, ResultT_co],
    arrays: Arrays,
    parameters: ParametersT_contra,
    *,
    told: OnTask | None = None,
    ended: Callable[[], bool] | None = None,
) -> ResultT_co:
    """The result. The work is split only where somebody looks on: `told` hears of progress, `ended` may stop it.

    Raises JobCancelled when `ended()` is true between two tasks, AnalysisError as the analysis does.
    """
    course = Course(analysis, arrays, parameters)
    if told is not None or ended is not None:
        course.divide(FEWEST_TASKS)
    result = course.work_on(told=told, ended=ended)
    if course.left:
        raise JobCancelled(analysis.name)
    return result
