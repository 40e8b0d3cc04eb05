"""What an analysis is, whoever runs it, and `run_here`, which runs one in this process, in this thread.

An analysis has units of work with costs, a kernel, and a sum of its batches. It imports no Spark and touches nothing
outside, but for files that its parameters name. `run_here` is for small work, and the measure of what Spark does;
`spark_tasks.service` gives the same result. Units become tasks of about the same cost, here and there: the longest
first, each to the task that has least (LPT).
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses import JobCancelled

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


@runtime_checkable
class InPieces(Protocol):
    """An analysis whose kernel costs about the same for all units at once as for a few at a time."""

    @property
    def piece_s(self) -> float:
        """About how long it is called for where somebody may end the work: a call can't be broken off."""
        ...


def stretches(costs: Sequence[float], most: Callable[[], float]) -> Iterator[tuple[range, float, float]]:
    """Neighbours that come to `most()` together, as it is when they begin, and one at least: which, what they cost,
    and what all after them do."""
    first, left, budget = 0, sum(costs), most()
    while first < len(costs):
        end, taken = first + 1, costs[first]
        while end < len(costs) and taken + costs[end] <= budget:
            taken, end = taken + costs[end], end + 1
        left -= taken
        yield range(first, end), taken, left
        first, budget = end, most()


class RunInProcess:
    """Work on its way in this process: the batches of what is done, and the tasks that are left."""

    def __init__(
        self,
        analysis: Analysis[Any, Any],
        arrays: Arrays,
        parameters: Any,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Not divided yet: one task. `clock`, in seconds: what pieces are measured by. Raises AnalysisError."""
        self._clock = clock
        self.analysis, self.arrays, self.parameters = analysis, arrays, parameters
        self._units = analysis.units(arrays, parameters)
        self._cost_of = {unit.id: unit.cost for unit in self._units}
        self.left = pack(self._units, 1)
        self.done = 0
        """Tasks."""
        self.batches: list[Arrays] = []
        self._piece_s = analysis.piece_s if isinstance(analysis, InPieces) else None
        self._piece = 1
        """Units of the next call of the kernel."""

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
        """One task after the other, in this thread. The result, or None where `ended()` was true between two of them,
        or two pieces of one; then it can be worked on further. `kernel`: what has whole tasks done elsewhere, and is
        ended there. Raises AnalysisError."""
        every = self.done + len(self.left)
        while self.left:
            if told is not None:
                told(self.done, every)
            while self.left[0]:
                if ended is not None and ended():
                    return None
                self._play(kernel, None if ended is None or kernel is not None else self._clock)
            del self.left[0]
            self.done += 1
        if told is not None:
            told(every, every)
        return self.analysis.combine(self.batches, self.arrays, self.parameters)

    def _play(self, kernel: Kernel | None, clock: Callable[[], float] | None) -> None:
        """The first task, or a piece of it."""
        task, play = self.left[0], kernel or self.analysis.kernel
        if clock is None or self._piece_s is None:
            self.batches.append(play(tuple(task), self.arrays, self.parameters))
            task.clear()
            return
        count, began_s = min(self._piece, len(task)), clock()
        self.batches.append(play(task[:count], self.arrays, self.parameters))
        del task[:count]
        in_time = count * self._piece_s / max(clock() - began_s, 1e-6)
        self._piece = max(1, min(int(in_time), 2 * count))


def run_here(
    analysis: Analysis[ParametersT_contra, ResultT_co],
    arrays: Arrays,
    parameters: ParametersT_contra,
    *,
    told: OnTask | None = None,
    ended: Callable[[], bool] | None = None,
) -> ResultT_co:
    """The result. The work is split only where somebody looks on: `told` hears of progress, `ended` may stop it.

    Raises JobCancelled when `ended()` is true meanwhile, AnalysisError as the analysis does.
    """
    course = RunInProcess(analysis, arrays, parameters)
    if told is not None or ended is not None:
        course.divide(FEWEST_TASKS)
    result = course.work_on(told=told, ended=ended)
    if course.left:
        raise JobCancelled(analysis.name)
    return result
