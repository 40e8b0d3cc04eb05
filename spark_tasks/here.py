"""Runs an analysis in this process, in this thread: for small work, and as the measure of what Spark does."""

from collections.abc import Callable

from spark_tasks.analysis import Analysis, Arrays, ParametersT_contra, ResultT_co
from spark_tasks.errors import JobCancelled
from spark_tasks.packing import FEWEST_TASKS, pack

Told = Callable[[int, int], object]
"""Called with the number of tasks done and of all, the first time with 0 done."""


def run(
    analysis: Analysis[ParametersT_contra, ResultT_co],
    arrays: Arrays,
    parameters: ParametersT_contra,
    *,
    told: Told | None = None,
    ended: Callable[[], bool] | None = None,
) -> ResultT_co:
    """The result. The work is split only where somebody looks on: `told` hears of progress, `ended` may stop it.

    Raises JobCancelled when `ended()` is true between two tasks, AnalysisError as the analysis does.
    """
    watched = told is not None or ended is not None
    tasks = pack(analysis.units(arrays, parameters), FEWEST_TASKS if watched else 1)
    batches: list[Arrays] = []
    for done, task in enumerate(tasks):
        if told is not None:
            told(done, len(tasks))
        if ended is not None and ended():
            raise JobCancelled(analysis.name)
        batches.append(analysis.kernel(task, arrays, parameters))
    if told is not None:
        told(len(tasks), len(tasks))
    return analysis.combine(batches, arrays, parameters)
